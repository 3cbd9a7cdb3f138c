package share

import (
	"fmt"

	"github.com/resvec/resvec/vector"
)

// FillRequest completes a request for memory of a device with this total:
//
//	gpu-memory        floor(gpu-memory-ratio*total/100), if it isn't given
//	gpu-memory-ratio  floor(gpu-memory*100/total), if it isn't given
//
// Both are exact. Where both are given they stay as they are, even if they disagree, and
// a request for neither stays without.
//
// An error wraps [ErrNoTotal] where memory is requested of a device whose total is 0,
// which stands for unknown, or less. It wraps [ErrInvalidUnit] for a negative amount, and
// [vector.ErrNotRepresentable] for a result of 2^63 or more.
func FillRequest(req Amounts, total Amounts) (Amounts, error) {
	ratio, bytes := req[GPUMemoryRatio], req[GPUMemory]
	var err error
	switch {
	case ratio == 0 && bytes == 0:
	case bytes == 0:
		req[GPUMemory], err = ratioToBytes(ratio, total[GPUMemory])
	case ratio == 0:
		req[GPUMemoryRatio], err = bytesToRatio(bytes, total[GPUMemory])
	default:
		if err = checkConversion(GPUMemoryRatio, ratio, total[GPUMemory]); err == nil {
			err = checkConversion(GPUMemory, bytes, total[GPUMemory])
		}
	}
	if err != nil {
		return Amounts{}, err
	}
	return req, nil
}

// KoordinatorRatio returns how many percent of a device's total memory so many bytes are,
// as Koordinator computes it, in float64: int64(float64(bytes)/float64(total)*100). That
// may be one less than the exact percentage: 29 GiB of 100 GiB are 28. Errors are
// as of [FillRequest].
func KoordinatorRatio(bytes, total int64) (int64, error) {
	if _, err := bytesToRatio(bytes, total); err != nil {
		return 0, err
	}
	ratio := float64(bytes) / float64(total) * 100
	if ratio >= 1<<63 {
		return 0, tooLargeError(GPUMemory, bytes, total)
	}
	return int64(ratio), nil
}

// ratioToBytes returns how many bytes are so many percent of a device's memory.
func ratioToBytes(ratio, total int64) (int64, error) {
	if err := checkConversion(GPUMemoryRatio, ratio, total); err != nil {
		return 0, err
	}
	bytes, ok := mulDiv(ratio, total, 100)
	if !ok {
		return 0, tooLargeError(GPUMemoryRatio, ratio, total)
	}
	return bytes, nil
}

// bytesToRatio returns how many percent of a device's memory so many bytes are.
func bytesToRatio(bytes, total int64) (int64, error) {
	if err := checkConversion(GPUMemory, bytes, total); err != nil {
		return 0, err
	}
	ratio, ok := mulDiv(bytes, 100, total)
	if !ok {
		return 0, tooLargeError(GPUMemory, bytes, total)
	}
	return ratio, nil
}

// checkConversion checks an amount, and the memory that it is converted with.
func checkConversion(r Resource, amount, total int64) error {
	switch {
	case amount < 0:
		return unitError(r.name(), amount, "must be 0 "+r.unit()+" or more")
	case total <= 0:
		return fmt.Errorf("%w: %v: %d, of a device with %d bytes: must have 1 byte or more", ErrNoTotal, r, amount, total)
	}
	return nil
}

func tooLargeError(r Resource, amount, total int64) error {
	return fmt.Errorf("share: %v: %d converted with a total of %d bytes: must come to less than 2^63: %w", r, amount, total, vector.ErrNotRepresentable)
}
