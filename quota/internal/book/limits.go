package book

// Quota is what is configured for a queue in a dimension.
type Quota struct {
	Capability int64 // Unlimited: no limit
	Guarantee  int64 // kept free of siblings' use
	Deserved   int64 // what the share is measured by
}

// SetLimits makes the limits of every queue, and marks what exceeds them. cluster is
// what there is of each dimension. The limit is the capability or, where guarantees are
// enforced, Real:
//
//	Real     = min(capability, max(0, total - Σ guarantees) + guarantee)
//	Deserved = max(min(what is configured, Real), guarantee)
//
// The total is the cluster's or, below a parent, the parent's Real; the sum is over the
// queue and its siblings. Real is the formula of Volcano's capacity plugin, with the min
// that its design has and its code lacks.
func (b *Book) SetLimits(cluster []int64, enforce bool, quota func(q *Queue, dim int) Quota) {
	b.limitLevel(b.top, cluster, enforce, quota)
	for _, q := range b.TopDown() {
		b.limitLevel(q.Children, q.Real, enforce, quota)
		q.over = nil
		q.MarkAll()
	}
}

// limitLevel makes the limits of the queues that share a total.
func (b *Book) limitLevel(siblings []*Queue, total []int64, enforce bool, quota func(q *Queue, dim int) Quota) {
	guaranteed := make([]int64, len(total))
	for _, q := range siblings {
		for dim := range guaranteed {
			guaranteed[dim] = AddSaturated(guaranteed[dim], quota(q, dim).Guarantee)
		}
	}
	for _, q := range siblings {
		q.Real = make([]int64, len(total))
		q.Deserved = make([]int64, len(total))
		for dim := range total {
			is := quota(q, dim)
			real := realCapability(is.Capability, total[dim], guaranteed[dim], is.Guarantee)
			q.Cells[dim].Limit = is.Capability
			if enforce {
				q.Cells[dim].Limit = real
			}
			q.Real[dim] = real
			q.Deserved[dim] = max(min(is.Deserved, real), is.Guarantee)
		}
	}
}

func realCapability(capability, total, guaranteed, guarantee int64) int64 {
	if total == Unlimited {
		return capability
	}
	return min(capability, max(0, total-guaranteed)+guarantee)
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
