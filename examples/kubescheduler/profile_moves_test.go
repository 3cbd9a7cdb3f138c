package main

import (
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
)

// preFilterer is a built-in plugin with a state that preemption changes.
type preFilterer interface {
	fwk.PreFilterPlugin
	fwk.FilterPlugin
	fwk.PreScorePlugin
	fwk.ScorePlugin
}

// learn makes the two plugins once more, to be asked alone.
func (x *trial) learn(c *config.KubeSchedulerProfile) {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	for _, plugin := range c.PluginConfig {
		switch args := plugin.Args.(type) {
		case *config.PodTopologySpreadArgs:
			x.spread = testkit.Must(podtopologyspread.New(x.ctx, args, x.framework, gates)).(preFilterer)
		case *config.InterPodAffinityArgs:
			x.affinity = testkit.Must(interpodaffinity.New(x.ctx, args, x.framework, gates)).(preFilterer)
		}
	}
}

// mover is the library's state of a pod.
type mover interface {
	Move(node *corev1.Node, pod *corev1.Pod, sign int)
	Check(node *corev1.Node) profile.Reason
}

// compareHard compares the states of a pod that PodTopologySpread and InterPodAffinity
// make with the library's, while pods come to a node and go: as preemption and nominated
// pods ask, of one node in each copy of a state.
func (x *trial) compareHard(s *side, pod *corev1.Pod, nodes []fwk.NodeInfo) {
	spread := testkit.Must(s.profile.Spread(pod))
	x.compareState(s, x.spread, pod, nodes, spread != nil, func() mover { return spread.Clone() })
	affinity := testkit.Must(s.profile.Affinity(pod))
	x.compareState(s, x.affinity, pod, nodes, affinity != nil, func() mover { return affinity.Clone() })
}

func (x *trial) compareState(s *side, plugin preFilterer, pod *corev1.Pod, nodes []fwk.NodeInfo, some bool, clone func() mover) {
	original := framework.NewCycleState()
	_, status := plugin.PreFilter(x.ctx, original, pod, nodes)
	if !some && minor() > 36 && utilfeature.DefaultFeatureGate.Enabled(hostnameGate) {
		return // there the plugin skips fewer pods
	}
	if status.IsSkip() == some || !status.IsSkip() && !status.IsSuccess() {
		x.Fatalf("decision %d, %s, pod %s: %s says %v, the library has a state: %v\n%s", x.n.decisions, s.name, pod.Name, plugin.Name(), status, some, x.describe(pod))
	}
	if !some || len(nodes) == 0 {
		return
	}
	story := ""
	same := func(theirs fwk.CycleState, ours mover, changed fwk.NodeInfo) {
		for _, node := range nodes {
			x.n.checks++
			if changed != nil && changed.Node() == node.Node() {
				node = changed
			}
			want, got := plugin.Filter(x.ctx, theirs, pod, node), ours.Check(node.Node())
			if reasonOf(want) != got.String() {
				x.Fatalf("decision %d, %s, pod %s, %s of node %s: %q, want %q\n%s%s", x.n.decisions, s.name, pod.Name, plugin.Name(), node.Node().Name,
					got, reasonOf(want), story, x.describe(pod))
			}
		}
	}
	first := clone()
	same(original, first, nil)
	for range 3 {
		theirs, ours := original.Clone(), clone()
		node := nodes[x.IntN(len(nodes))].Snapshot()
		story = ""
		for range 1 + x.IntN(4) {
			x.n.moves++
			if pods := node.GetPods(); len(pods) > 0 && x.chance(50) {
				gone := slices.Clone(pods)[x.IntN(len(pods))]
				story += fmt.Sprintf("pod %s leaves node %s\n", gone.GetPod().Name, node.Node().Name)
				testkit.Check(node.RemovePod(logr.Discard(), gone.GetPod()))
				testkit.Check(plugin.PreFilterExtensions().RemovePod(x.ctx, theirs, pod, gone, node).AsError())
				ours.Move(node.Node(), gone.GetPod(), -1)
			} else {
				come := newPodInfo(bound(x.pod(), node.Node().Name))
				story += fmt.Sprintf("pod %s comes to node %s: %v %v\n", come.GetPod().Name, node.Node().Name, come.GetPod().ObjectMeta, come.GetPod().Spec.Affinity)
				node.AddPodInfo(come)
				testkit.Check(plugin.PreFilterExtensions().AddPod(x.ctx, theirs, pod, come, node).AsError())
				ours.Move(node.Node(), come.GetPod(), 1)
			}
			same(theirs, ours, node)
		}
	}
	same(original, first, nil)
}

// compareRaw compares the scores of the two plugins before and after they are normalized,
// where some of the nodes were visited: any, whether feasible or not.
func (x *trial) compareRaw(s *side, pod *corev1.Pod, all []fwk.NodeInfo) {
	var nodes []fwk.NodeInfo
	rows := vector.NewMask(s.nodes.Len())
	for _, node := range all {
		if x.chance(60) {
			nodes = append(nodes, node)
			row, _ := s.nodes.Row(node.Node().Name)
			rows.Set(row)
		}
	}
	if len(nodes) == 0 {
		return
	}
	for _, plugin := range []preFilterer{x.spread, x.affinity} {
		name, state := profile.Plugin(plugin.Name()), framework.NewCycleState()
		raw := make([]int64, s.nodes.Len())
		scored := testkit.Must(s.profile.RawScores(raw, name, pod, rows))
		status := plugin.PreScore(x.ctx, state, pod, nodes)
		theirs, ours := make(fwk.NodeScoreList, len(nodes)), make([]int64, len(nodes))
		fail := func(what string) {
			x.Fatalf("decision %d, %s, pod %s, %s, %s: %v, want %v %v\n%s", x.n.decisions, s.name, pod.Name, name, what, ours, theirs, status, x.describe(pod))
		}
		if !scored {
			clear(raw)
		}
		for i, node := range nodes {
			x.n.raw++
			row, _ := s.nodes.Row(node.Node().Name)
			ours[i] = raw[row]
			if status.IsSkip() {
				continue
			}
			var status *fwk.Status
			theirs[i].Score, status = plugin.Score(x.ctx, state, pod, node)
			testkit.Check(status.AsError())
			if theirs[i].Name = node.Node().Name; theirs[i].Score != ours[i] && !(ours[i] == profile.Unscored && theirs[i].Score == 0) {
				fail("raw")
			}
		}
		if !status.IsSkip() {
			testkit.Check(plugin.ScoreExtensions().NormalizeScore(x.ctx, state, pod, theirs).AsError())
		}
		if scored {
			profile.Normalize(name, ours)
		}
		for i := range nodes {
			if ours[i] != theirs[i].Score {
				fail("normalized")
			}
		}
	}
}
