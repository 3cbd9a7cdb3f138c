package share

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/resvec/resvec/vector"
)

// Rejections says how many nodes can hold what a pod needs, and why the others can't.
type Rejections struct {
	Rows    int         // nodes looked at
	Hosts   int         // that can hold it
	Reasons []Rejection // of the others: the reason of most nodes first, then by kind, cause and resource
}

// Rejection counts the nodes that can't hold a pod for one reason: their devices can't be
// taken for it. A node counts for each reason that it has.
type Rejection struct {
	Kind   string // of the devices
	Rows   int    // nodes
	Reason        // Devices counts them over all these nodes. Cause 0: all devices of the node fit, and are too few
}

// Rejections counts why nodes of rows can't hold what a pod needs; nil rows are all nodes.
// Pass the nodes that may be chosen, not the nodes that fit. Errors are as of [Bound.Fit],
// and of a mask over other nodes.
func (b *Bound) Rejections(needs []Requirement, rows *vector.Mask) (j Rejections, err error) {
	a := b.account
	if err := cmp.Or(checkNeeds(needs), a.checkMask(rows)); err != nil {
		return j, err
	}
	found := map[Rejection]*Rejection{} // by kind, cause and resource
	b.fit(&b.nodes, a, needs)
	for node := range selectedNodes(a.Len(), rows) {
		j.Rows++
		if b.nodes.Test(node) {
			j.Hosts++
			continue
		}
		for i := range needs {
			_, err := b.Allocate(node, AllocRequest{Requirement: needs[i]})
			if refusal, ok := err.(*NotEnoughError); ok {
				refusal.count(found)
			}
		}
	}
	for _, r := range found {
		j.Reasons = append(j.Reasons, *r)
	}
	slices.SortFunc(j.Reasons, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Resource, b.Resource))
	})
	return j, nil
}

// count adds the reasons of a node's refusal to those found.
func (e *NotEnoughError) count(found map[Rejection]*Rejection) {
	reasons := e.Reasons
	if len(reasons) == 0 {
		reasons = []Reason{{Devices: e.Got}}
	}
	for _, r := range reasons {
		key := Rejection{Kind: e.Kind, Reason: Reason{Cause: r.Cause, Resource: r.Resource}}
		x := found[key]
		if x == nil {
			x = &Rejection{Kind: e.Kind, Reason: Reason{Cause: r.Cause, Resource: r.Resource, Want: r.Want, Free: r.Free}}
			found[key] = x
		}
		x.Rows++
		x.Devices += r.Devices
		if r.missing() < x.missing() {
			x.Want, x.Free = r.Want, r.Free
		}
	}
}

// String returns one line of text.
//
//	0/5000 nodes fit: 3100 gpu insufficient koordinator.sh/gpu-core (want 60, at most 50 free), 12 gpu unhealthy, 9 without gpu
func (j Rejections) String() string {
	line, separator := fmt.Sprintf("%d/%d nodes fit", j.Hosts, j.Rows), ": "
	for _, r := range j.Reasons {
		line += separator + r.String()
		separator = ", "
	}
	return line
}

// String returns the number of nodes and the reason, such as "12 gpu unhealthy".
func (r Rejection) String() string {
	switch r.Cause {
	case 0:
		return fmt.Sprintf("%d with too few %s", r.Rows, r.Kind)
	case CauseNoneOfKind:
		return fmt.Sprintf("%d without %s", r.Rows, r.Kind)
	}
	return fmt.Sprintf("%d %s %s", r.Rows, r.Kind, r.phrase())
}
