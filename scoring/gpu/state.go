package gpu

import (
	"fmt"
	"math"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// wholeDevice is a whole device, in thousandths.
const wholeDevice = 1000

// Node is the GPUs of one node; see [NodeOf].
type Node struct {
	Model int32 // any number from 0 on, the same for equal models; negative: none

	// Left has an element per device: the thousandths that are left of it, 0 to
	// 1000. A node with eight idle GPUs is eight times 1000. Anything else counts
	// as a device with nothing left: {8000} is a node with one full GPU.
	Left []float64

	// Pods is how many pods of every class the node holds: class 0 is pods that
	// share a device, class k pods that have k devices. It may be shorter or nil.
	Pods []int32
}

// DeviceError says why [State.Place] or [State.Release] refused.
type DeviceError struct {
	Row    int
	Device int32   // the one at fault; -1: their number
	Left   float64 // of the device, in thousandths
	Reason string  // names the device
}

// Error names the row and the device.
func (e *DeviceError) Error() string {
	return fmt.Sprintf("gpu: row %d: %s", e.Row, e.Reason)
}

// State is what is left of the GPUs of many nodes, and which classes of pods they hold; a
// row is a node. [State.Place] and [State.Release] add and remove pods;
// [State.AppendNode], [State.SetNode] and [State.RemoveRow] add, change and remove nodes.
//
// Its rows are the rows of the matrices that the scheduler keeps of the same nodes. With
// [vector.Nodes], append a row when Set has made one, and call RemoveRow with the row
// that Delete freed: both move the last row there. To assume a pod, first Place it, then
// assume it on the nodes; if that fails, Release it.
//
// Like [vector.Matrix], it keeps a log of the rows that changed, and may be read
// concurrently while nobody writes. The zero value has no rows. Methods panic
// when a row is out of range. It is passed by pointer and not copied; see
// [State.CopyFrom].
type State struct {
	rows    []stateRow
	left    []float64 // every row one device after the other, padded with absent to whole groups of lanes
	parts   []int16   // in the place of left: what is left of the devices that are neither idle nor full, without fractions
	pods    []int32   // every row one class after the other
	classes []uint64  // by row: bit k is set when it holds pods of class k, the last one for all classes from there on; padded to whole blocks

	// summary has a column of totals and then, at k, the k-th greatest amount
	// left of a device, absent for rows of fewer devices; its log is the log of the
	// state. Rows of more than mostRanks devices have no more columns than that.
	summary vector.Matrix

	most       int    // devices of the widest row that there was
	fractional bool   // an amount may not be a whole number
	layout     uint64 // moved whenever rows come, go or change their place in left and pods

	// What CopyFrom copied last: the source, its layout and version, and the
	// version that this state had then.
	copied struct {
		from                *State
		layout, source, own uint64
		rows                []int32 // scratch
	}
}

// stateRow says where a row's devices and classes are. Rows don't overlap; what
// lies between them is left over.
type stateRow struct {
	first, devices int32 // of left
	pods           int32 // of pods: the classes are 0 to devices
	model          int32
	idle, parts    int32 // devices that are idle, and how many of parts there are
}

const (
	lanes     = 8  // float64 per cache line
	absent    = -1 // what is left of a device that isn't there: too little for any request
	mostRanks = 16 // columns of summary, but for the first
	lastClass = 63
)

const (
	panicRow   = "gpu: row out of range"
	panicPods  = "gpu: pods of a class that the node can't hold"
	panicShape = "gpu: operands have different numbers of rows"
	panicLarge = "gpu: too many devices"
)

// NewState returns the state of nodes, one row each, with the rules of
// [State.AppendNode].
func NewState(nodes []Node) *State {
	s := new(State)
	devices, pods := 0, 0
	for i := range nodes {
		n := len(nodes[i].Left)
		devices += padded(n)
		pods += n + 1
		s.most = max(s.most, n)
	}
	s.rows = make([]stateRow, 0, len(nodes))
	s.allocate(devices, pods)
	s.summary.Reset(vector.Schema{}, len(nodes), s.width())
	s.summary.Resize(0) // and keep the storage
	for _, node := range nodes {
		s.AppendNode(node)
	}
	return s
}

// AppendNode adds a row for a node and returns its index. What is left of a
// device is taken as 0 when it is NaN or outside 0 to 1000. It panics when Pods
// has a negative count, or pods of more devices than the node has. The node's
// slices are copied. Storage grows by doubling.
func (s *State) AppendNode(node Node) int {
	node.check()
	s.widen(len(node.Left))
	row := len(s.rows)
	if row == len(s.classes) {
		s.classes = append(s.classes, make([]uint64, kernel.Block)...)
	}
	s.rows = append(s.rows, stateRow{devices: -1})
	s.write(row, &node)
	var room rankRoom
	s.summary.AppendRow(s.ranked(row, &room))
	return row
}

// SetNode replaces a row, with the rules of [State.AppendNode].
func (s *State) SetNode(row int, node Node) {
	s.row(row)
	node.check()
	s.widen(len(node.Left))
	s.write(row, &node)
	s.summarize(row)
}

// RemoveRow removes a row. The last row takes its place, and its former index is
// returned; -1 when the row was the last one itself.
func (s *State) RemoveRow(row int) (moved int) {
	s.row(row)
	last := len(s.rows) - 1
	s.rows[row], s.rows = s.rows[last], s.rows[:last]
	s.classes[row] = s.classes[last]
	s.classes[last] = 0
	s.layout++
	return s.summary.RemoveRow(row)
}

// check panics when a node can't hold its pods.
func (n *Node) check() {
	for class, pods := range n.Pods {
		if pods < 0 || pods > 0 && class > len(n.Left) {
			panic(panicPods)
		}
	}
}

// padded returns the room for the devices of a row: whole groups of lanes.
func padded(devices int) int { return (devices + lanes - 1) &^ (lanes - 1) }

// width returns the number of columns of the summary.
func (s *State) width() int { return 1 + min(s.most, mostRanks) }

// widen makes the summary as wide as a row of so many devices takes.
func (s *State) widen(devices int) {
	s.most = max(s.most, devices)
	if s.width() > s.summary.Cols() {
		s.summary.Widen(vector.Schema{}, s.width())
		for row := range s.rows {
			s.summarize(row)
		}
	}
}

// write sets the devices, classes and model of a row.
func (s *State) write(row int, node *Node) {
	n := len(node.Left)
	if n > int(s.rows[row].devices) {
		s.place(row, n)
	}
	if n != int(s.rows[row].devices) {
		s.layout++
	}
	s.rows[row].devices, s.rows[row].model = int32(n), node.Model

	left := s.padded(&s.rows[row])
	for d := range left {
		switch {
		case d >= n:
			left[d] = absent
		case node.Left[d] >= 0 && node.Left[d] <= wholeDevice:
			left[d] = node.Left[d]
			s.fractional = s.fractional || left[d] != math.Trunc(left[d])
		default:
			left[d] = 0
		}
	}
	s.split(&s.rows[row])
	pods := s.Pods(row)
	clear(pods[copy(pods, node.Pods):])
	s.classes[row] = 0
	for class, n := range pods {
		if n > 0 {
			s.classes[row] |= classBit(class)
		}
	}
}

// split sets what a row has of idle devices and of parts.
func (s *State) split(r *stateRow) {
	r.idle, r.parts = 0, 0
	parts := s.parts[r.first:][:r.devices]
	for _, x := range s.left[r.first:][:r.devices] {
		switch {
		case x == wholeDevice:
			r.idle++
		case x > 0:
			parts[r.parts] = int16(x)
			r.parts++
		}
	}
}

// partsOf returns what is left of the devices of a row that are neither idle nor full.
func (s *State) partsOf(r *stateRow) []int16 { return s.parts[r.first:][:r.parts] }

// place finds a place for a row of so many devices.
func (s *State) place(row, devices int) {
	first, pods := len(s.left), len(s.pods)
	if first+padded(devices) > min(cap(s.left), cap(s.parts)) || pods+devices+1 > cap(s.pods) {
		s.rows[row].devices = -1 // it leaves its place
		s.compact(padded(devices), devices+1)
		first, pods = len(s.left), len(s.pods)
	}
	s.left, s.parts, s.pods = s.left[:first+padded(devices)], s.parts[:first+padded(devices)], s.pods[:pods+devices+1]
	s.rows[row].first, s.rows[row].pods = int32(first), int32(pods)
}

// compact moves all rows to new storage, without what was left over between
// them, and with room for as much again and so many devices and classes.
func (s *State) compact(devices, classes int) {
	for i := range s.rows {
		if n := int(s.rows[i].devices); n >= 0 {
			devices += padded(n)
			classes += n + 1
		}
	}
	left, parts, pods := s.left, s.parts, s.pods
	s.allocate(2*devices, 2*classes)
	for i := range s.rows {
		if r := &s.rows[i]; r.devices >= 0 {
			n := padded(int(r.devices))
			s.left = append(s.left, left[r.first:][:n]...)
			s.parts = append(s.parts, parts[r.first:][:n]...)
			s.pods = append(s.pods, pods[r.pods:][:r.devices+1]...)
			r.first, r.pods = int32(len(s.left)-n), int32(len(s.pods)-int(r.devices)-1)
		}
	}
	s.layout++
}

// allocate makes empty storage for so many devices and classes.
func (s *State) allocate(devices, classes int) {
	if devices > math.MaxInt32 || classes > math.MaxInt32 {
		panic(panicLarge)
	}
	s.left, s.parts, s.pods = make([]float64, 0, devices), make([]int16, 0, devices), make([]int32, 0, classes)
}

// classBit returns the bit of a class in classes.
func classBit(class int) uint64 { return 1 << min(class, lastClass) }

// held returns how many pods a row holds of the classes that share a bit.
func (s *State) held(pods []int32, class int) int32 {
	if class < lastClass {
		return pods[class]
	}
	return slices.Max(pods[lastClass:])
}

// summarize sets row i of the summary.
func (s *State) summarize(i int) {
	var room rankRoom
	s.summary.SetRow(i, s.ranked(i, &room))
}

// rankRoom is room for a row of the summary.
type rankRoom [1 + mostRanks]float64

// ranked returns row i of the summary, made from the devices.
func (s *State) ranked(i int, amounts *rankRoom) vector.ResourceVector {
	ranks := amounts[1:s.summary.Cols()]
	for k := range ranks {
		ranks[k] = absent
	}
	for d, x := range s.Devices(i) {
		amounts[0] += x
		k := min(d, len(ranks))
		for ; k > 0 && x > ranks[k-1]; k-- { // make room among the ranks, which descend
			if k < len(ranks) {
				ranks[k] = ranks[k-1]
			}
		}
		if k < len(ranks) {
			ranks[k] = x
		}
	}
	return amounts[:s.summary.Cols()]
}

// Rows returns the number of rows.
func (s *State) Rows() int {
	return len(s.rows)
}

// Devices returns what is left of the devices of a row, in thousandths, by
// device. It is a view for reading, valid until nodes come, go or change.
func (s *State) Devices(row int) []float64 {
	r := s.row(row)
	return s.left[r.first:][:r.devices:r.devices]
}

// Model returns the model of a row's devices, negative for none.
func (s *State) Model(row int) int32 {
	return s.row(row).model
}

// Total returns what is left of all devices of a row, in thousandths, added in
// the order of the devices.
func (s *State) Total(row int) float64 {
	s.row(row)
	return s.summary.At(row, 0)
}

// Pods returns how many pods of every class a row holds, as in [Node]. It is a
// view for reading, valid until nodes come, go or change.
func (s *State) Pods(row int) []int32 {
	r := s.row(row)
	return s.pods[r.pods:][: r.devices+1 : r.devices+1]
}

func (s *State) row(i int) *stateRow {
	if uint(i) >= uint(len(s.rows)) {
		panic(panicRow)
	}
	return &s.rows[i]
}

// padded returns the devices of a row with their padding: whole groups of lanes.
func (s *State) padded(r *stateRow) []float64 {
	return s.left[r.first:][:padded(int(r.devices))]
}

// Version returns a number that every change moves up. It starts anywhere.
func (s *State) Version() uint64 {
	return s.summary.Version()
}

// Changed sets dst to the rows that changed after version since, with the rules
// of [vector.Matrix.Changed].
func (s *State) Changed(dst []int32, since uint64) (rows []int32, all bool) {
	return s.summary.Changed(dst, since)
}

// Place takes a pod's request from the listed devices of a row, in any order. It is an
// error, and nothing changes, when the devices are not as many as the pod asks for, one
// is listed twice or isn't there, or has too little left ([*DeviceError]), or an amount
// of the request is bad ([*vector.AmountError]): Milli that is not above 0 and at most
// 1000 where Count is above 0, anything negative or not finite. The caller checks that
// the row's model is allowed. A pod without GPU changes nothing.
func (s *State) Place(row int, req *Request, devices []int32) error {
	return s.move(row, req, devices, -1)
}

// Release gives back what [State.Place] took. It is an error, and nothing
// changes, in the cases of Place, when a device would have more than 1000 left,
// and when the row holds no pod of this class.
func (s *State) Release(row int, req *Request, devices []int32) error {
	return s.move(row, req, devices, 1)
}

// releaseSlack is how much more than a whole device fractions of thousandths may
// seem to leave, as a share of it: their sums are rounded. Whole thousandths
// never need it.
const releaseSlack = 0x1p-40

// move is Place for sign -1, Release for sign 1.
func (s *State) move(row int, req *Request, devices []int32, sign int32) error {
	left, pods := s.Devices(row), s.Pods(row)
	if err := req.check(); err != nil {
		return err
	}
	if len(devices) != req.Count {
		return &DeviceError{Row: row, Device: -1, Reason: fmt.Sprintf("%d devices listed, %d requested", len(devices), req.Count)}
	}
	if req.Count == 0 {
		return nil
	}
	for k, d := range devices {
		if d < 0 || int(d) >= len(left) {
			return &DeviceError{Row: row, Device: d, Reason: fmt.Sprintf("the node has no device %d", d)}
		}
		refuse := func(format string, args ...any) error {
			return &DeviceError{Row: row, Device: d, Left: left[d], Reason: fmt.Sprintf("device %d ", d) + fmt.Sprintf(format, args...)}
		}
		switch {
		case slices.Contains(devices[:k], d):
			return refuse("is listed twice")
		case sign < 0 && left[d] < req.Milli:
			return refuse("has %g left, less than the %g requested", left[d], req.Milli)
		case sign > 0 && left[d]+req.Milli > wholeDevice*(1+releaseSlack):
			return refuse("has %g left, and %g more would be more than a device", left[d], req.Milli)
		}
	}
	class := req.class() // at most len(left): the devices are distinct
	if sign > 0 && pods[class] == 0 {
		d := devices[0]
		return &DeviceError{Row: row, Device: d, Left: left[d], Reason: fmt.Sprintf("device %d holds no pod of this class, like the whole node", d)}
	}

	for _, d := range devices {
		left[d] = min(left[d]+float64(float64(sign)*req.Milli), wholeDevice)
	}
	if req.Milli != math.Trunc(req.Milli) {
		s.fractional = true
	}
	pods[class] -= sign
	s.classes[row] |= classBit(class)
	if s.held(pods, class) == 0 {
		s.classes[row] &^= classBit(class)
	}
	s.split(&s.rows[row])
	s.summarize(row)
	return nil
}

// CopyFrom makes s a copy of src with a log of its own, reusing its storage. Copying again from the
// same source costs only the rows that changed in between, unless nodes came,
// went or changed their number of devices, and then only those count as changed
// in s.
func (s *State) CopyFrom(src *State) {
	if s == src {
		return
	}
	if !s.copyChanges(src) {
		s.rows = append(s.rows[:0], src.rows...)
		s.left = append(s.left[:0], src.left...)
		s.parts = append(s.parts[:0], src.parts...)
		s.pods = append(s.pods[:0], src.pods...)
		s.classes = append(s.classes[:0], src.classes...)
		s.most = src.most
		s.layout++
	}
	s.summary.CopyFrom(&src.summary)
	s.fractional = src.fractional
	s.copied.from, s.copied.layout, s.copied.source, s.copied.own = src, src.layout, src.Version(), s.Version()
}

// copyChanges copies the devices and pods of the rows of src that changed since
// the last copy. It reports false, having done nothing, when it does not know
// them all or they are in other places.
func (s *State) copyChanges(src *State) bool {
	if s.copied.from != src || s.copied.own != s.Version() || s.copied.layout != src.layout {
		return false
	}
	var all bool
	if s.copied.rows, all = src.Changed(s.copied.rows, s.copied.source); all {
		return false
	}
	for _, r := range s.copied.rows {
		row := int(r)
		s.rows[row].model = src.rows[row].model
		s.classes[row] = src.classes[row]
		copy(s.Devices(row), src.Devices(row))
		s.split(&s.rows[row])
		copy(s.Pods(row), src.Pods(row))
	}
	return true
}
