package scoring

import (
	"fmt"
	"slices"
	"testing"
)

func TestParseLoad(t *testing.T) {
	cpu := map[string]float64{"cpu": 1, "a/b": 2.5}
	for _, c := range []struct {
		text  string
		want  LoadConfig
		paths []string
	}{
		{"", LoadConfig{}, []string{"(document)"}},
		{"null", LoadConfig{}, []string{"(document)"}},
		{"{}", LoadConfig{Metric: NormalizedSum, Direction: Spread}, nil},
		{"{metric: null, direction: null, weights: null, onlyRequested: null}", LoadConfig{Metric: NormalizedSum, Direction: Spread}, nil},
		{"{metric: NormalizedSum, direction: Raw}", LoadConfig{Metric: NormalizedSum, Direction: Raw}, nil},
		{"{metric: DominantResource, direction: Pack, weights: {cpu: 1, a/b: 2.5}, onlyRequested: true}",
			LoadConfig{Metric: DominantResource, Direction: Pack, Weights: cpu, OnlyRequested: true}, nil},
		{`{"direction":"Spread","weights":{}}`, LoadConfig{Metric: NormalizedSum, Direction: Spread, Weights: map[string]float64{}}, nil},
		{"{metric: dominantResource, direction: ''}", LoadConfig{}, []string{"direction", "metric"}},
		{"{metric: 1, direction: [], weights: 2, onlyRequested: x}", LoadConfig{}, []string{"direction", "metric", "onlyRequested", "weights"}},
		{"{weights: {cpu: 1, cpu: 2, x: , z: a, a.b: .inf}, w: 1}", LoadConfig{}, []string{"w", `weights["a.b"]`, `weights["cpu"]`, `weights["x"]`, `weights["z"]`}},
		{"[]", LoadConfig{}, []string{"(document)"}},
		{"{", LoadConfig{}, []string{"(document)"}},
	} {
		cfg, err := ParseLoad([]byte(c.text))
		if paths, _ := pathsOf(t, err); !slices.Equal(paths, c.paths) {
			t.Errorf("%s: %v, want %q", c.text, err, c.paths)
		}
		if err == nil && fmt.Sprint(*cfg) != fmt.Sprint(c.want) || (cfg == nil) != (err != nil) {
			t.Errorf("%s: %v, want %v", c.text, cfg, c.want)
		}
	}
}
