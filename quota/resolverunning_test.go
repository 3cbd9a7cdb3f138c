package quota

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

func TestResolveRunning(t *testing.T) {
	for _, c := range []struct{ cards, limits, node, want, notes string }{
		{"A100|H100", "gpu:1", "h", "A100|H100:1000@H100", ""},
		{"A100|H100", "gpu:1", "both", "A100|H100:1000@A100", ""},
		{"A100", "gpu:1", "h", "A100:1000@H100", "H100 CardMismatch"},
		{"Ghost", "gpu:1", "h", "A100|H100:1000@H100", "Ghost UnknownCard, H100 CardMismatch"},
		{"|", "gpu:1", "a", "A100|H100:1000@A100", "EmptyName, A100 CardMismatch"},
		{"", "gpu:1", "a", "A100|H100:1000@A100", ""},
		{"A100", "gpu:1", "gone", "A100:1000@?", ""},
		{"A100", "gpu:1 mig-1g.5gb:2", "a", "A100:1000@A100 M:2000@M", ""},
		{"A100", "gpu:1 mig-1g.5gb:2", "h", "A100:1000@H100 M:2000@?", "H100 CardMismatch"},
		{"", "cpu:1", "gone", "", ""},
		{"A100", "gpu:-1", "a", "invalid", ""},
	} {
		for _, unnamed := range []UnnamedPolicy{"", UnnamedRefuse} {
			if unnamed == UnnamedRefuse && c.limits != "gpu:1" {
				continue
			}
			w := fleet(t, Config{Unnamed: unnamed})
			pod := podOf(c.cards, c.limits)
			pod.Spec.NodeName = c.node
			r, notes, err := w.resolveRunning(&Task{ID: "t", Job: "j", Queue: "q", Pod: pod})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i, ti := range r.req.use.Items {
				on := "?"
				if r.cards[i] >= 0 {
					on = w.cards[r.cards[i]]
				}
				got += fmt.Sprintf(" %s:%d@%s", keyOf(ti.Alts), ti.Amount, on)
			}
			if r.req.invalid != "" {
				got = " invalid"
			}
			if want := c.want; got != "" && got[1:] != want || got == "" && want != "" {
				t.Errorf("%s with %s on %s, %q: %s, want %s", c.cards, c.limits, c.node, unnamed, got, want)
			}
			if unnamed == "" && codes(notes) != c.notes {
				t.Errorf("%s with %s on %s: %s, want %s", c.cards, c.limits, c.node, codes(notes), c.notes)
			}
		}
	}
	w := fleet(t, Config{})
	if _, _, err := w.resolveRunning(&Task{ID: "t", Job: "j", Queue: "q", Cards: []Item{{Alternatives: []string{"A100"}, Milli: -1000}}}); err == nil {
		t.Error("negative")
	}
	testkit.Must(w.SetCatalog(nil))
	r, _, _ := w.resolveRunning(&Task{ID: "t", Job: "j", Queue: "q", Node: "a", Pod: podOf("A100", "gpu:1")})
	if len(r.cards) != 1 || r.cards[0] != -1 {
		t.Error(r.cards)
	}
}
