package mig

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxSlots    = 32 // slots are the bits of a uint32
	maxProfiles = 32 // of one geometry; no GPU has half as many

	mostDecoders = 1000 // of an instance: sums stay small
)

// Geometry says how MIG cuts a GPU: its memory is a row of slots and its
// processors are compute slices, and an instance takes neighbouring slots from
// one of a few allowed starts, a number of slices, and media engines. [GeometryFor]
// finds the one of a product, and [NewGeometry] makes others.
//
// The GB in the name of a profile are rounded, and differ by driver and board: an A100 of
// 80 GB has 3g.40gb or 3g.39gb. So compute slices, suffix and the nearest size identify the
// cut, if it is at most an eighth off, the smaller of two as near. What was written is kept:
// names come back as they were given.
//
// A Geometry is immutable and safe for concurrent use. A nil *Geometry and the
// zero value are a GPU without MIG: no slots, no slices, no profiles.
type Geometry struct {
	name, source  string
	slots, slices int
	decoders      int                 // as many as the profile with most
	profiles      []GeometryProfile   // as given
	kinds         []kind              // of the profiles, in the order of the search
	order         []uint8             // profile i is kinds[order[i]]
	first         [maxSlots + 1]uint8 // by g: 1 + the first kind; 0: none
}

// GeometryProfile is a MIG profile as a [Geometry] allows it.
type GeometryProfile struct {
	Profile vectormap.MIGProfile // with C 0: a GPU instance; its compute slices are Profile.G
	Slots   int                  // memory slots
	Starts  []int8               // the slots where an instance may start
	Max     int                  // how many instances one GPU can have
	Media   bool                 // an instance takes the media engine (OFA), of which a GPU has one

	// Decoders are the media decoders (NVDEC) of an instance. A GPU has as many as the
	// profile with most: an instance with all of them, such as +me.all, leaves room for
	// those alone that have none, such as -me.
	Decoders int

	MemoryBytes int64 // of an instance; 0: only the device itself knows
}

// kind is a profile, prepared for the search.
type kind struct {
	profile  vectormap.MIGProfile
	slots    uint8
	g        uint8
	max      uint8
	media    uint8 // 1: takes the media engine
	decoders int
	extended bool   // has media extensions (+me)
	starts   uint32 // bit s: an instance may start at slot s
	mask     uint32 // the slots of an instance that starts at 0
	next     uint8  // 1 + the next kind with the same g; 0: none
}

// NewGeometry returns the geometry of a GPU with so many memory slots and compute slices,
// 1 to 32 each. It has 1 to 32 profiles, no two the same and none of a compute instance (C
// is 0). Each has at most so many slices and slots as the GPU, a maximum of 1 to slots,
// and at least one start, no two the same, from which an instance does not run over the
// end. The name is for people and may not be empty. All faults are reported at once, as a
// field.ErrorList in one error; faults of profiles only where slots and slices are right.
// The arguments are copied.
func NewGeometry(name string, slots, slices int, profiles []GeometryProfile) (*Geometry, error) {
	if err := document.Errors(geometryFaults(name, slots, slices, profiles)); err != nil {
		return nil, err
	}
	return compile(name, slots, slices, profiles), nil
}

// geometryFaults returns what is wrong with the arguments of [NewGeometry].
func geometryFaults(name string, slots, slices int, profiles []GeometryProfile) field.ErrorList {
	var faults field.ErrorList
	if name == "" {
		faults = append(faults, field.Required(field.NewPath("name"), "a name for people, such as A100-40"))
	}
	faults = within(faults, field.NewPath("slots"), slots, maxSlots, "memory slots")
	faults = within(faults, field.NewPath("slices"), slices, maxSlots, "compute slices")
	if len(faults) > 0 {
		return faults // the profiles are judged by these
	}
	list := field.NewPath("profiles")
	switch {
	case len(profiles) == 0:
		faults = append(faults, field.Required(list, "1 to 32 profiles"))
	case len(profiles) > maxProfiles:
		faults = append(faults, field.TooMany(list, len(profiles), maxProfiles))
	}
	seen := map[vectormap.MIGProfile]bool{}
	for i := range profiles {
		p, path := &profiles[i], list.Index(i)
		faults = append(faults, profileFaults(path, p, slots, slices)...)
		if seen[p.Profile] {
			faults = append(faults, field.Duplicate(path.Child("profile"), p.Profile.String()))
		}
		seen[p.Profile] = true
	}
	return faults
}

// within adds a fault if value is not 1 to limit.
func within(faults field.ErrorList, path *field.Path, value, limit int, unit string) field.ErrorList {
	if value < 1 || value > limit {
		faults = append(faults, field.Invalid(path, value, fmt.Sprintf("must be 1 to %d %s", limit, unit)))
	}
	return faults
}

// profileFaults returns what is wrong with one profile of a GPU.
func profileFaults(path *field.Path, p *GeometryProfile, slots, slices int) field.ErrorList {
	var faults field.ErrorList
	name := p.Profile.String()
	switch parsed, _, err := vectormap.ParseMIG(name); {
	case err != nil || parsed != p.Profile || p.Profile.C != 0:
		faults = append(faults, field.Invalid(path.Child("profile"), name, "must be the profile of a GPU instance, such as 1g.5gb"))
	case p.Profile.G > slices:
		faults = append(faults, field.Invalid(path.Child("profile"), name, fmt.Sprintf("must have 1 to %d compute slices", slices)))
	}
	faults = within(faults, path.Child("max"), p.Max, slots, "instances")
	if p.Decoders < 0 || p.Decoders > mostDecoders {
		faults = append(faults, field.Invalid(path.Child("decoders"), p.Decoders, fmt.Sprintf("must be 0 to %d media decoders", mostDecoders)))
	}
	if p.MemoryBytes < 0 {
		faults = append(faults, field.Invalid(path.Child("memoryBytes"), p.MemoryBytes, "must be 0 bytes or more"))
	}
	if wrong := within(nil, path.Child("slots"), p.Slots, slots, "memory slots"); len(wrong) > 0 {
		return append(faults, wrong...) // the starts are judged by it
	}
	return append(faults, startFaults(path.Child("starts"), p.Starts, slots-p.Slots)...)
}

// startFaults returns what is wrong with the starts of a profile, of which
// none may be after last.
func startFaults(path *field.Path, starts []int8, last int) field.ErrorList {
	if len(starts) == 0 {
		return field.ErrorList{field.Required(path, "the memory slots where an instance may start")}
	}
	var faults field.ErrorList
	for i, s := range starts {
		switch {
		case s < 0 || int(s) > last:
			faults = append(faults, field.Invalid(path.Index(i), int(s), fmt.Sprintf("must be a memory slot from 0 to %d", last)))
		case slices.Contains(starts[:i], s):
			faults = append(faults, field.Duplicate(path.Index(i), int(s)))
		}
	}
	return faults
}

// compile prepares a valid geometry.
func compile(name string, slots, slices int, profiles []GeometryProfile) *Geometry {
	g := &Geometry{
		name: name, slots: slots, slices: slices,
		profiles: cloneProfiles(profiles),
		kinds:    make([]kind, len(profiles)),
		order:    make([]uint8, len(profiles)),
	}
	for rank, i := range searchOrder(profiles) {
		p, k := &g.profiles[i], &g.kinds[rank]
		k.compile(p)
		g.decoders = max(g.decoders, p.Decoders)
		k.next, g.first[p.Profile.G] = g.first[p.Profile.G], uint8(rank+1)
		g.order[i] = uint8(rank)
	}
	return g
}

// searchOrder returns the indices of profiles in the order in which [PlaceInstances]
// places them: large instances first, for those find the fewest places.
func searchOrder(profiles []GeometryProfile) []int {
	order := make([]int, len(profiles))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		p, q := &profiles[a], &profiles[b]
		return cmp.Or(cmp.Compare(q.Slots, p.Slots), cmp.Compare(q.Profile.G, p.Profile.G),
			cmp.Compare(p.Profile.String(), q.Profile.String()))
	})
	return order
}

// compile prepares one profile.
func (k *kind) compile(p *GeometryProfile) {
	k.profile = p.Profile
	k.slots, k.g, k.max, k.decoders = uint8(p.Slots), uint8(p.Profile.G), uint8(p.Max), p.Decoders
	if p.Media {
		k.media = 1
	}
	k.extended = strings.HasPrefix(p.Profile.Suffix, "+me")
	for _, s := range p.Starts {
		k.starts |= 1 << s
	}
	k.mask = uint32(1<<p.Slots - 1)
}

// free returns the starts, as bits, where an instance finds its slots free. A taken slot
// is in the way of the starts up to as many slots before it as an instance has; each step
// doubles how far that reaches.
func (k *kind) free(taken uint32) uint32 {
	for reach := uint8(1); reach < k.slots; {
		step := min(reach, k.slots-reach)
		taken |= taken >> step
		reach += step
	}
	return k.starts &^ taken
}

// cloneProfiles returns a copy that shares nothing with profiles.
func cloneProfiles(profiles []GeometryProfile) []GeometryProfile {
	profiles = slices.Clone(profiles)
	for i := range profiles {
		profiles[i].Starts = slices.Clone(profiles[i].Starts)
	}
	return profiles
}

// orNone returns g, and the zero value for nil.
func (g *Geometry) orNone() *Geometry {
	if g == nil {
		return &noMIG
	}
	return g
}

var noMIG Geometry

// nameSlack is what part of its size a name may be off. The same cut of an H200 is 1g.18gb
// or 1g.16gb, by what the driver keeps for itself, and that of a GB300 1g.35gb or 1g.31gb.
// The sizes of profiles with as many compute slices are a factor of two apart.
const nameSlack = 8

// rank returns the place of p among g.kinds, or -1 where g lacks it. Compute slices, suffix
// and the nearest size identify a profile, the smaller of two sizes: the size of a name is
// rounded, and differs by driver and board.
func (g *Geometry) rank(p *vectormap.MIGProfile) int {
	if uint(p.G) >= uint(len(g.first)) || p.C != 0 {
		return -1
	}
	for r := g.first[p.G]; r != 0; {
		k := &g.kinds[r-1]
		if k.profile.MemGB == p.MemGB && k.profile.Suffix == p.Suffix {
			return int(r - 1)
		}
		r = k.next
	}
	return g.nearest(p)
}

// nearest is rank for a profile that g has under no such name.
func (g *Geometry) nearest(p *vectormap.MIGProfile) (rank int) {
	rank, least := -1, 0
	for i := range g.kinds {
		k := &g.kinds[i].profile
		off := max(k.MemGB-p.MemGB, p.MemGB-k.MemGB)
		if k.G != p.G || k.Suffix != p.Suffix || off > k.MemGB/nameSlack {
			continue
		}
		if rank < 0 || off < least || off == least && k.MemGB < p.MemGB {
			rank, least = i, off
		}
	}
	return rank
}

// Name returns the name of the geometry, such as A100-40: the family and the
// nominal memory of the GPU in GB.
func (g *Geometry) Name() string { return g.orNone().name }

// Source returns where a known geometry is published; empty for a geometry of
// [NewGeometry].
func (g *Geometry) Source() string { return g.orNone().source }

// Slots returns how many memory slots the GPU has.
func (g *Geometry) Slots() int { return g.orNone().slots }

// Slices returns how many compute slices the GPU has.
func (g *Geometry) Slices() int { return g.orNone().slices }

// Profiles returns the profiles, in the order in which the geometry was given
// them. The caller owns the result.
func (g *Geometry) Profiles() []GeometryProfile { return cloneProfiles(g.orNone().profiles) }

// Profile returns what the geometry says of one profile, under the name that the geometry
// has for it, and whether it has it. The caller owns the result.
func (g *Geometry) Profile(p vectormap.MIGProfile) (GeometryProfile, bool) {
	g = g.orNone()
	r := g.rank(&p)
	if r < 0 {
		return GeometryProfile{}, false
	}
	i := slices.Index(g.order, uint8(r))
	return cloneProfiles(g.profiles[i : i+1])[0], true
}

// startsOf lists the starts of a bit mask.
func startsOf(mask uint32) []int8 {
	var starts []int8
	for ; mask != 0; mask &= mask - 1 {
		starts = append(starts, int8(bits.TrailingZeros32(mask)))
	}
	return starts
}
