package benchmarks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// deviceShape is a problem of the device scorer: nodes with so many GPUs each, and
// so many resources that are scored: gpu-memory-ratio, or gpu-memory too.
type deviceShape struct{ nodes, devices, resources int }

func (s deviceShape) String() string {
	return fmt.Sprintf("nodes=%d/devices=%d/resources=%d", s.nodes, s.devices, s.resources)
}

var deviceShapes = []deviceShape{{5000, 8, 1}, {5000, 8, 2}}

// deviceScores is one problem in all forms, and the answers.
type deviceScores struct {
	deviceShape
	bound *share.Bound
	needs [][]share.Requirement // the variants of the question

	plugin   *deviceSharePlugin
	cache    []*nodeDevices
	requests []corev1.ResourceList

	nodes, wantNodes     []int64
	devices, wantDevices []int64
}

func newDeviceScores(s deviceShape) *deviceScores {
	const memory = 80 << 30
	r := rand.New(rand.NewPCG(300, 1))
	cfg := share.KoordinatorDefaults()
	cfg.Resources = cfg.Resources[:s.resources]
	rows := s.nodes * s.devices
	d := &deviceScores{
		deviceShape: s,
		plugin:      &deviceSharePlugin{weights: map[corev1.ResourceName]int64{}},
		nodes:       make([]int64, s.nodes), wantNodes: make([]int64, s.nodes),
		devices: make([]int64, rows), wantDevices: make([]int64, rows),
	}
	for _, spec := range cfg.Resources {
		d.plugin.weights[corev1.ResourceName(spec.Name)] = spec.Weight
	}
	var account share.Account
	for k := range s.nodes {
		var states []share.State
		node := &nodeDevices{total: map[string]deviceResources{}, free: map[string]deviceResources{}}
		node.total[device.KindGPU], node.free[device.KindGPU] = deviceResources{}, deviceResources{}
		for minor := range s.devices {
			free := int64(r.IntN(101))
			node.total[device.KindGPU][minor] = gpuResources(100, memory)
			node.free[device.KindGPU][minor] = gpuResources(free, memory/100*free)
			states = append(states, share.State{
				Kind: device.KindGPU, Minor: int32(minor),
				Total: share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100, share.GPUMemory: memory},
				Free:  share.Amounts{share.GPUCore: free, share.GPUMemoryRatio: free, share.GPUMemory: memory / 100 * free},
			})
		}
		testkit.Check(account.Set(k, states))
		d.cache = append(d.cache, node)
	}
	d.bound = testkit.Must(share.NewScorer(cfg)).Bind(&account)
	for range variants {
		ratio := int64(1 + r.IntN(100))
		need := share.Requirement{
			Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUCore: ratio, share.GPUMemoryRatio: ratio}, Count: 1,
		}
		d.needs = append(d.needs, []share.Requirement{need})
		d.requests = append(d.requests, need.PerInstance.List())
	}
	return d
}

// gpuResources is one device as it is reported, idle or not.
func gpuResources(percent, memory int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceName(share.GPUCore.String()):        *resource.NewQuantity(percent, resource.DecimalSI),
		corev1.ResourceName(share.GPUMemoryRatio.String()): *resource.NewQuantity(percent, resource.DecimalSI),
		corev1.ResourceName(share.GPUMemory.String()):      *resource.NewQuantity(memory, resource.BinarySI),
	}
}

func (d *deviceScores) scoreNodes(k int) {
	testkit.Check(d.bound.Score(d.nodes, d.needs[k], nil))
}

func (d *deviceScores) scoreDevices(k int) {
	testkit.Check(d.bound.ScoreDevices(d.devices, d.needs[k][0].PerInstance, nil))
}

func (d *deviceScores) pluginNodes(k int) {
	for i, node := range d.cache {
		d.wantNodes[i] = d.plugin.scoreNode(d.requests[k], node.total[device.KindGPU], node.free[device.KindGPU])
	}
}

func (d *deviceScores) pluginDevices(k int) {
	for i, node := range d.cache {
		total, free := node.total[device.KindGPU], node.free[device.KindGPU]
		for minor, list := range total {
			d.wantDevices[i*d.deviceShape.devices+minor] = d.plugin.scoreDevice(d.requests[k], list, free[minor])
		}
	}
}

// verify compares the answers to all questions.
func (d *deviceScores) verify() error {
	for k := range d.needs {
		for _, do := range []func(int){d.scoreNodes, d.scoreDevices, d.pluginNodes, d.pluginDevices} {
			do(k)
		}
		if err := errors.Join(
			same("Score", len(d.nodes), at(d.nodes), at(d.wantNodes)),
			same("ScoreDevices", len(d.devices), at(d.devices), at(d.wantDevices)),
		); err != nil {
			return err
		}
	}
	return nil
}

// nodeDevices is the form in which Koordinator's DeviceShare plugin
// (pkg/scheduler/plugins/deviceshare) keeps the devices of a node: by kind and by
// minor a corev1.ResourceList of what they have and of what is free.
type nodeDevices struct{ total, free map[string]deviceResources }

type deviceResources map[int]corev1.ResourceList

// deviceSharePlugin scores as its LeastAllocated does: it computes with
// resource.Quantity, collects what is requested and what there is by name, and
// takes the weighted mean. Other than there, only resources with a weight are
// added up for a node.
type deviceSharePlugin struct{ weights map[corev1.ResourceName]int64 }

// amountsByName is what counts of each resource.
type amountsByName map[corev1.ResourceName]int64

func (p *deviceSharePlugin) scoreDevice(request, total, free corev1.ResourceList) int64 {
	requested, allocatable := make(amountsByName, len(p.weights)), make(amountsByName, len(p.weights))
	for name := range p.weights {
		collect(requested, allocatable, name, request[name], total[name], free[name])
	}
	return p.leastAllocated(requested, allocatable)
}

func (p *deviceSharePlugin) scoreNode(request corev1.ResourceList, total, free deviceResources) int64 {
	requested, allocatable := make(amountsByName, len(p.weights)), make(amountsByName, len(p.weights))
	for name := range p.weights {
		collect(requested, allocatable, name, request[name], total.sum(name), free.sum(name))
	}
	return p.leastAllocated(requested, allocatable)
}

// sum adds up a resource of all devices.
func (d deviceResources) sum(name corev1.ResourceName) (sum resource.Quantity) {
	for _, list := range d {
		sum.Add(list[name])
	}
	return sum
}

// collect notes what is used with the request and what there is of a resource.
func collect(requested, allocatable amountsByName, name corev1.ResourceName, request, total, free resource.Quantity) {
	if total.IsZero() {
		return
	}
	used := total.DeepCopy()
	used.Sub(free)
	used.Add(request)
	requested[name], allocatable[name] = used.Value(), total.Value()
}

func (p *deviceSharePlugin) leastAllocated(requested, allocatable amountsByName) int64 {
	var score, weights int64
	for name, capacity := range allocatable {
		weight := p.weights[name]
		if used := requested[name]; used <= capacity {
			score += (capacity - used) * 100 / capacity * weight
		}
		weights += weight
	}
	if weights == 0 {
		return 0
	}
	return score / weights
}

// deviceScorers are what is measured: the library's way and the plugin's.
var deviceScorers = []struct {
	name          string
	batch, plugin func(d *deviceScores, k int)
}{
	{"ScoreNodes", (*deviceScores).scoreNodes, (*deviceScores).pluginNodes},
	{"ScoreDevices", (*deviceScores).scoreDevices, (*deviceScores).pluginDevices},
}

// BenchmarkDeviceScoreRatio is [BenchmarkRatio] for the device scorer.
//
//	ns/call               of the kernel
//	resourcelist-ns/call  of the plugin's lists
//	x_resourcelist        how many times as fast as the lists
func BenchmarkDeviceScoreRatio(b *testing.B) {
	for _, shape := range deviceShapes {
		problem := sync.OnceValue(func() *deviceScores { return newDeviceScores(shape) })
		for _, op := range deviceScorers {
			for _, impl := range slices.Backward(kernel.Available()) {
				b.Run(fmt.Sprintf("device=%s/impl=%v/%v", op.name, impl, shape), func(b *testing.B) {
					defer kernel.Use(impl)()
					d := problem()
					watch := func(do func(*deviceScores, int)) *stopwatch.Stopwatch {
						w := stopwatch.New(variants, func(k int) { do(d, k) })
						w.Call()
						return w
					}
					ours, lists := watch(op.batch), watch(op.plugin)
					alternate(b, ours, lists)
					testkit.Check(d.verify())
					b.ReportMetric(ours.Best, "ns/call")
					b.ReportMetric(lists.Best, "resourcelist-ns/call")
					b.ReportMetric(lists.Best/ours.Best, "x_resourcelist")
				})
			}
		}
	}
}
