package share

import (
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/scoring/gpu"
)

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
