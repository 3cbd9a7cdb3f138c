// Package controlplane runs a control plane on the loopback interface: etcd,
// kube-apiserver and the scheduler of this module, each a process of its own, built
// from this module. There is no kubelet and no controller: nodes are objects, and a
// pod that is bound stays as it is.
package controlplane

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/yaml"
)

// Configuration is the configuration of the scheduler, without a kubeconfig.
//
//go:embed scheduler.yaml
var Configuration []byte

// patience is how long a process may take until it is ready.
const patience = 3 * time.Minute

// ControlPlane is a control plane that runs. It is made by [Start].
type ControlPlane struct {
	Kubeconfig string // a file
	URL, Etcd  string // of kube-apiserver and etcd

	processes []*process // in the order in which they were started
	failed    chan error
	stopOnce  sync.Once
	stopErr   error
}

// Options are what a control plane may have. The zero value is the usual one.
type Options struct {
	Gates         []string // feature gates that are on in kube-apiserver and the scheduler
	Configuration []byte   // of the scheduler; nil: the one of this package
}

// Start starts a control plane with the commands in a folder, see [Build]. What
// it writes goes to another folder, its logs below that. It returns when the API
// server is ready; the scheduler may need a moment longer. When it fails nothing is
// left running.
func Start(ctx context.Context, binaries, folder string, o Options) (*ControlPlane, error) {
	c := &ControlPlane{Kubeconfig: filepath.Join(folder, "kubeconfig.yaml"), failed: make(chan error, 3)}
	if err := c.start(ctx, binaries, folder, o); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	for _, p := range c.processes {
		go func() {
			<-p.done
			c.failed <- p.ended()
		}()
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, binaries, folder string, o Options) error {
	logs := filepath.Join(folder, "logs")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	if err := c.startEtcd(ctx, filepath.Join(binaries, "etcd"), folder, logs); err != nil {
		return err
	}
	if err := c.startServer(ctx, filepath.Join(binaries, "kube-apiserver"), folder, logs, o.Gates); err != nil {
		return err
	}
	if o.Configuration == nil {
		o.Configuration = Configuration
	}
	configuration, err := WithKubeconfig(o.Configuration, c.Kubeconfig)
	if err != nil {
		return err
	}
	file := filepath.Join(folder, "scheduler.yaml")
	if err := os.WriteFile(file, configuration, 0o600); err != nil {
		return err
	}
	return c.launch(logs, filepath.Join(binaries, "kubescheduler"), append(gateFlags(o.Gates), "--config="+file, "--secure-port=0"), nil)
}

func (c *ControlPlane) launch(logs, path string, arguments []string, prepare func(*exec.Cmd) error) error {
	p, err := launch(logs, path, arguments, prepare)
	if err == nil {
		c.processes = append(c.processes, p)
	}
	return err
}

// startEtcd starts etcd, which chooses its port itself and says which.
func (c *ControlPlane) startEtcd(ctx context.Context, path, folder, logs string) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	err = c.launch(logs, path, []string{"-data-dir=" + filepath.Join(folder, "etcd")}, func(cmd *exec.Cmd) error {
		cmd.Stdout = write
		return nil
	})
	write.Close()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { read.Close() })
	defer stop()
	line, err := bufio.NewReader(read).ReadString('\n')
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		p := c.processes[len(c.processes)-1]
		<-p.done
		return p.ended()
	}
	c.Etcd = strings.TrimSpace(line)
	return nil
}

// startServer starts kube-apiserver. It can't choose its port itself, so another
// process may take the port that was free: then it is tried again.
func (c *ControlPlane) startServer(ctx context.Context, path, folder, logs string, gates []string) error {
	arguments, config, err := c.prepareServer(folder)
	if err != nil {
		return err
	}
	if len(gates) > 0 {
		arguments = append(arguments, append(gateFlags(gates), "--runtime-config=api/all=true")...) // what gates are for may be alpha
	}
	for attempt := 0; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		c.URL = "https://127.0.0.1:" + port
		config.Host = c.URL
		if err := c.launch(logs, path, append(arguments, "--secure-port="+port), nil); err != nil {
			return err
		}
		last := len(c.processes) - 1
		err = c.processes[last].awaitServer(ctx, config)
		var taken *portTakenError
		if !errors.As(err, &taken) || attempt == 2 {
			if err != nil {
				return err
			}
			return writeKubeconfig(c.Kubeconfig, config)
		}
		c.processes = c.processes[:last]
	}
}

// prepareServer makes the keys and the token that the API server needs, and returns
// its flags and how it is reached.
func (c *ControlPlane) prepareServer(folder string) ([]string, *rest.Config, error) {
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return nil, nil, err
	}
	keyFile, tokenFile, certificates := filepath.Join(folder, "service-account.key"), filepath.Join(folder, "tokens.csv"), filepath.Join(folder, "certificates")
	token := rand.Text()
	if err := errors.Join(os.WriteFile(keyFile, key, 0o600), os.WriteFile(tokenFile, []byte(token+",admin,admin,system:masters\n"), 0o600)); err != nil {
		return nil, nil, err
	}
	config := &rest.Config{BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(certificates, "apiserver.crt")}}
	return []string{
		"--etcd-servers=" + c.Etcd,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--cert-dir=" + certificates,
		"--token-auth-file=" + tokenFile, "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + keyFile, "--service-account-signing-key-file=" + keyFile,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition", // there are no controllers
		"--enable-priority-and-fairness=false",
	}, config, nil
}

// gateFlags returns the flag that turns feature gates on.
func gateFlags(gates []string) []string {
	if len(gates) == 0 {
		return nil
	}
	return []string{"--feature-gates=" + strings.Join(gates, "=true,") + "=true"}
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), nil
}

// portTakenError says that a server could not listen.
type portTakenError struct{ error }

// awaitServer waits until the API server is ready.
func (p *process) awaitServer(ctx context.Context, config *rest.Config) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		select {
		case <-p.done:
			err := p.ended()
			if strings.Contains(err.Error(), "address already in use") {
				return &portTakenError{err}
			}
			return err
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver is not ready: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
		if isReady(ctx, config) {
			return nil
		}
	}
}

func isReady(ctx context.Context, config *rest.Config) bool {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return false // the certificate is not there yet
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func writeKubeconfig(file string, config *rest.Config) error {
	const name = "resvec"
	k := clientcmdapi.NewConfig()
	k.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthority: config.CAFile}
	k.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	k.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	k.CurrentContext = name
	return clientcmd.WriteToFile(*k, file)
}

// WithKubeconfig sets the kubeconfig in a configuration of the scheduler.
func WithKubeconfig(configuration []byte, file string) ([]byte, error) {
	var document map[string]any
	if err := yaml.Unmarshal(configuration, &document); err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedField(document, file, "clientConnection", "kubeconfig"); err != nil {
		return nil, err
	}
	return yaml.Marshal(document)
}

// Client returns how the API server is reached, without a limit on requests.
func (c *ControlPlane) Client() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// Failed returns a channel with an error for each process that has ended, also by
// Stop.
func (c *ControlPlane) Failed() <-chan error { return c.failed }

// Stop stops the scheduler, then the API server, and then etcd; each when the one
// before is gone. A process that takes too long is killed, which is an error. It
// may be called again.
func (c *ControlPlane) Stop() error {
	c.stopOnce.Do(func() {
		var faults []error
		for i := len(c.processes) - 1; i >= 0; i-- {
			faults = append(faults, c.processes[i].stop())
		}
		c.stopErr = errors.Join(faults...)
	})
	return c.stopErr
}
