package share_test

import (
	"reflect"
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
		Functions: map[string]any{
			"FillRequest":          share.FillRequest,
			"FromResourceList":     share.FromResourceList,
			"KoordinatorRatio":     share.KoordinatorRatio,
			"NewScorer":            share.NewScorer,
			"Normalize":            share.Normalize,
			"ParseScoringStrategy": share.ParseScoringStrategy,
			"CheckStates":          share.CheckStates,
			"ResourceNamed":        share.ResourceNamed,
			"States":               share.States,
		},
		Types: []any{
			(*share.Account)(nil),
			(*share.AllocRequest)(nil),
			(*share.Allocated)(nil),
			(*share.Allocation)(nil),
			(*share.Bound)(nil),
			(*share.Cause)(nil),
			(*share.Config)(nil),
			(*share.GoneError)(nil),
			(*share.Hint)(nil),
			(*share.Joint)(nil),
			(*share.NotEnoughError)(nil),
			(*share.Policy)(nil),
			(*share.Reason)(nil),
			(*share.Rejection)(nil),
			(*share.Rejections)(nil),
			(*share.Amounts)(nil),
			(*share.Amounts)(nil),
			(*share.Amounts)(nil),
			(*share.Requirement)(nil),
			(*share.Resource)(nil),
			(*share.ResourceSpec)(nil),
			(*share.Scope)(nil),
			(*share.Scorer)(nil),
			(*share.State)(nil),
		},
		Operand: func(typ reflect.Type) any {
			switch typ {
			case reflect.TypeFor[*share.Account]():
				return accountOf(t, []share.State{{Kind: device.KindGPU}})
			case reflect.TypeFor[*share.Scorer]():
				s, err := share.NewScorer(share.KoordinatorDefaults())
				if err != nil {
					t.Fatal(err)
				}
				return s
			case reflect.TypeFor[*share.Bound]():
				return new(share.Scorer).Bind(accountOf(t, []share.State{{Kind: device.KindGPU}}))
			case reflect.TypeFor[*vector.Mask]():
				return vector.NewMask(1)
			case reflect.TypeFor[vector.Tie]():
				return vector.TieLowest()
			case reflect.TypeFor[*device.Node]():
				return &device.Node{Devices: []device.Device{{Product: "A"}}}
			case reflect.TypeFor[[]share.Requirement]():
				return []share.Requirement{{}}
			case reflect.TypeFor[[]int64]():
				return []int64{0}
			}
			return nil
		},
	}.Run(t)
}
