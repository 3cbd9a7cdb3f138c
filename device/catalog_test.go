package device_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
)

func labelCatalog(t testing.TB, nodes ...corev1.Node) *device.Catalog {
	t.Helper()
	inv := testkit.Must(device.FromNodes(nodes, nil, device.Options{}))
	return inv.Catalog()
}

// TestCatalog is R1, and an example of everything.
func TestCatalog(t *testing.T) {
	labels := func(domain, count string) string {
		return domain + "/gpu.product=A " + domain + "/gpu.count=" + count + " " + domain + "/gpu.memory=1024"
	}
	c := labelCatalog(t,
		labelNode("n1", labels("x.com", "1"), "x.com/gpu=1 cpu=500m memory=1Gi"),
		labelNode("n2", labels("x.com", "3"), "x.com/gpu=3 cpu=2"),
		labelNode("n3", v100("nvidia.com/gpu.replicas=4"), "nvidia.com/gpu.shared=8 memory=1"),
		labelNode("n4", "", "cpu=1"),
	)
	wantTotals := device.Totals{
		CPUMilli: 3500, MemoryBytes: 1<<30 + 1,
		Cards: []device.CardTotal{{"A", 4000}, {"V100/mps-32g*1/4", 8000}},
	}
	wantEqual(t, "totals", wantTotals, c.Totals())
	if got := c.Cards(); !slices.Equal(got, []string{"A", "V100/mps-32g*1/4"}) {
		t.Errorf("cards %q", got)
	}
	if got := c.Resources("A"); !slices.Equal(got, []corev1.ResourceName{"x.com/gpu"}) {
		t.Errorf("resources %q", got)
	}
	if got, err := c.Resource("A"); got != "x.com/gpu" || err != nil {
		t.Errorf("resource %q, %v", got, err)
	}
	if got := c.CardsFor("nvidia.com/gpu.shared"); !slices.Equal(got, []string{"V100/mps-32g*1/4"}) {
		t.Errorf("cards of a resource %q", got)
	}
	if got := c.CardsOf("n2"); !slices.Equal(got, []device.Card{{Name: "A", Resource: "x.com/gpu", Count: 3}}) {
		t.Errorf("cards of a node %v", got)
	}
	if c.CardsOf("n4") != nil || c.CardsOf("n5") != nil || c.CardsFor("nvidia.com/gpu") != nil || c.Resources("B") != nil || c.Problems() != nil {
		t.Error("something of nothing")
	}
	if _, err := c.Resource("B"); !errors.Is(err, device.ErrUnknownCard) {
		t.Error(err)
	}
}

// TestCatalogAmbiguous: nodes that disagree, and a node that doesn't know.
func TestCatalogAmbiguous(t *testing.T) {
	node := func(name string, cards ...device.Card) device.Node { return device.Node{Name: name, Cards: cards} }
	inv := &device.Inventory{Nodes: []device.Node{
		node("n1", device.Card{Name: "A", Resource: "y.com/gpu", Count: 1}, device.Card{Name: "B", Count: 1}),
		node("n2", device.Card{Name: "A", Resource: "x.com/gpu", Count: math.MaxInt64}, device.Card{Name: "C", Resource: "x.com/gpu", Count: math.MaxInt64 / 1000}),
		node("n3", device.Card{Name: "B", Count: 2}, device.Card{Name: "C", Count: 1}),
	}}
	c := inv.Catalog()
	if got, err := c.Resource("A"); got != "" || !errors.Is(err, device.ErrAmbiguousCard) {
		t.Errorf("%q, %v", got, err)
	}
	if got := c.Resources("A"); !slices.Equal(got, []corev1.ResourceName{"x.com/gpu", "y.com/gpu"}) {
		t.Errorf("%q", got)
	}
	if got := labelProblems(c.Problems()); !slices.Equal(got, []string{"ambiguous-card A"}) {
		t.Errorf("%q", got)
	}
	if got, err := c.Resource("B"); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := c.Resource("C"); got != "x.com/gpu" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got := c.CardsFor("x.com/gpu"); !slices.Equal(got, []string{"A", "C"}) {
		t.Errorf("%q", got)
	}
	if got := c.CardsFor(""); got != nil {
		t.Errorf("%q", got)
	}
	want := []device.CardTotal{{"A", math.MaxInt64}, {"B", 3000}, {"C", math.MaxInt64}}
	wantEqual(t, "totals at their end", want, c.Totals().Cards)
	if empty := new(device.Inventory).Catalog(); empty.Cards() != nil || empty.Totals().Cards != nil {
		t.Error("cards of no node")
	}
}

func TestAllProblems(t *testing.T) {
	inv := &device.Inventory{
		Nodes: []device.Node{
			{Name: "a", Problems: []device.Problem{{Code: "bad-count", Key: "k", Detail: "none"}, {Code: "bad-memory", Key: "k"}}},
			{Name: "b"},
			{Name: "c", Problems: []device.Problem{{Code: "bad-count", Key: "k"}}},
		},
		Problems: []device.Problem{{Code: "not-node-local", Key: "pool", Detail: "allNodes"}},
	}
	want := []string{" not-node-local pool: allNodes", "a bad-count k: none", "a bad-memory k", "c bad-count k"}
	for n := range len(want) + 1 { // ended by the caller, and not
		got := []string{}
		for node, p := range inv.AllProblems() {
			if len(got) == n {
				break
			}
			got = append(got, node+" "+p.String())
		}
		if !slices.Equal(got, want[:n]) {
			t.Errorf("%q", got)
		}
	}
	for range new(device.Inventory).AllProblems() {
		t.Error("a problem of nothing")
	}
	if c := new(device.Catalog); c.CardsOf("a") != nil || len(c.Cards()) > 0 {
		t.Errorf("cards of nothing: %v", c)
	}
}
