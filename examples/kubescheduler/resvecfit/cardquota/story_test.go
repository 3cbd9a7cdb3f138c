package cardquota

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// roomy has queues with room for all pods of a story, and one without.
const roomy = `
queueLabel: queue
jobLabels: [job]
missing: Unlimited
queues:
- {name: a, cards: {H100: 1000, A100: 1000}}
- {name: b, cards: {H100: 1000, A100: 1000}}
- {name: tight, cards: {H100: 3, A100: 3}}
`

// story is a cluster in which all kinds of things happen, of which the ledger hears
// late: pods come, go and come again under their name, are bound by this scheduler and
// by others, resized, and moved to other queues; nodes get other cards.
type story struct {
	*testing.T
	*rand.Rand
	*cluster
	pods    map[string]*corev1.Pod    // in the informer's cache, by name
	news    [][2]*corev1.Pod          // that the handler hasn't heard of: before and after
	assumed map[types.UID]*corev1.Pod // that are reserved and not bound yet
	made    int
}

// TestStories: whatever happens in whatever order, once all is heard of, the charges are
// those that a new ledger makes of the same pods.
func TestStories(t *testing.T) {
	for seed := range uint64(300) {
		s := &story{
			T: t, Rand: rand.New(rand.NewPCG(seed, 0)), cluster: newCluster(t, roomy),
			pods: map[string]*corev1.Pod{}, assumed: map[types.UID]*corev1.Pod{},
		}
		for range 120 {
			if s.step(fmt.Sprint("pod-", s.IntN(6))); s.IntN(12) == 0 {
				s.compare(seed)
			}
		}
	}
}

func (s *story) oneOf(items ...string) string { return items[s.IntN(len(items))] }

// set changes a pod in the cache; nil takes it out.
func (s *story) set(name string, now *corev1.Pod) {
	before := s.pods[name]
	delete(s.pods, name)
	if before != nil {
		testkit.Check(s.known.Delete(before))
		s.touch(before.Spec.NodeName)
	}
	if now != nil {
		testkit.Check(s.known.Add(now))
		s.touch(now.Spec.NodeName)
		s.pods[name] = now
	}
	s.news = append(s.news, [2]*corev1.Pod{before, now})
}

// hear gives the handler some news, in order.
func (s *story) hear(n int) {
	for _, pods := range s.news[:min(n, len(s.news))] {
		s.podChanged(pods[0], pods[1])
	}
	s.news = s.news[min(n, len(s.news)):]
}

func (s *story) step(name string) {
	now := s.pods[name]
	waits := now != nil && now.Spec.NodeName == "" && !hasEnded(now)
	switch n := s.IntN(14); {
	case n < 3 && now == nil || n == 0:
		s.create(name)
	case n < 4:
		s.set(name, nil)
	case n < 5 && waits: // by another scheduler
		s.set(name, bound(now.DeepCopy(), s.oneOf("h", "a")))
	case n < 6 && now != nil:
		s.change(now.DeepCopy())
	case n < 8 && waits && s.assumed[now.UID] == nil:
		node := s.oneOf("h", "a")
		if s.place(now, node) == "" {
			s.assumed[now.UID] = bound(now.DeepCopy(), node)
		}
		s.hear(s.IntN(3))
	case n < 10:
		s.hear(1 + s.IntN(4))
	case n < 12 && len(s.assumed) > 0:
		s.finish()
	case n == 12 && s.IntN(4) == 0:
		s.relabel(s.oneOf("H100", "A100"))
	default:
		s.Admit(context.Background(), newPod("probe", "tight", "1", "H100"), s.nodes)
	}
}

// create makes a pod, also in the place of one of the same name, of which there is
// news of its own or not.
func (s *story) create(name string) {
	pod := newPod(name, s.oneOf("a", "b", "tight", ""), s.oneOf("1", "2"), s.oneOf("H100", "A100", "H100|A100", ""))
	s.made++
	pod.UID = types.UID(fmt.Sprint("uid-", s.made))
	if s.IntN(2) == 0 {
		ofJob(pod, "job")
	}
	if s.IntN(2) == 0 {
		bound(pod, s.oneOf("h", "a"))
	}
	if s.pods[name] != nil && s.IntN(2) == 0 {
		s.set(name, nil)
	}
	s.set(name, pod)
}

func (s *story) change(pod *corev1.Pod) {
	switch s.IntN(4) {
	case 0:
		pod.Spec.Containers[0].Resources.Requests = amounts("cpu", "1", "nvidia.com/gpu", s.oneOf("1", "2", "3"))
	case 1:
		pod.Labels["queue"] = s.oneOf("a", "b", "tight")
	case 2:
		delete(pod.Labels, "queue")
	case 3:
		pod.Status.Phase = corev1.PodFailed
	}
	s.set(pod.Name, pod)
}

// finish ends the binding of the first pod, well or not.
func (s *story) finish() {
	uid := slices.Min(slices.Collect(maps.Keys(s.assumed)))
	assumed := s.assumed[uid]
	delete(s.assumed, uid)
	now := s.pods[assumed.Name]
	same := now != nil && now.UID == uid && !hasEnded(now)
	switch {
	case same && now.Spec.NodeName == "" && s.IntN(3) > 0:
		s.set(now.Name, bound(now.DeepCopy(), assumed.Spec.NodeName))
	case same && now.Spec.NodeName == assumed.Spec.NodeName && s.IntN(2) == 0: // bound already
	default:
		s.Unreserve(context.Background(), assumed, assumed.Spec.NodeName)
	}
}

// compare lets the ledger hear of everything, and compares it with a new one.
func (s *story) compare(seed uint64) {
	for len(s.assumed) > 0 {
		s.finish()
	}
	s.hear(len(s.news))
	fresh := newCluster(s.T, roomy)
	fresh.nodes = s.nodes
	for _, pod := range s.pods {
		testkit.Check(fresh.known.Add(pod))
	}
	charges := func(c *cluster) (text string) {
		c.Admit(context.Background(), newPod("probe", "tight", "9", "H100"), c.nodes)
		for _, name := range []string{"a", "b", "tight"} {
			q, _ := c.account.Queue(name)
			text += fmt.Sprintf("%s: %vm cpu, %dm H100, %dm A100\n", name, q.CPU.Allocated, q.Usage("H100").Allocated, q.Usage("A100").Allocated)
		}
		return text + fmt.Sprintln(len(c.charged), "charged,", len(c.unsettled), "to be charged", c.account.Check())
	}
	if got, want := charges(s.cluster), charges(fresh); got != want {
		s.Fatalf("seed %d: the ledger has\n%sa new one\n%s", seed, got, want)
	}
}
