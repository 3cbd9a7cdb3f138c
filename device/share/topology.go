package share

import (
	"cmp"
	"slices"

	"github.com/resvec/resvec/device"
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
	room    int64 // neighbors within reach of so many devices as are wanted
}

// partsAt appends the parts of a place, the deepest last.
func partsAt(dst []part, numa int32, root string) []part {
	dst = append(dst, wholeNode)
	if numa >= 0 {
		dst = append(dst, part{scope: ScopeNUMA, numa: numa})
	}
	if root != "" {
		dst = append(dst, part{scope: ScopePCIe, numa: max(numa, -1), root: root})
	}
	return dst
}

// contains reports whether a device is in the part.
func (p part) contains(d *State) bool {
	switch p.scope {
	case ScopeNUMA:
		return p.numa >= 0 && d.NUMANode == p.numa
	case ScopePCIe:
		return p.root != "" && d.PCIeRoot == p.root && max(d.NUMANode, -1) == p.numa
	}
	return true
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
	c.countUses()
	best := partUse{part: part{scope: c.req.Scope, numa: -1}} // none in particular
	found := false
	for i := range c.uses {
		if u := &c.uses[i]; u.scope >= c.req.Scope && u.fitting > 0 && (!found || c.compareParts(u, &best) < 0) {
			best, found = *u, true
		}
	}
	return best.part, best.fitting
}

// countUses lists the parts of the node that have devices.
func (c *consideration) countUses() {
	c.uses = c.uses[:0]
	var buf [3]part
	for i := range c.devices {
		d := &c.devices[i]
		for _, p := range partsAt(buf[:0], d.state.NUMANode, d.state.PCIeRoot) {
			u := c.use(p)
			u.used = u.used || isUsed(d.state)
			if d.cause == 0 {
				u.fitting++
				u.best = max(u.best, d.score)
			}
		}
	}
	for i := range c.uses {
		u := &c.uses[i]
		for _, p := range partsAt(buf[:0], u.numa, u.root) {
			if c.use(p).used {
				u.levels++
			}
		}
		if c.neighbors != nil {
			u.room = c.reach(u.part)
		}
	}
}

// use returns the element of a part.
func (c *consideration) use(p part) *partUse {
	i := slices.IndexFunc(c.uses, func(u partUse) bool { return u.part == p })
	if i < 0 {
		i = len(c.uses)
		c.uses = append(c.uses, partUse{part: p})
	}
	return &c.uses[i]
}

// compareParts puts the part to take first.
func (c *consideration) compareParts(a, b *partUse) int {
	order := cmp.Or(
		cmp.Compare(min(b.fitting, c.req.Count), min(a.fitting, c.req.Count)),
		cmp.Compare(b.room, a.room),
		cmp.Compare(b.scope, a.scope),
		cmp.Compare(b.levels, a.levels),
	)
	if order == 0 && c.req.leavesRoom() {
		order = cmp.Compare(b.best, a.best)
	}
	return cmp.Or(order, cmp.Compare(a.numa, b.numa), cmp.Compare(a.root, b.root))
}

// leavesRoom reports whether an instance takes only a part of a GPU. Among equal parts of
// the node the score then decides, so that shares fill a device that is in use.
func (need *Requirement) leavesRoom() bool {
	return need.Kind == device.KindGPU && need.PerInstance[GPUMemoryRatio] < wholeDevice
}

// isUsed reports whether something of a device is used, in the sense of
// [Scorer.ScoreDevice]: more free than there is means that all of it is.
func isUsed(d *State) bool {
	for r, total := range d.Total {
		if total != 0 && d.Free[r] != total {
			return true
		}
	}
	return false
}
