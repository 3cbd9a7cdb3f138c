package quota

import (
	"errors"
	"testing"
)

func TestExtendMap(t *testing.T) {
	m, err := NewMap([]string{"B", "A", "B"})
	if err != nil {
		t.Fatal(err)
	}
	for _, cards := range [][]string{nil, {"A"}, {"B", "A"}} {
		if same, err := extendMap(m, cards); same != m || err != nil {
			t.Errorf("cards %v, all there: a map of its own, %v", cards, err)
		}
	}
	wider, err := extendMap(m, []string{"D", "A", "C", "D"})
	if err != nil {
		t.Fatal(err)
	}
	if err := extends(m, wider); err != nil || wider.Len() != m.Len()+2 {
		t.Errorf("%d dimensions after %d: %v", wider.Len(), m.Len(), err)
	}
	for _, card := range []string{"A", "B", "C", "D"} {
		if _, ok := cardIndex(wider, card); !ok {
			t.Errorf("no dimension for %s", card)
		}
	}
	if _, err := NewMap([]string{"A", ""}); !errors.Is(err, ErrBadName) {
		t.Errorf("NewMap with an empty name: %v", err)
	}
	if _, err := extendMap(m, []string{"A", ""}); !errors.Is(err, ErrBadName) {
		t.Errorf("ExtendMap with an empty name: %v", err)
	}
}
