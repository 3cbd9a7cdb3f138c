//go:build unix

package testkit

import (
	"syscall"
	"time"
)

// cpuTime returns how long the processors have worked for this process, which what else
// the machine does hardly changes.
func cpuTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
