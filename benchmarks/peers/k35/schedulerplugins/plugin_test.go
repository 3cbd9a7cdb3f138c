// Package schedulerplugins compares package quota with the plugin CapacityScheduling of
// scheduler-plugins.
package schedulerplugins

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	"sigs.k8s.io/scheduler-plugins/pkg/capacityscheduling"
)

// plugin is what is called of the plugin, as kube-scheduler calls it.
type plugin interface {
	fwk.PreFilterPlugin
	fwk.ReservePlugin
}

// handle is what the plugin uses of a scheduler without nodes and nominated pods: those
// would only add to its work.
type handle struct {
	fwk.Handle
	config    *rest.Config
	informers informers.SharedInformerFactory
}

func (h handle) KubeConfig() *rest.Config                               { return h.config }
func (h handle) SharedInformerFactory() informers.SharedInformerFactory { return h.informers }
func (h handle) SnapshotSharedLister() fwk.SharedLister                 { return h }
func (h handle) NodeInfos() fwk.NodeInfoLister                          { return noNodes{} }
func (h handle) StorageInfos() fwk.StorageInfoLister                    { return nil }

type noNodes struct{ fwk.NodeInfoLister }

func (noNodes) List() ([]fwk.NodeInfo, error) { return nil, nil }

func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// newPlugin returns the plugin, which has read the quotas from an API server that has
// nothing else.
func newPlugin(t testing.TB, quotas []v1alpha1.ElasticQuota) plugin {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, quotas) }))
	t.Cleanup(func() {
		cancel() // ends the watches, which Close waits for
		server.Close()
	})
	p, err := capacityscheduling.New(ctx, nil, handle{
		config:    &rest.Config{Host: server.URL},
		informers: informers.NewSharedInformerFactory(nil, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := p.(plugin)
	// It handles the quotas in a goroutine: one that it knows refuses a pod this large.
	for _, q := range quotas {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "large", Namespace: q.Namespace}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1T")}}}},
		}}
		for deadline := time.Now().Add(time.Minute); ask(c, pod); {
			if time.Now().After(deadline) {
				t.Fatalf("the plugin doesn't know the quota of %s", q.Namespace)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return c
}

// ask reports whether PreFilter lets a pod pass.
func ask(c plugin, pod *corev1.Pod) bool {
	_, status := c.PreFilter(context.Background(), framework.NewCycleState(), pod, nil)
	return status.IsSuccess()
}

// serve answers as an API server that has elastic quotas only, and on which nothing
// changes.
func serve(w http.ResponseWriter, r *http.Request, quotas []v1alpha1.ElasticQuota) {
	groupVersion := v1alpha1.SchemeGroupVersion.String()
	reply := func(object any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
	version := metav1.GroupVersionForDiscovery{GroupVersion: groupVersion, Version: v1alpha1.SchemeGroupVersion.Version}
	group := metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"},
		Name:     v1alpha1.SchemeGroupVersion.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
	}
	list := v1alpha1.ElasticQuotaList{
		TypeMeta: metav1.TypeMeta{Kind: "ElasticQuotaList", APIVersion: groupVersion},
		ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: quotas,
	}
	switch path := r.URL.Path; {
	case path == "/api":
		reply(metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}})
	case path == "/apis":
		reply(metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{group}})
	case path == "/apis/"+group.Name:
		reply(group)
	case path == "/apis/"+groupVersion:
		reply(metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: groupVersion,
			APIResources: []metav1.APIResource{{Name: "elasticquotas", Kind: "ElasticQuota", Namespaced: true, Verbs: metav1.Verbs{"list", "watch"}}},
		})
	case path != "/apis/"+groupVersion+"/elasticquotas":
		http.NotFound(w, r)
	case r.URL.Query().Get("watch") != "true":
		reply(list)
	default:
		type event struct {
			Type   string `json:"type"`
			Object any    `json:"object"`
		}
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			for _, q := range quotas {
				reply(event{"ADDED", q})
			}
			last := v1alpha1.ElasticQuota{TypeMeta: metav1.TypeMeta{Kind: "ElasticQuota", APIVersion: groupVersion}, ObjectMeta: metav1.ObjectMeta{
				ResourceVersion: "1", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
			}}
			reply(event{"BOOKMARK", last})
		}
		<-r.Context().Done()
	}
}

// elasticQuota returns the quota of a namespace.
func elasticQuota(namespace string, least, most corev1.ResourceList) v1alpha1.ElasticQuota {
	return v1alpha1.ElasticQuota{
		TypeMeta:   metav1.TypeMeta{Kind: "ElasticQuota", APIVersion: v1alpha1.SchemeGroupVersion.String()},
		ObjectMeta: metav1.ObjectMeta{Name: "quota", Namespace: namespace, ResourceVersion: "1"},
		Spec:       v1alpha1.ElasticQuotaSpec{Min: least, Max: most},
	}
}
