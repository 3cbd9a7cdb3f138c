package scoring

import (
	"fmt"
	"strings"
	"testing"
)

func TestParsePodOverride(t *testing.T) {
	const typePath = `metadata.annotations["volcano.sh/resource-strategy-scoring-type"]`
	const weightPath = `metadata.annotations["volcano.sh/resource-strategy-weight"]`
	ok := func(result string, warnings ...string) resolution {
		return resolution{result: result, warnings: warnings}
	}
	bad := func(paths ...string) resolution { return resolution{errors: paths} }
	zero := func(paths ...string) resolution { return resolution{warnings: paths} } // no rules
	for _, c := range []struct {
		name, m, kind, weights string
		normal, lenient        resolution
	}{
		{"both", "gpu", "LeastAllocated", `{"cpu":2,"memory":1}`, ok("cpu=Least2 memory=Least1"), ok("cpu=Least2 memory=Least1")},
		{"ascending by index", "gpu", "MostAllocated", `{"nvidia.com/gpu":1,"cpu":2,"example.com/foo":3}`, ok("cpu=Most2 gpu=Most1 example.com/foo=Most3"), ok("cpu=Most2 gpu=Most1 example.com/foo=Most3")},
		{"weight 0 is kept", "gpu", "MostAllocated", `{"cpu":0,"memory":2}`, ok("cpu=Most0 memory=Most2"), ok("cpu=Most0 memory=Most2")},
		{"no weights", "gpu", "MostAllocated", `{}`, ok(""), ok("")},
		{"whole numbers", "gpu", "MostAllocated", ` {"cpu": 2.0, "memory": 1e3} `, ok("cpu=Most2 memory=Most1000"), ok("cpu=Most2 memory=Most1000")},
		{"unknown names", "gpu", "MostAllocated", `{"cpu":1,"x/y":2,"xy":3}`, ok("cpu=Most1", weightPath+`["x/y"]`, weightPath+`["xy"]`), ok("cpu=Most1", weightPath+`["x/y"]`, weightPath+`["xy"]`)},
		{"no names", "gpu", "MostAllocated", `{"":1,"cpu":1," cpu":2,"x/":3}`, bad(weightPath+`[" cpu"]`, weightPath+`[""]`, weightPath+`["x/"]`), ok("cpu=Most1", weightPath+`[" cpu"]`, weightPath+`[""]`, weightPath+`["x/"]`)},

		{"unknown type", "gpu", "mostAllocated", `{"cpu":1}`, bad(typePath), zero(typePath)},
		{"type of kube-scheduler", "gpu", "BalancedAllocation", `{"cpu":1}`, bad(typePath), zero(typePath)},
		{"weights empty", "gpu", "MostAllocated", "", bad(weightPath), zero(weightPath)},
		{"weights not JSON", "gpu", "MostAllocated", "invalid-json", bad(weightPath), zero(weightPath)},
		{"weights cut off", "gpu", "MostAllocated", `{"cpu":1`, bad(weightPath), zero(weightPath)},
		{"weights in YAML", "gpu", "MostAllocated", `{cpu: 1}`, bad(weightPath), zero(weightPath)},
		{"text behind", "gpu", "MostAllocated", `{"cpu":1}{}`, bad(weightPath), zero(weightPath)},
		{"list", "gpu", "MostAllocated", `["cpu"]`, bad(weightPath), zero(weightPath)},
		{"null", "gpu", "MostAllocated", `null`, bad(weightPath), zero(weightPath)},
		{"not UTF-8", "gpu", "MostAllocated", "{\"\xff\":1}", bad(weightPath), zero(weightPath)},
		{"too long", "gpu", "MostAllocated", strings.Repeat(" ", maxAnnotations) + "{}", bad(weightPath), zero(weightPath)},
		{"nested deep", "gpu", "MostAllocated", `{"cpu":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", bad(weightPath), zero(weightPath)},
		{"weights that are none", "gpu", "MostAllocated", `{"cpu":1.5,"memory":-1,"pods":"2","gpu":null,"a/b":[],"a/c":true,"a/d":1e30,"a/e":1e999999999,"a/f":-0.5}`,
			bad(weightPath+`["a/b"]`, weightPath+`["a/c"]`, weightPath+`["a/d"]`, weightPath+`["a/e"]`, weightPath+`["a/f"]`, weightPath+`["cpu"]`, weightPath+`["gpu"]`, weightPath+`["memory"]`, weightPath+`["pods"]`),
			zero(weightPath+`["a/b"]`, weightPath+`["a/c"]`, weightPath+`["a/d"]`, weightPath+`["a/e"]`, weightPath+`["a/f"]`, weightPath+`["cpu"]`, weightPath+`["gpu"]`, weightPath+`["memory"]`, weightPath+`["pods"]`)},
		{"weight above the limit", "gpu", "MostAllocated", `{"cpu":1000001,"memory":1000000}`, bad(weightPath + `["cpu"]`), ok("memory=Most1000000", weightPath+`["cpu"]`)},
		{"pattern", "gpu", "MostAllocated", `{"nvidia.com/*":1}`, bad(weightPath + `["nvidia.com/*"]`), zero(weightPath + `["nvidia.com/*"]`)},
		{"repeated name", "gpu", "MostAllocated", `{"cpu":1,"cpu":1}`, bad(weightPath + `["cpu"]`), zero(weightPath + `["cpu"]`)},
		{"pattern with a name", "gpu", "MostAllocated", `{"nvidia.com/*":1,"cpu":1}`, bad(weightPath + `["nvidia.com/*"]`), ok("cpu=Most1", weightPath+`["nvidia.com/*"]`)},
		{"fraction with weights", "gpu", "LeastAllocated", `{"gpu":0.5,"cpu":1,"memory":0}`, bad(weightPath + `["gpu"]`), ok("cpu=Least1 memory=Least0", weightPath+`["gpu"]`)},
		{"negative, null and text with a weight", "gpu", "MostAllocated", `{"gpu":-1,"cpu":1,"memory":null,"pods":"1"}`, bad(weightPath+`["gpu"]`, weightPath+`["memory"]`, weightPath+`["pods"]`), ok("cpu=Most1", weightPath+`["gpu"]`, weightPath+`["memory"]`, weightPath+`["pods"]`)},
		{"repeated name with another", "gpu", "MostAllocated", `{"cpu":1,"cpu":2,"memory":1}`, bad(weightPath + `["cpu"]`), ok("memory=Most1", weightPath+`["cpu"]`)},
		{"all at once", "gpu", "x", `{"cpu":-1,"*":1,"x/y":2}`, bad(typePath, weightPath+`["*"]`, weightPath+`["cpu"]`), zero(typePath, weightPath+`["*"]`, weightPath+`["cpu"]`, weightPath+`["x/y"]`)},

		{"own and original name", "gpu", "MostAllocated", `{"gpu":1,"nvidia.com/gpu":1}`, ok("gpu=Most1", weightPath+`["nvidia.com/gpu"]`), ok("gpu=Most1", weightPath+`["nvidia.com/gpu"]`)},
		{"folded, different", "fold", "MostAllocated", `{"amd.com/gpu":1,"nvidia.com/gpu":2}`, bad(weightPath + `["nvidia.com/gpu"]`), bad(weightPath + `["nvidia.com/gpu"]`)},
		{"folded, equal", "fold", "MostAllocated", `{"amd.com/gpu":2,"nvidia.com/gpu":2}`, ok("gpu=Most2", weightPath+`["nvidia.com/gpu"]`), ok("gpu=Most2", weightPath+`["nvidia.com/gpu"]`)},
		{"not folded", "nofold", "MostAllocated", `{"amd.com/gpu":1,"nvidia.com/gpu":2}`, ok("amd.com/gpu=Most1 nvidia.com/gpu=Most2"), ok("amd.com/gpu=Most1 nvidia.com/gpu=Most2")},
	} {
		m := testMaps[c.m](t)
		annotations := map[string]string{"other": "x", ScoringTypeAnnotation: c.kind}
		if c.weights != "" {
			annotations[WeightAnnotation] = c.weights
		}
		for o, want := range map[Option]resolution{0: c.normal, Lenient: c.lenient} {
			override, warnings, err := ParsePodOverride(annotations, m, o)
			got := resolution{warnings: warned(warnings)}
			got.errors, _ = pathsOf(t, err)
			if override != nil {
				var parts []string
				for _, rule := range override.rules {
					parts = append(parts, fmt.Sprintf("%s=%s%d", m.Name(rule.index), strings.TrimSuffix(string(rule.kind), "Allocated"), rule.weight))
				}
				got.result = strings.Join(parts, " ")
			}
			if (override == nil) != (err != nil) || !sameResolution(got, want) {
				t.Errorf("%s, options %b:\ngot  %v\nwant %v", c.name, o, got, want)
			}
			if err != nil && len(err.Error()) > 8<<10 {
				t.Errorf("%s: %d bytes of error", c.name, len(err.Error()))
			}
		}
	}
}

// TestNoPodOverride has annotations that ask for nothing.
func TestNoPodOverride(t *testing.T) {
	m := testMaps["plain"](t)
	for _, annotations := range []map[string]string{
		nil,
		{},
		{ScoringTypeAnnotation: ""},
		{WeightAnnotation: `{"cpu":1}`},
		{ScoringTypeAnnotation: "", WeightAnnotation: "invalid-json"},
	} {
		if o, warnings, err := ParsePodOverride(annotations, m); o != nil || err != nil || warnings != nil {
			t.Errorf("%v: %v, %v", annotations, o, err)
		}
	}
}

// TestOverrideTexts: messages say where the text is at fault.
func TestOverrideTexts(t *testing.T) {
	const path = `metadata.annotations["volcano.sh/resource-strategy-weight"]`
	for text, want := range map[string]string{
		`invalid-json`:  `: Invalid value: "invalid-json": is not JSON: at byte 1: invalid character 'i' looking for beginning of value`,
		`{"cpu": 1`:     `: Invalid value: "{\"cpu\": 1": is not JSON: at byte 9: unexpected end of JSON input`,
		`["cpu"]`:       `: Invalid value: must be a mapping, not a list`,
		`{"": 1}`:       `[""]: Invalid value: "": a name is empty`,
		`{" cpu": 1}`:   `[" cpu"]: Invalid value: " cpu": a name must start with a letter or digit`,
		`{"cpu": -1.0}`: `["cpu"]: Invalid value: -1.0: must not be negative`,
		`{"cpu": 1e7}`:  `["cpu"]: Invalid value: 1e7: must be at most 1000000`,
	} {
		_, _, err := ParsePodOverride(map[string]string{ScoringTypeAnnotation: "MostAllocated", WeightAnnotation: text}, testMaps["gpu"](t))
		if err == nil || err.Error() != path+want {
			t.Errorf("%s: %v, want %s", text, err, path+want)
		}
	}
}
