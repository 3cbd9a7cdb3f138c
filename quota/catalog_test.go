package quota

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
)

// curious is a catalog that does something whenever it is asked for a node.
type curious struct {
	*device.Catalog
	asked func(node string)
}

func (c *curious) CardsOf(node string) []device.Card {
	cards := c.Catalog.CardsOf(node)
	if asked := c.asked; asked != nil {
		c.asked = nil // once
		asked(node)
		c.asked = asked
	}
	return cards
}

// onNodes are calls that ask for the cards of a node; "gone" has none.
var onNodes = []struct {
	name string
	call func(w *world, node string)
}{
	{"AllocatableOn", func(w *world, node string) { w.AllocatableOn(nil, w.task("1", "j", "q", "A|B:1"), node) }},
	{"NodeScore", func(w *world, node string) { w.NodeScore(w.task("1", "j", "q", "A|B:1"), node) }},
	{"CommitOn", func(w *world, node string) {
		testkit.Must(w.CommitOn(w.task("1", "j", "q", "A|B:1"), node))
	}},
	{"ResolveTask", func(w *world, node string) {
		resolved(w.ResolveTask(Task{ID: "1", Job: "j", Queue: "q", Node: node, Pod: podOf("A|B", "gpu:1")}))
	}},
	{"Reconcile", func(w *world, node string) {
		testkit.Must(w.Reconcile(viewOf("j@q; 1 Running@" + node + " A|B:1")))
	}},
}

// A catalog may use the ledger that asks it: no lock is held meanwhile.
func TestCatalogUsesLedger(t *testing.T) {
	for _, on := range onNodes {
		for _, node := range []string{"n", "gone"} {
			w := newWorld(t, Config{}, "q", "A:9 B:9")
			c := &curious{Catalog: cluster(map[string]string{"n": "B:4"})}
			testkit.Must(w.SetCatalog(c))
			asked := 0
			c.asked = func(node string) {
				asked++
				w.want(w.commit("x", "x", "q", "B:1"), "B")
				w.want(w.probe("q", "A:9"), "yes")
				w.Release("x")
				w.AllocatableOn(nil, w.task("y", "y", "q", "B:1"), node)
				for range w.Samples() {
				}
				w.Snapshot()
			}
			on.call(w, node)
			if asked == 0 {
				t.Errorf("%s didn't ask for %s", on.name, node)
			}
		}
	}
}

// A catalog that is replaced while it is asked for a node is not what counts.
func TestCatalogReplacedMeanwhile(t *testing.T) {
	for _, node := range []string{"n", "gone"} {
		w := newWorld(t, Config{}, "q", "A:9 B:9")
		old := &curious{Catalog: cluster(map[string]string{"n": "B:4"})}
		testkit.Must(w.SetCatalog(old))
		old.asked = func(string) {
			testkit.Must(w.SetCatalog(cluster(map[string]string{"n": "A:4", "gone": "A:4"})))
		}
		a, err := w.CommitOn(w.task("1", "j", "q", "B|A:1"), node)
		if err != nil || !a.OK || a.Charged[0] != "A" || a.Seq != w.seq {
			t.Errorf("%s: %+v, %v; the ledger is at %d", node, a, err, w.seq)
		}
	}
}

// What was declared or discovered last says which resource carries a card, and the
// catalog while it has the card.
func TestDeclareAgain(t *testing.T) {
	w := fleet(t, Config{}, "q", "")
	for _, c := range []struct {
		card     device.Card
		resource string
	}{
		{device.Card{Name: "L40"}, "[]"},
		{device.Card{Name: "L40", Resource: "nvidia.com/gpu"}, "[nvidia.com/gpu]"},
		{device.Card{Name: "L40"}, "[nvidia.com/gpu]"},
		{device.Card{Name: "L40", Resource: "nvidia.com/gpu.shared"}, "[nvidia.com/gpu.shared]"},
		{device.Card{Name: "A100", Resource: "vendor.example/other"}, "[nvidia.com/gpu]"},
	} {
		testkit.Must(w.Declare([]device.Card{c.card}))
		w.want(fmt.Sprint(w.source.known[c.card.Name]), c.resource)
	}
}
