//go:build !amd64 || purego

package kernel

func roof(data []float64, stride, streams int) float64 {
	return roofGeneric(data, stride, streams)
}
