package share_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	ratioName = "koordinator.sh/gpu-memory-ratio"
	memName   = "koordinator.sh/gpu-memory"
)

// configFaults returns "type path" of every *field.Error.
func configFaults(err error) (faults []string) {
	var list utilerrors.Aggregate
	if errors.As(err, &list) {
		for _, err := range list.Errors() {
			var fault *field.Error
			if errors.As(err, &fault) {
				faults = append(faults, string(fault.Type)+" "+fault.Field)
			}
		}
	}
	return faults
}

func TestNewScorer(t *testing.T) {
	invalid, required, duplicate, unsupported := "FieldValueInvalid ", "FieldValueRequired ", "FieldValueDuplicate ", "FieldValueNotSupported "
	type spec = share.ResourceSpec
	for _, c := range []struct {
		name string
		cfg  share.Config
		want []string
	}{
		{"V1", share.Config{Resources: []spec{{ratioName, 0}}}, []string{invalid + "resources[0].weight"}},
		{"V2", share.Config{Type: "Balanced"}, []string{unsupported + "type"}},
		{"V3", share.Config{}, nil},
		{"another case", share.Config{Type: "leastAllocated"}, []string{unsupported + "type"}},
		{"RequestedToCapacityRatio", share.Config{Type: "RequestedToCapacityRatio"}, []string{unsupported + "type"}},
		{"weight 101", share.Config{Resources: []spec{{ratioName, 101}}}, []string{invalid + "resources[0].weight"}},
		{"weight -1", share.Config{Resources: []spec{{ratioName, 1}, {memName, -1}}}, []string{invalid + "resources[1].weight"}},
		{"weight 100", share.Config{Resources: []spec{{ratioName, 100}}}, nil},
		{"no name", share.Config{Resources: []spec{{"", 1}}}, []string{required + "resources[0].name"}},
		{"no names", share.Config{Resources: []spec{{"", 1}, {"", 1}}}, []string{required + "resources[0].name", required + "resources[1].name"}},
		{"repeated", share.Config{Resources: []spec{{ratioName, 1}, {memName, 1}, {ratioName, 2}}}, []string{duplicate + "resources[2].name"}},
		{"three times", share.Config{Resources: []spec{{ratioName, 1}, {ratioName, 1}, {ratioName, 1}}}, []string{duplicate + "resources[1].name", duplicate + "resources[2].name"}},
		{"empty list", share.Config{Resources: []spec{}}, []string{required + "resources"}},
		{"all at once", share.Config{Type: "x", Resources: []spec{{"", 0}, {memName, 7}, {memName, 1000}}}, []string{
			unsupported + "type", required + "resources[0].name", invalid + "resources[0].weight", duplicate + "resources[2].name", invalid + "resources[2].weight"}},
		{"every resource of a device", share.Config{Type: share.MostAllocated, Resources: []spec{
			{ratioName, 1}, {memName, 2}, {"koordinator.sh/gpu-core", 3}, {"koordinator.sh/rdma", 4}, {"koordinator.sh/fpga", 5},
			{"huawei.com/npu-core", 6}, {"huawei.com/npu-cpu", 7}, {"huawei.com/npu-dvpp", 8}}}, nil},
		{"misspelled", share.Config{Resources: []spec{{ratioName, 1}, {"koordinator.sh/gpu-memroy-ratio", 1}}}, []string{unsupported + "resources[1].name"}},
		{"without a prefix", share.Config{Resources: []spec{{"gpu-memory-ratio", 1}}}, []string{unsupported + "resources[0].name"}},
		{"another prefix", share.Config{Resources: []spec{{"vendor.example/gpu-memory-ratio", 1}}}, []string{unsupported + "resources[0].name"}},
		{"another case", share.Config{Resources: []spec{{"koordinator.sh/GPU-core", 1}}}, []string{unsupported + "resources[0].name"}},
		{"a space", share.Config{Resources: []spec{{" " + ratioName, 1}}}, []string{unsupported + "resources[0].name"}},
		{"only asked for by pods", share.Config{Resources: []spec{{"nvidia.com/gpu", 1}, {"koordinator.sh/gpu", 1}, {"koordinator.sh/gpu.shared", 1}, {"cpu", 1}}}, []string{
			unsupported + "resources[0].name", unsupported + "resources[1].name", unsupported + "resources[2].name", unsupported + "resources[3].name"}},
	} {
		s, err := share.NewScorer(c.cfg)
		if diff := cmp.Diff(c.want, configFaults(err)); diff != "" || (err == nil) != (c.want == nil) || (s == nil) == (err == nil) {
			t.Errorf("%s: error %v, %s", c.name, err, diff)
		}
	}
}

// TestDefaultScorer: V3, in what comes out.
func TestDefaultScorer(t *testing.T) {
	s := testkit.Must(share.NewScorer(share.Config{}))
	text, err := explainNode(s, []share.Requirement{need(device.KindGPU, "RATIO 50", 1)}, []share.State{{Kind: device.KindGPU, Total: share.Amounts{share.GPUMemoryRatio: 100}, Free: share.Amounts{share.GPUMemoryRatio: 100}}})
	if err != nil || !strings.HasPrefix(text, "score 50 LeastAllocated\n") || strings.Count(text, "koordinator.sh") != 1 || !strings.Contains(text, "gpu-memory-ratio  1 ") {
		t.Errorf("%s, error %v", text, err)
	}
}

// TestManyFaults: what is reported stays small.
func TestManyConfigFaults(t *testing.T) {
	_, err := share.NewScorer(share.Config{Resources: make([]share.ResourceSpec, 100_000)})
	if n := len(configFaults(err)); n != 1000 {
		t.Errorf("%d faults", n)
	}
	cfg, err := share.ParseScoringStrategy([]byte("resources: [" + strings.Repeat("5,", 100_000) + "]"))
	if n := len(configFaults(err)); n != 1000 || cfg != nil {
		t.Errorf("%d faults", n)
	}
}

// TestConfigIsCopied: a scorer keeps no reference to its configuration.
func TestConfigIsCopied(t *testing.T) {
	cfg := share.KoordinatorDefaults()
	s, _ := share.NewScorer(cfg)
	cfg.Resources[0].Name = "changed"
	if score, err := s.ScoreDevice(share.Amounts{}, share.Amounts{share.GPUMemoryRatio: 100}, share.Amounts{share.GPUMemoryRatio: 70}); score != 70 || err != nil {
		t.Errorf("%d, error %v", score, err)
	}
	if again := share.KoordinatorDefaults(); again.Resources[0].Name != ratioName {
		t.Errorf("%v", again)
	}
}

func TestParseScoringStrategy(t *testing.T) {
	seed := share.Config{Type: share.LeastAllocated, Resources: []share.ResourceSpec{{Name: ratioName, Weight: 1}}}
	type spec = share.ResourceSpec
	for _, c := range []struct {
		name, text string
		want       share.Config
	}{
		{"V4", "scoringStrategy: {type: LeastAllocated, resources: [{name: koordinator.sh/gpu-memory-ratio, weight: 1}]}", seed},
		{"V4, value alone", "type: LeastAllocated\nresources:\n- name: koordinator.sh/gpu-memory-ratio\n  weight: 1\n", seed},
		{"V4, JSON", `{"scoringStrategy":{"type":"LeastAllocated","resources":[{"name":"koordinator.sh/gpu-memory-ratio","weight":1}]}}`, seed},
		{"V4, arguments", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: DeviceShareArgs\nallocator: default\nscoringStrategy:\n  type: LeastAllocated\n  resources:\n  - {name: koordinator.sh/gpu-memory-ratio, weight: 1}\n", seed},
		{"arguments without a strategy", "kind: DeviceShareArgs\nallocator: default", share.Config{}},
		{"arguments with keys of the value", "kind: DeviceShareArgs\ntype: x\nresources: 5", share.Config{}},
		{"null", "scoringStrategy:", share.Config{}},
		{"nulls", "type:\nresources: null", share.Config{}},
		{"empty mapping", "{}", share.Config{}},
		{"empty list", "resources: []", share.Config{Resources: []spec{}}},
		{"other meaning is not checked", "type: Balanced\nresources: [{}, {name: koordinator.sh/gpu-memory, weight: -7}, {name: koordinator.sh/gpu-memory, weight: null}]", share.Config{Type: "Balanced", Resources: []spec{{}, {memName, -7}, {memName, 0}}}},
		{"an integer in float64", "resources: [{name: koordinator.sh/gpu-memory, weight: 1e2}]", share.Config{Resources: []spec{{memName, 100}}}},
	} {
		got, err := share.ParseScoringStrategy([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, *got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestParseScoringStrategyErrors(t *testing.T) {
	unsupported, wrong, invalid, duplicate := "FieldValueNotSupported ", "FieldValueTypeInvalid ", "FieldValueInvalid ", "FieldValueDuplicate "
	for _, c := range []struct {
		name, text string
		line       int
		want       []string
	}{
		{"V4", "scoringStrategy: {strategy: LeastAllocated}", 1, []string{unsupported + "scoringStrategy.strategy"}},
		{"V4, value alone", "strategy: LeastAllocated", 1, []string{unsupported + "strategy"}},
		{"another key", "scoringStrategy: {}\nallocator: x", 2, []string{unsupported + "allocator"}},
		{"another kind", "kind: NodeResourcesFitArgs\nscoringStrategy: {}", 1, []string{unsupported + "kind"}},
		{"an empty kind", "kind: \"\"\nscoringStrategy: {type: MostAllocated}", 1, []string{unsupported + "kind"}},
		{"a kind that is no text", "kind: [x]\ntype: MostAllocated\nfoo: bar", 1, []string{wrong + "kind"}},
		{"another kind alone", "kind: NodeResourcesFitArgs", 1, []string{unsupported + "kind"}},
		{"kind in another case", "Kind: DeviceShareArgs\nscoringStrategy: {}", 1, []string{unsupported + "Kind"}},
		{"another case", "ScoringStrategy: {}", 1, []string{unsupported + "ScoringStrategy"}},
		{"another case in arguments", "kind: DeviceShareArgs\nscoringstrategy: {}", 2, []string{unsupported + "scoringstrategy"}},
		{"other cases", "Type: x\nresources: [{Name: x, Weight: 1}]", 1, []string{unsupported + "Type", unsupported + "resources[0].Name", unsupported + "resources[0].Weight"}},
		{"shape", "requestedToCapacityRatio: {}", 1, []string{unsupported + "requestedToCapacityRatio"}},
		{"duplicate keys", "type: a\ntype: b\nresources: [{name: x, weight: 1, name: x}]", 2, []string{duplicate + "type", duplicate + "resources[0].name", unsupported + "resources[0].name"}},
		{"duplicate strategy", "scoringStrategy: {}\nscoringStrategy: {}", 2, []string{duplicate + "scoringStrategy"}},
		{"duplicate in arguments", "kind: DeviceShareArgs\nallocator: x\nallocator: y", 3, []string{duplicate + "allocator"}},
		{"types", "type: 5\nresources: {name: x}", 1, []string{wrong + "type", wrong + "resources"}},
		{"types of a resource", "scoringStrategy: {resources: [5, null, {name: [], weight: '1'}, {name: x, weight: 1.5}, {weight: 1e30}, {weight: .nan}, {weight: true}]}", 1, []string{
			wrong + "scoringStrategy.resources[0]", wrong + "scoringStrategy.resources[1]", wrong + "scoringStrategy.resources[2].name", wrong + "scoringStrategy.resources[2].weight",
			unsupported + "scoringStrategy.resources[3].name", invalid + "scoringStrategy.resources[3].weight", invalid + "scoringStrategy.resources[4].weight", invalid + "scoringStrategy.resources[5].weight", wrong + "scoringStrategy.resources[6].weight"}},
		{"misspelled resources", "scoringStrategy: {resources: [{name: koordinator.sh/gpu-memory-ratio, weight: 1}, {name: koordinator.sh/gpu-memroy-ratio, weight: 1}, {name: gpu-memory-ratio}]}", 1, []string{
			unsupported + "scoringStrategy.resources[1].name", unsupported + "scoringStrategy.resources[2].name"}},
		{"a misspelled resource, value alone", "resources: [{name: nvidia.com/gpu, weight: 1}]", 1, []string{unsupported + "resources[0].name"}},
		{"a misspelled resource in arguments", "kind: DeviceShareArgs\nscoringStrategy: {resources: [{name: gpu-core, weight: 1}]}", 2, []string{unsupported + "scoringStrategy.resources[0].name"}},
		{"strategy is a list", "scoringStrategy: []", 1, []string{wrong + "scoringStrategy"}},
		{"document is a list", "[]", 1, []string{wrong + "(document)"}},
		{"empty", "", 0, []string{invalid + "(document)"}},
		{"second document", "type: x\n---\ntype: y", 3, []string{invalid + "(document)"}},
		{"not YAML", "type: [", 1, []string{invalid + "(document)"}},
		{"large", strings.Repeat("#", 1<<20+1), 0, []string{invalid + "(document)"}},
	} {
		cfg, err := share.ParseScoringStrategy([]byte(c.text))
		var parse *share.ParseError
		if cfg != nil || !errors.As(err, &parse) {
			t.Errorf("%s: %v, error %v", c.name, cfg, err)
			continue
		}
		if diff := cmp.Diff(c.want, configFaults(err)); diff != "" || parse.Line != c.line {
			t.Errorf("%s: line %d, error %v, %s", c.name, parse.Line, err, diff)
		}
	}
}

func TestParseErrorText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"resources: [{weight: 1.5}]", "share: line 1: resources[0].weight: Invalid value: 1.5: must be an integer"},
		{strings.Repeat("x", 400) + ": 1", `share: line 1: ` + strings.Repeat("x", 320) + `…: Unsupported value: "` + strings.Repeat("x", 320) + `…": supported values: "type", "resources"`},
		{"resources: [{name: gpu-memory-ratio, weight: 1}]", `share: line 1: resources[0].name: Unsupported value: "gpu-memory-ratio": supported values: "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory", "koordinator.sh/gpu-memory-ratio", "huawei.com/npu-core", "huawei.com/npu-cpu", "huawei.com/npu-dvpp", "koordinator.sh/rdma", "koordinator.sh/fpga"`},
		{"a: 1\n---\nb: 2", "share: line 3: a second document"},
		{"", "share: the document is empty"},
	} {
		if _, err := share.ParseScoringStrategy([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%q: error %v", c.text, err)
		}
	}
}

// FuzzParseScoringStrategy: whatever is read makes a scorer or gives field
// errors, and nothing panics.
func FuzzParseScoringStrategy(f *testing.F) {
	f.Add([]byte("scoringStrategy: {type: LeastAllocated, resources: [{name: koordinator.sh/gpu-memory-ratio, weight: 1}]}"))
	f.Add([]byte("kind: DeviceShareArgs\nScoringStrategy: 5"))
	f.Add([]byte("resources: [{name: x, weight: 1, name: [&a 1, *a]}]\n? [a]\n: b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := share.ParseScoringStrategy(data)
		if err != nil {
			var parse *share.ParseError
			if cfg != nil || !errors.As(err, &parse) || err.Error() == "" {
				t.Errorf("%v, error %v", cfg, err)
			}
			return
		}
		if _, err := share.NewScorer(*cfg); err != nil && len(configFaults(err)) == 0 {
			t.Errorf("error %v", err)
		}
	})
}
