//go:build cgo && linux

package nvml

import (
	"errors"
	"sync"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
)

// system is the NVML of this machine. All calls of Open share it: go-nvml keeps the
// functions that it loads in package variables, so that two of its libraries must not be
// initialized at the same time.
var system = sync.OnceValue(func() Library { return Wrap(gonvml.New()) })

// Open returns the NVML of this machine. If there is none, or it can't be initialized,
// the error is an [*UnavailableError]. The Library is not initialized: [Collect] does
// that. All calls return the same Library, which is safe for concurrent use.
//
// A program that uses go-nvml itself must not call Open. It calls [Wrap] with its
// library.
func Open() (Library, error) {
	l := system()
	if err := try("Init", l.Init); err != nil {
		return nil, &UnavailableError{Reason: reason(err), Err: err}
	}
	if err := try("Shutdown", l.Shutdown); err != nil {
		return nil, &UnavailableError{Reason: "NVML can't be shut down", Err: err}
	}
	return l, nil
}

// reason says why NVML can't be initialized.
func reason(err error) string {
	switch {
	case errors.Is(err, gonvml.ERROR_LIBRARY_NOT_FOUND):
		return "no NVIDIA driver"
	case errors.Is(err, gonvml.ERROR_DRIVER_NOT_LOADED):
		return "the NVIDIA driver isn't loaded"
	case errors.Is(err, gonvml.ERROR_LIB_RM_VERSION_MISMATCH):
		return "the NVIDIA driver and its library differ in version"
	default:
		return "NVML can't be initialized"
	}
}
