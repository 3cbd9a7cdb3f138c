package resvecfit

import (
	"slices"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// The matrices of the table.
const (
	allocatable = iota
	used        // what the pods of a node request
	scored      // the same with kube-scheduler's least amounts per container, which it scores with
	free        // allocatable less used
	matrices
)

const storageName = string(corev1.ResourceEphemeralStorage)

// cluster keeps the table of the nodes in step with the scheduler's snapshot. It
// is written by PreFilter and PreScore, which kube-scheduler runs one at a time,
// and read by Filter and Score in between.
type cluster struct {
	m       *vectormap.ResourceVectorMap
	columns map[corev1.ResourceName]int // of scalar resources
	refused map[corev1.ResourceName]bool
	storage int // the column of ephemeral-storage
	table   *vector.Table

	// The snapshot that the table was last brought in step with: its nodes, and
	// their rows and generations.
	nodes []fwk.NodeInfo
	rows  []int32
	seen  []int64

	index      index
	generation []int64 // by row
	names      *vector.Names

	// version moves with every refresh that changed a row.
	version uint64

	scratch [matrices]vector.ResourceVector
	missing []string
}

// newCluster returns an empty table with columns for these resources.
func newCluster(names []string) (*cluster, error) {
	m, err := vectormap.New(append(names, storageName), vectormap.NoFold())
	if err != nil {
		return nil, err
	}
	c := &cluster{table: m.NewTable(matrices), refused: map[corev1.ResourceName]bool{}}
	c.setMap(m)
	return c, nil
}

func (c *cluster) setMap(m *vectormap.ResourceVectorMap) {
	c.m = m
	c.columns = make(map[corev1.ResourceName]int, m.Len())
	for i, name := range m.All() {
		if isScalar(corev1.ResourceName(name)) {
			c.columns[corev1.ResourceName(name)] = i
		}
	}
	c.storage, _ = m.Index(storageName)
	for k := range c.scratch {
		c.scratch[k] = m.NewVector()
	}
}

// refresh brings the table in step with the nodes of a snapshot. Only nodes whose
// generation moved are read, unless nodes came or went. The map becomes wider when
// a node has a resource that it lacks.
func (c *cluster) refresh(nodes []fwk.NodeInfo) {
	if len(nodes) != len(c.nodes) {
		c.rebuild(nodes)
		return
	}
	for i, node := range nodes {
		if node != c.nodes[i] {
			c.rebuild(nodes)
			return
		}
		generation := node.GetGeneration()
		if generation == c.seen[i] {
			continue
		}
		if !c.write(node, generation) {
			c.rebuild(nodes)
			return
		}
		c.seen[i] = generation
		c.generation[c.rows[i]] = generation
		c.version++
	}
}

// need gives names columns that have none yet. What is known of the nodes stays
// true.
func (c *cluster) need(names []string) {
	for _, name := range names {
		if _, ok := c.m.Index(name); !ok && !c.refused[corev1.ResourceName(name)] {
			c.missing = append(c.missing, name)
		}
	}
	if len(c.missing) == 0 {
		return
	}
	version := c.version
	c.refresh(c.nodes)
	same := c.version == version
	c.extend()
	if c.rebuild(c.nodes); same {
		c.version = version
	}
}

// rebuild is refresh for a snapshot with other nodes, or with resources that
// the map does not have.
func (c *cluster) rebuild(nodes []fwk.NodeInfo) {
	for i := 0; i < len(nodes); i++ {
		if !c.write(nodes[i], nodes[i].GetGeneration()) {
			c.extend()
			i = -1 // every row has to be written again
		}
	}
	c.drop(nodes)
	n := len(nodes)
	c.version++
	c.nodes = slices.Clone(nodes)
	c.rows, c.seen = make([]int32, n), make([]int64, n)
	c.generation, c.names = make([]int64, n), c.table.Names()
	c.index = newIndex(n)
	for i, node := range nodes {
		row, _ := c.names.Row(node.Node().Name)
		c.rows[i], c.seen[i] = int32(row), node.GetGeneration()
		c.generation[row] = c.seen[i]
		c.index.set(node, row)
	}
}

// drop deletes the rows of nodes that are gone.
func (c *cluster) drop(nodes []fwk.NodeInfo) {
	if c.table.Len() == len(nodes) {
		return
	}
	present := make(map[string]bool, len(nodes))
	for _, node := range nodes {
		present[node.Node().Name] = true
	}
	var gone []string
	for name := range c.table.All() {
		if !present[name] {
			gone = append(gone, name)
		}
	}
	for _, name := range gone {
		c.table.Delete(name)
	}
}

// extend gives the missing names columns. A name that no map can have, or that is
// of no resource that pods are compared by, is remembered as refused; the table then
// can't answer for pods that request it.
func (c *cluster) extend() {
	for _, name := range c.missing {
		m, err := c.m.Extend([]string{name})
		if err == nil {
			err = m.Widen(c.table)
		}
		if err != nil || !isScalar(corev1.ResourceName(name)) {
			c.refused[corev1.ResourceName(name)] = true
		}
		if err == nil {
			c.setMap(m)
		}
	}
	c.missing = c.missing[:0]
}

// write sets the row of a node. It writes nothing and reports false when the node
// has resources that the map lacks, which are then in c.missing.
func (c *cluster) write(node fwk.NodeInfo, generation int64) bool {
	name := node.Node().Name
	if c.table.Current(name, generation) {
		return true
	}
	for resource := range node.GetAllocatable().GetScalarResources() {
		if _, ok := c.columns[resource]; !ok && !c.refused[resource] {
			c.missing = append(c.missing, string(resource))
		}
	}
	if len(c.missing) > 0 {
		slices.Sort(c.missing)
		return false
	}
	c.vectors(&c.scratch, node)
	c.table.Upsert(name, generation, c.scratch[:]...)
	return true
}

// limit is the first amount that a float64 may not have exactly. What is free is
// subtracted before it is rounded, so a free amount below the limit is exact, and
// one of limit or more stays so: comparing a request below the limit with it is
// exact always.
const limit = 1 << 53

// vectors sets dst, vectors of the map's length, to the amounts of a node.
func (c *cluster) vectors(dst *[matrices]vector.ResourceVector, node fwk.NodeInfo) {
	for k := range dst {
		clear(dst[k])
	}
	set := func(column int, has, taken, asScored int64) {
		dst[allocatable][column] = float64(has)
		dst[used][column] = float64(taken)
		dst[scored][column] = float64(asScored)
		dst[free][column] = float64(has - taken)
	}
	a, u, s := node.GetAllocatable(), node.GetRequested(), node.GetNonZeroRequested()
	pods := int64(len(node.GetPods()))
	set(vectormap.CPU, a.GetMilliCPU(), u.GetMilliCPU(), s.GetMilliCPU())
	set(vectormap.Memory, a.GetMemory(), u.GetMemory(), s.GetMemory())
	set(vectormap.Pods, int64(a.GetAllowedPodNumber()), pods, pods)
	set(c.storage, a.GetEphemeralStorage(), u.GetEphemeralStorage(), u.GetEphemeralStorage())
	taken := u.GetScalarResources()
	for name, has := range a.GetScalarResources() {
		if column, ok := c.columns[name]; ok {
			set(column, has, taken[name], taken[name])
		}
	}
}

// newVectors returns the amounts of a node in vectors of their own.
func (c *cluster) newVectors(node fwk.NodeInfo) [matrices]vector.ResourceVector {
	var v [matrices]vector.ResourceVector
	for k := range v {
		v[k] = c.m.NewVector()
	}
	c.vectors(&v, node)
	return v
}

// rowOf returns the row of a node, if the row is of this very state of it.
func (c *cluster) rowOf(node fwk.NodeInfo) (int, bool) {
	row, ok := c.index.row(node)
	return row, ok && c.generation[row] == node.GetGeneration()
}
