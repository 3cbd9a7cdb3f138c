package scoring

import (
	"reflect"
	"slices"
	"testing"
)

func TestParseScoringStrategy(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       KubeConfig
		errors     []string
	}{
		{"least", "type: LeastAllocated\nresources:\n- name: cpu\n  weight: 2\n- name: nvidia.com/gpu\n",
			KubeConfig{Type: LeastAllocated, Resources: []KubeResource{{"cpu", 2}, {"nvidia.com/gpu", 1}}}, nil},
		{"ratio, as JSON", `{"type":"RequestedToCapacityRatio","resources":[{"name":"cpu","weight":null}],"requestedToCapacityRatio":{"shape":[{"utilization":0},{"utilization":100,"score":10}]}}`,
			KubeConfig{Type: RequestedToCapacityRatio, Resources: []KubeResource{{"cpu", 1}}, Shape: []ShapePoint{{0, 0}, {100, 10}}}, nil},
		{"weights are kept", "type: x\nresources: [{name: cpu, weight: 0}, {name: cpu, weight: -7}]",
			KubeConfig{Type: "x", Resources: []KubeResource{{"cpu", 0}, {"cpu", -7}}}, nil},
		{"nothing", "", KubeConfig{}, []string{"(document)"}},
		{"nothing in it", "{}", KubeConfig{}, nil},
		{"null", "type:\nresources:\nrequestedToCapacityRatio:", KubeConfig{}, nil},
		{"all at once", "typ: x\ntype: 5\nresources: [{nam: cpu}, {name: cpu, weight: 1.5}, {name: 7, weight: '1'}, 5, null]\nrequestedToCapacityRatio: {shap: 1, shape: [{utilization: .nan, score: 1e30}, [], {x: 1}]}", KubeConfig{},
			[]string{"requestedToCapacityRatio.shap", "requestedToCapacityRatio.shape[0].score", "requestedToCapacityRatio.shape[0].utilization", "requestedToCapacityRatio.shape[1]", "requestedToCapacityRatio.shape[2].x",
				"resources[0].nam", "resources[0].name", "resources[1].weight", "resources[2].name", "resources[2].weight", "resources[3]", "resources[4]", "typ", "type"}},
		{"wrong types", "resources: {name: cpu}\nrequestedToCapacityRatio: []", KubeConfig{}, []string{"requestedToCapacityRatio", "resources"}},
		{"wrong shape", "requestedToCapacityRatio: {shape: {}}", KubeConfig{}, []string{"requestedToCapacityRatio.shape"}},
		{"repeated", "type: a\ntype: b\nresources: [{name: cpu, name: cpu}]\nrequestedToCapacityRatio: {shape: [], shape: []}", KubeConfig{},
			[]string{"requestedToCapacityRatio.shape", "resources[0].name", "type"}},
		{"not a mapping", "[]", KubeConfig{}, []string{"(document)"}},
		{"not YAML", "{", KubeConfig{}, []string{"(document)"}},
	} {
		got, err := ParseScoringStrategy([]byte(c.text))
		if paths, _ := pathsOf(t, err); !slices.Equal(paths, c.errors) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, paths, c.errors)
		}
		if err == nil && !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", c.name, *got, c.want)
		}
	}
}
