package kubescheduler

import (
	"context"
	"fmt"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/utils/ptr"
)

// apart is a small cluster, and a pod of a gang whose members are alike and have to be apart.
type apart struct {
	nodes   []*corev1.Node
	room    []int // per node: how many members it holds
	running []int // per node: pods that match
	pod     *corev1.Pod
	key     string
	seen    map[string]bool
	most    int
}

// plugin is a plugin of kube-scheduler that filters.
type plugin interface {
	fwk.PreFilterPlugin
	fwk.FilterPlugin
}

// allowed returns the nodes that kube-scheduler allows for one member more.
func (c *apart) allowed(t testing.TB, placed []int) (nodes []int) {
	t.Helper()
	var pods []*corev1.Pod
	for i, node := range c.nodes {
		for k := range c.running[i] + placed[i] {
			pod := c.pod.DeepCopy()
			pod.Name, pod.UID, pod.Spec.NodeName = fmt.Sprint("pod-", i, "-", k), "", node.Name
			if k < c.running[i] { // matches, and asks for nothing itself
				pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints = nil, nil
			}
			pods = append(pods, pod)
		}
	}
	ctx := context.Background()
	snapshot := cache.NewSnapshot(pods, c.nodes)
	handle, err := frameworkruntime.NewFramework(ctx, nil, nil, frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(nil, 0)))
	if err != nil {
		t.Fatal(err)
	}
	var p fwk.Plugin
	if c.pod.Spec.Affinity != nil {
		p, err = interpodaffinity.New(ctx, &config.InterPodAffinityArgs{}, handle, feature.Features{})
	} else {
		p, err = podtopologyspread.New(ctx, &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}, handle, feature.Features{})
	}
	if err != nil {
		t.Fatal(err)
	}
	infos, err := snapshot.NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	state := framework.NewCycleState()
	_, status := p.(plugin).PreFilter(ctx, state, c.pod, infos)
	if !status.IsSuccess() && !status.IsSkip() {
		t.Fatal(status)
	}
	for i, node := range c.nodes {
		info, err := snapshot.NodeInfos().Get(node.Name)
		if err != nil {
			t.Fatal(err)
		}
		if placed[i] < c.room[i] && (status.IsSkip() || p.(plugin).Filter(ctx, state, c.pod, info).IsSuccess()) {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// search finds out how many members kube-scheduler can place, one after the other, at best.
func (c *apart) search(t testing.TB, placed []int, n int) {
	if key := fmt.Sprint(placed); c.seen[key] {
		return
	} else {
		c.seen[key] = true
	}
	c.most = max(c.most, n)
	for _, i := range c.allowed(t, placed) {
		placed[i]++
		c.search(t, placed, n+1)
		placed[i]--
	}
}

func randomApart(r peer.Random) *apart {
	labels := map[string]string{"gang": "a"}
	c := &apart{key: []string{"zone", corev1.LabelHostname}[r.IntN(2)], seen: make(map[string]bool)}
	c.pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "member", Namespace: "default", Labels: labels}}
	left := 7
	for i := range 1 + r.IntN(5) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", i), Labels: map[string]string{
			corev1.LabelHostname: fmt.Sprint("node-", i),
		}}}
		if r.Chance(85) {
			node.Labels["zone"] = fmt.Sprint("zone-", r.IntN(3))
		}
		room := r.IntN(min(left, 3) + 1)
		left -= room
		running := 0
		if r.Chance(30) {
			running = 1 + r.IntN(2)
		}
		c.nodes, c.room, c.running = append(c.nodes, node), append(c.room, room), append(c.running, running)
	}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	if r.Chance(40) {
		c.pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: selector, TopologyKey: c.key}},
		}}
		return c
	}
	constraint := corev1.TopologySpreadConstraint{
		MaxSkew: 1 + r.Int32N(3), TopologyKey: c.key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector,
	}
	if r.Chance(30) {
		constraint.MinDomains = ptr.To(1 + r.Int32N(4))
	}
	c.pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{constraint}
	return c
}

// spread returns what docs/gangs.md says about the pod, and the rows that members may use.
func (c *apart) spread() (s gang.Spread, rows *vector.Mask) {
	s.Domains, rows = &gang.Domains{Offsets: vector.Offsets{0}}, vector.NewMask(len(c.nodes))
	values := make(map[string]bool)
	for i, node := range c.nodes {
		value, labeled := node.Labels[c.key]
		if labeled || c.pod.Spec.Affinity != nil {
			rows.Set(i)
		}
		if !labeled || values[value] {
			continue
		}
		values[value] = true
		s.Running = append(s.Running, 0)
		for k, other := range c.nodes {
			if x, ok := other.Labels[c.key]; ok && x == value {
				s.Domains.Rows = append(s.Domains.Rows, int32(k))
				s.Running[len(s.Running)-1] += c.running[k]
			}
		}
		s.Domains.Offsets = append(s.Domains.Offsets, int32(len(s.Domains.Rows)))
	}
	if c.pod.Spec.Affinity != nil {
		s.Most = 1
		return s, rows
	}
	constraint := c.pod.Spec.TopologySpreadConstraints[0]
	if s.Skew = int(constraint.MaxSkew); constraint.MinDomains != nil && int(*constraint.MinDomains) > len(values) {
		s.Most, s.Skew = s.Skew, 0
	}
	return s, rows
}

// A gang that has to be apart fits exactly where kube-scheduler can place its members one by
// one.
func TestSpread(t *testing.T) {
	metrics.Register() // the plugins count
	counts := make(map[bool]int)
	peer.Problems(t, func(r peer.Random) error {
		c := randomApart(r)
		c.search(t, make([]int, len(c.nodes)), 0)
		s, rows := c.spread()
		var p gang.Packer
		if err := p.Spread(s); err != nil {
			return err
		}
		free := vector.NewMatrix(vector.Schema{}, len(c.nodes), 1)
		for i, n := range c.room {
			free.SetRow(i, vector.ResourceVector{float64(n)})
		}
		for members := range c.most + 3 {
			requests := vector.NewMatrix(vector.Schema{}, members, 1)
			for i := range members {
				requests.SetRow(i, vector.ResourceVector{1})
			}
			want := members <= c.most
			_, _, fits := p.Place(nil, free, requests, rows, nil)
			why, infeasible := p.Infeasible(free, requests, rows, nil)
			counts[want]++
			if fits != want || infeasible == want {
				return fmt.Errorf("%d members: placed %v, %+v; kube-scheduler places %d\nroom %v, running %v, %+v, pod %+v",
					members, fits, why, c.most, c.room, c.running, s, c.pod.Spec)
			}
		}
		return nil
	})
	t.Log(counts)
}
