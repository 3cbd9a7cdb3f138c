//go:build arm64 && !purego

package testkit

import "golang.org/x/sys/cpu"

// missing says whether NEON is absent.
func missing() string {
	if cpu.ARM64.HasASIMD {
		return "none missing"
	}
	return "not seen on this CPU, or off by GODEBUG: asimd"
}
