//go:build !unix

package testkit

import "time"

var begun = time.Now()

// cpuTime returns the time that has passed, where there is no other clock.
func cpuTime() time.Duration { return time.Since(begun) }
