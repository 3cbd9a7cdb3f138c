package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"debug/elf"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/resvec/resvec/examples/kubescheduler/internal/controlplane"
	"github.com/resvec/resvec/examples/kubescheduler/internal/sample"
	"github.com/resvec/resvec/internal/testkit"
)

// second is the name of a scheduler that runs beside the cluster's own.
const second = "resvec-scheduler"

// command is a scheduler, running. What it logs is kept.
type command struct {
	*exec.Cmd
	output bytes.Buffer
}

// run starts a command, with all that it starts in a group of processes of its own.
func run(t *testing.T, cmd *exec.Cmd) *command {
	t.Helper()
	c := &command{Cmd: cmd}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Stdout, c.Stderr = &c.output, &c.output
	testkit.Check(c.Start())
	t.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	return c
}

// stop interrupts a command, waits for it, and returns what it has logged.
func (c *command) stop() string {
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGINT)
	_ = c.Wait()
	return c.output.String()
}

// decides waits until a scheduler has bound a pod.
func (c *cluster) decides(t *testing.T, scheduler *command) {
	t.Helper()
	c.createNode(t, sample.Nodes(1)[0])
	pod := sample.Pods(1)[0]
	pod.Spec.SchedulerName = second
	c.create(t, pod)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(scheduler.stop())
		}
	})
	c.eventually(t, pod.Name+" is bound", func() bool { return c.nodeOf(t, pod.Name) != "" })
}

// TestReadmeCommand runs the README's command as written, outside of the cluster.
func TestReadmeCommand(t *testing.T) {
	ctx := interruptible(t)
	folder := t.TempDir()
	c := start(t, ctx, build(t, ctx, controlplane.Minors[0]), folder, controlplane.Options{})
	home := filepath.Join(folder, "home")
	testkit.Check(os.MkdirAll(filepath.Join(home, ".kube"), 0o755))
	testkit.Check(os.WriteFile(filepath.Join(home, ".kube", "config"), testkit.Must(os.ReadFile(c.plane.Kubeconfig)), 0o600))

	_, section, _ := strings.Cut(string(testkit.Must(os.ReadFile("../README.md"))), "\n## Use it\n")
	_, block, _ := strings.Cut(section, "```sh\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("the README has no command")
	}
	cmd := exec.CommandContext(ctx, "sh", "-ec", block)
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "HOME="+home)
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} { // which are below HOME otherwise
		cmd.Env = append(cmd.Env, name+"="+strings.TrimSpace(string(testkit.Must(exec.Command("go", "env", name).Output()))))
	}
	scheduler := run(t, cmd)
	c.decides(t, scheduler)
	scheduler.stop()
	stop(t, c.plane, folder)
}

// TestManifests: a cluster takes the manifests, and with the account that they make a
// scheduler may do all that it does; its counters are served.
func TestManifests(t *testing.T) { eachMinor(t, testManifests) }

func testManifests(t *testing.T, ctx context.Context, binaries string) {
	folder := t.TempDir()
	c := start(t, ctx, binaries, folder, controlplane.Options{})
	admin := testkit.Must(c.plane.Client())
	c.apply(t, admin, "../manifests/static-pod.yaml", metav1.DryRunAll)
	c.apply(t, admin, "../manifests/second-scheduler.yaml")

	const namespace = metav1.NamespaceSystem
	token := testkit.Must(c.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, second, &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))
	account := testkit.Must(clientcmd.LoadFromFile(c.plane.Kubeconfig))
	for _, user := range account.AuthInfos {
		user.Token = token.Status.Token
	}
	kubeconfig, file := filepath.Join(folder, "account.yaml"), filepath.Join(folder, "second.yaml")
	testkit.Check(clientcmd.WriteToFile(*account, kubeconfig))
	data := testkit.Must(c.client.CoreV1().ConfigMaps(namespace).Get(ctx, second, metav1.GetOptions{}))
	testkit.Check(os.WriteFile(file, testkit.Must(controlplane.WithKubeconfig([]byte(data.Data["scheduler.yaml"]), kubeconfig)), 0o600))
	address := freeAddress(t)
	host, port, _ := net.SplitHostPort(address)
	scheduler := run(t, exec.CommandContext(ctx, filepath.Join(binaries, "kubescheduler"), "--config="+file, "--bind-address="+host, "--secure-port="+port,
		"--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig))
	c.decides(t, scheduler)

	lease := testkit.Must(c.client.CoordinationV1().Leases(namespace).Get(ctx, second, metav1.GetOptions{}))
	if holder := lease.Spec.HolderIdentity; holder == nil || *holder == "" {
		t.Error("nobody holds the lease")
	}
	served := metricsOf(t, ctx, address, admin)
	for _, want := range []string{`(?m)^resvecfit_cycles_total\{mode="\w+"\} 1$`, `(?m)^resvecfit_named_nodes_total \d+$`, `(?m)^resvecfit_retries_total 0$`} {
		if !regexp.MustCompile(want).MatchString(served) {
			t.Errorf("%s is not served", want)
		}
	}
	if log := scheduler.stop(); strings.Contains(log, "forbidden") {
		t.Errorf("the account may not do all that it has to:\n%s", log)
	}
	stop(t, c.plane, folder)
}

// apply creates the objects of a file.
func (c *cluster) apply(t *testing.T, config *rest.Config, file string, dryRun ...string) {
	t.Helper()
	objects := testkit.Must(dynamic.NewForConfig(config))
	kinds := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.client.Discovery()))
	c.eventually(t, "the namespace exists", func() bool {
		_, err := c.client.CoreV1().Namespaces().Get(c.ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		return err == nil
	})
	for document := range strings.SplitSeq(string(testkit.Must(os.ReadFile(file))), "\n---\n") {
		object := &unstructured.Unstructured{}
		testkit.Check(yaml.Unmarshal([]byte(document), &object.Object))
		kind := object.GroupVersionKind()
		mapping := testkit.Must(kinds.RESTMapping(kind.GroupKind(), kind.Version))
		_, err := objects.Resource(mapping.Resource).Namespace(object.GetNamespace()).
			Create(c.ctx, object, metav1.CreateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict})
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))
	defer listener.Close()
	return listener.Addr().String()
}

// metricsOf returns what a scheduler serves to an administrator.
func metricsOf(t *testing.T, ctx context.Context, address string, admin *rest.Config) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // it signs for itself
	defer client.CloseIdleConnections()
	request := testkit.Must(http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics", nil))
	request.Header.Set("Authorization", "Bearer "+admin.BearerToken)
	response := testkit.Must(client.Do(request))
	defer response.Body.Close()
	text := string(testkit.Must(io.ReadAll(response.Body)))
	if response.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", response.Status, text)
	}
	return text
}

// TestImage builds the scheduler as the Dockerfile does: with its environment, its arguments
// and its command, of which only the path of the result is another. Nothing is compiled as
// elsewhere, since it is without cgo, so that it takes minutes.
func TestImage(t *testing.T) {
	if os.Getenv("RESVEC_LONG") == "" {
		t.Skip("compiles Kubernetes without cgo")
	}
	ctx := interruptible(t)
	text := string(testkit.Must(os.ReadFile("../Dockerfile")))
	command := regexp.MustCompile(`(?m)^RUN ((?:.*\\\n)*.*)$`).FindStringSubmatch(text)
	variables := regexp.MustCompile(`(?m)^ENV (.*)$`).FindStringSubmatch(text)
	if command == nil || variables == nil {
		t.Fatal("the Dockerfile has no command")
	}
	for minor, modfile := range map[string]string{controlplane.Minors[0]: "go.mod", controlplane.Minors[1]: "kube-" + controlplane.Minors[1] + ".mod"} {
		binary := filepath.Join(t.TempDir(), "kube-scheduler")
		cmd := exec.CommandContext(ctx, "sh", "-ec", strings.Replace(command[1], "-o /kube-scheduler ", "-o "+binary+" ", 1))
		cmd.Dir = ".."
		cmd.Env = append(append(os.Environ(), "MODFILE="+modfile), strings.Fields(variables[1])...)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		version := string(testkit.Must(exec.CommandContext(ctx, binary, "--version").Output()))
		if want := fmt.Sprintf("Kubernetes %s\n", versionOf(t, binary)); version != want || !strings.Contains(version, "v"+minor+".") {
			t.Errorf("it says %q, want %q", version, want)
		}
		file := testkit.Must(elf.Open(binary))
		if libraries, err := file.ImportedLibraries(); err != nil || len(libraries) > 0 {
			t.Errorf("it needs %q of the image: %v", libraries, err)
		}
		testkit.Check(file.Close())
	}
}
