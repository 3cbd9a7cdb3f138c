package share

import (
	"fmt"
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
// An instance counts as the larger of gpu-core and gpu-memory-ratio. So a pod that asks
// for more of one than of the other may be refused a node that [Bound.Fit] allows.
//
// An error wraps [ErrNoTotal] for an instance in bytes alone. These are a different part
// of each GPU: complete need.PerInstance by [FillRequest], with the total of the
// acceptable GPUs. It wraps [ErrInvalidUnit] for more than a whole GPU. Other errors are
// the errors of [Bound.Fit].
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
	part := max(need.PerInstance[GPUCore], need.PerInstance[GPUMemoryRatio])
	switch {
	case part > wholeDevice:
		return gpu.Request{}, unitError(GPUCore.name(), part, "must be at most 100 percent of a device")
	case need.PerInstance[GPUMemoryRatio] == 0 && need.PerInstance[GPUMemory] > 0:
		return gpu.Request{}, fmt.Errorf("%w: %v: %s: is a different part of each GPU: convert it by FillRequest",
			ErrNoTotal, GPUMemory, GPUMemory.text(need.PerInstance[GPUMemory]))
	case part == 0:
		return gpu.Request{}, fmt.Errorf("%w: %v: 0: must be above 0 percent of a device", ErrNoTotal, GPUMemoryRatio)
	case int64(int(need.Count)) != need.Count:
		return gpu.Request{}, unitError(GPUCore.name(), need.Count, "must be fewer instances")
	}
	req.Count, req.Milli = int(need.Count), float64(milliRatio*part)
	for _, product := range products {
		// -1 is a model that no node has.
		req.Models = append(req.Models, int32(slices.Index(a.products, product)))
	}
	return req, nil
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
