//go:build amd64 && !purego

package kernel_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
)

// TestAvailableOff checks that GODEBUG shortens the list of implementations,
// in a process of its own since the CPU is looked at once.
func TestAvailableOff(t *testing.T) {
	const child = "RESVEC_PRINT_AVAILABLE"
	if os.Getenv(child) != "" {
		for _, impl := range kernel.Available() {
			os.Stdout.WriteString("available " + impl.String() + "\n")
		}
		return
	}
	for _, test := range []struct {
		godebug string
		gone    []kernel.Impl
	}{
		{"cpu.avx512f=off", []kernel.Impl{kernel.AVX512}},
		{"cpu.avx2=off", []kernel.Impl{kernel.AVX2, kernel.AVX512}},
		{"cpu.avx512f=off,cpu.avx2=off", []kernel.Impl{kernel.AVX2, kernel.AVX512}},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAvailableOff$")
		cmd.Env = append(os.Environ(), child+"=1", "GODEBUG="+test.godebug)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", test.godebug, err, out)
		}
		for _, impl := range kernel.Available() {
			gone := false
			for _, g := range test.gone {
				gone = gone || g == impl
			}
			if got := strings.Contains(string(out), "available "+impl.String()+"\n"); got == gone {
				t.Errorf("GODEBUG=%s: %v available: %v", test.godebug, impl, got)
			}
		}
	}
}

// TestAvailableFlagship checks that a CPU whose flags the kernel lists is used
// to the full, so that no test skips an implementation without a word.
func TestAvailableFlagship(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || os.Getenv("GODEBUG") != "" {
		t.Skip("no /proc/cpuinfo, or GODEBUG is set")
	}
	best := kernel.Generic
	flags := " " + strings.Join(strings.Fields(string(info)), " ") + " "
	for _, test := range []struct {
		impl  kernel.Impl
		flags string
	}{
		{kernel.AVX2, "avx2 fma"},
		{kernel.AVX512, "avx2 fma avx512f avx512dq avx512bw avx512vl"},
	} {
		all := true
		for _, flag := range strings.Fields(test.flags) {
			all = all && strings.Contains(flags, " "+flag+" ")
		}
		if all {
			best = test.impl
		}
	}
	if got := kernel.Active(); got != best {
		t.Errorf("active is %v, the CPU has %v", got, best)
	}
}
