package share_test

import (
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/vector"
)

// TestPanics: a nil operand, and a node that isn't there, panic with a constant
// text of the package. Nil rows are all nodes, and a nil Scorer scores 0.
func TestPanics(t *testing.T) {
	var (
		none    *share.Account
		unbound *share.Bound
		mask    vector.Mask
	)
	account := accountOf(t, nil)
	b := (*share.Scorer)(nil).Bind(account)
	const noAccount, noBound, noMask, outOfRange = "share: nil account", "share: nil bound scorer", "share: nil mask", "share: node out of range"
	for name, c := range map[string]struct {
		want string
		call func()
	}{
		"States":                  {"share: nil node", func() { share.States(nil) }},
		"Account.Len":             {noAccount, func() { none.Len() }},
		"Account.Devices":         {noAccount, func() { none.Devices() }},
		"Account.Rows":            {noAccount, func() { none.Rows(0) }},
		"Account.Set":             {noAccount, func() { _ = none.Set(0, nil) }},
		"Account.Delete":          {noAccount, func() { none.Delete(0) }},
		"Account.States":          {noAccount, func() { none.States(nil, 0) }},
		"Account.Without":         {noAccount, func() { none.Without(&mask, device.KindGPU) }},
		"Account.CopyFrom":        {noAccount, func() { none.CopyFrom(account) }},
		"CopyFrom of none":        {noAccount, func() { account.CopyFrom(nil) }},
		"Account.Commit":          {noAccount, func() { _ = none.Commit(0) }},
		"Account.Release":         {noAccount, func() { _ = none.Release(0) }},
		"Scorer.Bind":             {noAccount, func() { (&share.Scorer{}).Bind(nil) }},
		"Without a mask":          {noMask, func() { account.Without(nil, device.KindGPU) }},
		"Without an unknown kind": {"share: unknown kind", func() { account.Without(&mask, "gpus") }},
		"Fit without a mask":      {noMask, func() { _ = b.Fit(nil, nil) }},
		"Bound.Fit":               {noBound, func() { _ = unbound.Fit(&mask, nil) }},
		"Bound.Best":              {noBound, func() { _, _, _ = unbound.Best(nil, nil, vector.TieLowest()) }},
		"Bound.Rejections":        {noBound, func() { _, _ = unbound.Rejections(nil, nil) }},
		"Bound.Score":             {noBound, func() { _ = unbound.Score(nil, nil, nil) }},
		"Bound.ScoreDevices":      {noBound, func() { _ = unbound.ScoreDevices(nil, share.Request{}, nil) }},
		"Bound.ScoreNode":         {noBound, func() { _, _ = unbound.ScoreNode(0, nil) }},
		"Bound.Explain":           {noBound, func() { _, _ = unbound.Explain(0, nil) }},
		"Bound.Allocate":          {noBound, func() { _, _ = unbound.Allocate(0, share.AllocRequest{}) }},
		"Bound.ExplainAllocation": {noBound, func() { _, _ = unbound.ExplainAllocation(0, share.AllocRequest{}) }},
		"Bound.AllocateJoint":     {noBound, func() { _, _, _ = unbound.AllocateJoint(0, share.AllocRequest{}, share.AllocRequest{}, 0) }},
		"zero Bound":              {noBound, func() { _ = (&share.Bound{}).Score(nil, nil, nil) }},
		"Rows behind":             {outOfRange, func() { account.Rows(1) }},
		"Rows before":             {outOfRange, func() { account.Rows(-1) }},
		"Set behind":              {outOfRange, func() { _ = account.Set(2, nil) }},
		"Set before":              {outOfRange, func() { _ = account.Set(-1, nil) }},
		"Delete":                  {outOfRange, func() { account.Delete(1) }},
		"States behind":           {outOfRange, func() { account.States(nil, 1) }},
		"Commit":                  {outOfRange, func() { _ = account.Commit(1) }},
		"Release":                 {outOfRange, func() { _ = account.Release(-1) }},
		"ScoreNode":               {outOfRange, func() { _, _ = b.ScoreNode(1, nil) }},
		"Allocate":                {outOfRange, func() { _, _ = b.Allocate(1, share.AllocRequest{}) }},
		"AllocateJoint":           {outOfRange, func() { _, _, _ = b.AllocateJoint(1, share.AllocRequest{}, share.AllocRequest{}, 0) }},
		"policy":                  {"share: unknown policy", func() { _, _ = b.Allocate(0, share.AllocRequest{Policy: 3}) }},
		"scope":                   {"share: unknown scope", func() { _, _ = b.Allocate(0, share.AllocRequest{Scope: 3}) }},
		"joint":                   {"share: unknown joint", func() { _, _, _ = b.AllocateJoint(0, share.AllocRequest{}, share.AllocRequest{}, 3) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("%s: %v, not %q", name, got, c.want)
				}
			}()
			c.call()
			t.Errorf("%s: no panic", name)
		}()
	}
}
