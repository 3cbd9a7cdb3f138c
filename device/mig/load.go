package mig

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vectormap"
)

// Placed is a MIG instance on a GPU.
type Placed struct {
	Profile vectormap.MIGProfile
	Start   int8 // the memory slot where it starts; -1: unknown, or none of the profile

	// Slots are the memory slots that it takes, bit i for slot i: what its source
	// declares. Start doesn't count then. 0: all slots of its profile from Start on.
	Slots device.Slots
}

// isLoose reports whether it isn't known where the instance is.
func (p *Placed) isLoose() bool { return p.Start == -1 && p.Slots == 0 }

// first returns the first slot that the instance takes, -1 if it isn't known where it is.
func (p *Placed) first() int {
	if p.Slots != 0 {
		return bits.TrailingZeros32(uint32(p.Slots))
	}
	return int(p.Start)
}

// isRun reports whether the declared slots are neighbors from the start on.
func (p *Placed) isRun() bool {
	run := p.Slots >> max(p.Start, 0)
	return p.Start == int8(p.first()) && run&(run+1) == 0
}

// String returns the profile and the start, such as 3g.20gb@4, with ? for a start that is
// unknown, and all declared slots where they aren't neighbors from the start on:
// 3g.20gb@0,5,6,7.
func (p Placed) String() string {
	where := "?"
	switch {
	case p.Slots != 0 && !p.isRun():
		where = p.Slots.String()
	case p.Start != -1:
		where = strconv.Itoa(int(p.Start))
	}
	return p.Profile.String() + "@" + where
}

// load is what the instances on a GPU take of it.
type load struct {
	slots, slices, media uint8
	decoders             int
	taken                uint32 // the slots of instances whose start is known
	counts               [maxProfiles]uint8
	loose                itemList // instances whose start is unknown
}

// add counts an instance of kind r, wherever it is. It reports whether the GPU
// has enough for it, starts aside; if not the load is of no more use.
func (l *load) add(g *Geometry, r int) bool {
	k := &g.kinds[r]
	l.slots += k.slots
	l.slices += k.g
	l.media += k.media
	l.decoders += k.decoders
	l.counts[r]++
	return int(l.slots) <= g.slots && int(l.slices) <= g.slices && l.media <= 1 && l.decoders <= g.decoders && l.counts[r] <= k.max
}

// load sets l, which is empty, to what the used instances take.
func (g *Geometry) load(l *load, used []Placed) error {
	for i := range used {
		u := &used[i]
		r := g.rank(&u.Profile)
		if r < 0 {
			return usedError(used, i, g.lacks(u.Profile))
		}
		k := &g.kinds[r]
		mask := uint32(u.Slots)
		if mask != 0 {
			if bits.Len32(mask) > g.slots {
				return usedError(used, i, fmt.Sprintf("must be on memory slots 0 to %d", g.slots-1))
			}
			l.slots += uint8(bits.OnesCount32(mask)) - k.slots // add has counted the slots of the profile
		} else if u.Start != -1 {
			if u.Start < 0 || u.Start >= maxSlots || k.starts>>u.Start&1 == 0 {
				return usedError(used, i, fmt.Sprintf("must start at one of the memory slots %v", startsOf(k.starts)))
			}
			mask = k.mask << u.Start
		}
		if l.taken&mask != 0 {
			return usedError(used, i, g.overlap(used, i))
		}
		if !l.add(g, r) {
			return usedError(used, i, "with those before it "+g.excess(l))
		}
		l.taken |= mask
		if mask == 0 {
			l.loose.insert(uint8(r), 0)
		}
	}
	var at [maxSlots]int8
	if l.loose.n > 0 && !g.search(l.taken, &l.loose, &at) {
		i := slices.IndexFunc(used, func(p Placed) bool { return p.isLoose() })
		return usedError(used, i, "no memory slots are left for all instances whose start is unknown")
	}
	return nil
}

// excess says what a load is too much for, or else that there are no starts.
func (g *Geometry) excess(l *load) string {
	switch {
	case int(l.slots) > g.slots:
		return slotsText(int(l.slots), g.slots)
	case int(l.slices) > g.slices:
		return fmt.Sprintf("%d compute slices of %d", l.slices, g.slices)
	}
	for r := range g.kinds {
		if k := &g.kinds[r]; l.counts[r] > k.max {
			return fmt.Sprintf("%d instances of %v, at most %d", l.counts[r], k.profile, k.max)
		}
	}
	if l.media > 1 {
		return fmt.Sprintf("%d instances with the media engine, at most 1", l.media)
	}
	if l.decoders > g.decoders {
		return fmt.Sprintf("%d media decoders of %d", l.decoders, g.decoders)
	}
	return "no starts without overlap"
}

func slotsText(need, have int) string { return fmt.Sprintf("%d memory slots of %d", need, have) }

// lacks says which profiles there are, where one is missing.
func (g *Geometry) lacks(p vectormap.MIGProfile) string {
	if len(g.profiles) == 0 {
		return "the GPU has no MIG"
	}
	names := make([]string, len(g.profiles))
	for i := range g.profiles {
		names[i] = g.profiles[i].Profile.String()
	}
	return fmt.Sprintf("%s has no profile %v: must be one of %s", g.name, p, strings.Join(names, ", "))
}

// overlap says with which instance before it instance i overlaps.
func (g *Geometry) overlap(used []Placed, i int) string {
	mask := func(p Placed) uint32 {
		if p.Slots != 0 || p.Start == -1 {
			return uint32(p.Slots)
		}
		return g.kinds[g.rank(&p.Profile)].mask << p.Start
	}
	other := slices.IndexFunc(used[:i], func(p Placed) bool { return mask(p)&mask(used[i]) != 0 })
	return fmt.Sprintf("must not overlap used[%d]: %v", other, used[other])
}

// usedError reports a used instance that can't be there.
func usedError(used []Placed, i int, reason string) error {
	return fmt.Errorf("mig: used[%d]: %v: %s", i, used[i], reason)
}
