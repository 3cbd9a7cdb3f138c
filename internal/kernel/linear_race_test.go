//go:build amd64 && !purego && race

package kernel_test

import (
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// raceLinear runs the linear kernels over 100 rows, and Codes.
func raceLinear() []raceCase {
	const stride, rows = 128, 100
	var cases []raceCase
	for _, k := range linearKernels {
		a := sums{
			data: testkit.Matrix(stride, 3), stride: stride, terms: make([]kernel.LinearTerm, 2),
			before: make([]float64, rows), keeps: true, over: 1, unit: 1, pods: make([]float64, stride),
		}
		a.bind()
		acc := make([]float64, stride)
		add := func(what string, other func(), race bool) {
			cases = append(cases, raceCase{k.name + " " + what, func() { k.run(acc[:rows], &a) }, other, race})
		}
		add("acc", func() { acc[rows-1] = 1 }, true)
		add("others", func() { acc[rows], a.pods[rows], a.data[rows], a.data[2*stride+rows] = 1, 1, 1, 1 }, false)
		add("kept or input", func() { a.data[rows-1] = 1 }, true)
		add("multiplier", func() { a.data[2*stride+rows-1] = 1 }, true)
		if k.name == "LinearCharge" {
			add("pods", func() { a.pods[rows-1] = 1 }, true)
		}
	}
	src, dst := make([]float64, stride), make([]float32, stride)
	run := func() { kernel.Codes(dst[:rows], src[:rows]) }
	return append(cases,
		raceCase{"Codes src", run, func() { src[rows-1] = 1 }, true},
		raceCase{"Codes dst", run, func() { dst[rows-1] = 1 }, true},
		raceCase{"Codes others", run, func() { src[rows], dst[rows] = 1, 1 }, false})
}
