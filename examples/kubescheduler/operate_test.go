package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/resvec/resvec/examples/kubescheduler/internal/controlplane"
	"github.com/resvec/resvec/internal/testkit"
)

// logged is what klog writes.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// lines returns the lines with a text in them.
func (l *logged) lines(text string) (found []string) {
	klog.Flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, text) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// logs returns what is logged from now on until the test ends.
func logs(t *testing.T) *logged {
	t.Helper()
	l := &logged{}
	t.Cleanup(klog.CaptureState().Restore)
	klog.LogToStderr(false)
	klog.SetOutputBySeverity("INFO", l) // which has the others, too
	return l
}

// postFilter is the line of the configuration that has the plugin complete statuses before
// pods are evicted.
const postFilter = "enabled: [{name: ResvecFit}, {name: DynamicResources}, {name: DefaultPreemption}]"

// misordered are lines in its place with which it comes too late.
var misordered = map[string]string{
	"not enabled":              "disabled: [{name: ResvecFit}]",
	"after DefaultPreemption":  "enabled: [{name: DynamicResources}, {name: DefaultPreemption}, {name: ResvecFit}]",
	"as multiPoint orders":     "enabled: []",
	"all disabled but the one": `{enabled: [{name: DefaultPreemption}], disabled: [{name: "*"}]}`,
}

func withPort(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
	return pod
}

// portsHeld returns 20 emptier nodes whose host port a pod of little priority holds, and 20
// fuller ones; and where the pods are.
func portsHeld() (objects []runtime.Object, pods map[string]string) {
	pods = map[string]string{}
	for i := range 20 {
		empty, full := fmt.Sprint("empty-", i), fmt.Sprint("full-", i)
		objects = append(objects, aNode(empty, "a", "cpu=4", "memory=8Gi", "pods=10"), aNode(full, "a", "cpu=4", "memory=8Gi", "pods=10"),
			bound(withPort(aPod("port-"+empty, 1, "cpu=100m")), empty), bound(aPod("other-"+full, 1, "cpu=2"), full))
		pods["port-"+empty], pods["other-"+full] = empty, full
	}
	return objects, pods
}

// TestTopKEvictsNothing: the nodes with the best scores are refused for a host port that a
// pod of less priority holds, and others have room. Whether the plugin may leave nodes out
// or not, nothing is evicted.
func TestTopKEvictsNothing(t *testing.T) {
	objects, want := portsHeld()
	orders := maps.Clone(misordered)
	orders["first"] = postFilter
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			log := logs(t)
			before := counters(t)
			sim := running(t, replaced(t, example(t, "topK: 10"), postFilter, order), nil, objects...)
			sim.create(t, withPort(aPod("new", 100, "cpu=1")))
			eventually(t, "the pod is placed", func() bool { return sim.pods(t)["new"] != "" })
			pods := sim.pods(t)
			if !strings.HasPrefix(pods["new"], "full-") {
				t.Errorf("the pod is on %s", pods["new"])
			}
			if delete(pods, "new"); !maps.Equal(pods, want) {
				t.Errorf("pods are %v", pods)
			}
			faults := log.lines("topK: Forbidden: ResvecFit has to come before DefaultPreemption at postFilter")
			got := changed(before, counters(t))
			if name == "first" {
				if len(faults) > 0 || got[`cycles_total{mode="top_k"}`] != 1 || got["retries_total"] != 1 || got["named_nodes_total"] != 10 ||
					got[`fallbacks_total{reason="retry"}`] != 1 {
					t.Errorf("%v\n%v", got, faults)
				}
				return
			}
			if len(faults) != 1 || !strings.HasPrefix(faults[0], "E") || got[`fallbacks_total{reason="profile"}`] == 0 || got[`cycles_total{mode="top_k"}`] != 0 {
				t.Errorf("%v\n%v", got, faults)
			}
		})
	}
}

// failing is a ledger that can't say anything about some nodes for a while.
type failing struct {
	oneCard
	works atomic.Bool
}

func (l *failing) Filter(_ context.Context, _ *corev1.Pod, node string) *fwk.Status {
	if strings.HasPrefix(node, "full-") && !l.works.Load() {
		return fwk.NewStatus(fwk.Error, "try again")
	}
	return nil
}

// TestTopKEvictsNothingOnErrors: nor is anything evicted where it can't be known whether the
// nodes that were left out have room.
func TestTopKEvictsNothingOnErrors(t *testing.T) {
	objects, want := portsHeld()
	ledger := &failing{}
	before := counters(t)
	sim := running(t, example(t, "topK: 10"), ledger, objects...)
	sim.create(t, withPort(aPod("new", 100, "cpu=1")))
	eventually(t, "the pod was tried twice", func() bool {
		got := changed(before, counters(t))
		return got["retries_total"] == 1 && got[`fallbacks_total{reason="retry"}`] > 0
	})
	ledger.works.Store(true)
	eventually(t, "the pod is placed", func() bool { return sim.pods(t)["new"] != "" })
	pods := sim.pods(t)
	if delete(pods, "new"); !maps.Equal(pods, want) {
		t.Errorf("pods are %v", pods)
	}
}

// counters returns the plugin's counters in the registry that the scheduler serves.
func counters(t testing.TB) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, family := range testkit.Must(legacyregistry.DefaultGatherer.Gather()) {
		name, ok := strings.CutPrefix(family.GetName(), "resvecfit_")
		if !ok {
			continue
		}
		for _, metric := range family.Metric {
			values[name+labels(metric)] = metric.GetCounter().GetValue()
		}
	}
	return values
}

func labels(metric *dto.Metric) string {
	if len(metric.Label) == 0 {
		return ""
	}
	return fmt.Sprintf("{%s=%q}", metric.Label[0].GetName(), metric.Label[0].GetValue())
}

// changed returns by how much counters have grown.
func changed(before, after map[string]float64) map[string]float64 {
	grown := map[string]float64{}
	for name, value := range after {
		if value > before[name] {
			grown[name] = value - before[name]
		}
	}
	return grown
}

// TestCounters: each way of choosing nodes is counted, and why all were visited.
func TestCounters(t *testing.T) {
	for _, c := range []struct {
		what, arguments string
		pod             *corev1.Pod
		want            map[string]float64
	}{
		{"few fit", "", aPod("pod", 0, "cpu=3"), map[string]float64{`cycles_total{mode="fits"}`: 1, "named_nodes_total": 2}},
		{"few fit, and the best is named", "topK: 1", aPod("pod", 0, "cpu=3"), map[string]float64{`cycles_total{mode="top_k"}`: 1, "named_nodes_total": 1}},
		{"most fit", "", aPod("pod", 0, "cpu=1"), map[string]float64{`cycles_total{mode="all"}`: 1, `fallbacks_total{reason="plenty"}`: 1}},
		{"nodes are never named", "visitPercent: 0", aPod("pod", 0, "cpu=3"), map[string]float64{`cycles_total{mode="all"}`: 1, `fallbacks_total{reason="plenty"}`: 1}},
		{"none fits", "", aPod("pod", 0, "cpu=5"), map[string]float64{`cycles_total{mode="all"}`: 1, `fallbacks_total{reason="unschedulable"}`: 1}},
		{"none fits, one could", "", aPod("pod", 0, "cpu=6"), map[string]float64{`cycles_total{mode="possible"}`: 1, "named_nodes_total": 1}},
		{"another plugin refuses all", "", inZone(aPod("pod", 0, "cpu=3"), "b"), map[string]float64{`cycles_total{mode="fits"}`: 1, "named_nodes_total": 2}},
	} {
		t.Run(c.what, func(t *testing.T) {
			objects := append(fullZone("b", 4), emptyZone("a", 2)...)
			objects = append(objects, aNode("large", "c", "cpu=8", "memory=8Gi", "pods=10"), bound(aPod("hog", 0, "cpu=6"), "large"))
			for i := range 3 {
				objects = append(objects, aNode(fmt.Sprint("d", i), "d", "cpu=5", "memory=8Gi", "pods=10"), bound(aPod(fmt.Sprint("some-", i), 0, "cpu=3"), fmt.Sprint("d", i)))
			}
			sim := running(t, example(t, c.arguments), nil, objects...)
			before := counters(t)
			sim.create(t, c.pod)
			eventually(t, "the pod has had its turn", func() bool { return sim.pods(t)["pod"] != "" || refused(t, sim, "pod") })
			if got := changed(before, counters(t)); !maps.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// TestScoredAsStock: where nodes are named, no fewer are scored than by kube-scheduler with
// the built-in plugins.
func TestScoredAsStock(t *testing.T) {
	ctx := klog.NewContext(context.Background(), logr.Discard())
	for _, c := range []struct {
		nodes, fit int
		setting    string // of the profile
		named      bool
	}{
		{2000, 50, "", true},
		{2000, 100, "", true},
		{2000, 150, "", true},
		{2000, 300, "", true},
		{2000, 500, "", false}, // it would take 1,250 nodes
		{5000, 500, "", true},
		{5000, 900, "", true},
		{5000, 1250, "", true},
		{2000, 300, "percentageOfNodesToScore: 100", true},
		{2000, 300, "percentageOfNodesToScore: 20", false}, // 1,500
		{2000, 300, "percentageOfNodesToScore: 10", false}, // all
		{2000, 300, "percentageOfNodesToScore: 1", true},
	} {
		t.Run(fmt.Sprintf("nodes=%d/fit=%d/%s", c.nodes, c.fit, c.setting), func(t *testing.T) {
			var scored [2]int
			before := counters(t)
			for i, configuration := range []string{builtin, example(t)} {
				configuration = replaced(t, configuration, "schedulerName: default-scheduler", "schedulerName: default-scheduler"+setting(i, c.setting))
				sim := simulate(t, configuration, nil)
				for k := range c.nodes {
					name := fmt.Sprint("node-", k)
					sim.Cache.AddNode(klog.FromContext(ctx), aNode(name, "a", "cpu=4", "memory=8Gi", "pods=10"))
					if k*c.fit/c.nodes == (k+1)*c.fit/c.nodes { // all but c.fit of them
						testkit.Check(sim.Cache.AddPod(klog.FromContext(ctx), bound(aPod("old-"+name, 0, "cpu=3"), name)))
					}
				}
				result := testkit.Must(sim.SchedulePod(ctx, sim.update(ctx, t), framework.NewCycleState(), arriving(t, 0, []string{"cpu=2"})))
				scored[i] = result.FeasibleNodes
			}
			if got := changed(before, counters(t)); got[`cycles_total{mode="fits"}`] == 1 != c.named {
				t.Errorf("nodes are named: %v", got)
			}
			if scored[0] != scored[1] {
				t.Errorf("kube-scheduler scores %d nodes, with the plugin %d", scored[0], scored[1])
			}
		})
	}
}

// setting returns a line of a profile: of the first configuration in one line, of the second
// in lines.
func setting(i int, line string) string {
	switch {
	case line == "":
		return ""
	case i == 0:
		return ", " + line
	}
	return "\n  " + line
}

// TestWarnings: likely mistakes in a profile are logged when the scheduler starts.
func TestWarnings(t *testing.T) {
	const fitAndBalanced = "enabled: [{name: ResvecFit, weight: 1}, {name: ResvecBalancedAllocation, weight: 1}]"
	const disabled = "disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]"
	for _, c := range []struct {
		what          string
		configuration string
		want          []string
	}{
		{"the example", example(t), nil},
		{"the filter alone", filterOnly, nil},
		{"NodeResourcesFit is left enabled", replaced(t, example(t), disabled, "disabled: [{name: NodeResourcesBalancedAllocation}]"), []string{
			"NodeResourcesFit is enabled beside ResvecFit at filter, which does its work again: disable it",
			"NodeResourcesFit is enabled beside ResvecFit at preFilter, which does its work again: disable it",
			"NodeResourcesFit is enabled beside ResvecFit at preScore, which does its work again: disable it",
			"NodeResourcesFit is enabled beside ResvecFit at score, which does its work again: disable it",
		}},
		{"NodeResourcesBalancedAllocation is left enabled", replaced(t, example(t), disabled, "disabled: [{name: NodeResourcesFit}]"), []string{
			"NodeResourcesBalancedAllocation is enabled beside ResvecBalancedAllocation at preScore, which does its work again: disable it",
			"NodeResourcesBalancedAllocation is enabled beside ResvecBalancedAllocation at score, which does its work again: disable it",
		}},
		{"weights 1 and 5", replaced(t, example(t), fitAndBalanced, "enabled: [{name: ResvecFit, weight: 1}, {name: ResvecBalancedAllocation, weight: 5}]"), []string{
			"addToFit counts ResvecBalancedAllocation with the weight of ResvecFit: 1 instead of 5; make them equal, or set addToFit to false",
		}},
		{"weights 5 and 1, not added", replaced(t, replaced(t, example(t), fitAndBalanced,
			"enabled: [{name: ResvecFit, weight: 5}, {name: ResvecBalancedAllocation, weight: 1}]"), "addToFit: true", "addToFit: false"), nil},
		{"Balanced without Fit", replaced(t, replaced(t, replaced(t, example(t), fitAndBalanced, "enabled: [{name: ResvecBalancedAllocation, weight: 1}]"),
			"enabled: [{name: ResvecFit}]", "enabled: []"), postFilter, "enabled: []"), []string{
			"ResvecBalancedAllocation needs ResvecFit at preFilter, where it is not enabled: every pod will fail",
		}},
		{"Balanced before Fit", replaced(t, example(t), fitAndBalanced, "enabled: [{name: ResvecBalancedAllocation, weight: 1}, {name: ResvecFit, weight: 1}]"), []string{
			"addToFit has no effect: ResvecBalancedAllocation comes before ResvecFit at preScore",
		}},
		{"Fit does not score", replaced(t, example(t), "    filter:", "    score: {disabled: [{name: ResvecFit}]}\n    filter:"), []string{
			"addToFit has no effect: ResvecFit does not score",
		}},
		{"filter without preFilter", replaced(t, filterOnly, "preFilter: {enabled: [{name: ResvecFit}]}", "preFilter: {}"), []string{
			"ResvecFit is enabled at filter, but not at preFilter: every pod will fail",
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			log := logs(t)
			simulate(t, c.configuration, nil)
			var got []string
			for _, line := range log.lines("Warning: ") {
				_, text, _ := strings.Cut(line, `"Warning: `)
				text, _, _ = strings.Cut(text, `" plugin=`)
				got = append(got, text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q\nwant %q", got, c.want)
			}
		})
	}
	t.Run("a ledger that charges nothing", func(t *testing.T) {
		log := logs(t)
		simulate(t, replaced(t, filterOnly, "reserve: {enabled: [{name: ResvecFit}]}", "reserve: {}"), &oneCard{})
		if got := log.lines("Warning: ResvecFit is not enabled at reserve: its ledger will charge nothing"); len(got) != 1 {
			t.Error(got)
		}
	})
}

// setUp does what the command does before it connects to a cluster.
func setUp(t *testing.T, configuration string) error {
	t.Helper()
	folder := t.TempDir()
	kubeconfig, file := filepath.Join(folder, "kubeconfig"), filepath.Join(folder, "scheduler.yaml")
	testkit.Check(os.WriteFile(kubeconfig, []byte(nowhere), 0o600))
	testkit.Check(os.WriteFile(file, testkit.Must(controlplane.WithKubeconfig([]byte(configuration), kubeconfig)), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	o := options.NewOptions()
	o.ConfigFile, o.SecureServing.BindPort = file, 0
	_, _, err := app.Setup(ctx, o, plugins()...)
	return err
}

// nowhere is a kubeconfig for a cluster that does not answer.
const nowhere = `
apiVersion: v1
kind: Config
clusters: [{name: nowhere, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: nowhere, context: {cluster: nowhere}}]
current-context: nowhere
`

// TestRefusedAtStart: the command does not start with topK where it can't act.
func TestRefusedAtStart(t *testing.T) {
	for name, order := range misordered {
		t.Run(name, func(t *testing.T) {
			if err := setUp(t, replaced(t, example(t), postFilter, order)); err != nil {
				t.Errorf("without topK: %v", err)
			}
			err := setUp(t, replaced(t, example(t, "topK: 10"), postFilter, order))
			if err == nil || !strings.Contains(err.Error(), "topK: Forbidden: ResvecFit has to come before DefaultPreemption at postFilter") {
				t.Error(err)
			}
		})
	}
	if err := setUp(t, example(t, "topK: 10")); err != nil {
		t.Errorf("in the order of the example: %v", err)
	}
}
