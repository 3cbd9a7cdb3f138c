package benchmarks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// transformShape is a problem of package transform: so many workloads that request
// so many of 16 inputs each, transformed into 8 outputs by a matrix of so many
// entries.
type transformShape struct{ workloads, requested, entries int }

func (s transformShape) String() string {
	return fmt.Sprintf("workloads=%d/requested=%d/entries=%d", s.workloads, s.requested, s.entries)
}

const (
	transformInputs, transformOutputs = 16, 8
	transformMultiplied               = 4 // rules with a multiplier
)

// transformShapes: with all inputs requested, with the few of a real pod, and with
// a full matrix.
var transformShapes = []transformShape{
	{10_000, transformInputs, 32},
	{10_000, 4, 32},
	{10_000, transformInputs, transformInputs * transformOutputs},
}

// transformation is one problem in all forms.
type transformation struct {
	config *transform.Config
	in     *vectormap.ResourceVectorMap
	out    *vectormap.ResourceVectorMap
	linear *transform.Linear

	requests []corev1.ResourceList
	pods     []int64
	src, dst *vector.Matrix

	scheduler *quotaScheduler
}

func newTransformation(s transformShape) *transformation {
	r := rand.New(rand.NewPCG(200, 1))
	t := &transformation{config: new(transform.Config), pods: make([]int64, s.workloads)}
	inputs := []corev1.ResourceName{"cpu", "memory"}
	for k := len(inputs); k < transformInputs; k++ {
		inputs = append(inputs, corev1.ResourceName(fmt.Sprintf("vendor.example/device-%02d", k)))
	}
	perRule := s.entries / transformInputs
	for k, input := range inputs {
		rule := transform.Rule{Input: input, Strategy: transform.Retain, Outputs: corev1.ResourceList{}}
		if k%2 == 1 {
			rule.Strategy = transform.Replace
		}
		if k%transformMultiplied == 2 {
			rule.MultiplyBy = inputs[k+1]
		}
		for n := range perRule {
			output := corev1.ResourceName(fmt.Sprintf("quota.example/credits-%d", (k*perRule+n*3)%transformOutputs))
			rule.Outputs[output] = *resource.NewQuantity(int64(1+r.IntN(20)), resource.DecimalSI)
		}
		t.config.Rules = append(t.config.Rules, rule)
	}
	var names []string
	for _, input := range inputs {
		names = append(names, string(input))
	}
	t.in = testkit.Must(vectormap.New(names, vectormap.NoFold()))
	compiled := testkit.Must(transform.Compile(t.config, transform.Options{}))
	t.out = testkit.Must(compiled.OutMap(t.in))
	t.linear = testkit.Must(compiled.Bind(t.in, t.out, transform.BindOptions{}))
	if entries := compiled.NNZ(); entries != s.entries || !t.linear.Exact() {
		panic(fmt.Sprintf("%d entries, exact %v", entries, t.linear.Exact()))
	}

	t.src, t.dst = t.in.NewMatrix(s.workloads), t.out.NewMatrix(s.workloads)
	for row := range s.workloads {
		request := corev1.ResourceList{}
		for _, k := range r.Perm(len(inputs))[:s.requested] {
			amount := int64(1 + r.IntN(16))
			if inputs[k] == "memory" {
				amount <<= 30
			}
			request[inputs[k]] = *resource.NewQuantity(amount, resource.DecimalSI)
		}
		t.requests = append(t.requests, request)
		t.src.SetRow(row, testkit.Must(t.in.RequestVector(nil, request, nil)))
		t.pods[row] = int64(1 + r.IntN(8))
	}
	t.scheduler = newQuotaScheduler(t.config, len(t.requests))
	return t
}

func (t *transformation) apply()  { t.linear.ApplyBatch(t.dst, t.src) }
func (t *transformation) charge() { t.linear.ChargeBatch(t.dst, t.src, t.pods) }

func (t *transformation) lists() {
	for row, request := range t.requests {
		t.scheduler.transform(t.scheduler.totals[row], request)
	}
}

func (t *transformation) listCharges() {
	for row, request := range t.requests {
		t.scheduler.transform(t.scheduler.totals[row], request)
		charge(t.scheduler.charges[row], t.scheduler.totals[row], t.pods[row])
	}
}

// verify compares all amounts and charges with the scheduler's.
func (t *transformation) verify() error {
	t.apply()
	t.lists()
	for row, total := range t.scheduler.totals {
		for j, name := range t.out.All() {
			q := total[corev1.ResourceName(name)]
			if want := float64(q.MilliValue()) * float64(t.out.Unit(j).Scale()) / 1000; t.dst.At(row, j) != want {
				return fmt.Errorf("workload %d: %v of %s, want %v", row, t.dst.At(row, j), name, want)
			}
		}
	}
	t.charge()
	t.listCharges()
	for row, charged := range t.scheduler.charges {
		for j, name := range t.out.All() {
			if want := charged[corev1.ResourceName(name)]; t.dst.At(row, j) != float64(want) {
				return fmt.Errorf("workload %d: charged %v of %s, want %v", row, t.dst.At(row, j), name, want)
			}
		}
	}
	return nil
}

// quotaScheduler is the form in which Kueue transforms requests (pkg/workload,
// resources.go): rules by name, requests as corev1.ResourceList, every contribution
// a Quantity that is multiplied and added to the list of results; and in which it
// counts them for quota (pkg/resources, requests.go): an int64 by name. Kueue makes
// the lists anew for each workload; here they are kept. Requests and multipliers are
// whole numbers, of which it takes the int64 value, the fastest case.
type quotaScheduler struct {
	rules   map[corev1.ResourceName]*transform.Rule
	totals  []corev1.ResourceList
	charges []map[corev1.ResourceName]int64
}

func newQuotaScheduler(c *transform.Config, workloads int) *quotaScheduler {
	s := &quotaScheduler{rules: map[corev1.ResourceName]*transform.Rule{}}
	for k := range c.Rules {
		s.rules[c.Rules[k].Input] = &c.Rules[k]
	}
	for range workloads {
		s.totals = append(s.totals, make(corev1.ResourceList, 2*transformInputs))
		s.charges = append(s.charges, make(map[corev1.ResourceName]int64, 2*transformInputs))
	}
	return s
}

// transform sets dst to what a request is charged as.
func (s *quotaScheduler) transform(dst, request corev1.ResourceList) {
	clear(dst)
	for name, q := range request {
		rule := s.rules[name]
		if rule == nil || rule.Strategy == transform.Retain {
			kept := dst[name]
			kept.Add(q)
			dst[name] = kept
		}
		if rule == nil {
			continue
		}
		amount := q.Value()
		if times, ok := request[rule.MultiplyBy]; ok {
			amount *= times.Value()
		}
		for output, factor := range rule.Outputs {
			contribution := factor.DeepCopy()
			contribution.Mul(amount)
			total := dst[output]
			total.Add(contribution)
			dst[output] = total
		}
	}
}

// charge sets dst to the whole units that so many pods are charged.
func charge(dst map[corev1.ResourceName]int64, total corev1.ResourceList, pods int64) {
	clear(dst)
	for name, q := range total {
		if name == corev1.ResourceCPU {
			dst[name] = q.MilliValue() * pods
		} else {
			dst[name] = q.Value() * pods
		}
	}
}

// transformers are what is measured: the library's way and the scheduler's.
var transformers = []struct {
	name        string
	batch, list func(*transformation)
}{
	{"ApplyBatch", (*transformation).apply, (*transformation).lists},
	{"ChargeBatch", (*transformation).charge, (*transformation).listCharges},
}

// BenchmarkTransformRatio is [BenchmarkRatio] for package transform.
//
//	ns/workload               of the kernel
//	resourcelist-ns/workload  of the scheduler's lists
//	x_resourcelist            how many times as fast as the lists
func BenchmarkTransformRatio(b *testing.B) {
	for _, shape := range transformShapes {
		problem := sync.OnceValue(func() *transformation { return newTransformation(shape) })
		for _, op := range transformers {
			for _, impl := range slices.Backward(kernel.Available()) {
				b.Run(fmt.Sprintf("transform=%s/impl=%v/%v", op.name, impl, shape), func(b *testing.B) {
					transformRatio(b, problem(), impl, op.batch, op.list)
				})
			}
		}
	}
}

func transformRatio(b *testing.B, t *transformation, impl kernel.Impl, batch, list func(*transformation)) {
	defer kernel.Use(impl)()
	watch := func(do func(*transformation)) *stopwatch.Stopwatch {
		w := stopwatch.New(1, func(int) { do(t) })
		w.Call()
		return w
	}
	ours, lists := watch(batch), watch(list)
	alternate(b, ours, lists)
	testkit.Check(t.verify())
	n := float64(len(t.requests))
	b.ReportMetric(ours.Best/n, "ns/workload")
	b.ReportMetric(lists.Best/n, "resourcelist-ns/workload")
	b.ReportMetric(lists.Best/ours.Best, "x_resourcelist")
}
