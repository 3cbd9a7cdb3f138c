package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/resvec/resvec/vector"
)

// The columns of all amounts.
const (
	cpu    = iota // cores
	memory        // GiB
	gpu
	columns
)

// node is what every node has.
var node = vector.ResourceVector{96, 768, 8}

// pod is a pod that runs.
type pod struct {
	row     int
	request vector.ResourceVector
}

// job is a gang of a queue that runs: its pods go together.
type job struct {
	pods  []pod
	queue int
}

// waiting is a gang, a job that waits: its pods start together or not at all.
type waiting struct {
	name    string
	members []vector.ResourceVector
	most    int  // members on one node; 0 is no limit
	inRack  bool // all on nodes of one rack
}

// rackNodes is how many nodes a rack has; the last one has fewer.
const rackNodes = 16

// alike returns a gang of n members that request the same.
func alike(name string, n int, request vector.ResourceVector) waiting {
	g := waiting{name: name, members: make([]vector.ResourceVector, n)}
	for i := range g.members {
		g.members[i] = request
	}
	return g
}

// cluster is the nodes, by row, and what runs there.
type cluster struct {
	free    []vector.ResourceVector
	running []job // in the order in which they may be evicted

	// above is what each queue has above its quota: no more is taken from it.
	above []vector.ResourceVector
}

func newCluster(nodes int) *cluster {
	c := &cluster{}
	for range nodes {
		c.free = append(c.free, node.Clone())
	}
	return c
}

// run places the pods of a job on rows that have room.
func (c *cluster) run(j job) {
	for _, p := range j.pods {
		for k, x := range p.request {
			c.free[p.row][k] -= x
		}
	}
	c.running = append(c.running, j)
}

// story is a cluster, the gangs that wait, and what is done for them.
type story struct {
	cluster *cluster
	gangs   []waiting
	do      func(e engine, c *cluster, g waiting, t *tally) decision
}

// stories are the actions.
var stories = []struct {
	action string
	make   func(nodes int, r *rand.Rand) story
}{
	{"allocate", allocateStory},
	{"jobs of one GPU", eachStory},
	{"reclaim", reclaimStory},
	{"reclaim large jobs", reclaimLargeStory},
	{"reclaim within quota", reclaimWithinStory},
	{"reclaim, anti-affinity", reclaimApartStory},
	{"reclaim within a rack", reclaimRackStory},
	{"preempt", preemptStory},
	{"consolidate", consolidateStory},
}

// allocateStory is a cluster with one to four free GPUs a node, and gangs of two to
// eight GPUs a member: some fit, most do not.
func allocateStory(nodes int, r *rand.Rand) story {
	c := newCluster(nodes)
	for row := range nodes {
		used := float64(4 + r.IntN(4))
		c.run(job{pods: []pod{{row, vector.ResourceVector{8 * used, 64 * used, used}}}})
	}
	s := story{cluster: c, do: allocate}
	for i := range 20 {
		gpus := float64(int(2) << (i % 3))
		members := max(2, nodes*(1+r.IntN(4))/8)
		s.gangs = append(s.gangs, alike(fmt.Sprintf("gang-%d", i), members, vector.ResourceVector{4 * gpus, 32 * gpus, gpus}))
	}
	return s
}

// eachStory is a cluster with one to four free GPUs a node, and more jobs of one GPU than
// have room.
func eachStory(nodes int, r *rand.Rand) story {
	s := allocateStory(nodes, r)
	s.do, s.gangs = allocateEach, []waiting{alike("jobs", 4*nodes, vector.ResourceVector{4, 32, 1})}
	return s
}

// singles fills all nodes with jobs of one pod.
func singles(c *cluster, r *rand.Rand, request vector.ResourceVector) {
	var pods []pod
	for row := range c.free {
		for range request.CopiesFit(c.free[row]) {
			pods = append(pods, pod{row, request})
		}
	}
	r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	for _, p := range pods {
		c.run(job{pods: []pod{p}})
	}
}

// reclaimStory is a cluster that one queue fills with pods of one GPU. Another queue
// reclaims whole nodes.
func reclaimStory(nodes int, r *rand.Rand) story {
	c := newCluster(nodes)
	singles(c, r, vector.ResourceVector{12, 96, 1})
	return story{cluster: c, do: evict, gangs: []waiting{alike("whole-nodes", max(2, nodes/50), vector.ResourceVector{90, 700, 8})}}
}

// reclaimLargeStory is a cluster that one queue fills with jobs of many pods.
func reclaimLargeStory(nodes int, r *rand.Rand) story {
	c := newCluster(nodes)
	for size := max(2, nodes/20); len(c.running)*size < nodes*4; {
		var j job
		for k := range size {
			j.pods = append(j.pods, pod{(len(c.running)*size + k) % nodes, vector.ResourceVector{20, 160, 2}})
		}
		fits := true
		for _, p := range j.pods {
			fits = fits && p.request.FitsIn(c.free[p.row])
		}
		if !fits {
			break
		}
		c.run(j)
	}
	r.Shuffle(len(c.running), func(i, j int) { c.running[i], c.running[j] = c.running[j], c.running[i] })
	return story{cluster: c, do: evict, gangs: []waiting{alike("large", max(2, nodes/4), vector.ResourceVector{80, 600, 8})}}
}

// reclaimWithinStory is a cluster that ten queues fill with pods of one GPU. They have a
// tenth more than their quota. One gang needs less than that, and one more.
func reclaimWithinStory(nodes int, r *rand.Rand) story {
	c := newCluster(nodes)
	singles(c, r, vector.ResourceVector{12, 96, 1})
	const queues = 10
	for range queues {
		gpus := float64(nodes*8) / queues / 10
		c.above = append(c.above, vector.ResourceVector{12 * gpus, 96 * gpus, gpus})
	}
	for i := range c.running {
		c.running[i].queue = i % queues
	}
	return story{cluster: c, do: reclaimWithin, gangs: []waiting{
		alike("more", max(2, nodes/5), vector.ResourceVector{90, 700, 8}),
		alike("less", max(1, nodes/20), vector.ResourceVector{12, 96, 1}),
	}}
}

// reclaimApartStory is a cluster of which every second node has GPUs, filled with jobs of many
// pods. Of one gang, a quarter of the nodes get a member, and the other wants more nodes than
// have GPUs.
func reclaimApartStory(nodes int, r *rand.Rand) story {
	c := newCluster(nodes)
	for row := 1; row < nodes; row += 2 {
		c.free[row][gpu] = 0
	}
	request := vector.ResourceVector{12, 96, 1}
	singles(c, r, request)
	var jobs []job
	for size := max(1, nodes/50); len(c.running) > 0; {
		var j job
		for _, single := range c.running[:min(size, len(c.running))] {
			j.pods = append(j.pods, single.pods...)
		}
		jobs, c.running = append(jobs, j), c.running[min(size, len(c.running)):]
	}
	c.running = jobs
	fits, many := alike("fits", max(1, nodes/4), request), alike("too-many", nodes/2+2, request)
	fits.most, many.most = 1, 1
	return story{cluster: c, do: evict, gangs: []waiting{many, fits}}
}

// reclaimRackStory is reclaimStory for a gang that has to be in one rack.
func reclaimRackStory(nodes int, r *rand.Rand) story {
	s := reclaimStory(nodes, r)
	s.gangs = []waiting{alike("whole-nodes", min(nodes, rackNodes/4), vector.ResourceVector{90, 700, 8})}
	s.gangs[0].inRack = true
	return s
}

// preemptStory is a cluster whose GPUs are free and whose cores are not: pods of low
// priority have them. A gang that needs both preempts.
func preemptStory(nodes int, r *rand.Rand) story {
	c := newCluster(nodes)
	singles(c, r, vector.ResourceVector{16, 32, 0})
	g := waiting{name: "inference"}
	for i := range max(8, nodes/10) {
		request := vector.ResourceVector{64, 256, 4}
		if i%4 == 0 {
			request = vector.ResourceVector{32, 512, 8}
		}
		g.members = append(g.members, request)
	}
	return story{cluster: c, do: evict, gangs: []waiting{g}}
}

// consolidateStory is a cluster with free GPUs everywhere and no free node. Pods move
// to make room for a gang of whole nodes; another gang needs more than there is.
func consolidateStory(nodes int, r *rand.Rand) story {
	c := newCluster(nodes)
	var pods []pod
	for row := range nodes {
		for range 3 + r.IntN(3) {
			pods = append(pods, pod{row, vector.ResourceVector{8, 64, 1}})
		}
	}
	for _, p := range pods { // node by node, so that nodes become empty
		c.run(job{pods: []pod{p}})
	}
	whole := vector.ResourceVector{90, 700, 8}
	return story{cluster: c, do: consolidate, gangs: []waiting{
		alike("fits", max(1, nodes/10), whole),
		alike("too-many", max(2, nodes*3/4), whole),
	}}
}
