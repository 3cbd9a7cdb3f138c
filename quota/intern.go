package quota

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/resvec/resvec/quota/internal/book"
)

// interner keeps one list of alternatives per key for as long as a request or a record uses
// it: users write the keys, and there are more than memory could hold. Equal keys are one
// pointer, so that decisions compare lists without reading them.
type interner struct {
	mu      sync.Mutex
	byKey   map[string]weak.Pointer[book.Alternatives]
	sweepAt int // how many entries there are when the unused ones are looked for
}

// get returns the alternatives of cards, whose names are by dimension. The key is of these:
// it is what users wrote, and what snapshots have.
func (in *interner) get(names []string, cards []int32) *book.Alternatives {
	listed := make([]string, len(cards))
	for i, dim := range cards {
		listed[i] = names[dim]
	}
	key := strings.Join(listed, "|")
	in.mu.Lock()
	defer in.mu.Unlock()
	if alts := in.byKey[key].Value(); alts != nil {
		return alts
	}
	if len(in.byKey) >= in.sweepAt {
		in.sweep()
	}
	// A key stands for the same cards for ever: dimensions are only added.
	alts := &book.Alternatives{Cards: slices.Clone(cards), Tag: key}
	in.byKey[key] = weak.Make(alts)
	return alts
}

// sweep drops the entries that nothing uses. Every second entry at least came after
// the sweep before, so it costs no more than they did.
func (in *interner) sweep() {
	maps.DeleteFunc(in.byKey, func(_ string, alts weak.Pointer[book.Alternatives]) bool { return alts.Value() == nil })
	in.sweepAt = max(64, 2*len(in.byKey))
	if in.byKey == nil {
		in.byKey = map[string]weak.Pointer[book.Alternatives]{}
	}
}
