package mig

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vectormap"
)

// GPU is a GPU in MIG mode, with its instances.
type GPU struct {
	UUID     string    // empty: the instances may be on several GPUs
	Product  string    // as in [device.Device]
	Geometry *Geometry // by [GeometryFor]; nil: unknown

	// Instances are the GPU instances, by start and profile. Compute instances such
	// as 1c.3g.20gb are counted as the GPU instance that they share. They keep the slots
	// that are declared, so that a Geometry of other slots, set in place of this one,
	// finds them taken, or is an error where it has none of these.
	Instances []Placed

	// Problems lists what can't be so on a GPU of this geometry: unknown-mig
	// without a geometry, foreign-profile, and bad-slots for slots
	// that no instance of the profile has, or that two instances declare. Declared
	// slots are taken all the same.
	Problems []device.Problem
}

// GPUs returns the GPUs of a node that are in MIG mode or have MIG instances, by
// UUID and product. Unhealthy instances are listed, since they take room.
// Instances that could only be made ([device.Node]'s Potential) are not.
//
// ResourceSlices and the driver know the GPU of an instance, and mostly its start.
// Labels know neither. Instances of unknown GPUs form one element for each
// product, without a UUID. Such an element is no operand of [PlaceInstances], and
// other GPUs of the product may have more instances than are listed.
//
// Compute instances of unknown start count as the fewest GPU instances that have
// their compute slices. An instance whose profile can't be read has the zero
// Profile, which PlaceInstances refuses.
func GPUs(n *device.Node) []GPU {
	gpus := gpuList{at: map[[2]string]int{}}
	for i := range n.Devices {
		d := &n.Devices[i]
		if d.Sharing == device.SharingMIG || d.Profile != (vectormap.MIGProfile{}) {
			g := gpus.find(d.ParentUUID, d.Product)
			g.rows = append(g.rows, d)
		} else if d.MIGEnabled {
			g := gpus.find(d.UUID, d.Product)
			g.Product, g.memoryBytes = d.Product, d.MemoryBytes
		}
	}
	list := make([]GPU, len(gpus.list))
	for i := range gpus.list {
		list[i] = gpus.list[i].read()
	}
	slices.SortFunc(list, func(a, b GPU) int {
		return cmp.Or(strings.Compare(a.UUID, b.UUID), strings.Compare(a.Product, b.Product))
	})
	return list
}

// gpuList is the GPUs of a node, as they come up.
type gpuList struct {
	list []gpuRows
	at   map[[2]string]int // by UUID, or else by product
}

// gpuRows is a GPU and the rows of its instances.
type gpuRows struct {
	GPU
	memoryBytes int64 // 0: unknown
	rows        []*device.Device
}

// find returns the element of a GPU, which is valid until the next call.
func (p *gpuList) find(uuid, product string) *gpuRows {
	key := [2]string{uuid, ""}
	if uuid == "" {
		key[1] = product
	}
	i, ok := p.at[key]
	if !ok {
		i = len(p.list)
		p.at[key] = i
		p.list = append(p.list, gpuRows{GPU: GPU{UUID: uuid, Product: product}})
	}
	return &p.list[i]
}

// read returns the GPU as its rows have it.
func (g *gpuRows) read() GPU {
	geometry, err := GeometryFor(g.Product, g.memoryBytes)
	if err == nil {
		g.Geometry = geometry
	} else {
		g.problem("unknown-mig", cmp.Or(g.UUID, g.Product), "%s; or made by NewGeometry", strings.TrimPrefix(err.Error(), "mig: "))
	}
	rows := make([]Placed, len(g.rows))
	for i, d := range g.rows {
		rows[i] = g.readInstance(d)
	}
	g.Instances = gpuInstances(rows)
	// Without a UUID the instances may be on several GPUs.
	if g.UUID != "" && len(g.Problems) == 0 {
		if err := g.Geometry.load(&load{}, g.Instances); err != nil {
			g.problem("bad-slots", g.UUID, "%s", strings.TrimPrefix(err.Error(), "mig: "))
		}
	}
	return g.GPU
}

// readInstance returns the instance of a row.
func (g *gpuRows) readInstance(d *device.Device) Placed {
	p := Placed{Profile: d.Profile, Start: d.Start, Slots: d.Slots}
	if g.Geometry == nil || d.Profile == (vectormap.MIGProfile{}) {
		return p
	}
	whole := p.Profile
	whole.C = 0
	r := g.Geometry.rank(&whole)
	if r < 0 {
		g.problem("foreign-profile", d.Key(), "%s", g.Geometry.lacks(p.Profile))
		return p.asDeclared()
	}
	k := &g.Geometry.kinds[r]
	own := k.slotsFrom(p.Start)
	switch {
	case own != 0 && p.Slots == own || p.isLoose():
	case own != 0 && p.Slots&^own == 0: // nothing but slots of the profile
		if p.Slots != 0 {
			g.problem("bad-slots", d.Key(), "memory slots %s: must be %s, as %v has them", p.Slots, own, whole)
		}
		p.Slots = 0
	default:
		g.problem("bad-slots", d.Key(), "memory slots %s: must be %d from one of %v on, for %v of %s; as declared they are taken",
			cmp.Or(p.Slots.String(), strconv.Itoa(int(p.Start))), k.slots, startsOf(k.starts), whole, g.Geometry.name)
		return p.asDeclared()
	}
	return p
}

// asDeclared returns an instance whose declared slots, if there are any, are none of a start.
func (p Placed) asDeclared() Placed {
	if p.Slots != 0 {
		p.Start = -1
	}
	return p
}

// slotsFrom returns the slots of an instance that starts there, none where it
// can't.
func (k *kind) slotsFrom(start int8) device.Slots {
	if start < 0 || start >= maxSlots || k.starts>>start&1 == 0 {
		return 0
	}
	return device.Slots(k.mask << start)
}

// problem adds a problem, unless there is one of this code and key.
func (g *gpuRows) problem(code string, key, format string, args ...any) {
	if slices.ContainsFunc(g.Problems, func(p device.Problem) bool { return p.Code == code && p.Key == key }) {
		return
	}
	g.Problems = append(g.Problems, device.Problem{Code: code, Key: key, Detail: fmt.Sprintf(format, args...)})
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
		if !row.isLoose() {
			more = 1 - min(before, 1) // one at a start
		}
		instances = append(instances, slices.Repeat([]Placed{row}, more)...)
	}
	slices.SortFunc(instances, func(a, b Placed) int {
		return cmp.Or(cmp.Compare(a.first(), b.first()), strings.Compare(a.Profile.String(), b.Profile.String()), cmp.Compare(a.Slots, b.Slots))
	})
	return instances
}

// ceilDiv returns a/b, rounded up, of a at least 0 and b above it.
func ceilDiv(a, b int) int { return (a + b - 1) / b }
