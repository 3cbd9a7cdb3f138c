package kernel

// ListSize is how many columns of either kind a RequestList takes. Wider requests take
// several lists.
const ListSize = 8

// RequestList lists what a request asks of the columns of a matrix. Amounts that are
// float32 values, as nearly all are, are compared with the rounded elements, which gives
// the same answer from half the bytes; see Floor32. It lives on the stack.
type RequestList struct {
	n, n32    int
	columns   [ListSize]int32
	columns32 [ListSize]int32
	amounts   [ListSize]float64
	amounts32 [ListSize]float32
}

// Add lists an amount. exact demands a comparison with the elements themselves, for a
// matrix without rounded ones.
func (l *RequestList) Add(column int, amount float64, exact bool) {
	if c := float32(amount); float64(c) == amount && !exact {
		l.columns32[l.n32], l.amounts32[l.n32] = int32(column), c
		l.n32++
	} else {
		l.columns[l.n], l.amounts[l.n] = int32(column), amount
		l.n++
	}
}

// Take lists the amounts that are requested among the n at data[0], data[stride], …, from
// the one with index j on. It returns the index of the first that found no more room, or n.
func (l *RequestList) Take(data []float64, stride, n, j int, exact bool) int {
	for ; j < n; j++ {
		x := data[j*stride]
		if x <= 0 {
			continue
		}
		// A list that is full goes to the kernel, and the next begins here.
		if l.n32 == ListSize || l.n == ListSize {
			break
		}
		l.Add(j, x, exact)
	}
	return j
}

// andGERequest is AndGE by the twin of its assembly.
func andGERequest(dst []uint64, data []float64, lower32 []float32, stride, lo int, list *RequestList) {
	if n := list.n32; n > 0 {
		andGEGeneric(dst, lower32[lo:], stride, list.columns32[:n], list.amounts32[:n])
	}
	if n := list.n; n > 0 {
		andGEGeneric(dst, data[lo:], stride, list.columns[:n], list.amounts[:n])
	}
}
