package nvml_test

import (
	"errors"
	"testing"

	"github.com/resvec/resvec/device/nvml"
)

// Open works or says why not, in every build and on every machine.
func TestOpen(t *testing.T) {
	for range 2 {
		l, err := nvml.Open()
		if err == nil {
			t.Log("there is a driver")
			if l == nil {
				t.Fatal("neither a library nor an error")
			}
			continue
		}
		t.Log(err)
		var unavailable *nvml.UnavailableError
		if l != nil || !errors.As(err, &unavailable) || unavailable.Reason == "" {
			t.Errorf("%v, %v", l, err)
		}
	}
}

func TestUnavailableError(t *testing.T) {
	cause := errors.New("ERROR_LIBRARY_NOT_FOUND")
	err := &nvml.UnavailableError{Reason: "no NVIDIA driver", Err: cause}
	if got, want := err.Error(), "nvml: unavailable: no NVIDIA driver: ERROR_LIBRARY_NOT_FOUND"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if got, want := (&nvml.UnavailableError{Reason: "built without cgo"}).Error(), "nvml: unavailable: built without cgo"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
