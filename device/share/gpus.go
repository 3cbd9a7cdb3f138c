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
// those of [Bound.Fit].
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
		return gpu.Request{}, unitError(GPUCore.Name(), part, "must be at most 100 percent of a device")
	case need.PerInstance[GPUMemoryRatio] == 0 && need.PerInstance[GPUMemory] > 0:
		return gpu.Request{}, fmt.Errorf("%w: %v: %s: is a different part of each GPU: convert it by FillRequest",
			ErrNoTotal, GPUMemory, GPUMemory.text(need.PerInstance[GPUMemory]))
	case part == 0:
		return gpu.Request{}, fmt.Errorf("%w: %v: 0: must be above 0 percent of a device", ErrNoTotal, GPUMemoryRatio)
	case int64(int(need.Count)) != need.Count:
		return gpu.Request{}, unitError(GPUCore.Name(), need.Count, "must be fewer instances")
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

// noProduct is the number of no product.
const noProduct = -1

// productNumber returns the number of a product, a new one if need be.
func (a *Account) productNumber(product string) int32 {
	if product == "" {
		return noProduct
	}
	i := slices.Index(a.products, product)
	if i < 0 {
		i = len(a.products)
		a.products = append(a.products, product)
	}
	return int32(i)
}

// product returns the product of a number.
func (a *Account) product(number int32) string {
	if number < 0 {
		return ""
	}
	return a.products[number]
}

// gpuNode returns a node as package gpu takes it. room is for its GPUs.
func (a *Account) gpuNode(room []float64, node int) gpu.Node {
	n := gpu.Node{Model: noProduct, Left: room[:0]}
	from, to := a.Rows(node)
	for row := from; row < to; row++ {
		d := &a.devices[row]
		if d.kind != kindGPU {
			continue
		}
		switch {
		case len(n.Left) == 0:
			n.Model = d.product
		case n.Model != d.product:
			n.Model = noProduct
		}
		n.Left = append(n.Left, a.left(row))
	}
	n.Pods = a.podsOf(node)[:len(n.Left)+1]
	return n
}

// left returns what is left of a GPU, in thousandths.
func (a *Account) left(row int) float64 {
	if a.devices[row].health == device.Unhealthy {
		return 0
	}
	const whole = milliRatio * wholeDevice
	left, some := int64(whole), false
	from, to := kindGPU.columns()
	for r := from; r < to; r++ {
		total, free := int64(a.total.At(row, int(r))), int64(a.free.At(row, int(r)))
		switch {
		case total <= 0:
			continue
		case free <= 0 || free > total:
			return 0
		}
		left, some = min(left, whole*free/total), true // amounts are below 2^53
	}
	if !some {
		return 0
	}
	return float64(left)
}

// podsOf returns how many pods of each class a node has: class 0 is pods that share a
// GPU, class k pods of k GPUs.
func (a *Account) podsOf(node int) []int32 {
	from, to := a.Rows(node)
	return a.pods[from+node : to+node+1]
}

// makePods makes room for the classes of a node of so many devices, which had others
// before, -1 for none, and forgets its pods.
func (a *Account) makePods(node, from, before, devices int) {
	lo := from + node
	if more := devices - before; more >= 0 {
		n := len(a.pods)
		a.pods = slices.Grow(a.pods, more)[:n+more]
		copy(a.pods[lo+devices+1:], a.pods[lo+before+1:n])
	} else {
		a.pods = slices.Delete(a.pods, lo+devices+1, lo+before+1)
	}
	clear(a.pods[lo : lo+devices+1])
}

// countPod counts a pod with an allocation of GPUs that comes, for sign 1, or goes.
func (a *Account) countPod(node int, allocation *Allocation, sign int32) {
	class := len(allocation.Devices)
	if class == 1 && !a.takesWhole(node, &allocation.Devices[0]) {
		class = 0
	}
	if pods := a.podsOf(node); class < len(pods) {
		pods[class] = max(pods[class]+sign, 0)
	}
}

// takesWhole reports whether a pod has all that a GPU has of something.
func (a *Account) takesWhole(node int, d *Allocated) bool {
	from, to := a.Rows(node)
	for row := from; row < to; row++ {
		if a.devices[row].kind != kindGPU || a.devices[row].minor != d.Minor {
			continue
		}
		for r, x := range d.Amounts {
			if total := int64(a.total.At(row, r)); total > 0 && x >= total {
				return true
			}
		}
	}
	return false
}

// followNode brings the GPUs of a node up to date, where they are kept.
func (a *Account) followNode(node int) {
	if a.gpus == nil {
		return
	}
	var room [typicalDevices]float64
	n := a.gpuNode(room[:0], node)
	if node == a.gpus.Rows() {
		a.gpus.AppendNode(n)
	} else {
		a.gpus.SetNode(node, n)
	}
}

// followCopy brings the GPUs of a copy up to date, whose source has src of them.
func (a *Account) followCopy(src *gpu.State) {
	switch {
	case src != nil:
		if a.gpus == nil {
			a.gpus = new(gpu.State)
		}
		a.gpus.CopyFrom(src)
		return
	case a.gpus == nil:
		return
	}
	for a.gpus.Rows() > a.Len() {
		a.gpus.RemoveRow(a.gpus.Rows() - 1)
	}
	var room [typicalDevices]float64
	for node := range a.Len() {
		if node < a.gpus.Rows() {
			n := a.gpuNode(room[:0], node)
			if n.Model == a.gpus.Model(node) && slices.Equal(n.Left, a.gpus.Devices(node)) && slices.Equal(n.Pods, a.gpus.Pods(node)) {
				continue
			}
		}
		a.followNode(node)
	}
}
