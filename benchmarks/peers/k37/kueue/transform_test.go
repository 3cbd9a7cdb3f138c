package kueue

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	_ "unsafe" // go:linkname

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/workload"
)

// outputs are names that rules charge.
var outputs = []corev1.ResourceName{"example.com/credits", "example.com/accelerator-memory", "nvidia.com/gpu", "cpu", "rdma/total"}

// randomRules returns rules and prefixes of excluded names.
func randomRules(r peer.Random, quantity func() resource.Quantity) (rules []config.ResourceTransformation, excluded []string) {
	names := slices.Concat(peer.Names, []corev1.ResourceName{"example.com/absent"})
	for _, at := range r.Perm(len(names))[:r.IntN(5)] {
		rule := config.ResourceTransformation{Input: names[at], Outputs: corev1.ResourceList{}}
		if r.Chance(80) {
			strategy := []config.ResourceTransformationStrategy{config.Retain, config.Replace}[r.IntN(2)]
			rule.Strategy = &strategy
		}
		if r.Chance(30) {
			rule.MultiplyBy = names[r.IntN(len(names))]
		}
		for _, out := range outputs {
			if r.Chance(30) {
				q := quantity()
				if r.Chance(10) {
					q.Neg()
				}
				rule.Outputs[out] = q
			}
		}
		rules = append(rules, rule)
	}
	for _, prefix := range []string{"rdma/", "nvidia.com/mig", "hugepages", "example.com/"} {
		if r.Chance(10) {
			excluded = append(excluded, prefix)
		}
	}
	return rules, excluded
}

// oddQuantity returns quantities that are negative, huge or finer than any unit as well.
func oddQuantity(r peer.Random) resource.Quantity {
	q := r.Quantity()
	switch r.IntN(30) {
	case 0:
		q.Neg()
	case 1:
		return resource.MustParse("9223372036854775807")
	case 2:
		return resource.MustParse("12345678901234567890123") // above 2^63
	case 3:
		return resource.MustParse("0.000000001")
	}
	return q
}

// randomWorkload returns a workload of one to three pod sets, some pods of which may be
// done.
func randomWorkload(r peer.Random, list func() corev1.ResourceList) *kueue.Workload {
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: "w"}}
	for i := range 1 + r.IntN(3) {
		ps := kueue.PodSet{Name: kueue.PodSetReference(fmt.Sprint("set-", i)), Count: r.Int32N(5)}
		if r.Chance(5) {
			ps.Count = math.MaxInt32
		}
		ps.Template.Spec = r.Pod("pod", list).Spec
		w.Spec.PodSets = append(w.Spec.PodSets, ps)
		if r.Chance(20) {
			w.Status.ReclaimablePods = append(w.Status.ReclaimablePods, kueue.ReclaimablePod{Name: ps.Name, Count: r.Int32N(5)})
		}
	}
	return w
}

// TestTransform compares what NewInfo says a workload requests with Apply and Charge,
// and with the charge of its vector where that is exact.
func TestTransform(t *testing.T) {
	features.SetFeatureGateDuringTest(t, features.SchedulingEquivalenceHashing, false) // of no matter here
	counts := map[string]int{}
	peer.Cases(t, func(r peer.Random) error {
		quantity := func() resource.Quantity { return oddQuantity(r) }
		if r.Chance(50) {
			quantity = func() resource.Quantity { return *resource.NewQuantity(r.Int64N(1<<20), resource.DecimalSI) }
		}
		rules, excluded := randomRules(r, quantity)
		w := randomWorkload(r, func() corev1.ResourceList { return r.List(peer.Names, 30, quantity) })
		// NewInfo may change its pods: see docs/upstreams.md.
		info := workload.NewInfo(w.DeepCopy(), workload.WithResourceTransformations(rules), workload.WithExcludedResourcePrefixes(excluded))
		compiled, err := kueueRules(rules, excluded)
		if err != nil {
			return err
		}
		for i := range w.Spec.PodSets {
			want := &info.TotalRequests[i]
			got, err := totalRequests(compiled, &w.Spec.PodSets[i], want.Count)
			if err != nil {
				return err
			}
			counts["pod sets"]++
			if n := misread(compiled, &w.Spec.PodSets[i], want.Requests); n > 0 {
				counts["misread by Kueue"] += n
			}
			if !resources.Equal(want.Requests, got.Requests) {
				return fmt.Errorf("Kueue %v, ours %v\npods %d of %+v\nrules %+v, excluded %v", resources.ToMap(want.Requests), resources.ToMap(got.Requests),
					want.Count, w.Spec.PodSets[i].Template.Spec, rules, excluded)
			}
			vectors, err := compareCharge(compiled, &w.Spec.PodSets[i], want)
			if err != nil {
				return err
			}
			if vectors {
				counts["as vectors"]++
			}
		}
		return nil
	})
	t.Log(counts)
	if counts["as vectors"] < counts["pod sets"]/10 {
		t.Error("too few pod sets are compared as vectors")
	}
}

// misread makes 0 of what Kueue charges of a negative amount, and returns how often:
// Quantity.Value, which reads it, returns other numbers for negative fractions below
// about -9.2e18 of their last digits.
func misread(rules *transform.Transformation, ps *kueue.PodSet, requests resources.Requests) (n int) {
	for name, q := range rules.Apply(vectormap.PodRequests(&corev1.Pod{Spec: ps.Template.Spec}, vectormap.PodOptions{})) {
		if q.Sign() < 0 && requests.ResourceValue(name) != 0 {
			requests.Set(name, 0)
			n++
		}
	}
	return n
}

// compareCharge compares the charge of a vector, and reports whether it can: amounts are
// whole and small enough, and no multiplier is 0, which in a vector means absent.
func compareCharge(rules *transform.Transformation, ps *kueue.PodSet, want *workload.PodSetResources) (bool, error) {
	list := vectormap.PodRequests(&corev1.Pod{Spec: ps.Template.Spec}, vectormap.PodOptions{})
	for name, q := range list {
		scale := int64(1)
		if name == corev1.ResourceCPU {
			scale = 1000
		}
		whole := resource.NewScaledQuantity(q.ScaledValue(resource.Milli), resource.Milli)
		if q.CmpInt64(0) < 0 || q.CmpInt64(1<<42) > 0 || whole.Cmp(q) != 0 || whole.MilliValue()*scale%1000 != 0 {
			return false, nil
		}
	}
	for _, in := range rules.Inputs() {
		if q, ok := list[rules.MultiplyBy(in)]; ok && q.IsZero() {
			return false, nil
		}
	}
	charge := resources.ToMap(want.Requests)
	for _, n := range charge {
		if n >= 1<<53 {
			return false, nil
		}
	}
	names := slices.Sorted(maps.Keys(list))
	in, err := vectormap.New(texts(names), vectormap.NoFold())
	if err != nil {
		return false, err
	}
	out, err := rules.OutMap(in)
	if err != nil {
		return false, err
	}
	linear, err := rules.Bind(in, out, transform.BindOptions{})
	if err != nil {
		return false, err
	}
	if !linear.Exact() {
		return false, nil
	}
	request, err := in.RequestVector(nil, list, nil)
	if err != nil {
		return false, err
	}
	src, dst := in.NewMatrix(0), out.NewMatrix(1)
	src.AppendRow(request)
	linear.ChargeBatch(dst, src, []int64{int64(want.Count)})
	for i, name := range out.All() {
		if got := dst.At(0, i); got != float64(charge[corev1.ResourceName(name)]) {
			if big := slices.Max(request) * 1e12; big > 1<<53 {
				return false, nil // a partial sum may have been rounded
			}
			return false, fmt.Errorf("%s: Kueue %d, a vector's charge %v\n%d of %v by %+v", name, charge[corev1.ResourceName(name)], got, want.Count, request, rules.Config())
		}
	}
	return true, nil
}

func texts(names []corev1.ResourceName) (all []string) {
	for _, name := range names {
		all = append(all, string(name))
	}
	return all
}

// applyResourceTransformations is the step of NewInfo that follows rules. Kueue does not
// export it; it is declared here to be timed alone.
//
//go:linkname applyResourceTransformations sigs.k8s.io/kueue/pkg/workload.applyResourceTransformations
func applyResourceTransformations(input corev1.ResourceList, transforms map[corev1.ResourceName]*config.ResourceTransformation) corev1.ResourceList

// BenchmarkTransform charges 1,000 workloads of GPUs and MIG instances by 8 rules.
func BenchmarkTransform(b *testing.B) {
	r := peer.NewRandom(1)
	rules := benchRules()
	var workloads []*kueue.Workload
	for i := range 1000 {
		request := corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(r.Int64N(64_000), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(r.Int64N(256)<<30, resource.BinarySI),
		}
		for _, at := range r.Perm(len(rules))[:1+r.IntN(2)] {
			request[rules[at].Input] = *resource.NewQuantity(1+r.Int64N(8), resource.DecimalSI)
		}
		if r.Chance(20) {
			request["nvidia.com/gpumem"] = *resource.NewQuantity(1024*(1+r.Int64N(40)), resource.DecimalSI)
		}
		pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: request}}}}
		w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("workload-", i)}}
		w.Spec.PodSets = []kueue.PodSet{{Name: "main", Count: 1 + r.Int32N(16), Template: corev1.PodTemplateSpec{Spec: pod}}}
		workloads = append(workloads, w)
	}
	c := newCharges(b, rules, workloads)
	row := peer.Row{
		Peer: "Kueue", Module: "sigs.k8s.io/kueue", Ours: "Linear.ChargeBatch", Goal: 3,
		Work: "1,000 workloads of one pod set, 8 rules", Questions: 1, Our: func(int) { c.charge() },
	}
	byName := map[corev1.ResourceName]*config.ResourceTransformation{}
	for i := range rules {
		byName[rules[i].Input] = &rules[i]
	}
	b.Run("rules", func(b *testing.B) {
		row, theirs := row, make([]resources.Requests, len(workloads))
		row.Function, row.Remark = "applyResourceTransformations", "from totals of pods"
		row.Their = func(int) {
			for i, list := range c.lists {
				theirs[i] = resources.NewRequestsFromResourceList(applyResourceTransformations(list, byName))
				theirs[i].FloorToZero()
				theirs[i].Mul(int64(workloads[i].Spec.PodSets[0].Count))
			}
		}
		row.Same = func(int) error { return c.same(func(i int) resources.Requests { return theirs[i] }) }
		row.Bench(b)
	})
	for _, hash := range []bool{false, true} {
		b.Run(fmt.Sprintf("NewInfo/hash=%t", hash), func(b *testing.B) {
			features.SetFeatureGateDuringTest(b, features.SchedulingEquivalenceHashing, hash)
			row, theirs, option := row, make([]*workload.Info, len(workloads)), workload.WithResourceTransformations(rules)
			row.Function, row.Remark = "NewInfo", "there also the sum of containers"
			if hash {
				row.Remark = "there also hashes the workload"
			}
			row.Their = func(int) {
				for i, w := range workloads {
					theirs[i] = workload.NewInfo(w, option)
				}
			}
			row.Same = func(int) error {
				return c.same(func(i int) resources.Requests { return theirs[i].TotalRequests[0].Requests })
			}
			row.Bench(b)
		})
	}
}

// benchRules charge GPUs and MIG instances as credits and memory of accelerators.
func benchRules() (rules []config.ResourceTransformation) {
	add := func(strategy config.ResourceTransformationStrategy, input, multiplyBy corev1.ResourceName, outputs corev1.ResourceList) {
		rules = append(rules, config.ResourceTransformation{Input: input, Strategy: &strategy, MultiplyBy: multiplyBy, Outputs: outputs})
	}
	credits := func(n, gigabytes int64) corev1.ResourceList {
		return corev1.ResourceList{
			"example.com/credits":            *resource.NewQuantity(n, resource.DecimalSI),
			"example.com/accelerator-memory": *resource.NewQuantity(gigabytes*1e9, resource.DecimalSI),
		}
	}
	add(config.Replace, "nvidia.com/mig-1g.5gb", "", credits(10, 5))
	add(config.Replace, "nvidia.com/mig-2g.10gb", "", credits(15, 10))
	add(config.Replace, "nvidia.com/mig-3g.20gb", "", credits(25, 20))
	add(config.Replace, "nvidia.com/mig-4g.20gb", "", credits(30, 20))
	add(config.Replace, "nvidia.com/mig-7g.40gb", "", credits(60, 40))
	add(config.Retain, "nvidia.com/gpu", "", credits(60, 40))
	add(config.Retain, "amd.com/gpu", "", credits(40, 64))
	add(config.Replace, "nvidia.com/gpumem", "nvidia.com/gpu", corev1.ResourceList{"nvidia.com/total-gpumem": resource.MustParse("1")})
	return rules
}

// charges are the totals of pods and what they are charged, as lists and as vectors.
type charges struct {
	lists    []corev1.ResourceList
	out      *vectormap.ResourceVectorMap
	src, dst *vector.Matrix
	counts   []int64
	linear   *transform.Linear
}

func newCharges(b *testing.B, rules []config.ResourceTransformation, workloads []*kueue.Workload) *charges {
	compiled, err := kueueRules(rules, nil)
	if err != nil {
		b.Fatal(err)
	}
	in, err := vectormap.New(texts(compiled.Inputs()), vectormap.NoFold())
	if err != nil {
		b.Fatal(err)
	}
	c := &charges{src: in.NewMatrix(0)}
	for _, w := range workloads {
		ps := &w.Spec.PodSets[0]
		list := vectormap.PodRequests(&corev1.Pod{Spec: ps.Template.Spec}, vectormap.PodOptions{})
		request, err := in.RequestVector(nil, list, nil)
		if err != nil {
			b.Fatal(err)
		}
		c.lists, c.counts = append(c.lists, list), append(c.counts, int64(ps.Count))
		c.src.AppendRow(request)
	}
	if c.out, err = compiled.OutMap(in); err != nil {
		b.Fatal(err)
	}
	if c.linear, err = compiled.Bind(in, c.out, transform.BindOptions{}); err != nil {
		b.Fatal(err)
	}
	c.dst = c.out.NewMatrix(len(workloads))
	return c
}

func (c *charges) charge() { c.linear.ChargeBatch(c.dst, c.src, c.counts) }

// same compares with the requests of Kueue. A vector has a 0 where a list has no name.
func (c *charges) same(theirs func(i int) resources.Requests) error {
	for i := range c.lists {
		want, charged := theirs(i), 0
		want.ForEach(func(_ corev1.ResourceName, n int64) {
			if n != 0 {
				charged++
			}
		})
		for j, name := range c.out.All() {
			n := want.ResourceValue(corev1.ResourceName(name))
			if c.dst.At(i, j) != float64(n) {
				return fmt.Errorf("workload %d: %s: Kueue %d, ours %v", i, name, n, c.dst.At(i, j))
			}
			if n != 0 {
				charged--
			}
		}
		if charged != 0 {
			return fmt.Errorf("workload %d: Kueue charges %v", i, resources.ToMap(want))
		}
	}
	return nil
}
