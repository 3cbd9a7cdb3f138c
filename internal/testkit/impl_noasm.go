//go:build (!amd64 && !arm64) || purego

package testkit

// missing says why there is no other implementation.
func missing() string {
	return "this build has no assembly (neither amd64 nor arm64, or the purego tag)"
}
