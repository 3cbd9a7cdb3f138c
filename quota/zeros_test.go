package quota

import (
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	testkit.Zeros{
		Prefix: "quota: ",
		Functions: []any{
			New, parseAlternatives, ReadQueues, Restore,
		},
		Types: []any{
			(*Amount)(nil), (*Amounts)(nil), (*Answer)(nil), (*Config)(nil), (*Event)(nil),
			(*EventKind)(nil), (*Fits)(nil), (*Item)(nil), (*Job)(nil), (*JobRequest)(nil),
			(*JobStatus)(nil), (*Ledger)(nil), (*Min)(nil), (*Phase)(nil), (*Queue)(nil),
			(*QueueStatus)(nil), (*Reason)(nil), (*Ref)(nil), (*Refusal)(nil),
			(*Report)(nil), (*Headroom)(nil), (*State)(nil), (*Task)(nil), (*TaskRequest)(nil),
			(*TaskPhase)(nil), (*UnnamedPolicy)(nil), (*Usage)(nil), (*View)(nil),
		},
		Operands: []any{
			func() *Ledger { return gpus(t, Config{}, "q", "A:4").Ledger },
			func() *JobRequest { return gpus(t, Config{}, "q", "A:4").job("j", "q", "A:1") },
			func() *TaskRequest { return gpus(t, Config{}, "q", "A:4").task("t", "j", "q", "A:1") },
			func() *device.Catalog { return cluster(map[string]string{"n": "A:8"}) },
			func() *vector.Mask { return vector.NewMask(1) },
			func() string { return "q" },
			func() vector.ResourceVector { return vector.ResourceVector{1, 2, 3} },
			func() []Queue { return []Queue{{Name: "q"}} },
		},
	}.Run(t)
}
