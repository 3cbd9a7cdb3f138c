package share

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/quantity"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Resource is an amount that a device has, by Koordinator's name. Later versions may append
// more, and [Amounts] is then longer. To list them, range over it:
//
//	for r := range share.Amounts{} {
//		fmt.Println(share.Resource(r))
//	}
type Resource uint8

const (
	GPUCore        Resource = iota // koordinator.sh/gpu-core: percent of a device
	GPUMemory                      // koordinator.sh/gpu-memory: bytes
	GPUMemoryRatio                 // koordinator.sh/gpu-memory-ratio: percent of a device
	NPUCore                        // huawei.com/npu-core: cores
	NPUCPU                         // huawei.com/npu-cpu: cores
	NPUDVPP                        // huawei.com/npu-dvpp: percent of a device
	RDMA                           // koordinator.sh/rdma: percent of a device
	FPGA                           // koordinator.sh/fpga: percent of a device

	resources = iota // how many there are
)

var resourceNames = [resources]corev1.ResourceName{
	"koordinator.sh/gpu-core", "koordinator.sh/gpu-memory", "koordinator.sh/gpu-memory-ratio",
	"huawei.com/npu-core", "huawei.com/npu-cpu", "huawei.com/npu-dvpp",
	"koordinator.sh/rdma", "koordinator.sh/fpga",
}

// name is String, as a key of resource lists.
func (r Resource) name() corev1.ResourceName {
	if int(r) < len(resourceNames) {
		return resourceNames[r]
	}
	return corev1.ResourceName(fmt.Sprintf("unknown(%d)", r))
}

// String returns the full name, such as koordinator.sh/gpu-core.
func (r Resource) String() string { return string(r.name()) }

// ResourceNamed returns the resource of a name, such as koordinator.sh/gpu-core; ok is
// false if there is none.
func ResourceNamed(name string) (r Resource, ok bool) {
	i := slices.Index(resourceNames[:], corev1.ResourceName(name))
	return Resource(max(i, 0)), i >= 0
}

// unknownResource says that no device has a resource, which would score 0 for ever.
func unknownResource(path *field.Path, name string) *field.Error {
	return field.NotSupported(path, document.Cut(name), resourceNames[:])
}

const (
	wholeDevice = 100 // percent
	milliRatio  = 10  // thousandths in a percent
)

// unit returns what an amount counts.
func (r Resource) unit() string {
	switch r {
	case GPUMemory:
		return "bytes"
	case NPUCore, NPUCPU:
		return "cores"
	}
	return "percent of a device"
}

// text shows an amount, memory to the byte.
func (r Resource) text(x int64) string {
	if r == GPUMemory {
		return resource.NewQuantity(x, resource.BinarySI).String()
	}
	return strconv.FormatInt(x, 10)
}

// texts shows two amounts that are to be compared, so in one unit.
func (r Resource) texts(x, y int64) (string, string) {
	if r != GPUMemory || x == 0 || y == 0 {
		return r.text(x), r.text(y)
	}
	suffixes := [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	unit := bits.TrailingZeros64(uint64(x|y)) / 10 // the largest in which both are whole
	return fmt.Sprintf("%d%s", x>>(10*unit), suffixes[unit]), fmt.Sprintf("%d%s", y>>(10*unit), suffixes[unit])
}

// kind is a kind of devices, by its place among kinds.
type kind uint8

const (
	kindGPU kind = iota
	kindRDMA
	kindFPGA

	kindCount = iota // how many there are
)

var kindNames = [kindCount]string{device.KindGPU, device.KindRDMA, device.KindFPGA}

// kindNamed returns the kind of a name. Of an unknown kind there would be no device
// for ever.
func kindNamed(name string) (kind, *field.Error) {
	for k, known := range kindNames {
		if name == known {
			return kind(k), nil
		}
	}
	return 0, field.NotSupported(field.NewPath("kind"), document.Cut(name), kindNames[:])
}

// kind returns which devices have the resource.
func (r Resource) kind() kind {
	switch r {
	case RDMA:
		return kindRDMA
	case FPGA:
		return kindFPGA
	}
	return kindGPU
}

// columns are the resources that devices of the kind have, one after the other.
func (k kind) columns() (from, to Resource) {
	switch k {
	case kindRDMA:
		return RDMA, RDMA + 1
	case kindFPGA:
		return FPGA, FPGA + 1
	}
	return GPUCore, NPUDVPP + 1
}

// Amounts are how much of each [Resource] a pod requests of a device, or how much the
// device has, or what of that is free. An amount of 0 stands for none:
//
//	half := share.Amounts{share.GPUCore: 50, share.GPUMemoryRatio: 50}
type Amounts [resources]int64

// FromResourceList returns the amounts of a list, such as the resources of a device
// in Koordinator's Device. unknown has the names that are no [Resource], sorted; whole devices such as nvidia.com/gpu are among
// them, which [Normalize] reads.
//
// An amount that is negative, no integer, or too large for an int64 is an error
// that wraps [ErrInvalidUnit].
func FromResourceList(list corev1.ResourceList) (amounts Amounts, unknown []corev1.ResourceName, err error) {
	for r, name := range resourceNames {
		if q, ok := list[name]; ok {
			if amounts[r], err = wholeAmount(name, Resource(r).unit(), q); err != nil {
				return Amounts{}, nil, err
			}
		}
	}
	for name := range list {
		if _, known := ResourceNamed(string(name)); !known {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return amounts, unknown, nil
}

// wholeAmount returns an amount of a pod or a device.
func wholeAmount(name corev1.ResourceName, unit string, q resource.Quantity) (int64, error) {
	x, ok := quantity.Whole(&q)
	switch {
	case q.Sign() < 0:
		return 0, unitError(name, quantity.Text(q), "must be 0 "+unit+" or more")
	case !ok:
		return 0, unitError(name, quantity.Text(q), "must be whole, in "+unit+", and below 2^63")
	}
	return x, nil
}

// unitError returns an error that wraps ErrInvalidUnit.
func unitError(name corev1.ResourceName, amount any, reason string) error {
	return fmt.Errorf("%w: %s: %v: %s", ErrInvalidUnit, name, amount, reason)
}

// List returns the amounts that aren't 0 as a resource list.
func (a Amounts) List() corev1.ResourceList {
	list := corev1.ResourceList{}
	for i, x := range a {
		if x != 0 {
			format := resource.DecimalSI
			if Resource(i) == GPUMemory {
				format = resource.BinarySI
			}
			list[resourceNames[i]] = *resource.NewQuantity(x, format)
		}
	}
	return list
}

// String lists the amounts that aren't 0, such as "koordinator.sh/gpu-core 50".
func (a Amounts) String() string {
	var parts []string
	for i, x := range a {
		if x != 0 {
			parts = append(parts, fmt.Sprintf("%v %s", Resource(i), Resource(i).text(x)))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

// check returns an error for the first negative amount.
func (a *Amounts) check() error {
	for i, x := range a {
		if x < 0 {
			return unitError(resourceNames[i], x, "must be 0 "+Resource(i).unit()+" or more")
		}
	}
	return nil
}

// mulDiv returns floor(x*y/z) for x, y >= 0 and z > 0, or MaxInt64 and false when
// that is more.
func mulDiv(x, y, z int64) (q int64, ok bool) {
	high, low := bits.Mul64(uint64(x), uint64(y))
	if high >= uint64(z) {
		return math.MaxInt64, false
	}
	quotient, _ := bits.Div64(high, low, uint64(z))
	if quotient > math.MaxInt64 {
		return math.MaxInt64, false
	}
	return int64(quotient), true
}
