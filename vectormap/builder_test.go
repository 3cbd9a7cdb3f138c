package vectormap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func namedPod(namespace, name string, requests ...string) *corev1.Pod {
	p := pod(corev1.PodSpec{Containers: []corev1.Container{container("c", rl(requests...))}})
	p.Namespace, p.Name = namespace, name
	return p
}

func namedNode(name string, allocatable ...string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: rl(allocatable...)}}
}

// badCluster is a cluster in which some objects have malformed names.
func badCluster(opts ...Option) *Builder {
	b := NewBuilder(opts...)
	b.AddNode(namedNode("n2", "cpu", "1", "bad name", "1"))
	b.AddNode(namedNode("n1", "cpu", "1", "good.io/a", "1"))
	for _, p := range []*corev1.Pod{
		namedPod("b", "y", "bad name", "1", "cpu", "1"),
		namedPod("b", "x", "bad name", "1", "good.io/b", "1"),
		namedPod("a", "z", "bad name", "1", "-", "1"),
		namedPod("", "manifest", "-", "1"),
		{ObjectMeta: metav1.ObjectMeta{Namespace: "a", GenerateName: "job-"}, Spec: corev1.PodSpec{Overhead: rl("-", "1")}},
	} {
		b.AddPod(p)
		b.AddPod(p) // an object that is seen twice is named once
	}
	b.AddNames("listed bad")
	return b
}

// A bad name is an error that names the objects which have it.
func TestBuildNamesObjects(t *testing.T) {
	m, err := badCluster().Build()
	const want = `vectormap: name "-" of Pod manifest, Pod a/job-, Pod a/z does not start and end with a letter or digit
vectormap: name "bad name" of Node n2, Pod a/z, Pod b/x and 1 more has characters other than letters, digits and . _ - /
vectormap: name "listed bad" has characters other than letters, digits and . _ - /`
	if m != nil || err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	var first *NameError
	if !errors.As(err, &first) || !slices.Equal(first.Objects, names("Pod manifest", "Pod a/job-", "Pod a/z")) {
		t.Errorf("%+v", first)
	}

	b := NewBuilder()
	b.AddNode(namedNode("b", "amd.com/gpu", "8"))
	b.AddNode(namedNode("a", "amd.com/gpu", "8"))
	b.AddPod(namedPod("x", "y", "nvidia.com/gpu", "1"))
	_, err = b.Build()
	if err == nil || err.Error() != "vectormap: gpu would stand for amd.com/gpu (Node a) and nvidia.com/gpu (Pod x/y): use NoFold or FoldVendors" {
		t.Error(err)
	}
}

// With Lenient the map is there, without the bad names, and says so.
func TestLenient(t *testing.T) {
	m := testkit.Must(badCluster(Lenient()).Build())
	if got := m.String(); got != "cpu=milli-cpu memory=byte gpu=whole pods=whole good.io/a=whole good.io/b=whole" {
		t.Error(got)
	}
	wantNotes := func(m *ResourceVectorMap, want ...string) {
		t.Helper()
		var got []string
		for _, n := range m.Notes() {
			n.note()
			got = append(got, n.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("notes %q, want %q", got, want)
		}
	}
	left := names(
		`name "-" of Pod manifest, Pod a/job-, Pod a/z does not start and end with a letter or digit`,
		`name "bad name" of Node n2, Pod a/z, Pod b/x and 1 more has characters other than letters, digits and . _ - /`,
		`name "listed bad" has characters other than letters, digits and . _ - /`)
	wantNotes(m, left...)
	wider := testkit.Must(m.Extend(names("also bad!", "z.io/z")))
	wantNotes(wider, append(left, `name "also bad!" does not start and end with a letter or digit`)...)
	wantNotes(m, left...)
	if like, err := New(names("x y"), Like(m)); err != nil || len(like.Notes()) != 1 {
		t.Errorf("%v, %v", like, err)
	}

	// Its objects are still separate from the others.
	if _, err := m.PodRequest(nil, namedPod("b", "y", "bad name", "1"), PodOptions{}, nil); !errors.Is(err, ErrUnknownResource) {
		t.Error(err)
	}
	// Faults that are no object's are not let pass.
	if _, err := New(nil, Lenient(), Milli("bad name")); err == nil {
		t.Error("an option with a bad name was let pass")
	}
	if _, err := New(names("nvidia.com/gpu", "amd.com/gpu"), Lenient()); !errors.As(err, new(*OriginalsError)) {
		t.Error(err)
	}
	if _, err := m.Extend(nil, Lenient()); err == nil {
		t.Error("Extend took Lenient")
	}
}

// What a pod limits it may come to request.
func TestAddPodTakesLimits(t *testing.T) {
	b := NewBuilder()
	b.AddPod(pod(corev1.PodSpec{
		Containers:     []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: rl("nvidia.com/gpu", "1")}}},
		InitContainers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: rl("i.io/i", "1")}}},
		Resources:      &corev1.ResourceRequirements{Limits: rl("hugepages-2Mi", "2Mi")},
	}))
	b.AddNode(&corev1.Node{Status: corev1.NodeStatus{Capacity: rl("c.io/capacity", "1")}})
	m, err := b.Build()
	if err != nil || m.String() != "cpu=milli-cpu memory=byte gpu=whole(nvidia.com/gpu) pods=whole c.io/capacity=whole hugepages-2Mi=byte i.io/i=whole" {
		t.Errorf("%v, %v", m, err)
	}
}

// A name is looked up by what it is normalized to.
func TestIndexFolds(t *testing.T) {
	type lookup struct {
		name string
		want int
	}
	for _, c := range []struct {
		what string
		m    *ResourceVectorMap
		want []lookup
	}{
		{"no vendor yet", must(t, nil), []lookup{{"nvidia.com/gpu", GPU}, {"amd.com/gpu", GPU}, {"gpu", GPU}, {"x.io/gpu", -1}}},
		{"one vendor", must(t, names("nvidia.com/gpu")), []lookup{{"nvidia.com/gpu", GPU}, {"amd.com/gpu", -1}}},
		{"one vendor, folding", must(t, names("nvidia.com/gpu"), FoldVendors()), []lookup{{"nvidia.com/gpu", GPU}, {"amd.com/gpu", GPU}}},
		{"NoFold", must(t, names("x.io/x"), NoFold()), []lookup{{"nvidia.com/gpu", -1}, {"gpu", GPU}}},
		{"a literal", must(t, nil, Literal(UnitWhole, "nvidia.com/gpu")), []lookup{{"nvidia.com/gpu", 4}, {"amd.com/gpu", GPU}}},
		{"suffix", must(t, nil, WithNormalizer(SuffixNormalizer{})), []lookup{{"x.io/vgpu", GPU}, {"x.io/gpus", -1}, {"bad x/gpu", -1}, {"/gpu", -1}}},
		{"another table", must(t, names("b.io/b"), WithNormalizer(ExactNormalizer{"a.io/a": "b.io/b", "c.io/c": "none", "x": "y", "y": "z"})),
			[]lookup{{"a.io/a", 4}, {"c.io/c", -1}, {"x", -1}, {"nvidia.com/gpu", -1}}},
		{"GPUs", must(t, nil, GPUs("x.io/gpu")), []lookup{{"x.io/gpu", GPU}, {"nvidia.com/gpu", -1}, {"gpu", GPU}}},
		{"the zero map", new(ResourceVectorMap), []lookup{{"cpu", -1}, {"nvidia.com/gpu", -1}}},
	} {
		for _, l := range c.want {
			i, ok := c.m.Index(l.name)
			if !ok {
				i = -1
			}
			if i != l.want {
				t.Errorf("%s: Index(%s) = %d, want %d", c.what, l.name, i, l.want)
			}
		}
	}

	// So do conversions.
	m := must(t, nil)
	if v := m.NearestVector(nil, rl("nvidia.com/gpu", "2", "gpu", "1")); v[GPU] != 3 {
		t.Errorf("NearestVector %v", v)
	}
	var unknown []string
	v, err := m.RequestVector(nil, rl("nvidia.com/gpu", "2", "gpu", "1", "x.io/x", "1"), &unknown)
	if err != nil || v[GPU] != 3 || !slices.Equal(unknown, names("x.io/x")) {
		t.Errorf("%v, %v, %v", v, unknown, err)
	}
	r := Resource{Scalars: amounts{"nvidia.com/gpu": 2}}
	if v, err := r.ToVector(nil, m); err != nil || v[GPU] != 2 {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := m.RequestVector(nil, rl("nvidia.com/gpu", "9007199254740991", "gpu", "1"), nil); !errors.Is(err, vector.ErrNotRepresentable) {
		t.Errorf("a sum: %v", err)
	}

	// Two vendors in one list are what they would be when the map is built.
	const conflict = "vectormap: gpu would stand for amd.com/gpu and nvidia.com/gpu: use NoFold or FoldVendors"
	two := rl("nvidia.com/gpu", "8", "amd.com/gpu", "4", "cpu", "-1")
	if v, err := m.CapacityVector(nil, two, &unknown); v != nil || err == nil || err.Error() != conflict+"\ncpu: amount -1 is negative: want 0 or more" {
		t.Errorf("%v, %v", v, err)
	}
	r = Resource{Scalars: amounts{"nvidia.com/gpu": 8, "amd.com/gpu": 4}}
	if v, err := r.ToVector(nil, m); v != nil || err == nil || err.Error() != conflict {
		t.Errorf("%v, %v", v, err)
	}
	delete(two, "cpu")
	if v, err := must(t, nil, FoldVendors()).CapacityVector(nil, two, nil); err != nil || v[GPU] != 12 {
		t.Errorf("%v, %v", v, err)
	}
}

// GPUs says which names are GPUs, whatever the normalizer says.
func TestGPUs(t *testing.T) {
	all := names("nvidia.com/gpu", "example.com/vgpu", "example.com/gpu")
	suffix := WithNormalizer(SuffixNormalizer{})
	m := must(t, all[:2], suffix, FoldVendors(), GPUs("nvidia.com/gpu"))
	r := Resource{Scalars: amounts{"nvidia.com/gpu": 8, "example.com/vgpu": 4}}
	v, err := r.ToVector(nil, m)
	if err != nil || v[GPU] != 8 || m.MIGSlices(v) != 8 {
		t.Errorf("%v, %v, %v slices", v, err, m.MIGSlices(v))
	}
	var back Resource
	if err := back.FromVector(m, v); err != nil || back.GPUs != 8 || !maps.Equal(back.Scalars, amounts{"example.com/vgpu": 4}) {
		t.Errorf("%+v, %v", back, err)
	}
	for _, c := range []struct {
		what  string
		opts  []Option
		names []string
		text  string
		gpus  []string
		folds map[string]bool
	}{
		{"the default, said", []Option{GPUs("nvidia.com/gpu", "amd.com/gpu")}, all,
			"cpu=milli-cpu memory=byte gpu=whole(nvidia.com/gpu) pods=whole example.com/gpu=whole example.com/vgpu=whole",
			names("gpu"), map[string]bool{"gpu": true, "nvidia.com/gpu": true, "example.com/gpu": false}},
		{"another vendor's", []Option{GPUs("example.com/gpu")}, all,
			"cpu=milli-cpu memory=byte gpu=whole(example.com/gpu) pods=whole example.com/vgpu=whole nvidia.com/gpu=whole",
			names("gpu"), map[string]bool{"gpu": true, "nvidia.com/gpu": false, "example.com/gpu": true}},
		{"none", []Option{GPUs()}, all,
			"cpu=milli-cpu memory=byte gpu=whole pods=whole example.com/gpu=whole example.com/vgpu=whole nvidia.com/gpu=whole",
			names("gpu"), map[string]bool{"gpu": false, "nvidia.com/gpu": false}},
		{"itself", []Option{GPUs("gpu")}, nil, "cpu=milli-cpu memory=byte gpu=whole pods=whole", names("gpu"), map[string]bool{"gpu": false}},
		{"columns of their own", []Option{NoFold(), suffix, GPUs("nvidia.com/gpu", "example.com/gpu")}, all,
			"cpu=milli-cpu memory=byte gpu=whole pods=whole example.com/gpu=whole example.com/vgpu=whole nvidia.com/gpu=whole",
			names("gpu", "example.com/gpu", "nvidia.com/gpu"), map[string]bool{"gpu": false, "nvidia.com/gpu": false}},
	} {
		m := must(t, c.names, c.opts...)
		wide, err := m.Extend(names("amd.com/gpu"))
		if errors.As(err, new(*OriginalsError)) && c.what == "the default, said" {
			wide = m
		} else if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if m.String() != c.text {
			t.Errorf("%s: %v", c.what, m)
		}
		for _, m := range []*ResourceVectorMap{m, must(t, c.names, Like(m)), wide} {
			var gpus []string
			for i, name := range m.All() {
				if m.IsGPU(i) {
					gpus = append(gpus, name)
				}
			}
			if !slices.Equal(gpus, c.gpus) {
				t.Errorf("%s: %v are GPUs", c.what, gpus)
			}
			for name, want := range c.folds {
				if m.Folds(name) != want {
					t.Errorf("%s: Folds(%s) is not %t", c.what, name, want)
				}
			}
		}
	}
	for _, c := range []struct {
		gpu  string
		opts []Option
		want string
	}{
		{"cpu", nil, `vectormap: name "cpu" is a core resource and declared a GPU`},
		{"a b", nil, `vectormap: name "a b" has characters other than letters, digits and . _ - /`},
		{"x", []Option{Literal(UnitWhole, "x")}, `vectormap: name "x" is a literal and declared a GPU`},
	} {
		if _, err := New(nil, append(c.opts, GPUs(c.gpu))...); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", c.gpu, err)
		}
	}
	if _, err := must(t, nil).Extend(nil, GPUs("x")); err == nil {
		t.Error("Extend took GPUs")
	}
}

// A map that was extended in steps has what a map that was built at once has.
func TestExtendInSteps(t *testing.T) {
	r := testkit.Rand(1)
	pool := names("nvidia.com/gpu", "gpu", "a.io/a", "b.io/b", "c.io/c", "nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb.shared",
		"nvidia.com/mig-x", "z.io/z", "m.io/m", "cpu", "pods", "memory")
	for range 300 {
		opts := []Option{Milli("b.io/b", "z.io/z", "never.io/never")}
		if r.IntN(3) == 0 {
			opts = append(opts, NoFold())
		}
		chosen := slices.Clone(pool)
		r.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		chosen = chosen[:r.IntN(len(chosen)+1)]
		whole := must(t, chosen, opts...)
		steps := must(t, nil, opts...)
		var ancestors []*ResourceVectorMap
		for rest := chosen; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			ancestors = append(ancestors, steps)
			next := testkit.Must(steps.Extend(rest[:n]))
			steps, rest = next, rest[n:]
		}
		if got, want := facts(steps), facts(whole); !slices.Equal(got, want) {
			t.Fatalf("%q in steps:\n%q\nat once:\n%q", chosen, got, want)
		}
		for _, old := range ancestors {
			for i, name := range old.All() {
				if steps.Name(i) != name || steps.Unit(i) != old.Unit(i) {
					t.Fatalf("index %d moved", i)
				}
			}
			x := old.NewMatrix(1)
			if err := steps.Widen(x); err != nil || x.Schema() != steps.Schema() {
				t.Fatal(err)
			}
		}
		again := must(t, nil, Like(steps))
		for i, name := range steps.All() {
			if i < len(coreNames) || steps.Originals(i)[0] != name {
				continue
			}
			again, _ = again.Extend(steps.Originals(i))
		}
		if orig := steps.Originals(GPU); orig[0] != "gpu" {
			again, _ = again.Extend(orig)
		}
		if !again.Equal(steps) {
			t.Fatalf("%v\nis not\n%v", again, steps)
		}
	}
}

// facts is what a map says, without the order of its indices.
func facts(m *ResourceVectorMap) (facts []string) {
	v := m.NewVector()
	for i, name := range m.All() {
		v[i] = 1000
		text := fmt.Sprint(name, m.Unit(i), m.IsLiteral(i), m.IsGPU(i), m.Originals(i), m.MIGSlices(v), m.Schema().Columns()[i])
		v[i] = 0
		for _, original := range m.Originals(i) {
			if k, ok := m.Index(original); !ok || k != i {
				text += " lost " + original
			}
		}
		facts = append(facts, text)
	}
	for _, n := range m.Notes() {
		facts = append(facts, n.String())
	}
	slices.Sort(facts)
	return facts
}

// What an option says of a name is held against what earlier ones said.
func TestExtendAgainstEarlierOptions(t *testing.T) {
	const literalAndMilli = "is a literal with a unit of its own and declared Milli"
	for _, c := range []struct {
		what         string
		first, later []Option
		want         string
	}{
		{"Milli, then a literal", []Option{Milli("x")}, []Option{Literal(UnitByte, "x")}, literalAndMilli},
		{"a literal, then Milli", []Option{Literal(UnitByte, "x")}, []Option{Milli("x")}, literalAndMilli},
		{"Milli by an original, then a literal", []Option{Milli("nvidia.com/gpu")}, []Option{Literal(UnitByte, "nvidia.com/gpu")}, literalAndMilli},
		{"a literal by an original, then Milli", []Option{Literal(UnitByte, "nvidia.com/gpu")}, []Option{Milli("nvidia.com/gpu")}, literalAndMilli},
		{"Milli by the own name, then an original", []Option{Milli("gpu")}, []Option{Literal(UnitByte, "nvidia.com/gpu")}, ""},
		{"Milli of another map, then a literal", []Option{Like(must(t, nil, Milli("x")))}, []Option{Literal(UnitByte, "x")}, literalAndMilli},
		{"a literal of another map, then Milli", []Option{Like(must(t, nil, Literal(UnitByte, "x")))}, []Option{Milli("x")}, literalAndMilli},
		{"a literal of another map, then of another unit", []Option{Like(must(t, nil, Literal(UnitByte, "x")))}, []Option{Literal(UnitWhole, "x")}, "has another unit as a literal"},
		{"a GPU, then a literal", []Option{GPUs("x")}, []Option{Literal(UnitWhole, "x")}, "is a literal and declared a GPU"},
		{"the same again", []Option{Milli("x"), Literal(UnitByte, "y")}, []Option{Milli("x"), Literal(UnitByte, "y")}, ""},
	} {
		m := must(t, nil, c.first...)
		was, like := facts(m), facts(must(t, names("a", "b"), Like(m)))
		_, err := m.Extend(nil, c.later...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
		if _, err := m.Extend(nil, GPUs("a"), Like(must(t, nil, Literal(UnitByte, "q"))), Milli("b"), Literal(UnitByte, "c")); err == nil {
			t.Errorf("%s: Extend took GPUs", c.what)
		}
		if !slices.Equal(facts(m), was) || !slices.Equal(facts(must(t, names("a", "b"), Like(m))), like) {
			t.Errorf("%s: the map has changed", c.what)
		}
	}
}

// The zero Builder has no options.
func TestZeroBuilder(t *testing.T) {
	var b Builder
	b.AddNames("nvidia.com/gpu", "a")
	got, err := b.Build()
	if want := must(t, names("nvidia.com/gpu", "a")); err != nil || !got.Equal(want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if m, err := new(Builder).Build(); err != nil || !m.Equal(must(t, nil)) {
		t.Errorf("%v, %v", m, err)
	}
}

func manyNames(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("example.com/resource-%04d", i)
	}
	return all
}

// One Extend takes as many steps for a wide map as for a narrow one; what it copies
// is in few pieces.
func TestExtendAllocations(t *testing.T) {
	all := func(opts func(...string) []Option) {
		count := func(columns int) float64 {
			m := must(t, manyNames(columns), opts(manyNames(columns)...)...)
			return testing.AllocsPerRun(10, func() {
				testkit.Must(m.Extend(names("new.io/new"), opts("new.io/new")...))
			})
		}
		if few, many := count(10), count(1000); many > few+10 {
			t.Errorf("%v allocations for 10 columns, %v for 1,000", few, many)
		}
	}
	all(func(...string) []Option { return nil })
	all(func(names ...string) []Option { return []Option{Milli(names...)} })
	all(func(names ...string) []Option { return []Option{Literal(UnitByte, names...)} })
}
