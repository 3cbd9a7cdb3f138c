package share_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
)

func TestExplainJointText(t *testing.T) {
	for _, test := range []struct {
		name       string
		gpus, nics int64
		joint      share.Joint
		devices    []share.State
		want       string
	}{
		{"chosen, more than its count", 3, 1, share.PreferSamePCIe, slices.Concat(allocEight()[:4], jointNICs(1, 2, 3)), `
PreferSamePCIe: chosen
gpu by PackTopology: 3 from NUMA node 0
  minor  NUMA  PCIe  preferred  change  score  verdict
  0      0     0     no         -       50     chosen
  1      0     0     no         -       50     chosen
  2      0     1     no         -       50     chosen
  3      0     1     no         -       50     not needed
rdma by ByScore: 2 from the node
  minor  NUMA  PCIe  preferred  change  score  verdict
  1      0     0     no         -       99     chosen
  2      0     1     no         -       99     chosen
  3      1     2     no         -       99     not needed
`[1:]},
		{"apart", 1, 1, share.RequireSamePCIe, slices.Concat(allocEight()[:2], jointNICs(2)), `
RequireSamePCIe: refused, gpu on ["0"], rdma on ["1"]
gpu by PackTopology: 1 from PCIe root 0 of NUMA node 0
  minor  NUMA  PCIe  preferred  change  score  verdict
  0      0     0     no         -       50     chosen
  1      0     0     no         -       50     not needed
rdma by ByScore: 1 from the node
  minor  NUMA  PCIe  preferred  change  score  verdict
  2      0     1     no         -       99     chosen
`[1:]},
		{"too few NICs for the roots", 4, 1, share.RequireSamePCIe, slices.Concat(allocEight()[:4], jointNICs(2)), `
RequireSamePCIe: refused
gpu by PackTopology: 4 wanted, none chosen
  minor  NUMA  PCIe  preferred  change  score  verdict
  0      0     0     no         -       50     fits
  1      0     0     no         -       50     fits
  2      0     1     no         -       50     fits
  3      0     1     no         -       50     fits
rdma by ByScore: refused, 1 of 2 fit on the node
  minor  NUMA  PCIe  preferred  change  score  verdict
  2      0     1     no         -       99     fits
`[1:]},
		{"too few GPUs by NICs", 3, 1, share.SeekSamePCIe, slices.Concat(allocEight()[:4], jointNICs(2)), `
SeekSamePCIe: refused
gpu by PackTopology: refused, 2 of 3 fit on PCIe root 1 of NUMA node 0
  minor  NUMA  PCIe  preferred  change  score  verdict
  2      0     1     no         -       50     fits
  3      0     1     no         -       50     fits
  0      0     0     no         -       50     apart from the other kind
  1      0     0     no         -       50     apart from the other kind
rdma by ByScore: 1 wanted, none chosen
  minor  NUMA  PCIe  preferred  change  score  verdict
  2      0     1     no         -       99     fits
`[1:]},
		{"too few NICs by GPUs", 1, 2, share.SeekSamePCIe, slices.Concat(allocEight()[:4], jointNICs(4, 1)), `
SeekSamePCIe: refused
gpu by PackTopology: 1 wanted, none chosen
  minor  NUMA  PCIe  preferred  change  score  verdict
  0      0     0     no         -       50     fits
  1      0     0     no         -       50     fits
  2      0     1     no         -       50     apart from the other kind
  3      0     1     no         -       50     apart from the other kind
rdma by ByScore: refused, 1 of 2 fit on the node
  minor  NUMA  PCIe  preferred  change  score  verdict
  1      0     0     no         -       99     fits
  4      1     3     no         -       99     apart from the other kind
`[1:]},
		{"passed over", 2, 2, share.SeekSamePCIe, slices.Concat(allocEight()[:3], jointNICs(2, 1)), `
SeekSamePCIe: chosen
gpu by PackTopology: 2 from NUMA node 0
  minor  NUMA  PCIe  preferred  change  score  verdict
  0      0     0     no         -       50     chosen
  1      0     0     no         -       50     apart from the other kind
  2      0     1     no         -       50     chosen
rdma by ByScore: 2 from the node
  minor  NUMA  PCIe  preferred  change  score  verdict
  1      0     0     no         -       99     chosen
  2      0     1     no         -       99     chosen
`[1:]},
		{"none of either kind", 1, 1, share.RequireSamePCIe, nil, `
RequireSamePCIe: refused
gpu by PackTopology: refused, 0 of 1 fit on the node: no device of the kind
rdma by ByScore: 1 wanted, none chosen: no device of the kind
`[1:]},
		{"nothing is wanted", 0, 0, share.SeekSamePCIe, allocGPUs(100), `
SeekSamePCIe: chosen
gpu by PackTopology: 0 from the node
  minor  NUMA  PCIe  preferred  change  score  verdict
  0      -     -     no         -       50     not needed
rdma by ByScore: 0 from the node
`[1:]},
	} {
		t.Run(test.name, func(t *testing.T) {
			primary, secondary := gpusAndNICs(test.gpus, test.nics)
			e := testkit.Must(explainJoint(allocScorer(t, share.LeastAllocated, true), primary, secondary, test.devices, test.joint))
			if diff := cmp.Diff(test.want, e.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestExplainJoint: what is explained is what AllocateJoint does.
func TestExplainJoint(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	outcomes := map[string]int{}
	for range testkit.Amount(t, 500, 1500, 5000) {
		devices := slices.Concat(allocEight(), jointNICs(1, 2, 3, 4, 5, 6, 7, 8))
		devices = slices.DeleteFunc(devices, func(share.State) bool { return r.IntN(3) == 0 })
		for i := range devices {
			switch r.IntN(8) {
			case 0:
				devices[i].Health = device.Unhealthy
			case 1:
				devices[i].Free = share.Amounts{}
			}
		}
		primary, secondary := gpusAndNICs(r.Int64N(5), r.Int64N(4))
		some := func() (minors []int32) {
			for range r.IntN(4) {
				minors = append(minors, r.Int32N(9))
			}
			return minors
		}
		primary.Preferred, secondary.Preferred = some(), some()
		if r.IntN(4) == 0 {
			primary.Required = some()
		}
		primary.Policy, primary.Scope = share.Policy(r.IntN(3)), share.Scope(r.IntN(3))
		joint := share.Joint(r.IntN(3))
		s := allocScorer(t, share.LeastAllocated, r.IntN(2) == 0)

		gpus, nics, refusal := allocateJoint(s, primary, secondary, devices, joint)
		e := testkit.Must(explainJoint(s, primary, secondary, devices, joint))
		if diff := cmp.Diff(fmt.Sprint(refusal), fmt.Sprint(e.Refusal)); diff != "" {
			t.Fatal(diff)
		}
		outcomes[fmt.Sprintf("%T", refusal)]++
		if errors.Is(refusal, share.ErrJointViolation) {
			if len(chosenOf(e.Primary)) == 0 || len(chosenOf(e.Secondary)) == 0 || e.Primary.Refusal != nil || e.Secondary.Refusal != nil {
				t.Fatalf("a JointError: %s", e)
			}
			continue
		}
		if !slices.Equal(chosenOf(e.Primary), gpus.Minors()) || !slices.Equal(chosenOf(e.Secondary), nics.Minors()) {
			t.Fatalf("allocated %v and %v, explained %s", gpus, nics, e)
		}
		r.Shuffle(len(devices), func(i, k int) { devices[i], devices[k] = devices[k], devices[i] })
		if again, err := explainJoint(s, primary, secondary, devices, joint); err != nil || again.String() != e.String() {
			t.Fatalf("the order of the devices matters: %s, %s, error %v", e, again, err)
		}
		var short *share.NotEnoughError
		if errors.As(refusal, &short) && (e.Primary.Refusal == nil) == (e.Secondary.Refusal == nil) {
			t.Fatalf("not one kind is refused: %s", e)
		}
	}
	if len(outcomes) != 3 {
		t.Errorf("the test looks at too few: %v", outcomes)
	}
	primary, secondary := gpusAndNICs(-1, 1)
	if _, err := explainJoint(nil, primary, secondary, nil, share.PreferSamePCIe); !errors.Is(err, share.ErrInvalidUnit) {
		t.Errorf("a negative count: error %v", err)
	}
}

// chosenOf returns the minors of the chosen devices, ascending.
func chosenOf(e share.AllocationExplanation) []int32 {
	minors := []int32{}
	for _, d := range e.Devices {
		if d.Chosen {
			minors = append(minors, d.Minor)
		}
	}
	slices.Sort(minors)
	return minors
}
