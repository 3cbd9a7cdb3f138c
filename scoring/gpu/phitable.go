package gpu

import (
	"math"
	"slices"
)

// phiTable gives Phi in a step per device: since kinds want a part of one device
// or whole devices, what they can use of a node is a sum over its devices and a
// term for the number of idle ones. All amounts of devices are whole numbers.
//
// A cell is a model and a number of CPUs: kinds that don't allow the model or
// need more CPU count for nothing in it.
type phiTable struct {
	n       int64
	classes []int32          // of models: by model, and 0 beyond, where no list of models is satisfied
	cpus    []float64        // what kinds ask for, ascending, and NaN as an end: cell k of a class has those that ask for less than cpus[k]
	perCPU  float64          // steps per unit of CPU
	steps   [cpuSteps]uint16 // how many cpus are below a step, where the search for the cell begins

	// ranks[1+l] says how many of the amounts that kinds of one device ask for are at
	// most l; ranks[0] is 0, and nobody can use a device of this rank.
	ranks [1 << 10]uint16
	width int     // of one, per cell
	one   []int64 // how many kinds of one device can use a device, by cell and rank

	most int     // devices that a kind asks for
	idle []int64 // how many kinds of any number of devices can use an idle one, by cell and number of these
}

const (
	mostExactDevices = 1 << 12 // Phi stays below 2^53
	mostExactPods    = 1 << 31 // and two values of D are well apart
	mostPhiCells     = 1 << 20 // numbers in a table
	mostModels       = 1 << 16
	cpuSteps         = 1 << 10
)

// newPhiTable returns the table of t, nil when t has kinds that don't go into
// one, or too many.
func newPhiTable(t *Typical) *phiTable {
	if t.n >= mostExactPods {
		return nil
	}
	p := &phiTable{n: int64(t.n), most: 1}
	var models []int32
	for i := range t.pods {
		switch m := &t.pods[i]; {
		case m.Count == 0:
			continue
		case m.Count == 1:
			p.ranks[1+int(math.Ceil(m.Milli))] = 1
		case m.Milli <= wholeDevice-1 || m.Count > mostExactDevices:
			return nil
		default:
			p.most = max(p.most, m.Count)
		}
		p.cpus = append(p.cpus, t.pods[i].CPU)
		models = append(models, t.pods[i].Models...)
	}
	for i := range p.ranks[1:] {
		p.ranks[i+1] += p.ranks[i]
	}
	p.width = int(p.ranks[1+wholeDevice]) + 1
	slices.Sort(p.cpus)
	p.cpus = slices.Compact(p.cpus)
	p.findSteps()
	p.cpus = append(p.cpus, math.NaN())
	classes := p.classify(models)
	cells := classes * len(p.cpus)
	if classes > mostModels || cells*(p.width+p.most+1) > mostPhiCells {
		return nil
	}
	p.one = make([]int64, cells*p.width)
	p.idle = make([]int64, cells*(p.most+1))
	for i := range t.pods {
		p.add(&t.pods[i])
	}
	accumulate(p.one, p.width, len(p.cpus))
	accumulate(p.idle, p.most+1, len(p.cpus))
	for i := range p.idle { // whoever wants one device can use any number of idle ones
		p.idle[i] += p.one[(i/(p.most+1)+1)*p.width-1]
	}
	return p
}

// findSteps sets perCPU and steps. A step may begin a little early, by rounding.
func (p *phiTable) findSteps() {
	p.perCPU = 1
	if len(p.cpus) == 0 || p.cpus[len(p.cpus)-1] == 0 {
		return
	}
	p.perCPU = (cpuSteps - 1) / p.cpus[len(p.cpus)-1]
	for i := range p.steps {
		k, _ := slices.BinarySearch(p.cpus, float64(i)/p.perCPU*(1-0x1p-40))
		p.steps[i] = uint16(k)
	}
}

// classify sets classes and returns their number, more than mostModels when
// there are too many.
func (p *phiTable) classify(models []int32) int {
	slices.Sort(models)
	n := 0
	for _, model := range slices.Compact(models) {
		if model >= mostModels {
			return mostModels + 1
		}
		if model >= 0 {
			n++
			p.classes = append(p.classes, make([]int32, int(model)+1-len(p.classes))...)
			p.classes[model] = int32(n)
		}
	}
	return n + 1
}

// add counts a kind in the cells where it begins to count.
func (p *phiTable) add(m *TypicalPod) {
	if m.Count == 0 {
		return
	}
	k, _ := slices.BinarySearch(p.cpus[:len(p.cpus)-1], m.CPU)
	count := func(class int) {
		cell := class*len(p.cpus) + k + 1
		if m.Count == 1 {
			p.one[cell*p.width+int(p.ranks[1+int(math.Ceil(m.Milli))])] += m.Pods
		} else {
			p.idle[cell*(p.most+1)+m.Count] += m.Pods
		}
	}
	if len(m.Models) == 0 {
		count(0)
	}
	for model, class := range p.classes {
		if class > 0 && allows(m.Models, int32(model)) {
			count(int(class))
		}
	}
}

// accumulate makes sums of counts: over less CPU, and over smaller amounts. A
// class has rows of width counts each.
func accumulate(counts []int64, width, rows int) {
	for i := range counts {
		if i%(width*rows) >= width {
			counts[i] += counts[i-width]
		}
	}
	for i := range counts {
		if i%width > 0 {
			counts[i] += counts[i-1]
		}
	}
}

// cell returns the cell of a model and what is left of the CPU. It hardly branches, since
// nodes are in no order.
func (p *phiTable) cell(model int32, cpuLeft float64) int {
	k := 0
	if cpuLeft > 0 { // such numbers are in the order of their bits
		step := min(math.Float64bits(cpuLeft*p.perCPU), lastStep)
		k = int(p.steps[uint(int(math.Float64frombits(step)))%cpuSteps])
		k += int((math.Float64bits(p.cpus[k]) - 1 - math.Float64bits(cpuLeft)) >> 63)
	}
	for cpuLeft >= p.cpus[k] { // seldom: there are several of cpus in one step
		k++
	}
	if uint(model) < uint(len(p.classes)) {
		k += int(p.classes[model]) * len(p.cpus)
	}
	return k
}

// lastStep is the bits of the number of the last step.
var lastStep = math.Float64bits(cpuSteps - 1)

// row returns how many kinds of one device can use a device in a cell, by rank.
func (p *phiTable) row(cell int) []int64 { return p.one[cell*p.width:][:p.width] }

// useful returns what kinds can use of so many idle devices in a cell.
func (p *phiTable) useful(cell int, idle int64) int64 {
	return idle * wholeDevice * p.idle[cell*(p.most+1)+int(min(idle, int64(p.most)))]
}

// rank returns the rank of what is left of a device.
func (p *phiTable) rank(left int64) uint16 { return p.ranks[(1+left)&(1<<10-1)] }

// phi returns Phi of a node that has these idle devices, these parts of others, and so
// much in total.
func (p *phiTable) phi(cpuLeft float64, idle int64, parts []int16, total float64, model int32) float64 {
	c := p.cell(model, cpuLeft)
	one, useful := p.row(c), p.useful(c, idle)
	for _, x := range parts {
		useful += int64(x) * one[p.rank(int64(x))]
	}
	return float64(p.n*int64(total) - useful)
}

// gain returns by how much Phi falls when a node goes from one cell to another and gives
// away so many of its idle devices, 0 perhaps.
func (p *phiTable) gain(before, after int, idle int64, parts []int16, count int64) int64 {
	gain := count*wholeDevice*p.n + p.useful(after, idle-count) - p.useful(before, idle)
	if before == after {
		return gain
	}
	oneBefore, oneAfter := p.row(before), p.row(after)
	for _, x := range parts {
		rank := p.rank(int64(x))
		gain += int64(x) * (oneAfter[rank] - oneBefore[rank])
	}
	return gain
}

// shareGain is gain for a pod that shares a device, the one with the greatest
// gain; ok is false if none has enough left. The score grows with the gain, so that this
// is the best score: gains are whole numbers below 2^53, and the values of D of two of
// them differ by far more than exp is off.
func (p *phiTable) shareGain(before, after int, idle int64, parts []int16, milli int64) (gain int64, ok bool) {
	const none = math.MinInt64 / 2
	oneBefore, oneAfter := p.row(before), p.row(after)
	best, now := int64(none), p.useful(after, idle)
	if idle > 0 {
		rest := wholeDevice - milli
		best = rest*oneAfter[p.rank(rest)] + p.useful(after, idle-1) - now
	}
	for _, x := range parts {
		l := int64(x)
		rank := p.rank(l)
		useful := l * oneAfter[rank]
		gain += useful - l*oneBefore[rank]
		rest := l - milli
		best = max(best, rest*oneAfter[p.rank(max(rest, -1))]-useful+rest>>63&none)
	}
	return gain + now - p.useful(before, idle) + p.n*milli + best, best > none
}

// eachShare calls f for every device that a pod may share, and by how much Phi
// falls then. left is what is left of the devices.
func (p *phiTable) eachShare(before, after int, left []float64, milli int64, f func(device int, gain int64)) {
	oneBefore, oneAfter := p.row(before), p.row(after)
	common, idle := p.n*milli, int64(0)
	for _, x := range left {
		l := int64(x)
		if l == wholeDevice {
			idle++
			continue
		}
		rank := p.rank(l)
		common += l * (oneAfter[rank] - oneBefore[rank])
	}
	common += p.useful(after, idle) - p.useful(before, idle)
	for d, x := range left {
		l := int64(x)
		if l < milli {
			continue
		}
		gain := common + (l-milli)*oneAfter[p.rank(l-milli)]
		if l == wholeDevice {
			gain += p.useful(after, idle-1) - p.useful(after, idle)
		} else {
			gain -= l * oneAfter[p.rank(l)]
		}
		f(d, gain)
	}
}
