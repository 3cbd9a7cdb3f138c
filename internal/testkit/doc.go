// Package testkit holds what the tests of resvec share: golden models, which
// are slow and obviously right, buffers next to pages that must not be touched,
// special and random values, a runner that repeats a test for every
// implementation of the kernels, and a measurement of how work grows.
//
// It is imported by tests and benchmarks only.
package testkit
