package peer

import (
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// Cases calls check with a random source of its own for each of many cases: 100,000,
// or 3,000 with -short, or RESVEC_CASES. The seeds begin with RESVEC_SEED, so that
// RESVEC_CASES=1 RESVEC_SEED=n repeats the case of seed n. An error is a difference
// between both sides; after ten of them the test ends.
func Cases(t *testing.T, check func(r Random) error) {
	t.Helper()
	run(t, 1, check)
}

// Problems is Cases for whole problems: there are a hundredth as many, rounded up.
func Problems(t *testing.T, check func(r Random) error) {
	t.Helper()
	run(t, 100, check)
}

// run checks one of so many cases.
func run(t *testing.T, fraction uint64, check func(r Random) error) {
	t.Helper()
	usual := uint64(100_000)
	if testing.Short() {
		usual = 3_000
	}
	first, cases := testkit.Environment(t, "RESVEC_SEED", 1), testkit.Environment(t, "RESVEC_CASES", usual)
	source, differences := rand.NewPCG(0, 0), 0
	for seed := first; (seed-first)*fraction < cases; seed++ {
		source.Seed(seed, stream)
		err := check(Random{rand.New(source)})
		if err == nil {
			continue
		}
		t.Errorf("seed %d: %v", seed, err)
		if differences++; differences == 10 {
			t.FailNow()
		}
	}
}

// stream keeps the seeds of cases apart from the seeds of other random sources.
const stream = 0x6a09e667f3bcc908
