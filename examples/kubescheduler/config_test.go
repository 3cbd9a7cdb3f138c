package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
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
