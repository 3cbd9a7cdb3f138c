package kueue

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/cache/scheduler"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const flavor = "default" // the one flavor that all quotas and nodes are of

// quiet is a context without a logger.
func quiet() context.Context { return logr.NewContext(context.Background(), logr.Discard()) }

// noObjects is a cluster without local queues and workloads. It is all of a client
// that Kueue's cache needs.
type noObjects struct{ client.Client }

func (noObjects) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// newKueue returns Kueue's cache with the flavor. levels are its topology's levels; none
// without one.
func newKueue(levels ...string) *scheduler.Cache {
	cache := scheduler.New(noObjects{})
	rf := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: flavor}}
	if len(levels) > 0 {
		topology := &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "topology"}}
		for _, level := range levels {
			topology.Spec.Levels = append(topology.Spec.Levels, kueue.TopologyLevel{NodeLabel: level})
		}
		name := kueue.TopologyReference(topology.Name)
		rf.Spec.TopologyName = &name
		cache.AddOrUpdateTopology(logr.Discard(), topology)
	}
	cache.AddOrUpdateResourceFlavor(logr.Discard(), rf)
	return cache
}

// clusterQueue returns a queue with quotas of the flavor.
func clusterQueue(name, cohort string, quotas []kueue.ResourceQuota) *kueue.ClusterQueue {
	return &kueue.ClusterQueue{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: kueue.ClusterQueueSpec{
			CohortName:        kueue.CohortReference(cohort),
			ResourceGroups:    resourceGroups(quotas),
			NamespaceSelector: &metav1.LabelSelector{},
		},
	}
}

func resourceGroups(quotas []kueue.ResourceQuota) []kueue.ResourceGroup {
	if len(quotas) == 0 {
		return nil
	}
	var covered []corev1.ResourceName
	for _, q := range quotas {
		covered = append(covered, q.Name)
	}
	return []kueue.ResourceGroup{{
		CoveredResources: covered,
		Flavors:          []kueue.FlavorQuotas{{Name: flavor, Resources: quotas}},
	}}
}

func takeSnapshot(t testing.TB, cache *scheduler.Cache) *scheduler.Snapshot {
	t.Helper()
	snapshot, err := cache.Snapshot(quiet())
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}
