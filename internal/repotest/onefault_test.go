package repotest

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestOneFault puts something else in the place of each value of a good document: what
// follows from that is no second fault, and no warning.
func TestOneFault(t *testing.T) {
	const arguments = `{"resourceStrategyFitWeight": 1, "resources": {"cpu": {"type": "MostAllocated", "weight": 1}},
		"sra": {"enable": true, "resources": "a/b", "weight": 1, "resourceWeight": {"a/b": 1}},
		"proportional": {"enable": true, "resources": "a/b", "resourceProportion": {"a/b.cpu": 1}, "memoryUnit": "1Gi"}}`
	const share = `{"type": "LeastAllocated", "resources": [{"name": "koordinator.sh/gpu-core", "weight": 1}]}`
	const list = `{"transformations": [{"input": "cpu", "strategy": "Retain", "multiplyBy": "pods", "outputs": {"x/y": "1"}}],
		"excludeResourcePrefixes": ["a"], "quotaCheckStrategy": "BlockUndeclared"}`
	withWarnings := func(_ *scoring.StrategyConfig, warnings field.ErrorList, err error) error {
		if err != nil && warnings != nil {
			return errors.New("an error and warnings")
		}
		return errors.Join(err, warnings.ToAggregate())
	}
	for name, c := range map[string]struct {
		document string
		parse    func(data []byte) error
	}{
		"scoring.ParseArguments": {arguments, func(data []byte) error { return withWarnings(scoring.ParseArguments(data)) }},
		"scoring.ParseArguments, lenient": {arguments, func(data []byte) error {
			return withWarnings(scoring.ParseArguments(data, scoring.Lenient))
		}},
		"scoring.ParseSchedulerConf": {`{"tiers": [{"plugins": [{"name": "resource-strategy-fit", "arguments": ` + arguments + `}]}]}`, parsers["scoring.ParseSchedulerConf"]},
		"scoring.ParseLoad":          {`{"metric": "NormalizedSum", "direction": "Pack", "weights": {"cpu": 1}, "onlyRequested": true}`, parsers["scoring.ParseLoad"]},
		"scoring.ParseScoringStrategy": {`{"type": "RequestedToCapacityRatio", "resources": [{"name": "cpu", "weight": 1}],
			"requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 1}]}}`, parsers["scoring.ParseScoringStrategy"]},
		"share.ParseScoringStrategy": {share, parsers["share.ParseScoringStrategy"]},
		"share.ParseScoringStrategy, wrapped": {`{"apiVersion": "a", "kind": "DeviceShareArgs", "scoringStrategy": ` + share + "}",
			parsers["share.ParseScoringStrategy"]},
		"transform.Parse, list":          {list, parsers["transform.Parse"]},
		"transform.Parse, list of Kueue": {`{"apiVersion": "a", "kind": "Configuration", "resources": ` + list + "}", parsers["transform.Parse"]},
		"transform.Parse, input":         {`{"transformations": {"cpu": {"strategy": "Retain", "functions": {"x/y": 1}}}}`, parsers["transform.Parse"]},
		"transform.Parse, output":        {`{"resourceTransformationMatrix": {"transformations": {"x/y": {"cpu": 1}}, "strategy": {"cpu": "Retain"}}}`, parsers["transform.Parse"]},
	} {
		if err := c.parse([]byte(c.document)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var root any
		testkit.Check(json.Unmarshal([]byte(c.document), &root))
		eachValue(root, func(x any) { root = x }, func(replace func(x any)) {
			for _, other := range []string{`"x"`, `""`, "5", "-5", "1.5", "1e400", "1e-400", "1.00000000000000000000001", "true", "null", "[]", "[1]", "[null]"} {
				replace(json.RawMessage(other))
				text := testkit.Must(json.Marshal(root))
				var faults utilerrors.Aggregate
				if err := c.parse(text); err != nil && (!errors.As(err, &faults) || len(faults.Errors()) != 1 || strings.Contains(err.Error(), "[]:")) {
					t.Errorf("%s: %s: %v", name, text, err)
				}
			}
		})
	}
}

// eachValue visits a value, which set replaces where it is, and all values in it.
func eachValue(x any, set func(x any), visit func(replace func(x any))) {
	visit(set)
	set(x)
	switch x := x.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			eachValue(x[key], func(other any) { x[key] = other }, visit)
		}
	case []any:
		for i := range x {
			eachValue(x[i], func(other any) { x[i] = other }, visit)
		}
	}
}
