package vectormap

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// TestText pins names, order, units and originals of whole maps.
func TestText(t *testing.T) {
	const core = "cpu=milli-cpu memory=byte gpu=whole pods=whole"
	for _, c := range []struct {
		what  string
		names []string
		opts  []Option
		want  string
	}{
		{"no names", nil, nil, core},
		{"core names again", names("pods", "memory", "cpu", "gpu"), nil, core},
		{"one vendor", names("cpu", "memory", "nvidia.com/gpu"), nil,
			"cpu=milli-cpu memory=byte gpu=whole(nvidia.com/gpu) pods=whole"},
		{"own name and one original", names("nvidia.com/gpu", "gpu"), nil,
			"cpu=milli-cpu memory=byte gpu=whole(nvidia.com/gpu) pods=whole"},
		{"others sorted, each once", names("z.io/z", "efa", "z.io/z", "a.io/b", "custom"), nil,
			core + " a.io/b=whole custom=whole efa=whole z.io/z=whole"},
		{"units", names("hugepages-2Mi", "ephemeral-storage", "gpu-memory", "x.io/hugepages-2Mi"), nil,
			core + " ephemeral-storage=byte gpu-memory=byte hugepages-2Mi=byte x.io/hugepages-2Mi=whole"},
		{"vgpu is no gpu", names("nvidia.com/vgpu"), nil, core + " nvidia.com/vgpu=whole"},
		{"Milli by original name", names("nvidia.com/gpu"), []Option{Milli("nvidia.com/gpu")},
			"cpu=milli-cpu memory=byte gpu=milli(nvidia.com/gpu) pods=whole"},
		{"Milli by own name", names("nvidia.com/gpu", "a"), []Option{Milli("gpu", "a")},
			"cpu=milli-cpu memory=byte gpu=milli(nvidia.com/gpu) pods=whole a=milli"},
		{"Milli adds no name", nil, []Option{Milli("a")}, core},
		{"FoldVendors", names("nvidia.com/gpu", "amd.com/gpu"), []Option{FoldVendors()},
			"cpu=milli-cpu memory=byte gpu=whole(amd.com/gpu,nvidia.com/gpu) pods=whole"},
		{"NoFold", names("nvidia.com/gpu", "amd.com/gpu"), []Option{NoFold()},
			core + " amd.com/gpu=whole nvidia.com/gpu=whole"},
		{"NoFold, Milli for one vendor", names("nvidia.com/gpu", "amd.com/gpu"), []Option{NoFold(), Milli("amd.com/gpu")},
			core + " amd.com/gpu=milli nvidia.com/gpu=whole"},
		{"suffix", names("x.io/gpu", "efa"), []Option{WithNormalizer(SuffixNormalizer{})},
			"cpu=milli-cpu memory=byte gpu=whole(x.io/gpu) pods=whole efa=whole"},
		{"suffix is wrong for vgpu", names("nvidia.com/vgpu"), []Option{WithNormalizer(SuffixNormalizer{})},
			"cpu=milli-cpu memory=byte gpu=whole(nvidia.com/vgpu) pods=whole"},
		{"own table", names("a.io/nic"), []Option{WithNormalizer(ExactNormalizer{"a.io/nic": "nic"})},
			core + " nic=whole(a.io/nic)"},
		{"literals", names("efa"), []Option{Literal(UnitMilli, "card:A100", "a b=\"c\""), Literal(UnitByte, "nvidia.com/gpu")},
			core + ` literal:"a b=\"c\""=milli literal:"card:A100"=milli efa=whole literal:"nvidia.com/gpu"=byte`},
	} {
		m := must(t, c.names, c.opts...)
		if got := m.String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

func TestOriginals(t *testing.T) {
	m := must(t, names("nvidia.com/gpu", "amd.com/gpu"), FoldVendors())
	for range 2 {
		got := m.Originals(GPU)
		if !slices.Equal(got, names("amd.com/gpu", "nvidia.com/gpu")) {
			t.Error(got)
		}
		got[0] = "the caller's"
	}
}

func TestUnits(t *testing.T) {
	m := must(t, names("nvidia.com/gpu", "a"), Milli("a"), Literal(UnitMilli, "card:x"))
	want := []Unit{UnitMilliCPU, UnitByte, UnitWhole, UnitWhole, UnitMilli, UnitMilli}
	scale := []int64{1000, 1, 1, 1, 1000, 1000}
	literal := []bool{false, false, false, false, false, true}
	columns := m.Schema().Columns()
	for i := range m.Len() {
		if m.Unit(i) != want[i] || m.Unit(i).Scale() != scale[i] || m.IsLiteral(i) != literal[i] {
			t.Errorf("%s: unit %v scale %d literal %t", m.Name(i), m.Unit(i), m.Unit(i).Scale(), m.IsLiteral(i))
		}
		// Only columns that were declared so refuse fractions; cpu takes them.
		if columns[i].Integral != (want[i] == UnitMilli) {
			t.Errorf("%s: Integral = %t", m.Name(i), columns[i].Integral)
		}
	}
	if s := Unit(99).String(); s != "unknown" {
		t.Error(s)
	}
}

func TestBuildFaults(t *testing.T) {
	long := strings.Repeat("a", 318)
	swap := ExactNormalizer{"a": "b", "b": "a"}
	for _, c := range []struct {
		what  string
		names []string
		opts  []Option
		want  string
	}{
		{"two vendors", names("cpu", "nvidia.com/gpu", "amd.com/gpu"), nil,
			"vectormap: gpu would stand for amd.com/gpu and nvidia.com/gpu: use NoFold or FoldVendors"},
		{"suffix, two names", names("x.io/gpu", "y.io/gpu"), []Option{WithNormalizer(SuffixNormalizer{})},
			"vectormap: gpu would stand for x.io/gpu and y.io/gpu: use NoFold or FoldVendors"},
		{"empty", names(""), nil, `vectormap: name "" is empty`},
		{"space", names("a b"), nil, `vectormap: name "a b" has characters other than letters, digits and . _ - /`},
		{"plus", names("nvidia.com/mig-1g.5gb+me"), nil,
			`vectormap: name "nvidia.com/mig-1g.5gb+me" has characters other than letters, digits and . _ - /`},
		{"slash at the end", names("a/"), nil, `vectormap: name "a/" does not start and end with a letter or digit`},
		{"long", names(long), nil, `vectormap: name "` + long + `" is longer than 317 bytes`},
		{"all at once, sorted", names("-b", "", "nvidia.com/gpu", "amd.com/gpu"), nil,
			`vectormap: name "" is empty` + "\n" +
				`vectormap: name "-b" does not start and end with a letter or digit` + "\n" +
				"vectormap: gpu would stand for amd.com/gpu and nvidia.com/gpu: use NoFold or FoldVendors"},
		{"both foldings", nil, []Option{NoFold(), FoldVendors()}, "vectormap: FoldVendors and NoFold exclude each other"},
		{"Milli on bytes", nil, []Option{Milli("memory")}, `vectormap: name "memory" is declared Milli but counted in bytes`},
		{"Milli on cpu", nil, []Option{Milli("cpu")}, `vectormap: name "cpu" is declared Milli but counted in thousandths of a CPU`},
		{"Milli on nothing", nil, []Option{Milli("")}, `vectormap: name "" is empty`},
		{"Milli on a literal", nil, []Option{Literal(UnitWhole, "x"), Milli("x")},
			`vectormap: name "x" is a literal with a unit of its own and declared Milli`},
		{"literal core name", nil, []Option{Literal(UnitWhole, "cpu")}, `vectormap: name "cpu" is a literal and an ordinary resource`},
		{"empty literal", nil, []Option{Literal(UnitWhole, "")}, `vectormap: name "" is empty`},
		{"literal with two units", nil, []Option{Literal(UnitWhole, "x"), Literal(UnitByte, "x")}, `vectormap: name "x" has another unit as a literal`},
		{"literal without a unit", nil, []Option{Literal(9, "x")}, `vectormap: name "x" is a literal with an unknown unit`},
		{"core renamed", names("cpu"), []Option{WithNormalizer(ExactNormalizer{"cpu": "processor"})},
			`vectormap: name "cpu" is a core resource, which must not be renamed`},
		{"not idempotent", names("a"), []Option{WithNormalizer(swap)},
			`vectormap: name "a" is normalized to a name that is normalized to another`},
		{"renamed to nothing", names("a"), []Option{WithNormalizer(ExactNormalizer{"a": ""})},
			`vectormap: name "a" is normalized to a name that is empty`},
		{"renamed to a literal", names("a"), []Option{WithNormalizer(ExactNormalizer{"a": "x"}), Literal(UnitWhole, "x")},
			`vectormap: name "a" is normalized to the name of a literal`},
	} {
		m, err := New(c.names, c.opts...)
		if m != nil || err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.what, err, c.want)
		}
	}

	_, err := New(names("nvidia.com/gpu", "amd.com/gpu", ""))
	var conflict *OriginalsError
	var bad *NameError
	if !errors.As(err, &conflict) ||
		conflict.Name != "gpu" || !slices.Equal(conflict.Originals, names("amd.com/gpu", "nvidia.com/gpu")) {
		t.Errorf("conflict: %v", err)
	}
	if !errors.As(err, &bad) || bad.Name != "" {
		t.Errorf("bad name: %v", err)
	}
}

func TestBuilder(t *testing.T) {
	b := NewBuilder(Milli("b.io/b"))
	b.AddNode(&corev1.Node{Status: corev1.NodeStatus{
		Allocatable: rl("cpu", "4", "example.com/zero", "0"),
		Capacity:    rl("capacity.io/is-not-read", "1"),
	}})
	always := corev1.ContainerRestartPolicyAlways
	req := func(name string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: rl(name, "1")}
	}
	b.AddPod(&corev1.Pod{
		Spec: corev1.PodSpec{
			Containers:     []corev1.Container{{Resources: req("c.io/container")}},
			InitContainers: []corev1.Container{{Resources: req("c.io/init")}, {RestartPolicy: &always, Resources: req("c.io/sidecar")}},
			Overhead:       rl("c.io/overhead", "1"),
			Resources:      &corev1.ResourceRequirements{Requests: rl("hugepages-2Mi", "2Mi")},
		},
		Status: corev1.PodStatus{
			ContainerStatuses: []corev1.ContainerStatus{{
				AllocatedResources: rl("s.io/allocated", "1"),
				Resources:          &corev1.ResourceRequirements{Requests: rl("s.io/actuated", "1")},
			}},
			InitContainerStatuses: []corev1.ContainerStatus{{AllocatedResources: rl("s.io/init", "1")}},
		},
	})
	b.AddResourceList(rl("b.io/b", "0.5", "cpu", "0.0001"))
	m := testkit.Must(b.Build())
	const want = "cpu=milli-cpu memory=byte gpu=whole pods=whole b.io/b=milli c.io/container=whole c.io/init=whole " +
		"c.io/overhead=whole c.io/sidecar=whole example.com/zero=whole hugepages-2Mi=byte s.io/actuated=whole s.io/allocated=whole s.io/init=whole"
	if m.String() != want {
		t.Errorf(" got %v\nwant %s", m, want)
	}
	if n := m.Notes(); len(n) != 0 {
		t.Errorf("notes %v: a Milli column takes fractions", n)
	}

	b.AddNames("later")
	if later, err := b.Build(); err != nil || later.Len() != m.Len()+1 {
		t.Errorf("second Build: %v, %v", later, err)
	}
	if m.String() != want {
		t.Error("the first map changed")
	}
}

func TestNotes(t *testing.T) {
	unused := func(name string) Note { return Remark{name, "declared Milli, but no index has the name"} }
	b := NewBuilder()
	b.AddResourceList(rl("nvidia.com/gpu", "500m", "memory", "0.5", "cpu", "1n", "big.io/x", "1e3"))
	b.AddNames("nvidia.com/mig-1g.5gb111", "nvidia.com/mig-1g.5gb", "nvidia.com/mig-1g.5gb.shared", "mig-0g.1gb", "x.io/mig-none")
	m := testkit.Must(b.Build())
	want := []Note{
		FractionalColumn{"gpu"}, Remark{"mig-0g.1gb", "not a MIG profile, counted as 0 slices"},
		Remark{"nvidia.com/mig-1g.5gb.shared", "shared MIG instances, every replica counted"}, Remark{"nvidia.com/mig-1g.5gb111", "not a MIG profile, counted as 0 slices"},
	}
	if got := m.Notes(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	wide, err := m.Extend(names("aaa"))
	if err != nil || !slices.Equal(wide.Notes(), want) {
		t.Errorf("extended: %v, %v", wide.Notes(), err)
	}
	slip := must(t, names("nvidia.com/gpu"), Milli("nvidia.com/gqu", "nvidia.com/gpu", "efa", "nvidia.com/gqu"))
	if got := slip.Notes(); !slices.Equal(got, []Note{unused("efa"), unused("nvidia.com/gqu")}) {
		t.Errorf("names declared Milli: %v", got)
	}
	for _, c := range []struct {
		add  string
		want []Note
	}{
		{"rdma", []Note{unused("efa"), unused("nvidia.com/gqu")}},
		{"efa", []Note{unused("nvidia.com/gqu")}},
	} {
		if wide, err := slip.Extend(names(c.add)); err != nil || !slices.Equal(wide.Notes(), c.want) {
			t.Errorf("extended by %s: %v, %v", c.add, wide.Notes(), err)
		}
	}
	if got := must(t, nil, Like(slip)).Notes(); len(got) != 0 {
		t.Errorf("rules taken over: %v", got)
	}
	for _, n := range want {
		n.note()
		if s := n.String(); s == "" || strings.Contains(s, "\n") {
			t.Errorf("%T: %q", n, s)
		}
	}
}

func TestEqual(t *testing.T) {
	base := func() []string { return names("nvidia.com/gpu", "efa") }
	m := must(t, base())
	for _, c := range []struct {
		what  string
		other *ResourceVectorMap
		want  bool
	}{
		{"the same names in another order", must(t, names("efa", "nvidia.com/gpu", "cpu")), true},
		{"an unused option", must(t, base(), FoldVendors(), Milli("z")), true},
		{"another vendor", must(t, names("amd.com/gpu", "efa")), false},
		{"another unit", must(t, base(), Milli("efa")), false},
		{"a literal", must(t, names("nvidia.com/gpu"), Literal(UnitWhole, "efa")), false},
		{"fewer names", must(t, names("nvidia.com/gpu")), false},
	} {
		if m.Equal(c.other) != c.want || c.other.Equal(m) != c.want ||
			(m.Schema() == c.other.Schema()) != c.want || (m.String() == c.other.String()) != c.want {
			t.Errorf("%s: Equal, Schema and String disagree with %t", c.what, c.want)
		}
	}
}

func TestExtend(t *testing.T) {
	m := must(t, names("m.io/m"))
	two := testkit.Must(m.Extend(names("z.io/z", "a.io/a", "m.io/m", "nvidia.com/gpu"), Milli("a.io/a"), Literal(UnitMilli, "card:x")))
	const want = `cpu=milli-cpu memory=byte gpu=whole(nvidia.com/gpu) pods=whole m.io/m=whole a.io/a=milli literal:"card:x"=milli z.io/z=whole`
	if two.String() != want {
		t.Errorf(" got %v\nwant %s", two, want)
	}
	if got := m.String(); got != "cpu=milli-cpu memory=byte gpu=whole pods=whole m.io/m=whole" {
		t.Errorf("the old map changed: %s", got)
	}
	three := testkit.Must(two.Extend(names("b.io/b", "z.io/z")))
	if i, _ := three.Index("b.io/b"); i != two.Len() {
		t.Errorf("b.io/b at %d", i)
	}
	if same, err := two.Extend(nil); err != nil || !same.Equal(two) {
		t.Errorf("extension by nothing: %v, %v", same, err)
	}

	for _, c := range []struct {
		what  string
		names []string
		opts  []Option
	}{
		{"a second vendor", names("amd.com/gpu"), nil},
		{"a unit that is fixed", nil, []Option{Milli("z.io/z")}},
		{"a literal with another unit", nil, []Option{Literal(UnitWhole, "card:x")}},
		{"a literal that is a resource", nil, []Option{Literal(UnitWhole, "z.io/z")}},
		{"a literal that is an original", nil, []Option{Literal(UnitWhole, "nvidia.com/gpu")}},
		{"NoFold", nil, []Option{NoFold()}},
		{"a normalizer", nil, []Option{WithNormalizer(SuffixNormalizer{})}},
		{"a bad name", names("?"), nil},
	} {
		if x, err := two.Extend(c.names, c.opts...); err == nil {
			t.Errorf("%s: no error, %v", c.what, x)
		}
	}
	folding := must(t, names("nvidia.com/gpu"), FoldVendors())
	if x, err := folding.Extend(names("amd.com/gpu")); err != nil || len(x.Originals(GPU)) != 2 {
		t.Errorf("FoldVendors is not inherited: %v, %v", x, err)
	}
}

func TestWiden(t *testing.T) {
	old := must(t, names("m.io/m"))
	mid, _ := old.Extend(names("z.io/z"))
	m, _ := mid.Extend(names("nvidia.com/gpu", "b.io/b"))
	renamed, _ := m.Extend(names("amd.com/other"))

	for _, from := range []*ResourceVectorMap{old, mid, m} {
		x := from.NewMatrix(2)
		x.SetRow(1, vec{1, 2, 3, 4, 5})
		testkit.Check(m.Widen(x))
		if x.Schema() != m.Schema() || x.Cols() != m.Len() || !slices.Equal(x.Row(nil, 1), vec{1, 2, 3, 4, 5, 0, 0}) {
			t.Errorf("from %v: %d columns, row %v", from, x.Cols(), x.Row(nil, 1))
		}
	}

	other := must(t, names("x.io/x"))
	x, nodes := other.NewMatrix(1), other.NewNodes()
	if err := m.Widen(x); !errors.Is(err, vector.ErrSchema) || x.Schema() != other.Schema() {
		t.Errorf("another map's matrix: %v", err)
	}
	if err := m.Widen(nodes); !errors.Is(err, vector.ErrSchema) {
		t.Errorf("another map's nodes: %v", err)
	}
	if err := m.Widen(renamed.NewMatrix(1)); !errors.Is(err, vector.ErrSchema) {
		t.Errorf("a descendant's matrix: %v", err)
	}
	bare := vector.NewMatrix(vector.Schema{}, 1, 3)
	if err := m.Widen(bare); err != nil || bare.Cols() != m.Len() {
		t.Errorf("without a schema: %v", err)
	}
	if err := m.Widen(vector.NewMatrix(vector.Schema{}, 1, 99)); !errors.Is(err, vector.ErrSchema) {
		t.Errorf("without a schema, too wide: %v", err)
	}
}

func TestNodes(t *testing.T) {
	m := must(t, names("nvidia.com/gpu"), Milli("nvidia.com/gpu"))
	n := m.NewNodes(vector.WithScored())
	row, _, err := n.Set("a", 1, vector.NodeAmounts{Allocatable: vec{4000, 1 << 30, 8000, 110}, Requested: vec{1000}})
	if err != nil || n.Schema() != m.Schema() || n.Free().At(row, CPU) != 3000 || n.Scored() == n.Requested() {
		t.Errorf("%v, free %v", err, n.Free().Row(nil, row))
	}
	if err := n.Assume(row, vector.PodAmounts{Requested: vec{0, 0, 0.5}}); !errors.Is(err, vector.ErrNotRepresentable) {
		t.Errorf("half a thousandth: %v", err)
	}
	wide := testkit.Must(m.Extend(names("x.io/x")))
	if err := wide.Widen(n); err != nil || n.Schema() != wide.Schema() || n.Cols() != wide.Len() || n.Current("a", 1) {
		t.Errorf("%v, %d columns", err, n.Cols())
	}
	if err := m.Widen(n); !errors.Is(err, vector.ErrSchema) {
		t.Errorf("narrowed: %v", err)
	}
}

// TestConcurrentUse is for the race detector: maps are shared, extended and
// compared while they are read.
func TestConcurrentUse(t *testing.T) {
	m := must(t, names("nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "a"), Milli("a"))
	list := rl("cpu", "100m", "memory", "1.5Gi", "nvidia.com/gpu", "2", "a", "0.25")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var v vec
			for range 50 {
				var err error
				if v, err = m.RequestVector(v, list, nil); err != nil {
					t.Error(err)
				}
				back, _, err := m.ResourceList(v)
				if err != nil || !sameList(back, list) {
					t.Error(back, err)
				}
				wide, err := m.Extend(names("b"))
				if err != nil || wide.Equal(m) || wide.MIGSlices(v) != m.MIGSlices(v) {
					t.Error(wide, err)
				}
			}
		})
	}
	wg.Wait()
}
