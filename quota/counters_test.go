package quota

import (
	"maps"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestCounters: each question counts, also in a batch, and each operation once, whether it
// was refused, failed or changed something.
func TestCounters(t *testing.T) {
	w := newWorld(t, Config{}, "q", "A:2")
	job, large := w.job("j", "q", "A:2"), w.job("k", "q", "A:3")
	before := maps.Collect(w.Counters())
	w.Enqueueable(nil, job)
	w.EnqueueableBatch(new(vector.Mask), []*JobRequest{job, large})
	testkit.Must(w.JobCopies(job))
	for _, r := range []*JobRequest{job, job, large} { // promised, again, and refused
		testkit.Must(w.Reserve(r))
	}
	w.Snapshot()
	got := maps.Collect(w.Counters())
	for name, want := range map[string]uint64{"questions": 4, "operations": 3, "refused": 1, "snapshots": 1} {
		if got[name]-before[name] != want {
			t.Errorf("%s: %d, want %d more", name, got[name]-before[name], want)
		}
	}
}
