package transform_test

import (
	"fmt"
	"log"
	"maps"
	"slices"

	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// migMemory is story 1 of KEP-2937: MIG instances are charged by their memory.
const migMemory = `
resources:
  transformations:
  - input: nvidia.com/mig-1g.5gb
    strategy: Replace
    outputs: {kueue.x-k8s.io/accelerator-memory: 5G}
  - input: nvidia.com/mig-2g.10gb
    strategy: Replace
    outputs: {kueue.x-k8s.io/accelerator-memory: 10G}
`

// compile reads and compiles a configuration.
func compile(text string) *transform.Transformation {
	config, _, err := transform.Parse([]byte(text), transform.ShapeAuto)
	if err != nil {
		log.Fatal(err)
	}
	t, err := transform.Compile(config, transform.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return t
}

func show(list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		fmt.Println(name, q.String())
	}
}

// request is a pod with two small MIG instances and a larger one.
var request = corev1.ResourceList{
	"cpu":                    resource.MustParse("1"),
	"memory":                 resource.MustParse("100M"),
	"nvidia.com/mig-1g.5gb":  resource.MustParse("2"),
	"nvidia.com/mig-2g.10gb": resource.MustParse("1"),
}

func ExampleTransformation_Apply() {
	show(compile(migMemory).Apply(request))
	// Output:
	// cpu 1
	// kueue.x-k8s.io/accelerator-memory 20G
	// memory 100M
}

// With Retain the instances count against quotas of their own as well. Output is
// the shape of KEP-2937's option 2.
func ExampleTransformation_Apply_retain() {
	t := compile(`
resourceTransformationMatrix:
  transformations:
    kueue.x-k8s.io/accelerator-memory:
      nvidia.com/mig-1g.5gb: 5G
      nvidia.com/mig-2g.10gb: 10G
  strategy:
    nvidia.com/mig-1g.5gb: Retain
    nvidia.com/mig-2g.10gb: Retain
`)
	show(t.Apply(request))
	// Output:
	// cpu 1
	// kueue.x-k8s.io/accelerator-memory 20G
	// memory 100M
	// nvidia.com/mig-1g.5gb 2
	// nvidia.com/mig-2g.10gb 1
}

// creditRules are story 2 with the MIG instances of story 1: everything costs
// credits, and memory of devices is counted too.
const creditRules = `
resourceTransformationMatrix:
  transformations:
    cpu: {strategy: Retain, functions: {kueue.x-k8s.io/credits: "1"}}
    nvidia.com/mig-1g.5gb:
      strategy: Replace
      functions: {kueue.x-k8s.io/accelerator-memory: 5G, kueue.x-k8s.io/credits: "10"}
    nvidia.com/mig-2g.10gb:
      strategy: Replace
      functions: {kueue.x-k8s.io/accelerator-memory: 10G, kueue.x-k8s.io/credits: "15"}
`

func ExampleTransformation_Explain() {
	fmt.Print(compile(creditRules).Explain(request))
	// Output:
	// cpu                               1    retained 1, generated 0
	// kueue.x-k8s.io/accelerator-memory 20G  retained 0, generated 20G
	//                                   10G  nvidia.com/mig-1g.5gb 2 x 5G
	//                                   10G  nvidia.com/mig-2g.10gb 1 x 10G
	// kueue.x-k8s.io/credits            36   retained 0, generated 36
	//                                   1    cpu 1 x 1
	//                                   20   nvidia.com/mig-1g.5gb 2 x 10
	//                                   15   nvidia.com/mig-2g.10gb 1 x 15
	// memory                            100M retained 100M, generated 0
	// nvidia.com/mig-1g.5gb                  replaced
	// nvidia.com/mig-2g.10gb                 replaced
}

// An administrator asks what a quota of 200 GB of device memory is good for.
func ExampleTransformation_MaxUnits() {
	t := compile(migMemory)
	for _, input := range t.Inputs() {
		answer, err := t.MaxUnits(transform.Query{
			Input: input,
			Quota: corev1.ResourceList{"kueue.x-k8s.io/accelerator-memory": resource.MustParse("200G")},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(input, answer.Units, "limited by", answer.Limiting)
	}
	// Output:
	// nvidia.com/mig-1g.5gb 40 limited by kueue.x-k8s.io/accelerator-memory
	// nvidia.com/mig-2g.10gb 20 limited by kueue.x-k8s.io/accelerator-memory
}

// Half a credit for a CPU: a workload of three pods with one CPU each costs three
// credits, as whole ones are charged per pod. It does not fit into a quota of two.
func ExampleLinear_ChargeBatch() {
	t := compile(`
transformations:
- input: cpu
  strategy: Replace
  outputs: {example.com/credits: "0.5"}
`)
	in, err := vectormap.New([]string{"cpu"}, vectormap.NoFold())
	if err != nil {
		log.Fatal(err)
	}
	out, err := t.OutMap(in)
	if err != nil {
		log.Fatal(err)
	}
	linear, err := t.Bind(in, out, transform.BindOptions{})
	if err != nil {
		log.Fatal(err)
	}

	workloads, charges := in.NewMatrix(2), out.NewMatrix(2)
	workloads.SetRow(0, vector.ResourceVector{1000}) // thousandths of a CPU
	workloads.SetRow(1, vector.ResourceVector{2000})
	linear.ChargeBatch(charges, workloads, []int64{3, 2})

	credits, _ := out.Index("example.com/credits")
	limit := out.NewVector()
	limit[credits] = 2
	var admitted vector.Mask
	vector.LessEqual(&admitted, charges, limit)
	for row := range workloads.Rows() {
		fmt.Println("workload", row, "costs", charges.At(row, credits), "credits, admitted:", admitted.Test(row))
	}
	// Output:
	// workload 0 costs 3 credits, admitted: false
	// workload 1 costs 2 credits, admitted: true
}

// The same on lists.
func ExampleCharge() {
	charged, err := transform.Charge(corev1.ResourceList{
		"cpu": resource.MustParse("100m"), "example.com/credits": resource.MustParse("0.5"),
	}, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(charged)
	// Output: map[cpu:300 example.com/credits:3]
}

// Everything that is wrong is said at once.
func ExampleParse_faults() {
	_, _, err := transform.Parse([]byte(`
transformations:
- {input: cpu, strategy: replace}
- {input: cpu, outputs: {example.com/credits: null}}
`), transform.ShapeAuto)
	fmt.Println(err)
	// Output:
	// [resources.transformations[0].strategy: Unsupported value: "replace": supported values: "Replace", "Retain", resources.transformations[1].input: Duplicate value: "cpu", resources.transformations[1].outputs[example.com/credits]: Required value: a quantity]
}

// One configuration, from one shape to another.
func ExampleConfig_Encode() {
	config, shape, err := transform.Parse([]byte(migMemory), transform.ShapeAuto)
	if err != nil {
		log.Fatal(err)
	}
	text, err := config.Encode(transform.ShapeOutput)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("found:", shape)
	fmt.Print(string(text))
	// Output:
	// found: List
	// resourceTransformationMatrix:
	//   strategy:
	//     nvidia.com/mig-1g.5gb: Replace
	//     nvidia.com/mig-2g.10gb: Replace
	//   transformations:
	//     kueue.x-k8s.io/accelerator-memory:
	//       nvidia.com/mig-1g.5gb: 5G
	//       nvidia.com/mig-2g.10gb: 10G
}

func ExampleTransformation_Lint() {
	t := compile(`
transformations:
- {input: example.com/gpumem, strategy: Replace, multiplyBy: example.com/gpus, outputs: {example.com/total-gpumem: "1"}}
- {input: memory, outputs: {example.com/total-gpumem: 10G}}
`)
	for _, finding := range t.Lint([]corev1.ResourceName{"memory", "example.com/gpu", "example.com/gpumem"}) {
		fmt.Println(finding)
	}
	// Output:
	// warning: unit-mismatch(,example.com/total-gpumem): factors from 1 to 10000000000
	// warning: unknown-multiplier(example.com/gpumem,): no such resource as example.com/gpus, which counts as 1
}

// A virtual Ascend device has one of a few sizes; what a pod asks for is rounded
// up before it is transformed.
func ExampleRoundUp() {
	size := func(core, memory string) corev1.ResourceList {
		return corev1.ResourceList{"huawei.com/core": resource.MustParse(core), "huawei.com/memory": resource.MustParse(memory)}
	}
	ascend := transform.RoundUp{
		Dims:      []corev1.ResourceName{"huawei.com/core", "huawei.com/memory"},
		Templates: []transform.Template{{Name: "vir05_1c_16g", Size: size("5", "16384")}, {Name: "vir10_3c_32g", Size: size("10", "32768")}},
		Whole:     size("20", "65536"),
	}
	list, template, err := ascend.Apply(size("6", "16384"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(template)
	show(list)
	// Output:
	// vir10_3c_32g
	// huawei.com/core 10
	// huawei.com/memory 32768
}

// HAMi counts device memory per card; quota is charged for all of them.
func ExamplePerCard() {
	config := &transform.Config{Rules: []transform.Rule{
		transform.PerCard("nvidia.com/gpumem", "nvidia.com/gpu", "nvidia.com/total-gpumem"),
	}}
	t, err := transform.Compile(config, transform.Options{})
	if err != nil {
		log.Fatal(err)
	}
	show(t.Apply(corev1.ResourceList{
		"nvidia.com/gpu": resource.MustParse("2"), "nvidia.com/gpumem": resource.MustParse("1024"),
	}))
	// Output:
	// nvidia.com/gpu 2
	// nvidia.com/total-gpumem 2048
}
