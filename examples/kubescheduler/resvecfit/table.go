package resvecfit

import (
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// NodeTable is a table of kube-scheduler's nodes for a score plugin of one's own, which
// binds a scorer to [NodeTable.Nodes]. It has the columns cpu,
// memory, pods, ephemeral-storage and those that it was made with; other
// resources of nodes are left out. It is made by [NewNodeTable], and is for one goroutine,
// except that Row may be called from several at once between two calls of Refresh.
type NodeTable struct{ c *cluster }

// NewNodeTable returns an empty table with columns for these resources.
func NewNodeTable(names ...string) (*NodeTable, error) {
	c, err := newCluster(names)
	if err != nil {
		return nil, err
	}
	c.fixed = true
	return &NodeTable{c}, nil
}

// Map returns the columns, which stay as they are.
func (t *NodeTable) Map() *vectormap.ResourceVectorMap { return t.c.m }

// Nodes returns the table. Refresh alone may write it.
func (t *NodeTable) Nodes() *vector.Nodes { return t.c.table }

// Refresh brings the rows in step with the snapshot's list of all nodes. It reads only
// nodes whose generation has moved, unless nodes came or went.
func (t *NodeTable) Refresh(nodes []fwk.NodeInfo) error { return t.c.refresh(nodes) }

// Row returns the row of a node, without a look at its name. It reports false for a node
// that is not of the last Refresh or has changed since, such as a copy that preemption
// makes.
func (t *NodeTable) Row(node fwk.NodeInfo) (row int, ok bool) { return t.c.rowOf(node) }

// Pod returns what a pod requests, and what kube-scheduler's scores count it as, in
// vectors of their own. What has no column is left out.
func (t *NodeTable) Pod(pod *corev1.Pod) vector.PodAmounts {
	return vector.PodAmounts{Requested: t.c.request(trueTotal(pod, true)), Scored: t.c.request(scoredTotal(pod))}
}
