package vectormap

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/resvec/resvec/vector/gang"
)

// NewTopology returns the topology of nodes by their labels: row i is nodes[i]. The
// levels are label keys from coarse to fine, such as "topology.kubernetes.io/zone",
// "cloud.example.com/rack", "kubernetes.io/hostname"; the last may be left out. A node
// without one of the labels is in no domain, and notes say so. The error is
// gang.NewTopology's.
func NewTopology(levels []string, nodes []*corev1.Node) (t *gang.Topology, notes []Note, err error) {
	if t, err = gang.NewTopology(levels...); err != nil {
		return nil, nil, err
	}
	for row, node := range nodes {
		if missing := SetTopology(t, row, node); missing != "" {
			notes = append(notes, Remark{node.Name, "no label " + missing + ", in no domain"})
		}
	}
	return t, notes, nil
}

// SetTopology puts a row of t into the domains that the labels of its node say: for a
// node that comes, or whose labels have changed. The levels of t are label keys. missing
// is the first label that the node does not have; then the row is in no domain. row may be one
// more than the last, and otherwise panics when out of range. For a node that goes, remove its
// row with [gang.Topology.RemoveRow] as from the other tables.
func SetTopology(t *gang.Topology, row int, node *corev1.Node) (missing string) {
	levels := t.Levels()
	if row < 0 || row > t.Rows() || len(levels) == 0 {
		panic("vectormap: row out of range")
	}
	var values []string
	for _, key := range levels {
		value, ok := node.Labels[key]
		if !ok {
			t.Unset(row)
			return key
		}
		values = append(values, value)
	}
	_ = t.Set(row, node.Name, values...) // a value for each level
	return ""
}
