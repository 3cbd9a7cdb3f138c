package kernel

// FewRows is how many rows FitFew takes at most.
const FewRows = 16

// FitFew returns which of the first rows rows hold request: those with data[j*stride+r]
// >= request[j] wherever that is not <= 0. Bits of other rows are undefined. It takes
// no list and writes no mask, which for FewRows rows is most of what AndGE costs.
func FitFew(data []float64, stride int, request []float64, rows int) uint64 {
	return fitFew(data, stride, request, rows)
}

// fitFewGeneric sets bit r for the rows below rows that hold request.
func fitFewGeneric(data []float64, stride int, request []float64, rows int) (fits uint64) {
	for r := range rows {
		holds, p := uint64(1), r
		for _, x := range request {
			if !(x <= 0) {
				holds &= bit(data[p] >= x)
			}
			p += stride
		}
		fits |= holds << r
	}
	return fits
}
