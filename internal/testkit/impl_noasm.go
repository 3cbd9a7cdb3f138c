//go:build !amd64 || purego

package testkit

// missing says why there is no other implementation.
func missing() string { return "this build has no assembly (not amd64, or the purego tag)" }
