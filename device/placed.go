package device

import (
	"cmp"
	"slices"
	"strings"
)

// PlacedGPU is a GPU in MIG mode and the instances on it.
type PlacedGPU struct {
	UUID        string // empty: it isn't known which GPUs these instances are on
	Product     string // with MemoryBytes, the arguments of [GeometryFor]
	MemoryBytes int64  // of the GPU; 0: unknown

	// Instances are the GPU instances, by start and profile. Compute instances of
	// one, such as 1c.3g.20gb, stand for it together. A profile that couldn't be
	// read is zero, which [Place] refuses as no profile of the GPU; sources other
	// than labels leave such instances out ([UnparsedProfile]).
	Instances []Placed
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
	p := placedGPUs{at: map[[2]string]int{}}
	for i := range n.Devices {
		d := &n.Devices[i]
		if d.Sharing == SharingMIG || d.Profile != (Profile{}) {
			g := p.gpu(d.ParentUUID, d.Product)
			g.instances = append(g.instances, Placed{d.Profile, d.Start})
		} else if d.MIGEnabled {
			g := p.gpu(d.UUID, d.Product)
			g.Product, g.MemoryBytes = d.Product, d.MemoryBytes
		}
	}
	list := make([]PlacedGPU, len(p.list))
	for i := range p.list {
		g := &p.list[i]
		g.Instances = gpuInstances(g.instances)
		list[i] = g.PlacedGPU
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
	instances []Placed // as in the rows
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
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Profile.String(), b.Profile.String()))
	})
	return instances
}

// ceilDiv returns a/b, rounded up, of a at least 0 and b above it.
func ceilDiv(a, b int) int { return (a + b - 1) / b }
