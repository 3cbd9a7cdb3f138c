package quota_test

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// BenchmarkEnqueueableBatch decides on 10,000 jobs that wait in 10,000 queues beside
// 100,000 reservations; three of ten ask for lists of alternatives, every second one
// for more than there is. The batch, a loop over Enqueueable, and the maps of a plugin
// take turns, each of so many rounds on end; the metrics are of the fastest turns. An
// operation is a turn of all three.
func BenchmarkEnqueueableBatch(b *testing.B) {
	const waiting, spare, rounds = 10_000, 64, 8
	w := newBenchWorld(spare)
	w.reserveAll(b)
	plugin := newMapPlugin(w)
	jobs, mapJobs, want := make([]*quota.JobRequest, waiting), make([]*mapJob, waiting), make([]bool, waiting)
	for k, i := range rand.New(rand.NewPCG(1, 1)).Perm(benchJobs)[:waiting] {
		need := w.need(i, 1, 1)
		switch {
		case k%16 == 15:
			need = w.need(i, 1000, 1)
		case k%2 == 1:
			need = w.need(i, 1, 1000)
		}
		jobs[k], mapJobs[k], want[k] = w.job("waiting-"+jobID(i), i, need), plugin.job(w.jobs[i].team, need), k%2 == 0
	}
	var dst vector.Mask
	w.EnqueueableBatch(&dst, jobs)
	for k := range jobs {
		if dst.Test(k) != want[k] {
			b.Fatalf("job %d of the batch: %v", k, dst.Test(k))
		}
	}
	var batch, loop, mapLoop best
	var answer quota.Answer
	b.ReportAllocs()
	for b.Loop() {
		batch.sample(rounds*waiting, func() {
			for range rounds {
				w.EnqueueableBatch(&dst, jobs)
			}
		})
		loop.sample(rounds*waiting, func() {
			for k := range rounds * waiting {
				if k %= waiting; w.Enqueueable(&answer, jobs[k]) != want[k] {
					b.Fatalf("job %d: %+v", k, answer)
				}
			}
		})
		mapLoop.sample(rounds*waiting, func() {
			for k := range rounds * waiting {
				if k %= waiting; mapJobs[k].enqueueable() != want[k] {
					b.Fatalf("job %d of the maps", k)
				}
			}
		})
	}
	b.ReportMetric(float64(batch), "best-ns/job")
	b.ReportMetric(float64(loop/batch), "x-loop")
	b.ReportMetric(float64(mapLoop/batch), "x-maps")
	if dst.Count() != waiting/2 {
		b.Fatalf("%d of %d jobs", dst.Count(), waiting)
	}
}

// mapPlugin has queues in the form of Volcano's plugins: each amount is a struct of
// cpu, memory, and a map of other resources by name.
type mapPlugin struct{ teams []mapQueue }

type mapQueue struct{ capability, allocated, inqueue, elastic mapResource }

type mapResource struct {
	cpu, memory float64
	scalars     map[string]float64
}

type mapJob struct {
	queue *mapQueue
	min   mapResource
}

// newMapPlugin makes the queues of a world whose jobs are all reserved.
func newMapPlugin(w *benchWorld) *mapPlugin {
	p := &mapPlugin{make([]mapQueue, len(w.teams))}
	for i := range p.teams {
		q, capability := &p.teams[i], w.queues[benchDepartments+i].Capability
		for _, r := range []*mapResource{&q.capability, &q.allocated, &q.inqueue, &q.elastic} {
			r.scalars = map[string]float64{}
			for _, card := range w.teams[i].cards {
				r.scalars[benchCard(card)] = 0
			}
		}
		q.capability.cpu, q.capability.memory = capability[vectormap.CPU], capability[vectormap.Memory]
		for name := range q.capability.scalars {
			q.capability.scalars[name] = capability[w.card(name)]
		}
	}
	for i := range w.jobs {
		min := newMapResource(w.need(i, 1, 1), w.jobs[i].cards[0])
		p.teams[w.jobs[i].team].inqueue.add(&min, 1)
	}
	return p
}

func newMapResource(min *quota.Min, key string) mapResource {
	return mapResource{float64(min.CPU), float64(min.Memory), map[string]float64{key: float64(min.Items[0].Milli)}}
}

func (p *mapPlugin) job(team int, min *quota.Min) *mapJob {
	return &mapJob{&p.teams[team], newMapResource(min, strings.Join(min.Items[0].Alternatives, "|"))}
}

func (r *mapResource) add(other *mapResource, sign float64) {
	r.cpu += sign * other.cpu
	r.memory += sign * other.memory
	for name, amount := range other.scalars {
		r.scalars[name] += sign * amount
	}
}

// enqueueable decides as the capacity-card plugin does (Volcano, pull request 4706):
// the job's min is added to a copy of what is allocated and in queue, without what is
// elastic, and what was asked for compared with the capability, of a list of
// alternatives the sums.
func (j *mapJob) enqueueable() bool {
	q := j.queue
	total := mapResource{q.allocated.cpu, q.allocated.memory, maps.Clone(q.allocated.scalars)}
	total.add(&j.min, 1)
	total.add(&q.inqueue, 1)
	total.add(&q.elastic, -1)
	if j.min.cpu > 0 && total.cpu > q.capability.cpu || j.min.memory > 0 && total.memory > q.capability.memory {
		return false
	}
	for name, amount := range j.min.scalars {
		used, limit := total.scalars[name], q.capability.scalars[name]
		if strings.Contains(name, "|") {
			for _, card := range strings.Split(name, "|") {
				used += total.scalars[card]
				limit += q.capability.scalars[card]
			}
		}
		if amount > 0 && used > limit {
			return false
		}
	}
	return true
}
