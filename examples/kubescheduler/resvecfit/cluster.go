package resvecfit

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

const storageName = string(corev1.ResourceEphemeralStorage)

// cluster keeps the amounts of the nodes in step with the scheduler's snapshot. It
// is written by PreFilter, PreScore and PostFilter, which kube-scheduler runs one at a
// time, and read by Filter and Score in between. A row may be older than its node: its
// generation says so.
type cluster struct {
	m       *vectormap.ResourceVectorMap
	columns map[corev1.ResourceName]int // of scalar resources
	refused map[corev1.ResourceName]bool
	fixed   bool // other resources get no columns
	storage int  // the column of ephemeral-storage

	// table has a row for each node. Scored amounts are the requested ones with
	// kube-scheduler's least amounts per container, which it scores with.
	table *vector.Nodes

	// large are the nodes with amounts that a float64 may not have exactly, by name.
	// Their rows are not compared.
	large map[string]fwk.NodeInfo

	// The nodes of the snapshot that the table was last brought in step with, and
	// their rows; list is the snapshot's own list of them.
	nodes []fwk.NodeInfo
	rows  []int32
	list  []fwk.NodeInfo

	index      index
	places     []int32 // by row: of its node in nodes
	generation []int64 // by row
	names      *vector.Names

	// visited has a bit for each row that Filter found older than its node.
	visited []atomic.Uint64
	written []int32

	// version moves with everything that changes a row.
	version uint64

	world *world // nil: nothing but amounts is kept

	scratch vector.NodeAmounts
	missing []string
}

// newCluster returns an empty table with columns for these resources.
func newCluster(names []string) (*cluster, error) {
	m, err := vectormap.New(append(names, storageName), vectormap.NoFold())
	if err != nil {
		return nil, err
	}
	c := &cluster{
		table: m.NewNodes(vector.WithScored()), large: map[string]fwk.NodeInfo{}, refused: map[corev1.ResourceName]bool{},
	}
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
	c.scratch = newAmounts(m)
}

// refresh brings the table in step with the nodes of a snapshot. Only nodes whose
// generation moved are read, unless nodes came or went. The map becomes wider when
// a node has a resource that it lacks.
func (c *cluster) refresh(nodes []fwk.NodeInfo) error {
	if len(nodes) != len(c.nodes) {
		return c.rebuild(nodes)
	}
	for i, node := range nodes {
		if node != c.nodes[i] {
			return c.rebuild(nodes)
		}
		switch known, err := c.refreshRow(int(c.rows[i]), node); {
		case err != nil:
			return err
		case !known:
			return c.rebuild(nodes)
		}
	}
	return nil
}

// refreshRow writes a row that is older than its node. Where that needs a wider map, it
// writes nothing and reports false.
func (c *cluster) refreshRow(row int, node fwk.NodeInfo) (known bool, err error) {
	generation := node.GetGeneration()
	if generation == c.generation[row] {
		return true, nil
	}
	if known, err := c.write(node, generation); err != nil || !known {
		return known, err
	}
	c.generation[row] = generation
	c.version++
	return true, nil
}

// visit marks a row that is older than its node. It is called from several goroutines.
func (c *cluster) visit(row int) {
	word, bit := &c.visited[row/64], uint64(1)<<(row%64)
	if word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// catchUp writes the marked rows and returns them. When rows have moved, since the map
// has become wider, it returns none.
func (c *cluster) catchUp() ([]int32, error) {
	c.written = c.written[:0]
	for k := range c.visited {
		if c.visited[k].Load() == 0 {
			continue
		}
		for word := c.visited[k].Swap(0); word != 0; word &= word - 1 {
			row := 64*k + bits.TrailingZeros64(word)
			switch known, err := c.refreshRow(row, c.nodes[c.places[row]]); {
			case err != nil:
				return nil, err
			case !known:
				return nil, c.rebuild(c.nodes)
			}
			c.written = append(c.written, int32(row))
		}
	}
	return c.written, nil
}

// isList reports whether a list of nodes is that which the table was last brought in
// step with: kube-scheduler makes another when nodes come or go.
func (c *cluster) isList(nodes []fwk.NodeInfo) bool {
	return len(nodes) > 0 && len(nodes) == len(c.list) && &nodes[0] == &c.list[0]
}

// need gives names columns that have none yet. What is known of the nodes stays
// true.
func (c *cluster) need(names []string) error {
	for _, name := range names {
		if _, ok := c.m.Index(name); !ok && !c.refused[corev1.ResourceName(name)] {
			c.missing = append(c.missing, name)
		}
	}
	if len(c.missing) == 0 {
		return nil
	}
	version := c.version
	if err := c.refresh(c.nodes); err != nil {
		return err
	}
	same := c.version == version
	c.extend()
	err := c.rebuild(c.nodes)
	if same {
		c.version = version
	}
	return err
}

// rebuild is refresh for a snapshot with other nodes, or with resources that
// the map does not have.
func (c *cluster) rebuild(nodes []fwk.NodeInfo) error {
	for i := 0; i < len(nodes); i++ {
		switch known, err := c.write(nodes[i], nodes[i].GetGeneration()); {
		case err != nil:
			return err
		case !known:
			c.extend()
			i = -1 // every row has to be written again
		}
	}
	c.drop(nodes)
	n := len(nodes)
	c.version++
	c.nodes = slices.Clone(nodes)
	c.rows, c.places = make([]int32, n), make([]int32, n)
	c.generation, c.names = make([]int64, n), c.table.Names()
	c.visited = make([]atomic.Uint64, (n+63)/64)
	c.index = newIndex(n)
	for i, node := range nodes {
		row, _ := c.names.Row(node.Node().Name)
		c.rows[i], c.places[row] = int32(row), int32(i)
		c.generation[row] = node.GetGeneration()
		c.index.set(node, row)
	}
	return nil
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
		delete(c.large, name)
		if c.world != nil {
			c.world.drop(name)
		}
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
func (c *cluster) write(node fwk.NodeInfo, generation int64) (known bool, err error) {
	name := node.Node().Name
	if c.table.Current(name, generation) {
		if c.large[name] != nil {
			c.large[name] = node
		}
		return true, nil
	}
	if !c.fixed {
		for resource := range node.GetAllocatable().GetScalarResources() {
			if _, ok := c.columns[resource]; !ok && !c.refused[resource] {
				c.missing = append(c.missing, string(resource))
			}
		}
	}
	if len(c.missing) > 0 {
		slices.Sort(c.missing)
		return false, nil
	}
	if exact := c.amounts(&c.scratch, node); exact {
		delete(c.large, name)
	} else {
		c.large[name] = node
		cut(c.scratch.Requested)
		cut(c.scratch.Scored)
	}
	if _, _, err = c.table.Set(name, generation, c.scratch); err == nil && c.world != nil {
		err = c.world.write(node)
	}
	return true, err
}

// limit is the first amount that a float64 may not have exactly, and that the table
// refuses as a requested one.
const limit = 1 << 53

// cut makes amounts such that the table takes them.
func cut(v vector.ResourceVector) {
	for i, x := range v {
		v[i] = min(max(x, -limit+1), limit-1)
	}
}

// amounts sets dst, of vectors of the map's length, to the amounts of a node, and
// reports whether they are exact.
func (c *cluster) amounts(dst *vector.NodeAmounts, node fwk.NodeInfo) (exact bool) {
	clear(dst.Allocatable)
	clear(dst.Requested)
	clear(dst.Scored)
	exact = true
	set := func(column int, has, taken, asScored int64) {
		dst.Allocatable[column] = float64(has)
		dst.Requested[column] = float64(taken)
		dst.Scored[column] = float64(asScored)
		exact = exact && max(has, taken, asScored) < limit && min(has, taken, asScored) > -limit
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
	return exact
}

func newAmounts(m *vectormap.ResourceVectorMap) vector.NodeAmounts {
	return vector.NodeAmounts{Allocatable: m.NewVector(), Requested: m.NewVector(), Scored: m.NewVector()}
}

// amountsOf returns the amounts of a node in vectors of their own.
func (c *cluster) amountsOf(node fwk.NodeInfo) vector.NodeAmounts {
	v := newAmounts(c.m)
	c.amounts(&v, node)
	return v
}

// rowOf returns the row of a node, if the row is of this very state of it.
func (c *cluster) rowOf(node fwk.NodeInfo) (int, bool) {
	row, ok := c.index.row(node)
	return row, ok && c.generation[row] == node.GetGeneration()
}

// rowsOf returns the rows of nodes. It reports false when there is one that rowOf does
// not know.
func (c *cluster) rowsOf(nodes []fwk.NodeInfo) (rows *vector.Mask, all bool) {
	rows, all = vector.NewMask(len(c.nodes)), true
	for _, node := range nodes {
		if row, ok := c.rowOf(node); ok {
			rows.Set(row)
		} else {
			all = false
		}
	}
	return rows, all
}
