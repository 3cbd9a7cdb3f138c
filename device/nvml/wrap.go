//go:build cgo && linux

package nvml

import (
	"errors"
	"fmt"
	"sync"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
)

// Wrap makes a Library of go-nvml's: of what nvml.New returns, or of a mock. It exists
// only in builds for Linux with cgo.
//
// Its methods are safe for concurrent use if the methods of api are. Their errors wrap the
// nvml.Return. If a function of api panics, that is an error that names the function.
func Wrap(api gonvml.Interface) Library {
	return &library{api: api}
}

// library implements [Library].
type library struct {
	api gonvml.Interface

	// mu guards the count of initializations in go-nvml's library, which
	// LookupSymbol reads without a lock.
	mu sync.Mutex
}

func (l *library) Init() error     { return l.locked("Init", l.api.Init) }
func (l *library) Shutdown() error { return l.locked("Shutdown", l.api.Shutdown) }

func (l *library) locked(call string, f func() gonvml.Return) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return try(call, func() error { return check(call, f()) })
}

func (l *library) DeviceCount() (int, error) { return read("DeviceGetCount", l.api.DeviceGetCount) }

func (l *library) Device(i int) (Handle, error) {
	dev, err := read("DeviceGetHandleByIndex", func() (gonvml.Device, gonvml.Return) {
		return l.api.DeviceGetHandleByIndex(i)
	})
	if err != nil {
		return nil, err
	}
	return &handle{l, dev}, nil
}

// lacks reports whether the driver is too old to have a function. Calling one
// that isn't there ends the process.
func (l *library) lacks(symbol string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	missing, _ := attempt("LookupSymbol", func() (bool, error) {
		return l.api.Extensions().LookupSymbol(symbol) != nil, nil
	})
	return missing
}

// handle implements [Handle].
type handle struct {
	library *library
	dev     gonvml.Device
}

func (h *handle) Name() (string, error) { return read("GetName", h.dev.GetName) }
func (h *handle) UUID() (string, error) { return read("GetUUID", h.dev.GetUUID) }
func (h *handle) Minor() (int, error)   { return read("GetMinorNumber", h.dev.GetMinorNumber) }

func (h *handle) MemoryTotal() (uint64, error) {
	memory, err := read("GetMemoryInfo", h.dev.GetMemoryInfo)
	return memory.Total, err
}

func (h *handle) PCIBusID() (string, error) {
	info, err := read("GetPciInfo", h.dev.GetPciInfo)
	if err != nil {
		return "", err
	}
	if id := text(info.BusId[:]); id != "" {
		return id, nil
	}
	return text(info.BusIdLegacy[:]), nil
}

func (h *handle) MIGEnabled() (bool, error) {
	// The functions of MIG came together, with the driver 450.
	if h.library.lacks("nvmlDeviceGetMigMode") {
		return false, check("GetMigMode", gonvml.ERROR_FUNCTION_NOT_FOUND)
	}
	current, err := read("GetMigMode", func() (int, gonvml.Return) {
		current, _, ret := h.dev.GetMigMode()
		return current, ret
	})
	return current == gonvml.DEVICE_MIG_ENABLE, err
}

func (h *handle) MIGInstances() ([]MIGInstance, error) {
	count, err := read("GetMaxMigDeviceCount", h.dev.GetMaxMigDeviceCount)
	if err != nil {
		return nil, err
	}
	r := migReader{parent: h}
	var instances []MIGInstance
	for i := range count {
		dev, err := read("GetMigDeviceHandleByIndex", func() (gonvml.Device, gonvml.Return) {
			return h.dev.GetMigDeviceHandleByIndex(i)
		})
		// The indices of MIG devices have holes.
		if errors.Is(err, gonvml.ERROR_NOT_FOUND) {
			continue
		}
		if r.note(err) {
			instances = append(instances, r.instance(dev))
		}
	}
	return instances, errors.Join(r.errs...)
}

// read calls a function of go-nvml.
func read[T any](call string, f func() (T, gonvml.Return)) (T, error) {
	return attempt(call, func() (T, error) {
		v, ret := f()
		err := check(call, ret)
		if err == nil && any(v) == nil {
			err = fmt.Errorf("nvml: %s: no result", call)
		}
		return v, err
	})
}

// check makes an error of what a function of go-nvml returned.
func check(call string, ret gonvml.Return) error {
	switch ret {
	case gonvml.SUCCESS:
		return nil
	case gonvml.ERROR_NOT_SUPPORTED, gonvml.ERROR_FUNCTION_NOT_FOUND:
		return fmt.Errorf("nvml: %s: %w (%w)", call, ErrNotSupported, ret)
	case gonvml.ERROR_GPU_IS_LOST, gonvml.ERROR_RESET_REQUIRED:
		return fmt.Errorf("nvml: %s: %w (%w)", call, ErrLost, ret)
	default:
		return fmt.Errorf("nvml: %s: %w", call, ret)
	}
}

// text converts a C string.
func text(chars []int8) string {
	var b []byte
	for _, c := range chars {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	return string(b)
}
