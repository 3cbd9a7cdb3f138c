//go:build !amd64 || purego

package roof

func assembly([]float64, int, int, int) float64 { panic("unreachable: there is no assembly") }
