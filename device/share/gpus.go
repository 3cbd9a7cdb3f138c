package share

import (
	"fmt"
	"math"
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

const panicGPU = "share: GPU out of range"

// GPUs returns what is left of the GPUs of every node, for the scorers of package gpu.
// Row k is node k, and its devices are the GPUs of the node in their order; other kinds
// are left out.
//
//	scores := gpu.Bind(fgd, nodes, account.GPUs()) // once
//
//	req, err := account.GPURequest(pod.Requested, needs[0]) // pod is vector.PodAmounts
//	row, ok := scores.Best(&req, rows, vector.TieLowest())
//	gpus = scores.ChooseDevices(gpus, &req, row)
//	minors = account.Minors(minors, row, gpus)
//	chosen, err := devices.Allocate(row, share.AllocRequest{Requirement: needs[0], Required: minors})
//	err = account.Commit(row, chosen)
//	err = nodes.Assume(row, pod) // with an error: account.Release(row, chosen)
//
// What is left of a GPU is the smallest free share of its resources, in whole
// thousandths, rounded down: 500 where half of gpu-core is free and all of the memory.
// Nothing is left of an unhealthy GPU, nor of one with more free than its total. The pods
// of a node are the allocations committed since its last Set, by their number of GPUs.
// Its model is a number for the product of its GPUs, see [Account.GPURequest]: none if
// the product is unknown, or not the same for all.
//
// The first call makes the state; call it before there are copies and readers. From then
// on every change of the account changes it, and copies have one, too. It is for reading:
// only the account may change it.
func (a *Account) GPUs() *gpu.State {
	nodes := a.Len()
	if a.gpus == nil {
		a.gpus = new(gpu.State)
		var room [typicalDevices]float64
		for node := range nodes {
			a.gpus.AppendNode(a.gpuNode(room[:0], node))
		}
	}
	return a.gpus
}

// GPURequest returns what a pod asks for in the form of package gpu. amounts, a vector of
// the map, is all that it requests, and need is what it needs of kind gpu. products are
// the acceptable products, by the names in [State]; without any, every product is. A
// product that no node has had fits no node, and is no error. Ask again when nodes with a
// new product have come.
//
// An instance counts as the largest of its parts of a GPU: gpu-core, gpu-memory-ratio, and
// what gpu-memory and the amounts of NPUs are of the total, in thousandths rounded up. So
// GPUs that a scorer of package gpu chooses have enough for [Bound.Allocate], but a pod
// that asks for more of one resource than of another may be refused a node that
// [Bound.Fit] allows. Where GPUs of one product differ, the smallest total counts. To find
// it takes time in proportion to the devices.
//
// An error wraps [ErrNoTotal] for an amount that is no percentage, where the total of an
// acceptable GPU is unknown, or differs between two products: name one, or ask
// [Bound.Best]. It wraps [ErrInvalidUnit] for more than a whole GPU. Other errors come from
// [Bound.Fit].
func (a *Account) GPURequest(amounts vector.ResourceVector, need Requirement, products ...string) (gpu.Request, error) {
	k, err := need.check()
	switch {
	case err != nil:
		return gpu.Request{}, err
	case k != kindGPU:
		return gpu.Request{}, fmt.Errorf("%w: kind: %s: must be %s", ErrInvalidCombination, need.Kind, device.KindGPU)
	}
	req := gpu.Request{CPU: amounts.Get(vectormap.CPU), Amounts: amounts}
	if need.Count == 0 {
		return req, nil
	}
	for _, product := range products {
		// -1 is a model that no node has.
		req.Models = append(req.Models, int32(slices.Index(a.products, product)))
	}
	var most int64 // thousandths
	for i, amount := range need.PerInstance {
		part := amount
		switch r := Resource(i); {
		case amount == 0:
			continue
		case r != GPUCore && r != GPUMemoryRatio:
			part, err = a.thousandths(r, amount, req.Models)
		case amount > wholeDevice:
			err = unitError(r.name(), amount, "must be at most 100 percent of a device")
		default:
			part = milliRatio * amount
		}
		if err != nil {
			return gpu.Request{}, err
		}
		most = max(most, part)
	}
	switch {
	case most == 0:
		return gpu.Request{}, fmt.Errorf("%w: %v: 0: must be above 0 percent of a device", ErrNoTotal, GPUMemoryRatio)
	case int64(int(need.Count)) != need.Count:
		return gpu.Request{}, unitError(GPUCore.name(), need.Count, "must be fewer instances")
	}
	req.Count, req.Milli = int(need.Count), float64(most)
	return req, nil
}

// thousandths returns what part of a GPU of these models an amount is. It is rounded up,
// and what is left of a GPU down: one with that much left has the amount.
func (a *Account) thousandths(r Resource, amount int64, models []int32) (int64, error) {
	const whole = milliRatio * wholeDevice
	if len(a.devices) == 0 {
		return whole, nil // of no GPU
	}
	least := make([]int64, len(a.products)+1) // by product, the unknown one first
	for i := range least {
		least[i] = math.MaxInt64
	}
	for row, total := range a.total.Column(int(r))[:len(a.devices)] {
		d := &a.devices[row]
		switch {
		case d.kind != kindGPU || len(models) > 0 && (d.product < 0 || !slices.Contains(models, d.product)):
		case total <= 0 && !hasSome(&a.total, row): // nothing is ever left of it
		default:
			least[d.product+1] = min(least[d.product+1], int64(total))
		}
	}
	least = slices.DeleteFunc(least, func(total int64) bool { return total == math.MaxInt64 })
	if len(least) == 0 {
		return whole, nil // of no GPU
	}
	low, high := slices.Min(least), slices.Max(least)
	switch {
	case low <= 0:
		return 0, fmt.Errorf("%w: %v: %s: the total of a GPU is unknown", ErrNoTotal, r, r.text(amount))
	case low != high:
		return 0, fmt.Errorf("%w: %v: %s: GPUs have %s or %s: name one product", ErrNoTotal, r, r.text(amount), r.text(low), r.text(high))
	case amount > low:
		return 0, unitError(r.name(), r.text(amount), "must be at most what a GPU has, "+r.text(low))
	}
	return (whole*amount + low - 1) / low, nil // amounts are below 2^53
}

// Minors sets dst to the minors of GPUs of a node, given by their indices in
// [Account.GPUs], and returns it. It panics for an index that the node doesn't have.
func (a *Account) Minors(dst []int32, node int, gpus []int32) []int32 {
	from, to := a.Rows(node)
	dst = dst[:0]
	for _, g := range gpus {
		row, left := from, g
		for ; row < to; row++ {
			if a.devices[row].kind == kindGPU {
				if left == 0 {
					break
				}
				left--
			}
		}
		if g < 0 || row == to {
			panic(panicGPU)
		}
		dst = append(dst, a.devices[row].minor)
	}
	return dst
}
