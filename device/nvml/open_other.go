//go:build !cgo || !linux

package nvml

import "runtime"

// Open returns the NVML of this machine. In a program that was built without
// cgo, or for another system than Linux, as this one was, it always returns an
// [*UnavailableError].
func Open() (Library, error) {
	if runtime.GOOS != "linux" {
		return nil, &UnavailableError{Reason: "not on Linux"}
	}
	return nil, &UnavailableError{Reason: "built without cgo"}
}
