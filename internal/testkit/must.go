package testkit

// Must returns a value that a test can't do without. It panics with an error.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Check is [Must] of what has no value.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Recovered calls f and returns what it panics with.
func Recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
