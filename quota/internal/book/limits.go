package book

// Quota is what is configured for a queue in a dimension.
type Quota struct {
	Capability int64 // Unlimited: no limit
	Guarantee  int64 // kept free of siblings' use
	Deserved   int64 // what the share is measured by
}

// SetLimits makes the limits of every queue in some dimensions. cluster is what there is of a
// dimension. The limit is the capability or, where guarantees are enforced, Real:
//
//	Real     = min(capability, max(0, total - Σ guarantees) + guarantee)
//	Deserved = max(min(what is configured, Real), guarantee)
//
// The total is the cluster's or, below a parent, the parent's Real; the sum is over the
// queue and its siblings. Real is the formula of Volcano's capacity plugin, with the min
// that its design has and its code lacks.
func (b *Book) SetLimits(dims []int, cluster func(dim int) int64, enforce bool, quota func(q *Queue, dim int) Quota) {
	limitLevel(b.top, dims, cluster, enforce, quota)
	for _, q := range b.TopDown() {
		limitLevel(q.Children, dims, func(dim int) int64 { return q.Real[dim] }, enforce, quota)
	}
}

// limitLevel makes the limits of the queues that share a total.
func limitLevel(siblings []*Queue, dims []int, total func(dim int) int64, enforce bool, quota func(q *Queue, dim int) Quota) {
	for _, q := range siblings {
		q.Real = append(q.Real, make([]int64, len(q.Cells)-len(q.Real))...)
		q.Deserved = append(q.Deserved, make([]int64, len(q.Cells)-len(q.Deserved))...)
	}
	for _, dim := range dims {
		guaranteed := int64(0)
		for _, q := range siblings {
			guaranteed = AddSaturated(guaranteed, quota(q, dim).Guarantee)
		}
		for _, q := range siblings {
			is := quota(q, dim)
			real := is.Capability
			if there := total(dim); there != Unlimited {
				real = min(real, max(0, there-guaranteed)+is.Guarantee)
			}
			q.Cells[dim].Limit = is.Capability
			if enforce {
				q.Cells[dim].Limit = real
			}
			q.Real[dim] = real
			q.Deserved[dim] = max(min(is.Deserved, real), is.Guarantee)
		}
	}
}

// Share returns how much of what it deserves a queue uses, in the dimension where
// that is most. Holds don't count.
func (q *Queue) Share() (share float64) {
	for dim, deserved := range q.Deserved {
		if deserved > 0 && q.Cells[dim].Allocated > 0 {
			share = max(share, float64(q.Cells[dim].Allocated)/float64(deserved))
		}
	}
	return share
}
