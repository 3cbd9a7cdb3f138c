package resvec_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The types and functions below are the code of docs/embedding.md; TestDocs keeps
// the two the same. Example_embedding runs them.

// A view is what a scheduler knows of the cluster. One goroutine writes it.
type view struct {
	resources  *vectormap.ResourceVectorMap
	scorer     *scoring.Kube
	known      []*nodeView // in a fixed order
	byName     map[string]*nodeView
	pods       map[types.UID]*podView
	nodes      *vector.Nodes
	generation int64
}

// A nodeView is a node. Its generation moves with whatever changes its row.
type nodeView struct {
	name       string
	seen       bool // false: not yet, or deleted
	pods       int  // on it
	amounts    vector.NodeAmounts
	generation int64
}

// A podView is a pod on a node, bound or assumed.
type podView struct {
	node    *nodeView
	request vector.ResourceVector
}

// newView returns the view of an empty cluster.
func newView() (*view, error) {
	v := &view{byName: map[string]*nodeView{}, pods: map[types.UID]*podView{}}
	var err error
	if v.resources, err = vectormap.New(nil, vectormap.NoFold()); err != nil {
		return nil, err
	}
	v.nodes = v.resources.NewNodes()
	return v, v.compile()
}

// compile compiles the scorer against the map that is there now.
func (v *view) compile() (err error) {
	v.scorer, err = scoring.CompileKube(scoring.KubeConfig{
		Type:      scoring.LeastAllocated,
		Resources: []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}},
	}, v.resources)
	return err
}

// extend makes columns for resources that nobody had before.
func (v *view) extend(names []string) (err error) {
	if v.resources, err = v.resources.Extend(names); err != nil {
		return err
	}
	if err := v.resources.Widen(v.nodes); err != nil { // all rows are stale now
		return err
	}
	return v.compile()
}

// setNode is for a node that was added or has changed. An amount that can't be is
// an error, and the node stays as it was.
func (v *view) setNode(node *corev1.Node) error {
	var unknown []string
	allocatable, err := v.resources.NodeAllocatable(nil, node, &unknown)
	if err == nil && len(unknown) > 0 {
		if err := v.extend(unknown); err != nil {
			return err
		}
		allocatable, err = v.resources.NodeAllocatable(nil, node, nil)
	}
	if err != nil {
		return err
	}
	n := v.nodeOf(node.Name)
	n.seen, n.amounts.Allocatable = true, allocatable
	v.touch(n)
	return nil
}

// deleteNode is for a node that is gone. Its pods are deleted by events of their
// own, before or after.
func (v *view) deleteNode(name string) {
	if n := v.byName[name]; n != nil {
		n.seen = false
		v.nodes.Delete(name)
		v.forget(n)
	}
}

// forget drops a node of which nothing is left.
func (v *view) forget(n *nodeView) {
	if !n.seen && n.pods == 0 {
		delete(v.byName, n.name)
		v.known = slices.DeleteFunc(v.known, func(other *nodeView) bool { return other == n })
	}
}

// setPod is for a pod whose binding to a node was seen. It may be called again with the
// same pod.
func (v *view) setPod(pod *corev1.Pod, node string) error {
	var unknown []string
	options := vectormap.PodOptions{UseStatusResources: true}
	request, err := v.resources.PodRequest(nil, pod, options, &unknown)
	if err == nil && len(unknown) > 0 { // another scheduler's pod
		if err := v.extend(unknown); err != nil {
			return err
		}
		request, err = v.resources.PodRequest(nil, pod, options, nil)
	}
	if err == nil {
		v.put(pod.UID, request, node)
	}
	return err
}

// put puts a pod on a node.
func (v *view) put(pod types.UID, request vector.ResourceVector, node string) {
	v.deletePod(pod)
	n := v.nodeOf(node)
	v.pods[pod] = &podView{n, request}
	n.pods++
	n.amounts.Requested.Add(request)
	v.touch(n)
}

// deletePod is for a pod that has ended or is gone, and for an assumption that
// came to nothing.
func (v *view) deletePod(uid types.UID) {
	if p := v.pods[uid]; p != nil {
		delete(v.pods, uid)
		p.node.pods--
		p.node.amounts.Requested.Sub(p.request)
		v.touch(p.node)
		v.forget(p.node)
	}
}

// nodeOf returns the view of a node, new if a pod is seen before its node.
func (v *view) nodeOf(name string) *nodeView {
	n := v.byName[name]
	if n == nil {
		n = &nodeView{name: name}
		v.byName[name] = n
		v.known = append(v.known, n)
	}
	return n
}

func (v *view) touch(n *nodeView) {
	v.generation++
	n.generation = v.generation
}

// sync writes the rows that have moved. It costs a map lookup for each other one.
func (v *view) sync() error {
	for _, n := range v.known {
		if err := v.write(n); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) write(n *nodeView) error {
	if !n.seen {
		return nil
	}
	_, _, err := v.nodes.Set(n.name, n.generation, n.amounts)
	return err
}

// A worker decides about pods. Each has a copy of the nodes, and scores bound to it.
type worker struct {
	nodes  vector.Nodes
	scorer *scoring.Kube // that scores are of
	scores *scoring.Bound
}

// decide returns the node for a pod, or why there is none.
func (w *worker) decide(v *view, pod *corev1.Pod) (node string, request vector.ResourceVector, err error) {
	v.nodes.Snapshot(&w.nodes)
	if w.scorer != v.scorer { // the first time, and when columns came
		w.scorer, w.scores = v.scorer, scoring.Bind(v.scorer, &w.nodes)
	}
	var unknown []string
	request, err = v.resources.PodRequest(nil, pod, vectormap.PodOptions{UseStatusResources: true}, &unknown)
	if err != nil {
		return "", nil, err
	}
	if len(unknown) > 0 {
		return "", nil, fmt.Errorf("no node has %v", unknown)
	}
	var rows *vector.Mask // all; other predicates give a mask: devices and quota, for example
	row, ok := w.scores.Best(vector.PodAmounts{Requested: request}, rows, vector.TieSeeded(42))
	if !ok {
		lacking := vector.Rejections(nil, w.nodes.Free(), request, nil)
		return "", nil, errors.New(v.resources.ExplainRejections(w.nodes.Len(), lacking))
	}
	return w.nodes.Name(row), request, nil
}

// assume books a decision. It is false when the node is gone or has no room any
// more, because another worker was faster: decide again.
func (v *view) assume(pod *corev1.Pod, node string, request vector.ResourceVector) (bool, error) {
	n := v.byName[node]
	if n == nil || !n.seen {
		return false, nil
	}
	if err := v.write(n); err != nil { // what was heard since the decision
		return false, err
	}
	row, _ := v.nodes.Row(node)
	if !request.FitsIn(v.nodes.Free().Row(nil, row)) {
		return false, nil
	}
	v.put(pod.UID, request, node)
	return true, v.write(n)
}

// schedule is a cycle for one pod.
func (v *view) schedule(w *worker, pod *corev1.Pod, bind func(pod *corev1.Pod, node string) error) error {
	for {
		if err := v.sync(); err != nil {
			return err
		}
		node, request, err := w.decide(v, pod)
		if err != nil {
			return err
		}
		switch ok, err := v.assume(pod, node, request); {
		case err != nil:
			return err
		case !ok:
			continue
		}
		err = bind(pod, node) // perhaps in the background, but not what follows
		if err != nil {
			v.deletePod(pod.UID)
		}
		return err
	}
}

// fitDevices keeps the nodes on which the devices can hold a pod, and those whose
// devices are only a number: counted. choose takes devices of the node that was
// chosen.
func fitDevices(fits, counted *vector.Mask, account *share.Account, devices *share.Bound, needs []share.Requirement) error {
	var byDevice vector.Mask
	if err := devices.Fit(&byDevice, needs); err != nil {
		return err
	}
	account.Without(counted, device.KindGPU)
	byDevice.Or(&byDevice, counted)
	fits.And(fits, &byDevice)
	return nil
}

func choose(row int, counted *vector.Mask, account *share.Account, devices *share.Bound, need share.Requirement) (share.Allocation, error) {
	if counted.Test(row) {
		return share.Allocation{}, nil
	}
	chosen, err := devices.Allocate(row, share.AllocRequest{Requirement: need})
	if err != nil {
		return share.Allocation{}, err // a *share.NotEnoughError says what was wrong with each device
	}
	return chosen, account.Commit(row, chosen)
}

func Example_embedding() {
	v, err := newView()
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"node-1", "node-2"} {
		err := v.setNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi"), "nvidia.com/gpu": resource.MustParse("2"), "pods": resource.MustParse("110"),
		}}})
		if err != nil {
			panic(err)
		}
	}
	bindings := 0
	bind := func(pod *corev1.Pod, node string) error {
		if bindings++; bindings == 2 {
			return errors.New("the API server said no")
		}
		fmt.Println(pod.Name, "goes to", node)
		return nil
	}
	w := new(worker)
	for i, gpus := range []string{"2", "1", "1", "2"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", i), UID: types.UID(fmt.Sprint(i))}}
		pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			"cpu": resource.MustParse("2"), "nvidia.com/gpu": resource.MustParse(gpus),
		}}}}
		if err := v.schedule(w, pod, bind); err != nil {
			fmt.Println(pod.Name, "waits:", err)
		}
	}

	// A pod with something new runs on a node before that is seen; another ends.
	stranger := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "stranger"}}
	stranger.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		"cpu": resource.MustParse("1"), "example.com/fpga": resource.MustParse("1"),
	}}}}
	for range 2 { // seen twice
		if err := v.setPod(stranger, "node-3"); err != nil {
			panic(err)
		}
	}
	if err := v.setNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-3"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		"cpu": resource.MustParse("4"), "example.com/fpga": resource.MustParse("2"),
	}}}); err != nil {
		panic(err)
	}
	v.deletePod("0")
	v.deleteNode("node-1")
	if err := v.sync(); err != nil {
		panic(err)
	}
	for name, row := range v.nodes.All() {
		fmt.Println("free on", name, v.nodes.Free().Row(nil, row))
	}
	v.deletePod("2") // the last pod of node-1
	v.deleteNode("node-3")
	fmt.Println("nodes in the view:", len(v.known))
	late := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "late", UID: "late"}}
	late.Spec.Containers = []corev1.Container{{}}
	if err := v.schedule(w, late, bind); err != nil { // on fewer nodes than before
		panic(err)
	}

	// The devices of a node, of which a pod takes one, and a node that shares its GPU.
	needs, err := share.Normalize(corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")})
	if err != nil {
		panic(err)
	}
	scorer, err := share.NewScorer(share.Config{Type: share.MostAllocated}, share.FillMemory)
	if err != nil {
		panic(err)
	}
	gpuNodes := []corev1.Node{{
		ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{
			"nvidia.com/gpu.product": "NVIDIA-A30", "nvidia.com/gpu.count": "1", "nvidia.com/gpu.memory": "24576"}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}},
	}, {
		ObjectMeta: metav1.ObjectMeta{Name: "node-2", Labels: map[string]string{
			"nvidia.com/gpu.product": "Tesla-T4-SHARED", "nvidia.com/gpu.count": "1", "nvidia.com/gpu.memory": "16384", "nvidia.com/gpu.replicas": "2"}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2")}},
	}}
	inventory, err := device.FromNodes(gpuNodes, nil, device.LabelOptions{})
	if err != nil {
		panic(err)
	}
	var account share.Account
	for row := range gpuNodes {
		d, _ := inventory.Node(gpuNodes[row].Name)
		if err := account.Set(row, share.States(d)); err != nil {
			panic(err)
		}
	}
	devices := scorer.Bind(&account)
	for left := range 3 {
		var counted vector.Mask
		fits := vector.NewMask(2) // as Fit has left it
		fits.Set(0)
		if left < 2 {
			fits.Set(1)
		}
		if err := fitDevices(fits, &counted, &account, devices, needs); err != nil {
			panic(err)
		}
		if !fits.Any() {
			fmt.Println("no device is left")
			break
		}
		chosen, err := choose(fits.First(), &counted, &account, devices, needs[0])
		if err != nil {
			panic(err)
		}
		fmt.Println(gpuNodes[fits.First()].Name, "devices", chosen.Minors())
	}

	// Output:
	// pod-0 goes to node-2
	// pod-1 waits: the API server said no
	// pod-2 goes to node-1
	// pod-3 waits: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.
	// free on node-2 [8000 3.4359738368e+10 0 110 2 0]
	// free on node-3 [3000 0 0 -1 0 1]
	// nodes in the view: 2
	// late goes to node-2
	// node-1 devices [0]
	// node-2 devices []
	// no device is left
}
