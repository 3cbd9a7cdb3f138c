package transform

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// expand replaces the abbreviations that stand in braces.
func expand(text string) string {
	for short, full := range abbreviations {
		text = strings.ReplaceAll(text, "{"+short+"}", full)
	}
	return text
}

const sevenInput = `
resourceTransformationMatrix:
  transformations:
    cpu: {strategy: Retain, functions: { {CR}: 1 }}
    {M1}: {strategy: Replace, functions: { {ACC}: 5G, {CR}: 10 }}
    {M2}: {strategy: Replace, functions: { {ACC}: 10G, {CR}: 15 }}
    {M4}: {strategy: Replace, functions: { {ACC}: 20G, {CR}: 30 }}
`

const sevenOutput = `
resourceTransformationMatrix:
  transformations: { {ACC}: { {M1}: 5G, {M2}: 10G, {M4}: 20G }, {CR}: { {M1}: 10, {M2}: 15, {M4}: 30, cpu: 1 } }
  strategy: { {M1}: Replace, {M2}: Replace, {M4}: Replace, cpu: Retain }
`

const sevenList = `
apiVersion: config.kueue.x-k8s.io/v1beta1
kind: Configuration
manageJobsWithoutQueueName: true
resources:
  transformations:
  - {input: {M4}, strategy: Replace, outputs: { {ACC}: 20G, {CR}: 30 }}
  - {input: cpu, outputs: { {CR}: 1 }}
  - {input: {M1}, strategy: Replace, outputs: { {ACC}: 5G, {CR}: 10 }}
  - {input: {M2}, strategy: Replace, outputs: { {ACC}: 10G, {CR}: 15 }}
`

// TestShapes is T3: the same rules in three shapes and as tuples.
func TestShapes(t *testing.T) {
	want := compile(rules(seven), Options{})
	for shape, text := range map[Shape]string{ShapeInput: sevenInput, ShapeOutput: sevenOutput, ShapeList: sevenList} {
		for _, asked := range []Shape{ShapeAuto, shape} {
			c, found, err := Parse([]byte(expand(text)), asked)
			if err != nil || found != shape {
				t.Errorf("%v as %v: found %v, error %v", shape, asked, found, err)
				continue
			}
			if !compile(c, Options{}).Equal(want) {
				t.Errorf("%v: other rules", shape)
			}
		}
	}
	tuples, err := rules(seven).Tuples()
	if err != nil || len(tuples) != 7 {
		t.Fatalf("%d tuples, %v", len(tuples), err)
	}
	slices.Reverse(tuples)
	c, err := FromTuples(tuples)
	if err != nil || !compile(c, Options{}).Equal(want) {
		t.Errorf("from tuples: %v", err)
	}
	for _, shape := range []Shape{ShapeInput, ShapeOutput, ShapeList} {
		data := testkit.Must(c.Encode(shape))
		back, found, err := Parse(data, ShapeAuto)
		if err != nil || found != shape || !compile(back, Options{}).Equal(want) {
			t.Errorf("%v written and read: found %v, error %v\n%s", shape, found, err, data)
		}
	}
}

func TestShapeOf(t *testing.T) {
	for text, want := range map[string]Shape{
		"transformations: []":                                       ShapeList,
		"resources: {excludeResourcePrefixes: [x]}":                 ShapeList,
		"excludeResourcePrefixes: [x]":                              ShapeList,
		"resources: {}":                                             ShapeList,
		"{apiVersion: v1, kind: Configuration, other: 1}":           ShapeList,
		"transformations: {}":                                       ShapeInput,
		"resourceTransformationMatrix: {}":                          ShapeInput,
		"transformations: {cpu: {strategy: Retain}}":                ShapeInput,
		"transformations: {cpu: {}}\nstrategy: {x: Retain}":         ShapeOutput,
		"strategy: {x: Replace}":                                    ShapeOutput,
		"{transformations: {c: {cpu: 1}}, strategy: {cpu: Retain}}": ShapeOutput,
		`{"transformations": {"functions": {"functions": {"x": "1"}, "strategy": "Retain"}}}`: ShapeInput,
	} {
		_, found, err := Parse([]byte(text), ShapeAuto)
		if err != nil || found != want {
			t.Errorf("%s: %v, %v", text, found, err)
		}
	}
}

// faultsOf returns the types and paths of all faults of an error.
func faultsOf(err error) (faults []string) {
	if parse := (*ParseError)(nil); errors.As(err, &parse) {
		if fault := (*field.Error)(nil); !errors.As(parse, &fault) {
			return []string{fmt.Sprintf("line %d", parse.Line)}
		}
		faults = append(faults, "form")
	}
	for _, e := range vectormap.Faults(nil, err) {
		faults = append(faults, fmt.Sprintf("%s %s", string(e.Type), e.Field))
	}
	return faults
}

func TestParseFaults(t *testing.T) {
	const matrix, resources = "resourceTransformationMatrix", "resources"
	notSupported, required, invalid, duplicate := "FieldValueNotSupported ", "FieldValueRequired ", "FieldValueInvalid ", "FieldValueDuplicate "
	wrongType := "FieldValueTypeInvalid "
	for _, c := range []struct {
		id, text string
		want     []string
	}{
		{"V1", "resources: {transformations: [{input: cpu, strategy: invalid}]}", []string{notSupported + "resources.transformations[0].strategy"}},
		{"V2", "transformations: [{input: cpu, strategy: Retain}, {input: memory, strategy: Replace}]", nil},
		{"V3", "transformations: {x/y: {cpu: 1}}\nstrategy: {}", []string{required + matrix + ".strategy[cpu]"}},
		{"V3, without a map", "transformations: {x/y: {cpu: 1}}", []string{required + matrix + ".strategy[cpu]"}},
		{"case", "transformations: [{input: cpu, strategy: replace}]", []string{notSupported + resources + ".transformations[0].strategy"}},
		{"no strategy", "transformations: {cpu: {functions: {x: 1}}}", []string{required + matrix + ".transformations[cpu].strategy"}},
		{"same input", "transformations: [{input: cpu}, {input: x}, {input: cpu}, {input: cpu}]",
			[]string{duplicate + resources + ".transformations[2].input", duplicate + resources + ".transformations[3].input"}},
		{"empty names", "transformations: [{outputs: {\"\": 1}}]", []string{required + resources + ".transformations[0].input", required + resources + ".transformations[0].outputs[]"}},
		{"bad names", "transformations: [{input: a b, multiplyBy: -x, outputs: {/y: 1}}]",
			[]string{invalid + resources + ".transformations[0].input", invalid + resources + ".transformations[0].multiplyBy", invalid + resources + ".transformations[0].outputs[/y]"}},
		{"order", "transformations: [{input: cpu, strategy: x, outputs: {a: null}}, {strategy: x}]",
			[]string{notSupported + resources + ".transformations[0].strategy", required + resources + ".transformations[0].outputs[a]", required + resources + ".transformations[1].input", notSupported + resources + ".transformations[1].strategy"}},
		{"null", "transformations: {x: {cpu: null}}\nstrategy: {cpu: Retain}", []string{required + matrix + ".transformations[x][cpu]"}},
		{"prefixes", "excludeResourcePrefixes: [\"\", a, b, a]", []string{invalid + resources + ".excludeResourcePrefixes[0]", duplicate + resources + ".excludeResourcePrefixes[3]"}},
		{"quota check", "resources: {quotaCheckStrategy: x}", []string{notSupported + resources + ".quotaCheckStrategy"}},
		{"unprintable prefixes", `excludeResourcePrefixes: ["a\x7f", "\N", "é ~"]`, []string{invalid + resources + ".excludeResourcePrefixes[0]", invalid + resources + ".excludeResourcePrefixes[1]"}},
		{"undeclared", "resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a]}", []string{invalid + resources + ".excludeResourcePrefixes"}},
		{"unknown keys", "resources: {transformations: [{input: cpu, Strategy: Retain}], more: 1}\nother: 1",
			[]string{"form", notSupported + "other", notSupported + "resources.more", notSupported + "resources.transformations[0].Strategy"}},
		{"repeated keys", "transformations:\n  cpu: {strategy: Retain}\n  cpu: {strategy: Retain, functions: {x: 1, x: 2}}",
			[]string{"form", duplicate + matrix + ".transformations[cpu]", duplicate + matrix + ".transformations[cpu].functions[x]"}},
		{"types", "transformations: [{input: true, strategy: 1, outputs: {a: true, b: [], c: x, d: .inf}}, 5]",
			[]string{"form", wrongType + "resources.transformations[0].input", wrongType + "resources.transformations[0].strategy",
				wrongType + "resources.transformations[0].outputs[a]", wrongType + "resources.transformations[0].outputs[b]", invalid + "resources.transformations[0].outputs[c]",
				invalid + "resources.transformations[0].outputs[d]", wrongType + "resources.transformations[1]"}},
		{"a strategy in another case", "transformations: {cpu: {Strategy: Retain}}", []string{"form", invalid + matrix + ".transformations[cpu][Strategy]"}},
		{"an input in another case", "transformations: [{Input: cpu}]", []string{"form", notSupported + resources + ".transformations[0].Input"}},
		{"strategies that are none", "transformations: {x: {cpu: 1, memory: 1}}\nstrategy: [Retain]", []string{"form", wrongType + matrix + ".strategy"}},
		{"form and rules", "transformations:\n- input: cpu\n  outputs: {x: 1}\n  outputs: {-y: 2}\n- input: cpu",
			[]string{"form", duplicate + "resources.transformations[0].outputs", invalid + "resources.transformations[0].outputs[-y]", duplicate + "resources.transformations[1].input"}},
		{"types of a matrix", "transformations: {x: {cpu: 1}, z: 5}\nstrategy: {cpu: 1, memory: yes}",
			[]string{"form", wrongType + matrix + ".transformations[z]", wrongType + matrix + ".strategy[cpu]", wrongType + matrix + ".strategy[memory]"}},
		{"names of a matrix", "transformations: {-a: {cpu: 1, memory: 1, -b: 1}, \"\": {}}\nstrategy: {cpu: Retain, memory: Retain, -b: Retain, \"\": Retain}",
			[]string{required + matrix + ".transformations[]", invalid + matrix + ".transformations[-a]", required + matrix + ".strategy[]", invalid + matrix + ".transformations[-a][-b]"}},
		{"names of functions", "transformations: {\"\": {strategy: Retain, functions: {\"\": 1, -x: null}}}",
			[]string{required + matrix + ".transformations[]", required + matrix + ".transformations[].functions[]", invalid + matrix + ".transformations[].functions[-x]", required + matrix + ".transformations[].functions[-x]"}},
		{"empty strategy", "transformations: {x: {cpu: 1}}\nstrategy: {cpu: \"\"}", []string{required + matrix + ".strategy[cpu]"}},
		{"huge exponents", "transformations: [{input: cpu, outputs: {a: 1e1000000000, b: '1E-999999999', c: 1e999, d: '" + strings.Repeat("9", 400) + "', e: 1e+0999, f: 12E}}]",
			[]string{"form", invalid + resources + ".transformations[0].outputs[a]", invalid + resources + ".transformations[0].outputs[b]", invalid + resources + ".transformations[0].outputs[d]"}},
		{"both envelopes", "{resources: {}, resourceTransformationMatrix: {}}", []string{"form", notSupported + matrix}},
		{"envelope of another shape", "resources: {transformations: {cpu: {strategy: Retain}}}", []string{"form", wrongType + resources + ".transformations"}},
		{"version only", "{apiVersion: v1, transformations: []}", []string{"form", notSupported + "apiVersion"}},
		{"no map", "[1]", []string{"form", wrongType + "(document)"}},
		{"repeated in what is ignored", "{apiVersion: v1, kind: C, kind: D}", []string{"form", duplicate + "kind"}},
		{"config map", "{apiVersion: v1, kind: ConfigMap, data: {x: y}}", []string{"form", notSupported + "kind"}},
		{"empty", "# nothing", []string{"line 0"}},
		{"list in the other envelope", "resourceTransformationMatrix: {transformations: []}", []string{"form", invalid + matrix}},
		{"bad list in the other envelope", "resourceTransformationMatrix: {transformations: [5], strategy: {}}", []string{"form", invalid + matrix}},
	} {
		_, _, err := Parse([]byte(c.text), ShapeAuto)
		if diff := cmp.Diff(c.want, faultsOf(err)); diff != "" {
			t.Errorf("%s: %v%s", c.id, err, diff)
		}
	}
	if _, _, err := Parse([]byte("resources: {}"), ShapeInput); err == nil {
		t.Error("the envelope of a list is taken for the Input shape")
	}
}

func TestNotExpressible(t *testing.T) {
	for _, c := range []struct {
		rules  string
		change func(*Config)
		shape  Shape
		want   NotExpressibleError
	}{
		{"nvidia.com/gpumem Replace x nvidia.com/gpu: x 1; a Retain x b: x 1", nil, ShapeInput, NotExpressibleError{ShapeInput, "example.com/a", "multiplyBy"}},
		{"cpu Retain:; memory Replace:", nil, ShapeTuples, NotExpressibleError{ShapeTuples, "cpu", "outputs"}},
		{"", func(c *Config) { c.ExcludeResourcePrefixes = []string{"x"} }, ShapeOutput, NotExpressibleError{ShapeOutput, "", "excludeResourcePrefixes"}},
		{"", func(c *Config) { c.QuotaCheckStrategy = BlockUndeclared }, ShapeOutput, NotExpressibleError{ShapeOutput, "", "quotaCheckStrategy"}},
	} {
		cfg := rules(c.rules)
		if c.change != nil {
			c.change(cfg)
		}
		var err error
		if c.shape == ShapeTuples {
			_, err = cfg.Tuples()
		} else {
			_, err = cfg.Encode(c.shape)
		}
		var got *NotExpressibleError
		if !errors.As(err, &got) || *got != c.want {
			t.Errorf("%s as %v: %v", c.rules, c.shape, err)
		}
	}
}

// TestEncodeText: canonical texts, and others where those lose something.
func TestEncodeText(t *testing.T) {
	c := rules("memory Replace: EC 0.5; cpu: CR 1Ki, ACC 1000, EA 3e0, EC 0.0048828125Ki, OV 0Ki, b 1e21, c 1e-3, d 5000000000000000000000")
	data := testkit.Must(c.Encode(ShapeList))
	want := `resources:
  transformations:
  - input: cpu
    outputs:
      example.com/accelerator-memory: "3e0"
      example.com/b: "1e21"
      example.com/credit: "1e-3"
      example.com/credits: 0.0048828125Ki
      example.com/d: "5000000000000000000000"
      kueue.x-k8s.io/accelerator-memory: 1k
      kueue.x-k8s.io/credits: 1Ki
      quota.example.com/gpu-memory-overage: 0Ki
    strategy: Retain
  - input: memory
    outputs:
      example.com/credits: 500m
    strategy: Replace
`
	wantEqual(t, "", want, string(data))
	for _, q := range []resource.Quantity{
		*resource.NewDecimalQuantity(*inf.NewDec(1, 10), resource.DecimalSI), // 0.1n
		*resource.NewMilliQuantity(500, resource.BinarySI),
		*resource.NewDecimalQuantity(*inf.NewDec(1, -30), resource.BinarySI),
	} {
		c := &Config{Rules: []Rule{{Input: "cpu", Outputs: corev1.ResourceList{"x": q}}}}
		for _, s := range []Shape{ShapeInput, ShapeOutput, ShapeList} {
			_, err := c.Encode(s)
			if want := (&NotExpressibleError{s, "cpu", "outputs"}); fmt.Sprint(err) != want.Error() {
				t.Errorf("%v as %v: error %v", q.AsDec(), s, err)
			}
		}
		if _, err := c.Tuples(); err != nil {
			t.Error(err)
		}
	}
}

// checkEncoded writes a Config that compiles in every shape that can hold it, and
// checks that it is read the same, with the Format of every factor.
func checkEncoded(t *testing.T, c *Config) {
	t.Helper()
	want := compile(c, Options{})
	for _, s := range []Shape{ShapeInput, ShapeOutput, ShapeList} {
		data, err := c.Encode(s)
		var cannot *NotExpressibleError
		if errors.As(err, &cannot) && s != ShapeList {
			continue
		}
		if err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		for _, asked := range []Shape{ShapeAuto, s} {
			back, found, err := Parse(data, asked)
			if err != nil || found != s {
				t.Fatalf("%v: read as %v, error %v\n%s", s, found, err, data)
			}
			got := compile(back, Options{})
			if !got.Equal(want) {
				t.Fatalf("%v: another Config\n%s", s, data)
			}
			for _, in := range want.Inputs() {
				for _, out := range want.Outputs() {
					a, _ := want.Factor(out, in)
					if b, _ := got.Factor(out, in); a.Format != b.Format {
						t.Fatalf("%v: %s of %s was %s and is %s\n%s", s, out, in, a.Format, b.Format, data)
					}
				}
			}
		}
		if again, err := want.Config().Encode(s); err != nil || string(again) != string(data) {
			t.Fatalf("%v: written as\n%s and, compiled, as\n%s", s, data, again)
		}
	}
	tuples, err := c.Tuples()
	if err != nil {
		return
	}
	back, err := FromTuples(tuples)
	if err != nil || !compile(back, Options{}).Equal(want) {
		t.Fatalf("tuples: %v", err)
	}
}

func TestEncodeRandom(t *testing.T) {
	for seed := range uint64(100) {
		c, _, _ := problem(seed)
		checkEncoded(t, c)
	}
	checkEncoded(t, rules(seven))
	checkEncoded(t, &Config{Rules: []Rule{{Input: "cpu"}}, QuotaCheckStrategy: IgnoreUndeclared})
	checkEncoded(t, &Config{ExcludeResourcePrefixes: []string{" é ~ ", "#", "010", "on", "<<", strings.Repeat("word  ", 50)}})
	checkEncoded(t, rules(strings.Repeat("a", 63)+" Replace:; "+strings.Repeat("a.", 126)+"a/"+strings.Repeat("b", 63)+" Retain: cpu 1, true 1, 10 1, 1e3 1, null 1, y 1"))
}

// FuzzParse checks that nothing panics, and that what is accepted is written and
// read the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		sevenInput, sevenOutput, sevenList,
		"resources: {transformations: [{input: cpu, multiplyBy: b, outputs: {x: 5Ki, y: 1e3}}], excludeResourcePrefixes: [a, b], quotaCheckStrategy: BlockUndeclared}",
		"transformations: {x: {cpu: 0.0048828125Ki}}\nstrategy: {cpu: Retain, memory: Replace}",
		`{"transformations": [{"input": "a", "outputs": {"b": 1.5}}], "deviceClassMappings": [1]}`,
		`excludeResourcePrefixes: ["\x7f", " é ~", "0o7"]`, "a: &x {input: cpu}\ntransformations: [*x]", "transformations: [{<<: {input: cpu}}]", "? [a]", "transformations: {cpu: {strategy: Retain, functions: {x: -1n}}}",
	} {
		f.Add([]byte(expand(text)), uint8(0))
		f.Add([]byte(expand(text)), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, s uint8) {
		c, found, err := Parse(data, Shape(s%4))
		if err != nil {
			if c != nil || err.Error() == "" {
				t.Fatalf("%v with the error %v", c, err)
			}
			return
		}
		if asked := Shape(s % 4); asked != ShapeAuto && found != asked {
			t.Fatalf("%v is read as %v", asked, found)
		}
		if faults := c.Validate(); len(faults) > 0 {
			t.Fatalf("accepted with %v", faults)
		}
		checkEncoded(t, c)
	})
}

// TestShapeless has documents of which no shape is known: the one fault is where it is
// written, and says what would be right.
func TestShapeless(t *testing.T) {
	const oneRule = `: supported values: "transformations"; this is one rule, which stands in transformations`
	const top = `: supported values: "transformations", "resources", "resourceTransformationMatrix"`
	for text, want := range map[string]string{
		"transformations: cpu":  `transformations: Invalid value: "cpu": must be a list or a mapping, not a string`,
		"transformations: 0.50": "transformations: Invalid value: 0.50: must be a list or a mapping, not a number",
		"transformations:":      "transformations: Invalid value: must be a list or a mapping, not null",
		"input: cpu":            `input: Unsupported value: "input"` + oneRule,
		"{strategy: Retain, input: cpu, outputs: {a: 1}}":                   `input: Unsupported value: "input"` + oneRule,
		"{strategy: Retain, functions: {a: 1}}":                             `functions: Unsupported value: "functions"` + oneRule,
		"- {input: cpu}":                                                    "(document): Invalid value: must be a mapping, not a list; a list of rules stands under transformations",
		"transformation: [{input: cpu}]":                                    `transformation: Unsupported value: "transformation"` + top,
		"Resources: {transformations: []}":                                  `Resources: Unsupported value: "Resources"` + top,
		"kind: Configuration":                                               `kind: Unsupported value: "kind"` + top + "; a Kueue configuration has apiVersion and kind",
		"{kind: Configuration, resources: {}}":                              `kind: Unsupported value: "kind": supported values: "resources"; a Kueue configuration has apiVersion and kind`,
		"{transformations: cpu, quotaCheckStrategy: BlockUndeclared}":       `resources.transformations: Invalid value: "cpu": must be a list, not a string`,
		"{transformations: cpu, strategy: {cpu: Retain}}":                   `resourceTransformationMatrix.transformations: Invalid value: "cpu": must be a mapping, not a string`,
		"{transformations: {x/y: {cpu: 1}}, strategy: {cpu: Retain}, a: 1}": `a: Unsupported value: "a": supported values: "transformations", "strategy"`,
		"cpu": `(document): Invalid value: "cpu": must be a mapping, not a string`,
	} {
		if _, _, err := Parse([]byte(text), ShapeAuto); err == nil || err.Error() != "transform: line 1: "+want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
