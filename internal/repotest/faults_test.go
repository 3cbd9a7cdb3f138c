package repotest

import (
	"slices"
	"testing"

	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestFaults: whatever package a configuration is of, its faults can be reported
// as the faults of a part of another one.
func TestFaults(t *testing.T) {
	m, err := vectormap.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		err  error
		want []string // paths below part
	}{
		"scoring.ParseScoringStrategy": {second(scoring.ParseScoringStrategy([]byte("{x: 1, resources: [{name: cpu, weight: a}]}"))), []string{"part.resources[0].weight", "part.x"}},
		"not of the form":              {second(scoring.ParseScoringStrategy([]byte("[]"))), []string{"part"}},
		"scoring.CompileKube": {second(scoring.CompileKube(scoring.KubeConfig{Type: "x", Resources: []scoring.KubeResource{{Name: "a/b", Weight: 1}}}, m)),
			[]string{"part.type", "part"}},
		"scoring.CompileLoad":        {second(scoring.CompileLoad(scoring.LoadConfig{Weights: map[string]float64{"cpu": -1}}, m)), []string{`part.weights["cpu"]`}},
		"scoring.Combine":            {second(scoring.Combine(nil)), []string{"part.terms"}},
		"share.ParseScoringStrategy": {second(share.ParseScoringStrategy([]byte("{type: [], x: 1}"))), []string{"part.x", "part.type"}},
		"no mapping":                 {second(share.ParseScoringStrategy([]byte("7"))), []string{"part"}},
		"no YAML":                    {second(share.ParseScoringStrategy([]byte("{"))), []string{"part"}},
		"share.NewScorer":            {second(share.NewScorer(share.Config{Type: "x"})), []string{"part.type"}},
		"transform.Compile":          {second(transform.Compile(&transform.Config{Rules: make([]transform.Rule, 1)}, transform.Options{})), []string{"part.resources.transformations[0].input"}},
		"transform.FromTuples":       {second(transform.FromTuples(make([]transform.Tuple, 1))), []string{"part.tuples[0].input", "part.tuples[0].output", "part.tuples[0].strategy"}},
		"quota.New":                  {second(quota.New(quota.Config{}, nil, []quota.Queue{{Name: "a", Parent: "b"}, {}})), []string{"part.queues[1].name", "part.queues[0].parent"}},
	} {
		var got []string
		for _, fault := range vectormap.Faults(field.NewPath("part"), c.err) {
			got = append(got, fault.Field)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q: %v", what, got, c.want, c.err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
