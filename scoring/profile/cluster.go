package profile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/resvec/resvec/vector"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Cluster is what kube-scheduler's default plugins look at besides amounts: nodes with
// their pods, in the rows of a [vector.Nodes], and the namespaces, services and
// owners of pods. The amounts are in the nodes, which the caller writes.
//
// It is written in one of two ways. By objects as they come: [Cluster.Set] and
// [Cluster.Delete]. Or row by row, by a caller that has a node and its pods at a time:
// [Cluster.SetRow]; then the other objects come by Set. A change costs its row. A node object
// without a row in the nodes, and its pods, don't count until there is the row.
//
// The objects are kept and must not be changed. One goroutine writes a Cluster. Others
// read a copy, see [Cluster.Snapshot].
type Cluster struct {
	nodes *vector.Nodes
	names *vector.Names // of nodes, as rows were aligned with last

	rows   []*row          // by row of nodes; nil: nothing is known of the node
	byName map[string]*row // and of nodes that have no row
	places map[types.NamespacedName]string

	spaces map[string]*space // namespaces by name
	images map[string]int    // how many nodes have an image, of nodes without states of the caller's
	moved  moved

	// facts has the rows whose node changed in what plugins look at, but for images;
	// changed has all rows that changed.
	facts, changed rowLog

	interned interned

	// Of a copy: what it is a copy of, as of which version of changed.
	source *Cluster
	copied uint64
}

// moved are numbers that move with what is not in rows.
type moved struct {
	spaces     uint64 // anything of a namespace
	namespaces uint64 // the labels of a namespace
	images     uint64
}

// row is a node with its pods. It never changes: what changes is another row.
type row struct {
	node    *corev1.Node // nil: only pods are known
	images  *images      // nil where the node is
	pods    []*podOf
	classes []classCount
	terms   []termsCount
	ports   []hostPort
}

// images are the images of a node: their sizes by name, or what the caller says of them.
type images struct {
	sizes  map[string]int64
	states ImageStates // nil: sizes
}

// ImageStates returns the size in bytes of an image that a node has, and how many nodes
// have it, by a name as [corev1.ContainerImage] has it. It must always answer the same.
type ImageStates func(name string) (size int64, nodes int, ok bool)

const (
	panicRow  = "profile: row out of range"
	panicCopy = "profile: a copy is written by Snapshot only"
)

// NewCluster returns a cluster of no objects for nodes: those that the caller writes, or a
// copy of such, zero still, for [Cluster.Snapshot].
func NewCluster(nodes *vector.Nodes) *Cluster {
	return &Cluster{
		nodes: nodes, byName: map[string]*row{}, places: map[types.NamespacedName]string{},
		spaces: map[string]*space{}, images: map[string]int{}, interned: newInterned(),
	}
}

// Nodes returns the nodes whose rows the cluster follows.
func (c *Cluster) Nodes() *vector.Nodes { return c.nodes }

// Set adds an object, or replaces the one of the same kind and name: a *corev1.Node,
// *corev1.Pod, *corev1.Namespace, *corev1.Service, *corev1.ReplicationController,
// *appsv1.ReplicaSet or *appsv1.StatefulSet. A pod counts on the node that its
// nodeName says; one that has none, or has succeeded or failed, is removed. An object of
// another type, or without a name, is an error and changes nothing.
func (c *Cluster) Set(obj any) error {
	c.checkWritable()
	switch o := obj.(type) {
	case *corev1.Node:
		if o != nil && o.Name != "" {
			c.align()
			c.setNode(o, c.of(o.Name).pods, nil)
			return nil
		}
	case *corev1.Pod:
		if o != nil && o.Name != "" {
			c.align()
			c.setPod(o)
			return nil
		}
	case *corev1.Namespace:
		if o != nil && o.Name != "" {
			c.setNamespace(o.Name, o.Labels, true)
			return nil
		}
	case *corev1.Service, *corev1.ReplicationController, *appsv1.ReplicaSet, *appsv1.StatefulSet:
		return c.setOwner(o, true)
	}
	return badObject(obj)
}

// Delete removes the object of the same kind and name as obj, if there, with the errors of
// [Cluster.Set]. The pods of a node that goes are kept until they are deleted themselves,
// as in kube-scheduler.
func (c *Cluster) Delete(obj any) error {
	c.checkWritable()
	switch o := obj.(type) {
	case *corev1.Node:
		if o != nil && o.Name != "" {
			c.align()
			c.dropNode(o.Name)
			return nil
		}
	case *corev1.Pod:
		if o != nil && o.Name != "" {
			c.align()
			c.dropPod(keyOf(o))
			return nil
		}
	case *corev1.Namespace:
		if o != nil && o.Name != "" {
			c.setNamespace(o.Name, nil, false)
			return nil
		}
	case *corev1.Service, *corev1.ReplicationController, *appsv1.ReplicaSet, *appsv1.StatefulSet:
		return c.setOwner(o, false)
	}
	return badObject(obj)
}

func badObject(obj any) error {
	return fmt.Errorf("profile: object %T: must be a named *Node, *Pod, *Namespace, *Service, *ReplicationController, "+
		"*ReplicaSet or *StatefulSet", obj)
}

// checkWritable panics where only Snapshot may write.
func (c *Cluster) checkWritable() {
	if c.source != nil {
		panic(panicCopy)
	}
}

// SetRow replaces a node and all its pods, whatever their nodeName says. Pods that are the
// same objects as before cost nothing, so a row costs what has changed. images says which
// images the node has; nil is node.Status.Images, of which the cluster counts the nodes. A
// node or a pod that is nil or has no name is an error, and changes nothing.
func (c *Cluster) SetRow(object *corev1.Node, pods []*corev1.Pod, images ImageStates) error {
	c.checkWritable()
	if object == nil || object.Name == "" {
		return badObject(object)
	}
	for _, pod := range pods {
		if pod == nil || pod.Name == "" {
			return badObject(pod)
		}
	}
	c.align()
	old := c.of(object.Name)
	next, same := make([]*podOf, len(pods)), len(pods) == len(old.pods)
	for i, pod := range pods {
		// Pods keep their order but for the one that came or went.
		if i < len(old.pods) && old.pods[i].Pod == pod {
			next[i] = old.pods[i]
			continue
		}
		same = false
		if k := slices.IndexFunc(old.pods, func(p *podOf) bool { return p.Pod == pod }); k >= 0 {
			next[i] = old.pods[k]
		}
	}
	if !same {
		c.replacePods(object.Name, old.pods, next, pods)
	}
	c.setNode(object, next, images)
	return nil
}

// replacePods completes next, the pods of a node, by what pods has besides, and releases what
// old has besides.
func (c *Cluster) replacePods(name string, old, next []*podOf, pods []*corev1.Pod) {
	for i, p := range old {
		if i < len(next) && next[i] == p || slices.Contains(next, p) {
			continue
		}
		c.interned.release(p)
		if c.places[keyOf(p.Pod)] == name {
			delete(c.places, keyOf(p.Pod))
		}
	}
	for i, pod := range pods {
		key := keyOf(pod)
		if next[i] == nil {
			next[i] = c.interned.pod(pod)
		}
		if at, ok := c.places[key]; ok && at != name {
			c.dropPod(key) // it has moved
		}
		c.places[key] = name
	}
}

// Assume adds a pod to a row and its amounts to the nodes, until the caller sets the pod or
// the row, or calls [Cluster.Forget]. A pod that is nil or has no name is an error, as are
// amounts that [vector.Nodes.Assume] refuses; an error changes nothing.
func (c *Cluster) Assume(row int, pod *corev1.Pod, amounts vector.PodAmounts) error {
	name, err := c.checkMove(row, pod)
	if err != nil {
		return err
	}
	if err := c.nodes.Assume(row, amounts); err != nil {
		return err
	}
	c.dropPod(keyOf(pod))
	c.addPod(pod, name)
	return nil
}

// Forget takes a pod off a row again, and its amounts off the nodes: the reverse of
// [Cluster.Assume], with its errors. A pod that is not there changes amounts only.
func (c *Cluster) Forget(row int, pod *corev1.Pod, amounts vector.PodAmounts) error {
	name, err := c.checkMove(row, pod)
	if err != nil {
		return err
	}
	if err := c.nodes.Forget(row, amounts); err != nil {
		return err
	}
	if c.places[keyOf(pod)] == name {
		c.dropPod(keyOf(pod))
	}
	return nil
}

// checkMove returns the name of the node of a row that a pod comes to or leaves.
func (c *Cluster) checkMove(row int, pod *corev1.Pod) (name string, err error) {
	c.checkWritable()
	c.align()
	if row < 0 || row >= len(c.rows) {
		panic(panicRow)
	}
	if pod == nil || pod.Name == "" {
		return "", badObject(pod)
	}
	return c.nodes.Name(row), nil
}

// Snapshot makes dst a copy of c, and the nodes of dst one of c's nodes. dst must have been
// made by NewCluster for zero nodes, or be a copy of c. Only what has changed is copied. Nobody
// may read dst or its nodes then. To write a copy in another way panics.
func (c *Cluster) Snapshot(dst *Cluster) {
	if dst.source != nil && dst.source != c {
		panic("profile: a copy of another cluster")
	}
	c.align()
	c.nodes.Snapshot(dst.nodes)
	rows, all := c.changed.since(dst.copied)
	if all || dst.source != c || len(dst.rows) != len(c.rows) {
		dst.rows = append(dst.rows[:0], c.rows...)
		dst.facts.recordAll()
		dst.changed.recordAll()
	} else {
		for _, r := range rows {
			if int(r) < len(c.rows) {
				dst.replaceRow(int(r), c.rows[r])
			}
		}
	}
	if dst.source != c || dst.moved.spaces != c.moved.spaces {
		dst.spaces = maps.Clone(c.spaces)
	}
	if dst.source != c || dst.moved.images != c.moved.images {
		dst.images = maps.Clone(c.images)
	}
	dst.source, dst.copied, dst.moved, dst.names = c, c.changed.version, c.moved, dst.nodes.Names()
}

func keyOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// align brings the rows in step with those of the nodes.
func (c *Cluster) align() {
	names := c.nodes.Names()
	if names == c.names {
		return
	}
	c.names = names
	n := c.nodes.Len()
	for r := range n {
		now := c.byName[c.nodes.Name(r)]
		if r < len(c.rows) && c.rows[r] == now {
			continue
		}
		if r == len(c.rows) {
			c.rows = append(c.rows, nil)
		}
		c.countImages(c.rows[r], now)
		c.rows[r] = now
		c.facts.record(r)
		c.changed.record(r)
	}
	if n < len(c.rows) {
		for _, gone := range c.rows[n:] {
			c.countImages(gone, nil)
		}
		clear(c.rows[n:])
		c.rows = c.rows[:n]
		c.facts.record(n) // so that readers see the length
		c.changed.record(n)
	}
}

var noRow = &row{}

// of returns what is known of a node.
func (c *Cluster) of(name string) *row {
	if known := c.byName[name]; known != nil {
		return known
	}
	return noRow
}

// put replaces what is known of a node.
func (c *Cluster) put(name string, now *row) {
	if now.node == nil && len(now.pods) == 0 {
		now = nil
		delete(c.byName, name)
	} else {
		c.byName[name] = now
	}
	if r, ok := c.nodes.Row(name); ok && r < len(c.rows) {
		c.countImages(c.rows[r], now)
		c.replaceRow(r, now)
	}
}

// replaceRow replaces a row, nil for one of which nothing is known.
func (c *Cluster) replaceRow(r int, now *row) {
	if old := c.rows[r]; old == nil || now == nil || old.node != now.node {
		c.facts.record(r)
	}
	c.rows[r] = now
	c.changed.record(r)
}

func (c *Cluster) setNode(object *corev1.Node, pods []*podOf, states ImageStates) {
	old := c.of(object.Name)
	next := &images{states: states}
	if states == nil {
		next.sizes = imageSizes(object)
	}
	unchanged := states == nil && old.node != nil && old.images.states == nil &&
		maps.Equal(old.images.sizes, next.sizes)
	if unchanged {
		next = old.images
	}
	if old.node != nil && looksLike(old.node, object) {
		object = old.node
		if unchanged && slices.Equal(old.pods, pods) {
			return
		}
	}
	c.put(object.Name, newRow(object, next, pods))
}

func (c *Cluster) dropNode(name string) {
	if old := c.of(name); old.node != nil {
		c.put(name, newRow(nil, nil, old.pods))
	}
}

func (c *Cluster) setPod(pod *corev1.Pod) {
	key := keyOf(pod)
	at, known := c.places[key]
	if known {
		same := func(p *podOf) bool { return p.Pod == pod }
		if at == pod.Spec.NodeName && slices.ContainsFunc(c.of(at).pods, same) {
			return
		}
		c.dropPod(key)
	}
	if pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
		c.addPod(pod, pod.Spec.NodeName)
	}
}

func (c *Cluster) addPod(pod *corev1.Pod, name string) {
	old := c.of(name)
	c.places[keyOf(pod)] = name
	c.put(name, newRow(old.node, old.images, append(slices.Clip(slices.Clone(old.pods)), c.interned.pod(pod))))
}

func (c *Cluster) dropPod(key types.NamespacedName) {
	name, ok := c.places[key]
	if !ok {
		return
	}
	delete(c.places, key)
	old := c.of(name)
	kept := make([]*podOf, 0, len(old.pods))
	for _, p := range old.pods {
		if keyOf(p.Pod) == key {
			c.interned.release(p)
		} else {
			kept = append(kept, p)
		}
	}
	c.put(name, newRow(old.node, old.images, kept))
}

// imageSizes returns the sizes of a node's images. kube-scheduler takes the first of a name.
func imageSizes(object *corev1.Node) map[string]int64 {
	sizes := make(map[string]int64, len(object.Status.Images))
	for _, image := range object.Status.Images {
		for _, name := range image.Names {
			if _, ok := sizes[name]; !ok {
				sizes[name] = image.SizeBytes
			}
		}
	}
	return sizes
}

// looksLike reports whether plugins see no difference between two nodes of one name, but
// for their images.
func looksLike(a, b *corev1.Node) bool {
	return a == b || a.Spec.Unschedulable == b.Spec.Unschedulable && maps.Equal(a.Labels, b.Labels) &&
		slices.EqualFunc(a.Spec.Taints, b.Spec.Taints, func(x, y corev1.Taint) bool {
			return x.Key == y.Key && x.Value == y.Value && x.Effect == y.Effect
		})
}

// countImages counts the nodes that have an image, of a row that is replaced.
func (c *Cluster) countImages(old, now *row) {
	count := func(r *row, by int) {
		if r == nil || r.images == nil {
			return
		}
		for name := range r.images.sizes {
			if c.images[name] += by; c.images[name] == 0 {
				delete(c.images, name)
			}
			c.moved.images++
		}
	}
	if old == nil || now == nil || old.images != now.images {
		count(now, 1)
		count(old, -1)
	}
}

// imageState returns what a row says of an image.
func (c *Cluster) imageState(r *row, name string) (size int64, nodes int, ok bool) {
	if r.images.states != nil {
		return r.images.states(name)
	}
	size, ok = r.images.sizes[name]
	return size, c.images[name], ok
}

// rowLog remembers which rows were written. Version v of it wrote rows[v-floor-1].
type rowLog struct {
	version, floor uint64
	rows           []int32
}

const rowLogSize = 1 << 13

func (l *rowLog) record(row int) {
	if len(l.rows) == rowLogSize {
		half := rowLogSize / 2
		copy(l.rows, l.rows[half:])
		l.rows, l.floor = l.rows[:half], l.floor+uint64(half)
	}
	l.rows = append(l.rows, int32(row))
	l.version++
}

func (l *rowLog) recordAll() {
	l.version++
	l.rows, l.floor = l.rows[:0], l.version
}

// since returns the rows written after a version, or that all may have been.
func (l *rowLog) since(version uint64) (rows []int32, all bool) {
	if version < l.floor || version > l.version {
		return nil, true
	}
	return l.rows[version-l.floor:], false
}
