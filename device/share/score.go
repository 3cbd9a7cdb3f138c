package share

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ScoreDevice returns the score of one device for one instance, from 0 to 100:
// the weighted mean of the scores of the resources that the device has, that is
// whose total is above 0, truncated; 0 when it has none of them. With
//
//	used = total − free + req, or total where free is above total
//
// the score of a resource is [scoring.LeastStep] or [scoring.MostStep] of used
// and total. Free above total is taken as a mistake in the books, which must not
// attract pods: the resource counts as full. Negative free makes used larger than
// total. Resources without a weight don't count. No amount is too large: nothing
// wraps around or is rounded.
//
// The error wraps [ErrInvalidUnit]: a negative amount in req. A nil Scorer gives
// 0. It allocates nothing for up to eight columns.
func (s *Scorer) ScoreDevice(req Request, total Total, free Free) (int64, error) {
	if err := checkRequest(req); err != nil {
		return 0, err
	}
	return s.score(req, total, free), nil
}

// ScoreNode returns the score of a node for a pod. For each need, the totals and
// the free amounts of all devices of its kind are added up, and scored as one
// device by the rules of [Scorer.ScoreDevice]. The request is that of the whole
// pod, Count times PerInstance, or one instance with the option [PerInstance].
// The scores of several kinds are added and may exceed 100; a kind without
// devices adds 0.
//
// Errors come before any score: a negative Count or amount wraps
// [ErrInvalidUnit], a kind that is needed twice [ErrInvalidCombination], a sum of
// total or free of 2^63 or more [ErrNotRepresentable]; two devices of a kind with
// one minor are an error too. A nil Scorer gives 0. It allocates nothing for up to
// eight columns and 32 devices.
func (s *Scorer) ScoreNode(needs []Requirement, devices []State) (int64, error) {
	if err := checkNode(needs, devices); err != nil || s == nil {
		return 0, err
	}
	var sum int64
	var buf [typicalColumns]amounts
	for i := range needs {
		list, err := s.nodeAmounts(buf[:0], &needs[i], devices)
		if err != nil {
			return 0, err
		}
		sum += s.combine(list)
	}
	return sum, nil
}

// NormalizeScores rescales the selected scores in place so that the greatest
// becomes 100: s*100/max, truncated. A greatest score of 0 leaves all unchanged. It
// is [scoring.NormalizeScores] with [scoring.NormalizeMax]; nil nodes select all, and
// a mask may have fewer rows than there are scores, not more.
func NormalizeScores(scores []int64, nodes *vector.Mask) {
	scoring.NormalizeScores(scores, nodes, scoring.NormalizeMax)
}

// typicalColumns is how many resources are scored without allocating.
const typicalColumns = 8

// amounts is one resource of a device or a node.
type amounts struct{ request, total, free int64 }

// used returns how much is in use with the request, at most MaxInt64. The limit
// changes no score: what is used up to or beyond the total scores the same.
func (a *amounts) used() int64 {
	if a.free > a.total {
		return a.total
	}
	sum, carry := bits.Add64(uint64(a.total)-uint64(a.free), uint64(a.request), 0)
	if carry != 0 || sum > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(sum)
}

// score is ScoreDevice for a request that has no negative amounts.
func (s *Scorer) score(req Request, total Total, free Free) int64 {
	if s == nil {
		return 0
	}
	var buf [typicalColumns]amounts
	return s.combine(s.deviceAmounts(buf[:0], req, total, free))
}

// deviceAmounts appends the amounts of one device, an element per column.
func (s *Scorer) deviceAmounts(dst []amounts, req Request, total Total, free Free) []amounts {
	for _, name := range s.names {
		dst = append(dst, amounts{req[name], total[name], free[name]})
	}
	s.fill(dst)
	return dst
}

// nodeAmounts appends the amounts of all devices of a kind, an element per
// column.
func (s *Scorer) nodeAmounts(dst []amounts, need *Requirement, devices []State) ([]amounts, error) {
	for _, name := range s.names {
		var total, free wide
		for i := range devices {
			if d := &devices[i]; d.Kind == need.Kind {
				total.add(d.Total[name])
				free.add(d.Free[name])
			}
		}
		a := amounts{request: need.PerInstance[name]}
		if s.options&PerInstance == 0 {
			// A request beyond int64 is larger than any total, and scores as
			// the largest amount does.
			a.request, _ = mulDiv(need.Count, a.request, 1)
		}
		var totalFits, freeFits bool
		a.total, totalFits = total.int64()
		a.free, freeFits = free.int64()
		if !totalFits || !freeFits {
			return nil, fmt.Errorf("share: %s: the sum of %s over the devices must be below 2^63: %w", need.Kind, name, ErrNotRepresentable)
		}
		dst = append(dst, a)
	}
	s.fill(dst)
	return dst, nil
}

// fill completes a request for one of gpu-memory-ratio and gpu-memory with the
// other one, where both have a total.
func (s *Scorer) fill(list []amounts) {
	if !s.pairs {
		return
	}
	ratio, memory := &list[s.ratio], &list[s.memory]
	if ratio.total <= 0 || memory.total <= 0 {
		return
	}
	// What is beyond int64 here is beyond the total too; see amounts.used.
	switch {
	case memory.request == 0:
		memory.request, _ = mulDiv(ratio.request, memory.total, ratio.total)
	case ratio.request == 0:
		ratio.request, _ = mulDiv(memory.request, ratio.total, memory.total)
	}
}

// combine returns the weighted mean of the resources that are there.
func (s *Scorer) combine(list []amounts) int64 {
	var m scoreMean
	for i := range list {
		m.add(s, i, &list[i])
	}
	return m.score()
}

// scoreMean is the weighted mean of resources, on the way.
type scoreMean struct{ sum, weights int64 }

// add takes the resource of a column; it counts where it is there.
func (m *scoreMean) add(s *Scorer, column int, a *amounts) {
	if a.total > 0 {
		m.sum += s.weights[column] * s.step(a.used(), a.total)
		m.weights += s.weights[column]
	}
}

// score returns the mean, truncated, or 0 of nothing.
func (m *scoreMean) score() int64 {
	if m.weights == 0 {
		return 0
	}
	return m.sum / m.weights
}

// step returns the score of one resource.
func (s *Scorer) step(used, total int64) int64 {
	if s.most {
		return scoring.MostStep(used, total)
	}
	return scoring.LeastStep(used, total)
}

// checkRequest returns an error for the first negative amount, by name.
func checkRequest(req Request) error {
	if name, negative := firstNegative(req); negative {
		return unitError(name, req[name], "must be 0 "+unitOf(name)+" or more")
	}
	return nil
}

// firstNegative returns the first name with a negative amount.
func firstNegative(req Request) (first corev1.ResourceName, found bool) {
	for name, x := range req {
		if x < 0 && (!found || name < first) {
			first, found = name, true
		}
	}
	return first, found
}

// unitError returns an error that wraps ErrInvalidUnit.
func unitError(name corev1.ResourceName, amount any, reason string) error {
	return fmt.Errorf("%w: %s: %v: %s", ErrInvalidUnit, name, amount, reason)
}

// unitOf returns what an amount of a resource counts.
func unitOf(name corev1.ResourceName) string {
	switch name {
	case GPUMemory:
		return "bytes"
	case NPUCore, NPUCPU:
		return "cores"
	case GPUShared:
		return "instances"
	case nvidiaGPU, amdGPU, hygonDCU:
		return "devices"
	}
	return "percent of a device"
}

// checkNode checks the arguments of ScoreNode.
func checkNode(needs []Requirement, devices []State) error {
	if err := checkNeeds(needs); err != nil {
		return err
	}
	return checkStates(devices)
}

// checkNeeds checks the needs of one pod.
func checkNeeds(needs []Requirement) error {
	for i := range needs {
		need := &needs[i]
		if err := checkKind(need.Kind); err != nil {
			return err
		}
		if err := checkRequest(need.PerInstance); err != nil {
			return err
		}
		if need.Count < 0 {
			return fmt.Errorf("%w: count of %s: %d: must be 0 instances or more", ErrInvalidUnit, need.Kind, need.Count)
		}
		for k := range i {
			if needs[k].Kind == need.Kind {
				return fmt.Errorf("%w: kind: %s is needed twice: must be once", ErrInvalidCombination, need.Kind)
			}
		}
	}
	return nil
}

// kinds are the kinds of devices.
var kinds = [...]string{device.KindGPU, device.KindRDMA, device.KindFPGA}

// checkKind returns an error for a kind that no device has: of it there would be
// none for ever.
func checkKind(kind string) error {
	if fault := kindFault(kind); fault != nil {
		return fmt.Errorf("share: %w", fault)
	}
	return nil
}

func kindFault(kind string) error {
	if slices.Contains(kinds[:], kind) {
		return nil
	}
	return field.NotSupported(field.NewPath("kind"), shortText(kind), kinds[:])
}

// checkStates checks that the devices are of known kinds, and the minors of each
// kind distinct.
func checkStates(devices []State) error {
	if fault := statesFault(devices); fault != nil {
		return fmt.Errorf("share: %w", fault)
	}
	return nil
}

func statesFault(devices []State) error {
	for i := range devices {
		if fault := kindFault(devices[i].Kind); fault != nil {
			return fault
		}
	}
	if d := twin(devices); d != nil {
		return fmt.Errorf("two devices of kind %s with minor %d: minors must be distinct", d.Kind, d.Minor)
	}
	return nil
}

// twin returns a device whose kind and minor an earlier one has, nil if there is
// none.
func twin(devices []State) *State {
	const few = 32 // as many are compared in less time than a map takes
	if len(devices) > few {
		return twinOfMany(devices)
	}
	for i := range devices {
		for k := range i {
			if devices[i].Minor == devices[k].Minor && devices[i].Kind == devices[k].Kind {
				return &devices[i]
			}
		}
	}
	return nil
}

func twinOfMany(devices []State) *State {
	type key struct {
		kind  string
		minor int32
	}
	seen := make(map[key]bool, len(devices))
	for i := range devices {
		k := key{devices[i].Kind, devices[i].Minor}
		if seen[k] {
			return &devices[i]
		}
		seen[k] = true
	}
	return nil
}

// wide is a sum of 128 bits.
type wide struct {
	high int64
	low  uint64
}

func (w *wide) add(x int64) {
	low, carry := bits.Add64(w.low, uint64(x), 0)
	w.low, w.high = low, w.high+x>>63+int64(carry)
}

// int64 returns the sum, at least MinInt64; ok is false when it is above
// MaxInt64.
func (w *wide) int64() (x int64, ok bool) {
	switch {
	case w.high == int64(w.low)>>63:
		return int64(w.low), true
	case w.high < 0:
		return math.MinInt64, true
	}
	return math.MaxInt64, false
}

// mulDiv returns floor(x*y/z) for x, y >= 0 and z > 0, or MaxInt64 and false when
// that is more.
func mulDiv(x, y, z int64) (q int64, ok bool) {
	high, low := bits.Mul64(uint64(x), uint64(y))
	if high >= uint64(z) {
		return math.MaxInt64, false
	}
	quotient, _ := bits.Div64(high, low, uint64(z))
	if quotient > math.MaxInt64 {
		return math.MaxInt64, false
	}
	return int64(quotient), true
}
