package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
	"github.com/resvec/resvec/internal/testkit"
)

func namesOf(set config.PluginSet) []string {
	var names []string
	for _, plugin := range set.Enabled {
		names = append(names, plugin.Name)
	}
	return names
}

// TestConfiguration: the plugins run where and when the example says, and the
// built-in ones that they replace nowhere.
func TestConfiguration(t *testing.T) {
	// Constraints of the system, the default, are another reason not to sign pods.
	configuration := replaced(t, example(t), "addToFit: true", "addToFit: false") // with which v1.37 can't batch
	configuration = replaced(t, configuration, "pluginConfig:\n", "pluginConfig:\n  - {name: PodTopologySpread, args: {defaultingType: List}}\n")
	sim := simulate(t, configuration, nil)
	framework := sim.Profiles["default-scheduler"]
	plugins := framework.ListPlugins()
	if names := namesOf(plugins.PreFilter); names[len(names)-1] != resvecfit.Name {
		t.Errorf("preFilter: %v", names)
	}
	if names := namesOf(plugins.Filter); names[0] != resvecfit.Name {
		t.Errorf("filter: %v", names)
	}
	if names := namesOf(plugins.PostFilter); !slices.Equal(names, []string{resvecfit.Name, "DynamicResources", "DefaultPreemption"}) {
		t.Errorf("postFilter: %v", names)
	}
	for point, set := range map[string]config.PluginSet{"preScore": plugins.PreScore, "score": plugins.Score} {
		if names := namesOf(set); !slices.Contains(names, resvecfit.Name) || !slices.Contains(names, resvecfit.BalancedName) {
			t.Errorf("%s: %v", point, names)
		}
	}
	if !slices.Contains(namesOf(plugins.Reserve), resvecfit.Name) {
		t.Errorf("reserve: %v", plugins.Reserve)
	}
	for _, set := range []config.PluginSet{plugins.PreFilter, plugins.Filter, plugins.PreScore, plugins.Score} {
		for _, name := range namesOf(set) {
			if strings.HasPrefix(name, "NodeResources") {
				t.Errorf("%s is enabled", name)
			}
		}
	}
	if framework.SignPod(context.Background(), aPod("pod", 0, "cpu=1")) == nil {
		t.Error("pods are not signed, so opportunistic batching is off")
	}
}

// TestReadme: the README's configuration packs by GPUs, and keeps cpu jobs away from them;
// with its other arguments a scheduler runs.
func TestReadme(t *testing.T) {
	text := testkit.Must(os.ReadFile("README.md"))
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	configuration, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README has no configuration")
	}
	sim := simulate(t, configuration, nil,
		aNode("cpu", "a", "cpu=8", "memory=8Gi", "pods=10"),
		aNode("gpu", "a", "cpu=64", "memory=64Gi", "pods=10", "nvidia.com/gpu=8"))
	sim.run(t)
	sim.create(t, aPod("job", 0, "cpu=4"))
	eventually(t, "the job is placed", func() bool { return sim.pods(t)["job"] != "" })
	if on := sim.pods(t)["job"]; on != "cpu" {
		t.Errorf("the job without GPUs is on %s", on)
	}
	for _, more := range []string{"topK: 100", "gangScheduling: true", "scoring: [{kube: {type: LeastAllocated, resources: [{name: cpu}, {name: memory}]}}]"} {
		if !strings.Contains(string(text), "`"+more) && !strings.Contains(string(text), more+"`") {
			t.Errorf("the README has no %q", more)
		}
		arguments, _, _ := strings.Cut(configuration, "      scoring:\n")
		sim := running(t, arguments+"      "+more+"\n", nil, emptyZone("a", 2)...)
		sim.create(t, aPod("pod", 0, "cpu=2"))
		eventually(t, "a pod is placed with "+more, func() bool { return sim.pods(t)["pod"] != "" })
	}
}

// filterOnly has the plugin filter, and the built-in one score.
const filterOnly = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {disabled: [{name: NodeResourcesFit}]}
    preFilter: {enabled: [{name: ResvecFit}]}
    filter: {enabled: [{name: ResvecFit}]}
    postFilter: {enabled: [{name: ResvecFit}, {name: DynamicResources}, {name: DefaultPreemption}]}
    reserve: {enabled: [{name: ResvecFit}]}
    preScore: {enabled: [{name: NodeResourcesFit}]}
    score: {enabled: [{name: NodeResourcesFit, weight: 1}]}
`

// TestFilterOnly: a plugin that is not enabled at preScore and score isn't asked there.
func TestFilterOnly(t *testing.T) {
	sim := simulate(t, filterOnly, nil, emptyZone("a", 2)...)
	plugins := sim.Profiles["default-scheduler"].ListPlugins()
	for point, set := range map[string]config.PluginSet{"preScore": plugins.PreScore, "score": plugins.Score} {
		if names := namesOf(set); slices.Contains(names, resvecfit.Name) || !slices.Contains(names, "NodeResourcesFit") {
			t.Errorf("%s: %v", point, names)
		}
	}
	if names := namesOf(plugins.Filter); !slices.Contains(names, resvecfit.Name) || slices.Contains(names, "NodeResourcesFit") {
		t.Errorf("filter: %v", names)
	}
	sim.run(t)
	sim.create(t, aPod("pod", 0, "cpu=2"))
	eventually(t, "the pod is placed", func() bool { return sim.pods(t)["pod"] != "" })
}
