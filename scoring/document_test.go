package scoring

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

type fieldErrors = field.ErrorList

// TestRepeatedPaths: a key that is there twice has the path that other faults of
// it have.
func TestRepeatedPaths(t *testing.T) {
	for text, want := range map[string]string{
		"resources: {resources: {type: MostAllocated, type: MostAllocated}}":     `resources["resources"].type`,
		"sra: {resourceWeight: {\"a b\": 1, \"a b\": 1}}":                        `sra.resourceWeight["a b"]`,
		"proportional: {resources: a, resourceProportion: {a.cpu: 1, a.cpu: 2}}": `proportional.resourceProportion["a.cpu"]`,
		"sra: &a {weight: 1, weight: 2}\nproportional: {}":                       "sra.weight",
	} {
		_, _, err := ParseArguments([]byte(text))
		if paths, _ := pathsOf(t, err); !slices.Equal(paths, []string{want}) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"resourceStrategyFitWeight: 10\nresources:\n  nvidia.com/gpu/*: {type: MostAllocated, weight: 2.5}\n  cpu: {type: x}\n",
		"sra: {enable: true, weight: 3, resources: 'a/b, c*', resourceWeight: {a/b: -1, a/b: .inf}}",
		"proportional:\n  enable: yes\n  resources: nvidia.com/gpu\n  resourceProportion:\n    nvidia.com/gpu.cpu: 4\n",
		"tiers:\n- plugins:\n  - name: resource-strategy-fit\n    arguments: &a {x: [.nan], x: *a}\n",
		`{"resources":{"1":{"type":"MostAllocated"},1:{"weight":1e3}}}`,
		"type: LeastAllocated\nresources: [{name: cpu, weight: 1}]\nrequestedToCapacityRatio: {shape: [{utilization: 0, score: 10}]}",
		"---\n? a\n: b\n...\n---\nc",
		"yes: 1\n\"true\": 2\n0x1: 3\n",
	} {
		f.Add([]byte(text), uint8(0))
		f.Add([]byte(text), uint8(Lenient))
	}
	f.Fuzz(func(t *testing.T, data []byte, opts uint8) {
		o := Option(opts) & (Lenient | WildcardLiteral)
		for _, parse := range []parser{ParseArguments, ParseSchedulerConf} {
			cfg, warnings, err := parse(data, o)
			again, warningsAgain, errAgain := parse(data, o)
			if fmt.Sprint(err) != fmt.Sprint(errAgain) || textOf(cfg) != textOf(again) || fmt.Sprint(warnings) != fmt.Sprint(warningsAgain) {
				t.Fatalf("different results: %v, %v", err, errAgain)
			}
			if err != nil {
				if cfg != nil {
					t.Fatal("a result and an error")
				}
				if paths, _ := pathsOf(t, err); !slices.IsSorted(paths) {
					t.Fatal(paths)
				}
				continue
			}
			checkComplete(t, cfg, o)
			if o == 0 {
				lenient, _, err := parse(data, Lenient)
				if err != nil || textOf(lenient) != textOf(cfg) {
					t.Fatalf("lenient: %s, %v, strict %s", textOf(lenient), err, textOf(cfg))
				}
			}
		}
		cfg, err := ParseScoringStrategy(data)
		if (cfg == nil) != (err != nil) {
			t.Fatal(cfg, err)
		}
	})
}

// checkComplete checks a parsed configuration: every value is there and in its
// range.
func checkComplete(t *testing.T, cfg *StrategyConfig, o Option) {
	inRange := func(what string, w, least int64) {
		if w < least || w > maxWeight {
			t.Errorf("%s: %d", what, w)
		}
	}
	inRange("weight", *cfg.Fit.Weight, 0)
	if cfg.Fit.Resources == nil {
		t.Error("no rules")
	}
	for key, rule := range cfg.Fit.Resources {
		inRange(key, rule.Weight, 1)
		if keyFault(key, o) != "" || rule.Type != MostAllocated && rule.Type != LeastAllocated {
			t.Error(key, rule)
		}
	}
	if sra := cfg.SRA; sra != nil {
		inRange("sra", sra.Weight, 1)
		for _, name := range sra.Resources {
			w, ok := sra.ResourceWeight[name]
			if inRange(name, w, 0); !ok || len(sra.ResourceWeight) != len(sra.Resources) {
				t.Error(sra)
			}
		}
	}
	if p := cfg.Proportional; p != nil {
		for _, name := range p.Resources {
			cpu, memory := p.Proportion[name+".cpu"], p.Proportion[name+".memory"]
			if !(cpu >= 0 && memory >= 0) || exactFault(name) != "" || len(p.Proportion) != 2*len(p.Resources) {
				t.Error(p)
			}
		}
	}
}
