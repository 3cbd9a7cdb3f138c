package benchmarks

import "math"

// fragNode is the data structure of the simulator of the paper on fragmentation
// (Weng et al., USENIX ATC '23), simontype.NodeResource: cpu left, what is left
// of each device, the model by name.
type fragNode struct {
	milliCPU int64
	devices  []int64
	model    string
}

// fragPod is its TargetPod: a typical pod and how many of them there are. The
// simulator keeps a share of all pods instead of the count; counts add up
// exactly.
type fragPod struct {
	milliCPU, milli, devices int64
	models                   map[string]bool // empty: any
	count                    int64
}

// fragClasses numbers the kinds of fragments by name, as the simulator does.
var fragClasses = map[string]int{
	"satisfied": 0, "lack gpu": 1, "lack cpu": 2, "no access": 3, "crumbs": 4,
}

// fragLoop computes on maps and copies of nodes, typical pod after typical pod.
type fragLoop struct {
	typical []fragPod
	total   int64
	amounts [8]int64 // by class
	after   fragNode
}

// fragmentation returns what the typical pods can't use of a node, times their
// number.
func (l *fragLoop) fragmentation(n *fragNode) int64 {
	clear(l.amounts[:])
	for i := range l.typical {
		l.classify(n, &l.typical[i])
	}
	lost := int64(0)
	for name, class := range fragClasses {
		if name != "satisfied" {
			lost += l.amounts[class]
		}
	}
	return lost
}

// classify adds what is left of a node to the classes that it is of for one
// typical pod.
func (l *fragLoop) classify(n *fragNode, pod *fragPod) {
	class := "satisfied"
	switch {
	case pod.devices == 0 || len(pod.models) > 0 && !pod.models[n.model]:
		class = "no access"
	case n.milliCPU < pod.milliCPU:
		class = "lack cpu"
	case !n.holds(pod.devices, pod.milli):
		class = "lack gpu"
	}
	for _, left := range n.devices {
		if class == "satisfied" && left < pod.milli {
			l.amounts[fragClasses["crumbs"]] += pod.count * left
		} else {
			l.amounts[fragClasses[class]] += pod.count * left
		}
	}
}

// holds reports whether that many devices have as much left.
func (n *fragNode) holds(devices, milli int64) bool {
	for _, left := range n.devices {
		if left >= milli {
			if devices--; devices <= 0 {
				return true
			}
		}
	}
	return devices <= 0
}

// fgd scores one node: how much less of it is a fragment with the pod on it.
func (l *fragLoop) fgd(n *fragNode, pod *fragPod) float64 {
	if n.milliCPU < pod.milliCPU || !n.holds(pod.devices, pod.milli) {
		return 0
	}
	before := l.fragmentation(n)
	after := &l.after
	after.model, after.milliCPU = n.model, n.milliCPU-pod.milliCPU
	after.devices = append(after.devices[:0], n.devices...)
	if pod.devices != 1 || pod.milli == 1000 {
		wanted := pod.devices
		for i, left := range after.devices {
			if left >= pod.milli && wanted > 0 {
				after.devices[i] -= pod.milli
				wanted--
			}
		}
		return fragScore(before-l.fragmentation(after), l.total)
	}
	best := 0.0
	for i, left := range n.devices {
		if left >= pod.milli {
			after.devices[i] = left - pod.milli
			best = max(best, fragScore(before-l.fragmentation(after), l.total))
			after.devices[i] = left
		}
	}
	return best
}

// fragScore maps a decrease of fragmentation to 0 to 100.
func fragScore(decrease, total int64) float64 {
	d := float64(decrease) / float64(total) / 1000
	return math.Trunc(100 / (1 + math.Exp(-d)))
}

func (l *fragLoop) all(dst []float64, nodes []*fragNode, pod *fragPod) {
	for i, n := range nodes {
		dst[i] = l.fgd(n, pod)
	}
}

// fragRow is a node of a row loop, with its model as a number.
type fragRow struct {
	cpu     int64
	devices []int64
	model   int32
}

// fragRowPod is a typical pod of a row loop; models is a set of bits, 0 for any.
type fragRowPod struct {
	cpu, milli, devices, count int64
	models                     uint64
}

// lost is fragmentation for all typical pods, without names. moved is what is
// taken off device at.
func (n *fragRow) lost(typical []fragRowPod, cpu int64, at int, moved int64) int64 {
	sum, total := int64(0), -moved
	for _, left := range n.devices {
		total += left
	}
	for i := range typical {
		pod := &typical[i]
		if pod.devices == 0 || cpu < pod.cpu || pod.models != 0 && pod.models>>n.model&1 == 0 {
			sum += pod.count * total
			continue
		}
		enough, crumbs := int64(0), int64(0)
		for j, left := range n.devices {
			if j == at {
				left -= moved
			}
			if left >= pod.milli {
				enough++
			} else {
				crumbs += left
			}
		}
		if enough < pod.devices {
			crumbs = total
		}
		sum += pod.count * crumbs
	}
	return sum
}

func (n *fragRow) fgd(typical []fragRowPod, total int64, pod *fragRowPod, scratch *fragRow) float64 {
	enough := int64(0)
	for _, left := range n.devices {
		if left >= pod.milli {
			enough++
		}
	}
	if n.cpu < pod.cpu || enough < pod.devices {
		return 0
	}
	before, cpu := n.lost(typical, n.cpu, -1, 0), n.cpu-pod.cpu
	if pod.devices != 1 || pod.milli == 1000 {
		scratch.model = n.model
		scratch.devices = append(scratch.devices[:0], n.devices...)
		wanted := pod.devices
		for i, left := range scratch.devices {
			if left >= pod.milli && wanted > 0 {
				scratch.devices[i] -= pod.milli
				wanted--
			}
		}
		return fragScore(before-scratch.lost(typical, cpu, -1, 0), total)
	}
	best := 0.0
	for i, left := range n.devices {
		if left >= pod.milli {
			best = max(best, fragScore(before-n.lost(typical, cpu, i, pod.milli), total))
		}
	}
	return best
}

func rowsFGD(dst []float64, nodes []*fragRow, typical []fragRowPod, total int64, pod *fragRowPod, scratch *fragRow) {
	for i, n := range nodes {
		dst[i] = n.fgd(typical, total, pod, scratch)
	}
}
