package share

import (
	"cmp"
	"slices"
)

// part is a part of a node: all of it, a NUMA node, or a PCIe root of one.
type part struct {
	scope Scope
	numa  int32  // -1: unknown, or the node
	root  string // of ScopePCIe
}

// wholeNode is the part of which every device is.
var wholeNode = part{scope: ScopeNode, numa: -1}

// partUse is a part and what counts for the choice of it.
type partUse struct {
	part
	used    bool  // some device of it is
	fitting int64 // devices that fit
	best    int64 // the best of their scores, which are at least 0
	levels  int   // how many of the parts that it lies in are used
	room    int64 // neighbours within reach of so many devices as are wanted
}

// partsOf appends the parts that a device is in, the deepest last.
func partsOf(dst []part, d *State) []part {
	dst = append(dst, wholeNode)
	if d.NUMANode >= 0 {
		dst = append(dst, part{scope: ScopeNUMA, numa: d.NUMANode})
	}
	if d.PCIeRoot != "" {
		dst = append(dst, part{scope: ScopePCIe, numa: max(d.NUMANode, -1), root: d.PCIeRoot})
	}
	return dst
}

// contains reports whether a device is in the part.
func (p part) contains(d *State) bool {
	var buf [3]part
	return slices.Contains(partsOf(buf[:0], d), p)
}

// part returns the part of the node that devices are to be taken from, and how
// many of it fit. If those are too few, no part has more; if none fits at all, the
// part is the node.
func (c *consideration) part() (p part, fitting int64) {
	if c.req.Policy != PackTopology && c.req.Scope == ScopeNode {
		return wholeNode, int64(len(c.fitting))
	}
	if len(c.fitting) == 0 {
		return wholeNode, 0
	}
	uses := slices.DeleteFunc(c.partUses(), func(u partUse) bool { return u.scope < c.req.Scope })
	best := partUse{part: part{scope: c.req.Scope, numa: -1}} // none in particular
	if len(uses) > 0 {
		if use := slices.MinFunc(uses, c.compareParts); use.fitting > 0 {
			best = use
		}
	}
	return best.part, best.fitting
}

// partUses returns the parts of the node that have devices.
func (c *consideration) partUses() []partUse {
	var uses []partUse
	var parts []part
	at := map[part]int{}
	for i := range c.devices {
		d := &c.devices[i]
		parts = partsOf(parts[:0], d.state)
		for _, p := range parts {
			k, ok := at[p]
			if !ok {
				k = len(uses)
				at[p] = k
				uses = append(uses, partUse{part: p})
			}
			u := &uses[k]
			u.used = u.used || isUsed(d.state)
			if len(d.reasons) == 0 {
				u.fitting++
				u.best = max(u.best, d.score)
			}
		}
	}
	for k := range uses {
		u := &uses[k]
		around := State{NUMANode: u.numa, PCIeRoot: u.root}
		parts = partsOf(parts[:0], &around)
		for _, p := range parts {
			if uses[at[p]].used {
				u.levels++
			}
		}
		if c.near != nil {
			u.room = c.reach(u.part)
		}
	}
	return uses
}

// compareParts puts the part to take first.
func (c *consideration) compareParts(a, b partUse) int {
	enough := func(u partUse) int64 { return min(u.fitting, c.req.Count) }
	order := cmp.Or(
		cmp.Compare(enough(b), enough(a)),
		cmp.Compare(b.room, a.room),
		cmp.Compare(b.scope, a.scope),
		cmp.Compare(b.levels, a.levels),
	)
	if order == 0 && c.req.Partial {
		order = cmp.Compare(b.best, a.best)
	}
	return cmp.Or(order, cmp.Compare(a.numa, b.numa), cmp.Compare(a.root, b.root))
}

// isUsed reports whether something of a device is used, in the sense of
// [Scorer.ScoreDevice]: more free than there is means that all of it is.
func isUsed(d *State) bool {
	for name, total := range d.Total {
		if total != 0 && d.Free[name] != total {
			return true
		}
	}
	return false
}
