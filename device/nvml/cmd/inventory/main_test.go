package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/resvec/resvec/device/nvml"
)

func Example() {
	run(os.Stdout, true, nil)
	// Output:
	// The GPUs of a sample node, from its labels (as asked for).
	//
	// NODE    DEVICE   PRODUCT                MEMORY    SHARING  NUMA     PCIE ROOT  HEALTH
	// sample  gpu 0    NVIDIA-H100-80GB-HBM3  79.6 GiB  none     unknown  unknown    unknown
	// sample  gpu 1    NVIDIA-H100-80GB-HBM3  79.6 GiB  none     unknown  unknown    unknown
	// sample  gpu 2    NVIDIA-H100-80GB-HBM3  79.6 GiB  none     unknown  unknown    unknown
	// sample  gpu 3    NVIDIA-H100-80GB-HBM3  79.6 GiB  none     unknown  unknown    unknown
	// sample  1g.10gb  NVIDIA-H100-80GB-HBM3  9.6 GiB   mig      unknown  unknown    unknown
	// sample  1g.10gb  NVIDIA-H100-80GB-HBM3  9.6 GiB   mig      unknown  unknown    unknown
	// sample  1g.10gb  NVIDIA-H100-80GB-HBM3  9.6 GiB   mig      unknown  unknown    unknown
	// sample  1g.10gb  NVIDIA-H100-80GB-HBM3  9.6 GiB   mig      unknown  unknown    unknown
	// sample  3g.40gb  NVIDIA-H100-80GB-HBM3  39.2 GiB  mig      unknown  unknown    unknown
	// sample  3g.40gb  NVIDIA-H100-80GB-HBM3  39.2 GiB  mig      unknown  unknown    unknown
	//
	// NODE    CARD                                     RESOURCE                COUNT
	// sample  NVIDIA-H100-80GB-HBM3                    nvidia.com/gpu          4
	// sample  NVIDIA-H100-80GB-HBM3/mig-1g.10gb-mixed  nvidia.com/mig-1g.10gb  4
	// sample  NVIDIA-H100-80GB-HBM3/mig-3g.40gb-mixed  nvidia.com/mig-3g.40gb  2
	//
	// NODE    PROBLEM         WITH            DETAIL
	// sample  count-mismatch  nvidia.com/gpu  5 allocatable, but of 6 devices by label the MIG instances leave 4
}

func TestRun(t *testing.T) {
	for _, f := range []struct {
		name  string
		open  func() (nvml.Library, error)
		wants []string // none: an error
	}{
		{"driver", func() (nvml.Library, error) { return machine{}, nil }, []string{
			"The GPUs of this machine, from its driver.\n\n",
			"  2g.12gb at 2  NVIDIA-A30  11.4 GiB  mig         unknown  unknown    healthy\n",
			"  gpu 4         NVIDIA-A30  24.0 GiB  cut by mig  unknown  unknown    healthy\n",
			"  NVIDIA-A30/mig-2g.12gb-mixed  unknown   1\n",
		}},
		{"no driver", func() (nvml.Library, error) { return nil, errors.New("no driver here") }, []string{
			"The GPUs of a sample node, from its labels (no driver here).\n\n",
			"sample  gpu 3    NVIDIA-H100-80GB-HBM3",
		}},
		{"broken driver", func() (nvml.Library, error) { return machine{err: errors.New("broken")}, nil }, nil},
	} {
		t.Run(f.name, func(t *testing.T) {
			var out strings.Builder
			err := run(&out, false, f.open)
			if (err != nil) != (f.wants == nil) {
				t.Fatal(err)
			}
			for _, want := range f.wants {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, &out)
				}
			}
		})
	}
}

// Whatever this machine has, its devices or the sample are printed.
func TestHere(t *testing.T) {
	var out strings.Builder
	if err := run(&out, false, nvml.Open); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	if !strings.HasPrefix(out.String(), "The GPUs of ") {
		t.Errorf("got %s", &out)
	}
}

// machine has an A30 in MIG mode with one MIG device.
type machine struct{ err error }

func (m machine) Init() error                     { return m.err }
func (m machine) Shutdown() error                 { return nil }
func (m machine) DeviceCount() (int, error)       { return 1, nil }
func (m machine) Device(int) (nvml.Handle, error) { return a30{}, nil }

type a30 struct{}

func (a30) Name() (string, error)        { return "NVIDIA A30", nil }
func (a30) UUID() (string, error)        { return "GPU-0", nil }
func (a30) Minor() (int, error)          { return 4, nil }
func (a30) MemoryTotal() (uint64, error) { return 24 << 30, nil }
func (a30) PCIBusID() (string, error)    { return "", nvml.ErrNotSupported }
func (a30) MIGEnabled() (bool, error)    { return true, nil }
func (a30) MIGInstances() ([]nvml.MIGInstance, error) {
	return []nvml.MIGInstance{{UUID: "MIG-0", Profile: "2g.12gb", Start: 2, MemoryBytes: 11672 << 20}}, nil
}
