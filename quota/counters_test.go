package quota_test

import (
	"maps"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/vector"
)

// TestCounters: each question counts, also in a batch, and each operation once, whether it
// was refused, failed or changed something.
func TestCounters(t *testing.T) {
	l := newLedger(quota.Config{}, "q", `{"A": 2}`)
	job, _, err := l.ResolveJob(quota.Job{ID: "j", Queue: "q", Annotations: map[string]string{quota.RequestAnnotation: `{"A": 2}`}})
	if err != nil {
		t.Fatal(err)
	}
	large, _, err := l.ResolveJob(quota.Job{ID: "k", Queue: "q", Annotations: map[string]string{quota.RequestAnnotation: `{"A": 3}`}})
	if err != nil {
		t.Fatal(err)
	}
	before := maps.Collect(l.Counters())
	if !l.Enqueueable(nil, job) {
		t.Fatal("refused")
	}
	l.EnqueueableBatch(new(vector.Mask), []*quota.JobRequest{job, large})
	testkit.Must(l.JobCopies(job))
	for _, r := range []*quota.JobRequest{job, job, large} { // promised, again, and refused
		testkit.Must(l.Reserve(r))
	}
	l.Snapshot()
	got := maps.Collect(l.Counters())
	for name, want := range map[string]uint64{"questions": 4, "operations": 3, "refused": 1, "snapshots": 1} {
		if got[name]-before[name] != want {
			t.Errorf("%s: %d, want %d more", name, got[name]-before[name], want)
		}
	}
}
