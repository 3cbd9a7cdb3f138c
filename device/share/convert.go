package share

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// MemoryOption changes how memory is converted.
type MemoryOption uint8

// KoordinatorRatio converts bytes to percent as Koordinator does, in float64:
// int64(float64(bytes)/float64(total)*100). That may be one less than the exact
// percentage: 29 GiB of 100 GiB are 28.
const KoordinatorRatio MemoryOption = 1

const panicMemoryOption = "share: unknown memory option"

// RatioToBytes returns how many bytes are so many percent of a device's total
// memory: floor(ratio*total/100), exact. An error wraps [ErrNoTotal] for a total
// that is 0, which stands for unknown, or less, [ErrInvalidUnit] for a negative
// ratio, and [ErrNotRepresentable] for a result of 2^63 or more.
func RatioToBytes(ratio, total int64) (int64, error) {
	if err := checkConversion(GPUMemoryRatio, ratio, total); err != nil {
		return 0, err
	}
	bytes, ok := mulDiv(ratio, total, 100)
	if !ok {
		return 0, tooLargeError(GPUMemoryRatio, ratio, total)
	}
	return bytes, nil
}

// BytesToRatio returns how many percent of a device's total memory so many bytes
// are: floor(bytes*100/total), exact unless [KoordinatorRatio] is given. Errors are
// those of [RatioToBytes]. It panics on an option that there isn't.
func BytesToRatio(bytes, total int64, opts ...MemoryOption) (int64, error) {
	koordinator := false
	for _, o := range opts {
		if o&^KoordinatorRatio != 0 {
			panic(panicMemoryOption)
		}
		koordinator = koordinator || o == KoordinatorRatio
	}
	if err := checkConversion(GPUMemory, bytes, total); err != nil {
		return 0, err
	}
	ratio, ok := mulDiv(bytes, 100, total)
	if !ok {
		return 0, tooLargeError(GPUMemory, bytes, total)
	}
	if !koordinator {
		return ratio, nil
	}
	upstream := float64(bytes) / float64(total) * 100
	if upstream >= 1<<63 {
		return 0, tooLargeError(GPUMemory, bytes, total)
	}
	return int64(upstream), nil
}

// FillRequest completes a request for one instance on a device with these totals:
// gpu-memory from gpu-memory-ratio by [RatioToBytes], or gpu-memory-ratio from
// gpu-memory by [BytesToRatio]. Both stay as they are where both are given, even
// if they disagree, and a request for neither stays without. The result is a map
// of its own.
//
// Errors are those of the conversions; where memory is requested, the total must
// be known even if nothing is converted. The result is nil then.
func FillRequest(req Request, total Total, opts ...MemoryOption) (Request, error) {
	filled := maps.Clone(req)
	ratio, bytes := req[GPUMemoryRatio], req[GPUMemory]
	var err error
	switch {
	case ratio == 0 && bytes == 0:
	case bytes == 0:
		filled[GPUMemory], err = RatioToBytes(ratio, total[GPUMemory])
	case ratio == 0:
		filled[GPUMemoryRatio], err = BytesToRatio(bytes, total[GPUMemory], opts...)
	default:
		if err = checkConversion(GPUMemoryRatio, ratio, total[GPUMemory]); err == nil {
			err = checkConversion(GPUMemory, bytes, total[GPUMemory])
		}
	}
	if err != nil {
		return nil, err
	}
	return filled, nil
}

// checkConversion checks an amount, and the memory that it is converted with.
func checkConversion(name corev1.ResourceName, amount, total int64) error {
	switch {
	case amount < 0:
		return unitError(name, amount, "must be 0 "+unitOf(name)+" or more")
	case total <= 0:
		return fmt.Errorf("%w: %s: %d, of a device with %d bytes: must have 1 byte or more", ErrNoTotal, name, amount, total)
	}
	return nil
}

func tooLargeError(name corev1.ResourceName, amount, total int64) error {
	return fmt.Errorf("share: %s: %d converted with a total of %d bytes: must come to less than 2^63: %w", name, amount, total, ErrNotRepresentable)
}
