package scoring

import (
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/testkit"
)

// TestGrowthParse reads documents of every kind that are long in some way, up to what
// is read at all.
func TestGrowthParse(t *testing.T) {
	m := testMaps["gpu"](t)
	type parse = func(text string)
	arguments := func(o ...Option) parse {
		return func(text string) {
			if cfg, _, err := ParseArguments([]byte(text), o...); err == nil {
				_, _ = CompileStrategy(*cfg, m, o...)
			}
		}
	}
	conf := func(text string) { _, _, _ = ParseSchedulerConf([]byte(text)) }
	proportional := func(text string) { _, _, _ = ParseArguments([]byte("proportional: " + text)) }
	load := func(text string) {
		if cfg, err := ParseLoad([]byte(text)); err == nil {
			_, _ = CompileLoad(*cfg, m)
		}
	}
	kube := func(text string) {
		if cfg, err := ParseScoringStrategy([]byte(text)); err == nil {
			_, _ = CompileKube(*cfg, m)
		}
	}
	override := func(o ...Option) parse {
		return func(text string) {
			_, _, _ = ParsePodOverride(map[string]string{ScoringTypeAnnotation: "MostAllocated", WeightAnnotation: text}, m, o...)
		}
	}
	for name, c := range map[string]struct {
		parse                 parse
		before, format, after string
	}{
		"rules":                  {arguments(), "resources: {", "a%d.com/x: {type: MostAllocated, weight: 5}, ", "}"},
		"rules, lenient":         {arguments(Lenient), "resources: {", "a%d.com/x: {}, ", "}"},
		"patterns":               {arguments(Lenient), "resources: {", "a%d/*: {type: MostAllocated}, ", "}"},
		"patterns in a chain":    {arguments(Lenient), "resources: {", "a%[1]d*: {type: MostAllocated}, a%[1]d.com/*: {type: LeastAllocated}, ", "}"},
		"bad rules":              {arguments(), "resources: {", "'a%d b': {typo: x}, ", "}"},
		"bad rules, lenient":     {arguments(Lenient), "resources: {", "'a%d b': {typo: x}, ", "}"},
		"unread rules, lenient":  {arguments(Lenient), "resources: {", "a%d: 5, ", "}"},
		"a long pattern":         {arguments(Lenient), "resources: {? '", "a", "*'\n: {type: MostAllocated}}"},
		"slashes":                {arguments(Lenient), "resources: {? '", "/", "'\n: {type: MostAllocated}}"},
		"dots":                   {arguments(Lenient), "sra: {enable: true, weight: 1, resources: 'a", ".", "'}"},
		"scarce":                 {arguments(AllowUnknown), "sra: {enable: true, weight: 1, resources: '", "a%d.com/x,", "'}"},
		"scarce, repeated":       {arguments(AllowUnknown), "sra: {enable: true, weight: 1, resources: '", "a%[1]d.com/x,a%[1]d.com/x,", "'}"},
		"commas":                 {arguments(AllowUnknown), "sra: {enable: true, weight: 1, resources: '", ",", "'}"},
		"weights":                {arguments(AllowUnknown), "sra: {enable: true, weight: 1, resources: 'a', resourceWeight: {", "a%d.com/x: 5,", "}}"},
		"primaries":              {proportional, "enable: true\nresources: '", "a%d.com/x,", "'"},
		"ratios":                 {proportional, "enable: true\nresources: 'a'\nresourceProportion: {", "a%d.com/x.cpu: -5,", "}"},
		"a long memory unit":     {proportional, "memoryUnit: ", "9", ""},
		"a long exponent":        {proportional, "memoryUnit: 1e", "9", ""},
		"a long fraction":        {proportional, "resourceProportion: {a.cpu: 0.", "9", "}"},
		"tiers":                  {conf, "tiers: [", "{plugins: [{name: x}]},", "]"},
		"plugins":                {conf, "tiers: [{plugins: [", "{name: x%d},", "]}]"},
		"plugins without a name": {conf, "tiers: [{plugins: [", "%d,", "]}]"},
		"the plugin, often":      {conf, "tiers: [{plugins: [", "{name: resource-strategy-fit},", "]}]"},
		"switches":               {conf, "tiers: [{plugins: [{name: resource-strategy-fit, ", "enable%d: true,", "}]}]"},
		"load":                   {load, "weights: {", "a%d: 5, ", "}"},
		"load, null":             {load, "weights: {", "a%d: , ", "}"},
		"a long weight":          {load, "weights: {a: ", "9", "}"},
		"kube":                   {kube, "resources: [", "{name: a%d, weight: 5}, ", "]"},
		"kube, one name":         {kube, "resources: [", "{name: cpu, weight: 5}, ", "]"},
		"shape":                  {kube, "type: RequestedToCapacityRatio\nrequestedToCapacityRatio: {shape: [", "{utilization: %d, score: 5}, ", "]}"},
		"override":               {override(), `{"a.com/x": 5`, `, "a%d.com/x": 5`, "}"},
		"override, lenient":      {override(Lenient), `{"a b": -5`, `, "a%d b": -5`, "}"},
		"override, one name":     {override(Lenient), `{"cpu": 5`, `, "cpu": 5`, "}"},
		"override, a list":       {override(Lenient), "", "[", ""},
		"override, spaces":       {override(Lenient), "{", " ", "}"},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, document.MaxSize/36, func(n int) func() {
				if strings.HasPrefix(name, "override") {
					n /= 4
				}
				text := testkit.Text(n, c.before, c.format, c.after)
				return func() { c.parse(text) }
			})
		})
	}
}
