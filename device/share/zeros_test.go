package share_test

import (
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	testkit.Zeros{
		Prefix: "share: ",
		Functions: []any{
			share.FillRequest, share.FromResourceList, share.KoordinatorRatio, share.NewScorer,
			share.Normalize, share.ParseScoringStrategy, share.ResourceNamed,
			share.States,
		},
		Types: []any{
			(*share.Account)(nil), (*share.AllocRequest)(nil), (*share.Allocated)(nil),
			(*share.Allocation)(nil), (*share.Bound)(nil), (*share.Cause)(nil), (*share.Config)(nil),
			(*share.GoneError)(nil), (*share.Hint)(nil), (*share.Joint)(nil), (*share.NotEnoughError)(nil),
			(*share.Policy)(nil), (*share.Reason)(nil), (*share.Rejection)(nil), (*share.Rejections)(nil),
			(*share.Amounts)(nil), (*share.Requirement)(nil), (*share.Resource)(nil),
			(*share.ResourceSpec)(nil), (*share.Scope)(nil), (*share.Scorer)(nil), (*share.State)(nil),
		},
		Operands: []any{
			func() *share.Account { return accountOf(t, []share.State{{Kind: device.KindGPU}}) },
			func() *share.Scorer { return testkit.Must(share.NewScorer(share.KoordinatorDefaults())) },
			func() *share.Bound {
				return new(share.Scorer).Bind(accountOf(t, []share.State{{Kind: device.KindGPU}}))
			},
			func() *vector.Mask { return vector.NewMask(1) },
			func() vector.Tie { return vector.TieLowest() },
			func() *device.Node { return &device.Node{Devices: []device.Device{{Product: "A"}}} },
			func() []share.Requirement { return []share.Requirement{{}} },
			func() []int64 { return []int64{0} },
		},
	}.Run(t)
}
