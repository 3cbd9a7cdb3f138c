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
	cpus    []float64        // what kinds ask for, ascending: cell k of a class has those that ask for less than cpus[k]
	perCPU  float64          // steps per unit of CPU
	steps   [cpuSteps]uint16 // how many cpus are below a step, where the search for the cell begins

	// ranks[1+l] says how many of the amounts that kinds of one device ask for
	// are at most l; ranks[0] is that of an absent device.
	ranks [wholeDevice + 2]uint16
	width int     // of one, per cell
	one   []int64 // how many kinds of one device can use a device, by cell and rank

	most  int     // devices that a kind asks for
	whole []int64 // how many kinds of many devices can use idle ones, by cell and number of these
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
	p.width = int(p.ranks[len(p.ranks)-1]) + 1
	slices.Sort(p.cpus)
	p.cpus = slices.Compact(p.cpus)
	p.findSteps()
	classes := p.classify(models)
	cells := classes * (len(p.cpus) + 1)
	if classes > mostModels || cells*(p.width+p.most+1) > mostPhiCells {
		return nil
	}
	p.one = make([]int64, cells*p.width)
	p.whole = make([]int64, cells*(p.most+1))
	for i := range t.pods {
		p.add(&t.pods[i])
	}
	accumulate(p.one, p.width, len(p.cpus)+1)
	accumulate(p.whole, p.most+1, len(p.cpus)+1)
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
	k, _ := slices.BinarySearch(p.cpus, m.CPU)
	count := func(class int) {
		cell := class*(len(p.cpus)+1) + k + 1
		if m.Count == 1 {
			p.one[cell*p.width+int(p.ranks[1+int(math.Ceil(m.Milli))])] += m.Pods
		} else {
			p.whole[cell*(p.most+1)+m.Count] += m.Pods
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

// cell returns the cell of a model and what is left of the CPU.
func (p *phiTable) cell(model int32, cpuLeft float64) phiCell {
	k := 0
	if step := cpuLeft * p.perCPU; step < cpuSteps-1 {
		k = int(p.steps[max(int(step), 0)])
	} else if cpuLeft > 0 {
		k = int(p.steps[cpuSteps-1])
	}
	for k < len(p.cpus) && cpuLeft >= p.cpus[k] {
		k++
	}
	if uint(model) < uint(len(p.classes)) {
		k += int(p.classes[model]) * (len(p.cpus) + 1)
	}
	return phiCell{p.one[k*p.width:][:p.width], p.whole[k*(p.most+1):][:p.most+1]}
}

// phiCell is a cell of a phiTable: its rows of one and whole.
type phiCell struct{ one, whole []int64 }

// idle returns what kinds of many devices can use of idle devices.
func (c phiCell) idle(devices int64) int64 {
	return devices * wholeDevice * c.whole[min(devices, int64(len(c.whole)-1))]
}

// phi returns Phi of a node. left is padded, here and below.
func (p *phiTable) phi(cpuLeft float64, left []float64, total float64, model int32) float64 {
	c := p.cell(model, cpuLeft)
	useful, idle := int64(0), int64(0)
	for _, x := range left {
		l := int64(x)
		useful += l * c.one[p.ranks[1+l]]
		if l == wholeDevice {
			idle++
		}
	}
	return float64(p.n*int64(total) - useful - c.idle(idle))
}

// gain returns by how much Phi falls when a node takes a pod with that many whole
// devices, 0 perhaps, and whether the devices can host it.
func (p *phiTable) gain(before, after phiCell, left []float64, count int64) (gain int64, ok bool) {
	idle := int64(0)
	for _, x := range left {
		l := int64(x)
		rank := p.ranks[1+l]
		gain += l * (after.one[rank] - before.one[rank])
		if l == wholeDevice {
			idle++
		}
	}
	gain += after.idle(idle-min(count, idle)) - before.idle(idle)
	gain += count * wholeDevice * (p.n - after.one[len(after.one)-1])
	return gain, idle >= count
}

// shareGain is gain for a pod that shares a device, the one with the greatest
// gain. The score grows with the gain, so that this is the best score: gains are
// whole numbers below 2^53, and the values of D of two of them differ by far
// more than exp is off.
func (p *phiTable) shareGain(before, after phiCell, left []float64, milli int64) (gain int64, ok bool) {
	const none = math.MinInt64 / 2
	best := int64(none) // of the devices in use
	idle := int64(0)
	for _, x := range left {
		l := int64(x)
		rank := p.ranks[1+l]
		useful := l * after.one[rank]
		gain += useful - l*before.one[rank]
		rest := l - milli
		change := rest*after.one[p.ranks[1+max(rest, -1)]] - useful
		if rest < 0 || l == wholeDevice {
			change = none
		}
		if l == wholeDevice {
			idle++
		}
		best = max(best, change)
	}
	if idle > 0 {
		rest := wholeDevice - milli
		change := rest*after.one[p.ranks[1+rest]] - wholeDevice*after.one[len(after.one)-1]
		best = max(best, change+after.idle(idle-1)-after.idle(idle))
	}
	return gain + after.idle(idle) - before.idle(idle) + p.n*milli + best, best > none
}

// idleGain is gain, or shareGain, for a node whose devices are all idle.
func (p *phiTable) idleGain(before, after phiCell, idle, count, milli int64) (gain int64, ok bool) {
	all := len(after.one) - 1
	gain = idle*wholeDevice*(after.one[all]-before.one[all]) - before.idle(idle) + count*milli*p.n
	gain += after.idle(idle-min(count, idle)) - count*wholeDevice*after.one[all]
	if rest := wholeDevice - milli; count == 1 {
		gain += rest * after.one[p.ranks[1+rest]]
	}
	return gain, idle >= count
}

// eachShare calls f for every device that a pod may share, and by how much Phi
// falls then.
func (p *phiTable) eachShare(before, after phiCell, left []float64, milli int64, f func(device int, gain int64)) {
	common, idle := p.n*milli, int64(0)
	for _, x := range left {
		l := int64(x)
		rank := p.ranks[1+l]
		common += l * (after.one[rank] - before.one[rank])
		if l == wholeDevice {
			idle++
		}
	}
	common += after.idle(idle) - before.idle(idle)
	for d, x := range left {
		l := int64(x)
		if l < milli {
			continue
		}
		gain := common + (l-milli)*after.one[p.ranks[1+l-milli]] - l*after.one[p.ranks[1+l]]
		if l == wholeDevice {
			gain += after.idle(idle-1) - after.idle(idle)
		}
		f(d, gain)
	}
}
