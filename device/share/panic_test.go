package share_test

import (
	"testing"

	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestPanics: a node that isn't there, and an unknown constant, panic with a constant
// text of the package.
func TestPanics(t *testing.T) {
	var mask vector.Mask
	const outOfRange = "share: node out of range"
	account := accountOf(t, nil)
	b := (*share.Scorer)(nil).Bind(account)
	for name, c := range map[string]struct {
		want string
		call func()
	}{
		"Without an unknown kind": {"share: unknown kind", func() { account.Without(&mask, "gpus") }},
		"Rows behind":             {outOfRange, func() { account.Rows(1) }},
		"Rows before":             {outOfRange, func() { account.Rows(-1) }},
		"Set behind":              {outOfRange, func() { _ = account.Set(2, nil) }},
		"Set before":              {outOfRange, func() { _ = account.Set(-1, nil) }},
		"Delete":                  {outOfRange, func() { account.Delete(1) }},
		"States behind":           {outOfRange, func() { account.States(nil, 1) }},
		"Commit":                  {outOfRange, func() { _ = account.Commit(1) }},
		"Release":                 {outOfRange, func() { _ = account.Release(-1) }},
		"Explain":                 {outOfRange, func() { _, _ = b.Explain(1, nil) }},
		"Allocate":                {outOfRange, func() { _, _ = b.Allocate(1, share.AllocRequest{}) }},
		"AllocateJoint":           {outOfRange, func() { _, _, _ = b.AllocateJoint(1, share.AllocRequest{}, share.AllocRequest{}, 0) }},
		"policy":                  {"share: unknown policy", func() { _, _ = b.Allocate(0, share.AllocRequest{Policy: 3}) }},
		"scope":                   {"share: unknown scope", func() { _, _ = b.Allocate(0, share.AllocRequest{Scope: 3}) }},
		"joint":                   {"share: unknown joint", func() { _, _, _ = b.AllocateJoint(0, share.AllocRequest{}, share.AllocRequest{}, 3) }},
	} {
		if got := testkit.Recovered(c.call); got != c.want {
			t.Errorf("%s: %v, not %q", name, got, c.want)
		}
	}
}
