package device

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// PlacedGPU is a GPU in MIG mode and the instances on it.
type PlacedGPU struct {
	UUID        string // empty: it isn't known which GPUs these instances are on
	Product     string // with MemoryBytes, the arguments of [GeometryFor]
	MemoryBytes int64  // of the GPU; 0: unknown

	// Geometry is that of [GeometryFor], nil if it knows none.
	Geometry *Geometry

	// Instances are the GPU instances, by start and profile. Compute instances of
	// one, such as 1c.3g.20gb, stand for it together. A profile that couldn't be
	// read is zero, which [Place] refuses as no profile of the GPU; sources other
	// than labels leave such instances out ([UnparsedProfile]).
	Instances []Placed

	// Problems say what of the instances can't be so on a GPU of the geometry:
	// [UnknownMIG] without one, [ForeignProfile], and [BadSlots] where the slots
	// that are declared are others than an instance of the profile has, or overlap.
	// As declared they are taken all the same: Slots of the instance has them.
	Problems []Problem
}

// Placed returns the GPUs of the node that are in MIG mode or have MIG instances,
// each with its instances as [Place], [Remaining] and [Best] take them, by UUID
// and product. Unhealthy instances are among them, since they take room. Those
// of [Node.Potential] don't exist and are not.
//
// ResourceSlices and the driver know the GPU and the start of an instance, as a
// rule. If only the start is unknown (-1) see [Assumed]. Instances of an unknown
// GPU are in one element for each product, without a UUID: they may be on
// several GPUs, so that the list is none for Place, and listed GPUs of the product
// may have more instances than are listed. Labels know neither GPUs nor starts, so
// all that they tell is of this sort.
//
// Compute instances of unknown start are taken for as few GPU instances as have
// so many compute slices.
func (n *Node) Placed() []PlacedGPU {
	if n == nil {
		panic(panicNode)
	}
	p := placedGPUs{at: map[[2]string]int{}}
	for i := range n.Devices {
		d := &n.Devices[i]
		if d.Sharing == SharingMIG || d.Profile != (Profile{}) {
			g := p.gpu(d.ParentUUID, d.Product)
			g.rows = append(g.rows, d)
		} else if d.MIGEnabled {
			g := p.gpu(d.UUID, d.Product)
			g.Product, g.MemoryBytes = d.Product, d.MemoryBytes
		}
	}
	list := make([]PlacedGPU, len(p.list))
	for i := range p.list {
		list[i] = p.list[i].placed()
	}
	slices.SortFunc(list, func(a, b PlacedGPU) int {
		return cmp.Or(strings.Compare(a.UUID, b.UUID), strings.Compare(a.Product, b.Product))
	})
	return list
}

// placedGPUs are GPUs as they come up.
type placedGPUs struct {
	list []placedGPU
	at   map[[2]string]int // by UUID, or else by product
}

type placedGPU struct {
	PlacedGPU
	rows []*Device // of its instances
}

// placed returns the GPU with what its rows say.
func (g *placedGPU) placed() PlacedGPU {
	var problems problemList
	geometry, err := GeometryFor(g.Product, g.MemoryBytes)
	if err == nil {
		g.Geometry = geometry
	} else {
		problems.add(UnknownMIG, cmp.Or(g.UUID, g.Product), "%s; or made by NewGeometry", strings.TrimPrefix(err.Error(), "device: "))
	}
	rows := make([]Placed, len(g.rows))
	for i, d := range g.rows {
		rows[i] = g.Geometry.placed(d, &problems)
	}
	g.Instances = gpuInstances(rows)
	// Of an unknown GPU the instances may be on several.
	if g.UUID != "" && len(problems.list) == 0 {
		if err := g.Geometry.load(&migLoad{}, g.Instances); err != nil {
			problems.add(BadSlots, g.UUID, "%s", strings.TrimPrefix(err.Error(), "device: "))
		}
	}
	g.Problems = problems.list
	return g.PlacedGPU
}

// placed returns the instance of a row, and adds what can't be so of it.
func (g *Geometry) placed(d *Device, problems *problemList) Placed {
	p := Placed{Profile: d.Profile, Start: d.Start, Slots: d.Slots}
	if g == nil || d.Profile == (Profile{}) {
		return p
	}
	whole := p.Profile
	whole.C = 0
	r := g.rank(&whole)
	if r < 0 {
		problems.add(ForeignProfile, deviceKey(d), "%s", g.lacks(p.Profile))
		return p
	}
	k := &g.kinds[r]
	isStart := p.Start >= 0 && p.Start < migMaxSlots && k.starts>>p.Start&1 != 0
	own := uint8(0)
	if isStart {
		own = k.mask << p.Start
	}
	if isStart && p.Slots&^own == 0 {
		if p.Slots != 0 && p.Slots != own {
			problems.add(BadSlots, deviceKey(d), "memory slots %s: must be %[3]s, as %[2]v has them", slotsText(p.Slots), whole, slotsText(own))
		}
		p.Slots = 0
	} else if p.Slots != 0 || p.Start != -1 {
		problems.add(BadSlots, deviceKey(d), "memory slots %s: must be %[4]d from one of %[5]v on, for %[2]v of %[3]s; as declared they are taken",
			cmp.Or(slotsText(p.Slots), strconv.Itoa(int(p.Start))), whole, g.name, k.slots, migStarts(k.starts))
	}
	return p
}

// gpu returns the element of a GPU. It is valid until the next call.
func (p *placedGPUs) gpu(uuid, product string) *placedGPU {
	key := [2]string{uuid, ""}
	if uuid == "" {
		key[1] = product
	}
	i, ok := p.at[key]
	if !ok {
		i = len(p.list)
		p.at[key] = i
		p.list = append(p.list, placedGPU{PlacedGPU: PlacedGPU{UUID: uuid, Product: product}})
	}
	return &p.list[i]
}

// gpuInstances returns the GPU instances that rows stand for, in order.
func gpuInstances(rows []Placed) []Placed {
	instances := []Placed{}
	held := map[Placed]int{} // by GPU instance: slices of the compute instances in it
	for _, row := range rows {
		c := row.Profile.C
		row.Profile.C = 0
		if c == 0 {
			instances = append(instances, row)
			continue
		}
		before := held[row]
		held[row] += c
		more := ceilDiv(held[row], row.Profile.G) - ceilDiv(before, row.Profile.G)
		if row.Start != -1 {
			more = 1 - min(before, 1) // one at a start
		}
		instances = append(instances, slices.Repeat([]Placed{row}, more)...)
	}
	slices.SortFunc(instances, func(a, b Placed) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Profile.String(), b.Profile.String()), cmp.Compare(a.Slots, b.Slots))
	})
	return instances
}

// ceilDiv returns a/b, rounded up, of a at least 0 and b above it.
func ceilDiv(a, b int) int { return (a + b - 1) / b }
