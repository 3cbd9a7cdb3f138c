package quota

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// resourceList makes a list of "cpu:2 mem:3Gi gpu:1 mig-1g.5gb:4"; devices are of
// nvidia.com.
func resourceList(text string) corev1.ResourceList {
	if text == "" {
		return nil
	}
	list := corev1.ResourceList{}
	for _, entry := range strings.Fields(text) {
		name, amount, _ := strings.Cut(entry, ":")
		switch name {
		case "cpu", "pods":
		case "mem":
			name = "memory"
		default:
			name = "nvidia.com/" + name
		}
		list[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return list
}

// podOf makes a pod of one container with limits, and the annotation of cards.
func podOf(cards, limits string) *corev1.Pod {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Limits: resourceList(limits), Requests: resourceList(limits)},
	}}}}
	if cards != "" {
		pod.Annotations = map[string]string{NameAnnotation: cards}
	}
	return pod
}

// fleet is a ledger over nodes a, with A100 and the MIG devices M, h, with H100,
// and both, with A100 and H100.
func fleet(t *testing.T, cfg Config, pairs ...string) *world {
	t.Helper()
	return worldOf(t, cfg, map[string]string{
		"a": "A100:8 M@nvidia.com/mig-1g.5gb:7", "h": "H100:8", "both": "A100:4 H100:4",
	}, pairs...)
}

// worldOf makes a ledger over the cards of some nodes.
func worldOf(t *testing.T, cfg Config, nodes map[string]string, pairs ...string) *world {
	t.Helper()
	found := cluster(nodes)
	m := testkit.Must(testMap(append([]string{"Quoted"}, found.Cards()...)))
	return &world{t, testkit.Must(newBuilt(cfg, m, found, qs(m, pairs...)))}
}

// text writes a need as "2000/1024 A100:2000 A|B:4000/2000".
func (n Min) text() string {
	s := fmt.Sprintf("%d/%d", n.CPU, n.Memory)
	for _, it := range n.Items {
		s += fmt.Sprintf(" %s:%d", strings.Join(it.Alternatives, "|"), it.Milli)
		if it.Unit != defaultUnit {
			s += fmt.Sprintf("/%d", it.Unit)
		}
	}
	return s
}

// codes writes notes as "Ghost UnknownCard, EmptyAlternative".
func codes(notes []entryError) string {
	var parts []string
	for _, n := range notes {
		parts = append(parts, strings.TrimSpace(n.Name+" "+n.Code))
	}
	return strings.Join(parts, ", ")
}

// sayTask is what a task resolves to: its need, or that it is invalid.
func (w *world) sayTask(task Task) (need, notes string) {
	w.Helper()
	task.ID, task.Job, task.Queue = "t", "j", "q"
	r, list, err := w.resolveTask(task)
	switch {
	case err != nil:
		return err.Error(), ""
	case r.Invalid() != "":
		if r.Need().text() != "0/0" || r.queue != "q" {
			w.Errorf("invalid, but %+v", r.Need())
		}
		return "invalid: " + r.Invalid(), codes(list)
	}
	return r.Need().text(), codes(list)
}

func TestResolveTaskNames(t *testing.T) {
	for _, c := range []struct{ cards, limits, want, notes string }{
		{"A100", "gpu:2", "0/0 A100:2000", ""},
		{"A100", "cpu:2", `invalid: volcano.sh/card.name: card "A100": this card is carried by nvidia.com/gpu, of which the pod requests none`, "A100 NoResourceForCard"},
		{"Ghost", "gpu:2", `invalid: volcano.sh/card.name: no card of "Ghost" is known: known are A100, H100, M`, "Ghost UnknownCard"},
		{"Ghost|Spook", "gpu:2", `invalid: volcano.sh/card.name: no card of "Ghost|Spook" is known: known are A100, H100, M`, "Ghost UnknownCard, Spook UnknownCard"},
		{"A100 | H100", "gpu:1", "0/0 A100|H100:1000", ""},
		{"A100|A100|H100", "gpu:1", "0/0 A100|H100:1000", "A100 DuplicateAlternative"},
		{"A100|Ghost", "gpu:1", "0/0 A100:1000", "Ghost UnknownCard"},
		{"H100| A100|H100 |", "gpu:1", "0/0 H100|A100:1000", "H100 DuplicateAlternative, EmptyAlternative"},
		{"A100|M", "gpu:1", "0/0 A100:1000", "M NoResourceForCard"},
		{"M|A100", "gpu:1", "0/0 A100:1000", "M NoResourceForCard"},
		{"A100|M|H100", "gpu:1 mig-1g.5gb:4", "0/0 A100|H100:1000 M:4000", "M DifferentResource"},
		{"M|A100", "gpu:1 mig-1g.5gb:4", "0/0 M:4000 A100|H100:1000", "A100 DifferentResource"},
		{"A100", "gpu:1 mig-1g.5gb:4", "0/0 A100:1000 M:4000", ""},
		{"A100", "gpu:0", "0/0", ""},
		{"A100", "gpu:0 mig-1g.5gb:1", "0/0 M:1000", ""},
		{"", "gpu:2", "0/0 A100|H100:2000", ""},
		{"  ", "gpu:2", "0/0 A100|H100:2000", ""},
		{"", "cpu:2 mem:1Ki", "2000/1024", ""},
		{"", "gpu.shared:2 pods:7", "0/0", ""}, // carries no card
		{"|", "gpu:2", `invalid: volcano.sh/card.name: "|" names no card`, "EmptyName"},
		{"A100", "gpu:1500m", "0/0 A100:2000", "nvidia.com/gpu RoundedUp"},
		{"A100", "cpu:1n mem:1m gpu:1", "1/1 A100:1000", ""},
		{"Quoted", "gpu:1", `invalid: volcano.sh/card.name: no card of "Quoted" is known: known are A100, H100, M`, "Quoted UnknownCard"},
	} {
		w := fleet(t, Config{})
		if need, notes := w.sayTask(Task{Pod: podOf(c.cards, c.limits)}); need != c.want || notes != c.notes {
			t.Errorf("%s with %s: %s [%s], want %s [%s]", c.cards, c.limits, need, notes, c.want, c.notes)
		}
	}
}

func TestResolveTaskUnnamed(t *testing.T) {
	for _, c := range []struct {
		unnamed             UnnamedPolicy
		cards, limits, want string
	}{
		{UnnamedRefuse, "", "gpu:1", "invalid: the pod requests 1 of nvidia.com/gpu, and volcano.sh/card.name names no card of it: want one of A100, H100"},
		{UnnamedRefuse, "A100", "gpu:1", "0/0 A100:1000"},
		{UnnamedRefuse, "A100", "gpu:1 mig-1g.5gb:4", "invalid: the pod requests 4 of nvidia.com/mig-1g.5gb, and volcano.sh/card.name names no card of it: want one of M"},
		{UnnamedRefuse, "A100", "gpu:1 mig-1g.5gb:0", "0/0 A100:1000"},
		{UnnamedRefuse, "", "cpu:1", "1000/0"},
		{UnnamedIgnore, "", "gpu:1", "0/0"},
		{UnnamedIgnore, "A100", "gpu:1 mig-1g.5gb:4", "0/0 A100:1000"},
	} {
		w := fleet(t, Config{Unnamed: c.unnamed})
		if need, _ := w.sayTask(Task{Pod: podOf(c.cards, c.limits)}); need != c.want {
			t.Errorf("%q: %s with %s: %s, want %s", c.unnamed, c.cards, c.limits, need, c.want)
		}
	}
	// As if all known cards of the resource were written, those without a quota too.
	w := worldOf(t, Config{}, map[string]string{"n": "H200:8"}, "q", "cpu:1")
	w.want(w.allocatable(podOf("", "gpu:1"), ""), "Scalar 0 of 0 at q")
}

// allocatable says which cards a pod may have, of a node if one is given.
func (w *world) allocatable(pod *corev1.Pod, node string) string {
	w.Helper()
	r, _, err := w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod})
	if err != nil {
		return err.Error()
	}
	var a Answer
	if node == "" {
		w.Allocatable(&a, r)
	} else {
		w.AllocatableOn(&a, r, node)
	}
	if !a.OK {
		return say(a, nil)
	}
	var cards []string
	for _, o := range a.Options {
		if o.Why == "" {
			cards = append(cards, o.Resource)
		}
	}
	return strings.Join(cards, " ")
}

func TestResolveTaskAmounts(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	with := func(requests, limits string) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: resourceList(requests), Limits: resourceList(limits)}}
	}
	pod := func(change func(*corev1.PodSpec)) *corev1.Pod {
		p := podOf("A100", "")
		p.Spec.Containers = nil
		change(&p.Spec)
		return p
	}
	for _, c := range []struct {
		what string
		task Task
		want string
	}{
		{"limits, else requests, of each container", Task{Pod: pod(func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{with("", "gpu:2"), with("gpu:1", "")}
		})}, "0/0 A100:3000"},
		{"the limit where both are there", Task{Pod: pod(func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{with("gpu:1", "gpu:2")}
		})}, "0/0 A100:2000"},
		{"the largest init container", Task{Pod: pod(func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{with("", "gpu:1")}
			s.InitContainers = []corev1.Container{with("", "gpu:4")}
		})}, "0/0 A100:4000"},
		{"sidecars stay", Task{Pod: pod(func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{with("", "gpu:1")}
			s.InitContainers = []corev1.Container{with("", "gpu:2")}
			s.InitContainers[0].RestartPolicy = &always
		})}, "0/0 A100:3000"},
		{"overhead", Task{Pod: pod(func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{with("cpu:1", "gpu:1")}
			s.Overhead = resourceList("cpu:250m mem:1Ki")
		})}, "1250/1024 A100:1000"},
		{"rounded up once", Task{Pod: pod(func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{with("", "gpu:500m"), with("", "gpu:500m")}
		})}, "0/0 A100:1000"},
		{"resources of the pod", Task{Pod: pod(func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{with("cpu:1", "gpu:1")}
			s.Resources = &corev1.ResourceRequirements{Requests: resourceList("cpu:4")}
		})}, "4000/0 A100:1000"},
		{"limits only, as no API server has seen them", Task{Pod: pod(func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: resourceList("cpu:2 mem:1Ki gpu:1")}}}
			s.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: resourceList("cpu:3")}}}
		})}, "3000/1024 A100:1000"},
		{"the task's own request", Task{Pod: podOf("A100", "cpu:8 mem:1Gi gpu:1"), Request: resourceList("cpu:1 gpu:5")}, "1000/0 A100:1000"},
		{"an empty one", Task{Pod: podOf("A100", "cpu:8 gpu:1"), Request: corev1.ResourceList{}}, "0/0 A100:1000"},
		{"no pod", Task{Request: resourceList("cpu:1 mem:1Ki gpu:5")}, "1000/1024"},
		{"nothing", Task{}, "0/0"},
		{"negative", Task{Pod: podOf("A100", "gpu:-1")}, "invalid: spec.containers[0].resources.requests[nvidia.com/gpu] is -1: want 0 or more"},
		{"negative, hidden in a sum", Task{Pod: pod(func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{with("", "gpu:5"), with("", "gpu:-4")}
		})}, "invalid: spec.containers[1].resources.limits[nvidia.com/gpu] is -4: want 0 or more"},
		{"negative, of an init container", Task{Pod: pod(func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{with("", "gpu:5")}
			s.InitContainers = []corev1.Container{with("mem:-1", "")}
		})}, "invalid: spec.initContainers[0].resources.requests[memory] is -1: want 0 or more"},
		{"negative, of no matter", Task{Pod: podOf("A100", "gpu:1 other:-1")}, "0/0 A100:1000"},
		{"most", Task{Pod: podOf("A100", "gpu:9007199254740")}, "0/0 A100:9007199254740000"},
		{"too many", Task{Pod: podOf("A100", "gpu:9007199254741")}, "invalid: spec.containers[0].resources.requests[nvidia.com/gpu] is 9007199254741: want at most 9007199254740"},
		{"far too many", Task{Pod: podOf("A100", "gpu:9E")}, "invalid: spec.containers[0].resources.requests[nvidia.com/gpu] is 9E: want at most 9007199254740"},
		{"too much cpu", Task{Pod: podOf("A100", "gpu:1 cpu:9E")}, "invalid: spec.containers[0].resources.requests[cpu] is 9E: want 0 to less than 2^53 milli-cores"},
		{"a negative request", Task{Request: resourceList("cpu:-1")}, "invalid: request: cpu is -1: want 0 to less than 2^53 milli-cores"},
	} {
		w := fleet(t, Config{})
		if need, _ := w.sayTask(c.task); need != c.want {
			t.Errorf("%s: %s, want %s", c.what, need, c.want)
		}
	}
}

func TestResolveTaskClaims(t *testing.T) {
	cards := func(text string) (list []Item) {
		list = []Item{}
		for _, entry := range strings.Fields(text) {
			name, count, _ := strings.Cut(entry, ":")
			n := int64(0)
			testkit.Must(fmt.Sscan(count, &n))
			list = append(list, Item{Alternatives: strings.Split(name, "|"), Milli: 1000 * n})
		}
		return list
	}
	for _, c := range []struct{ cards, want, notes string }{
		{"A100:2", "0/0 A100:2000", ""},
		{"", "0/0", ""},
		{"A100:0", "0/0", ""},
		{"A100|H100:1 M:3", "0/0 A100|H100:1000 M:3000", ""},
		{"A100:1 A100:2", "0/0 A100:3000", ""},
		{"A100:1 A100|Ghost:2", "0/0 A100:3000", "Ghost UnknownCard"},
		{"A100|A100|H100:1", "0/0 A100|H100:1000", "A100 DuplicateAlternative"},
		{"Ghost:1", `invalid: cards: no card of "Ghost" is known: known are A100, H100, M`, "Ghost UnknownCard"},
		{"A100:1 |:1", `invalid: cards: "|" names no card`, "EmptyName"},
		{"A100:-1", `quota: bad amount: task "t": cards: item "A100": the amount is -1000 milli-cards: want 0 to less than 2^53`, ""},
		{"A100:9007199254741", `quota: bad amount: task "t": cards: item "A100": the amount is 9007199254741000 milli-cards: want 0 to less than 2^53`, ""},
		{"A100:9007199254740 A100:1", `quota: bad amount: sum too large: task "t": 1 card of A100: want sums below 2^53 milli-cards`, ""},
		// No card is in two items.
		{"A100|H100:1 A100:2", "0/0 H100:1000 A100:2000", "A100 SharedCard"},
		{"A100|H100:1 H100|M:2", "0/0 A100|H100:1000 M:2000", "H100 SharedCard"},
		{"A100|H100:1 H100|A100:2", "invalid: other items of the task have all of H100|A100: a card counts in one item only", "H100 SharedCard, A100 SharedCard"},
		{"A100|H100:0 H100|A100:2", "0/0 H100|A100:2000", ""},
	} {
		w := fleet(t, Config{})
		// What the pod says of cards doesn't count.
		if need, notes := w.sayTask(Task{Cards: cards(c.cards), Pod: podOf("Spook", "gpu:7")}); need != c.want || notes != c.notes {
			t.Errorf("%s: %s [%s], want %s [%s]", c.cards, need, notes, c.want, c.notes)
		}
	}
	// A card that no resource carries can only be claimed.
	w := fleet(t, Config{})
	testkit.Must(w.Declare([]device.Card{{Name: "Quoted"}}))
	need, notes := w.sayTask(Task{Pod: podOf("Quoted", "gpu:1")})
	w.want(need+" "+notes, `invalid: volcano.sh/card.name: card "Quoted": no resource carries this card: a pod gets it by a claim, and the task's Cards list it Quoted NoResourceForCard`)
	need, _ = w.sayTask(Task{Cards: cards("Quoted:2")})
	w.want(need, "0/0 Quoted:2000")
}

// Two resources that carry the same card, which only differing nodes can make.
func TestResolveTaskAmbiguousCard(t *testing.T) {
	w := worldOf(t, Config{}, map[string]string{"n": "X:1 Y:1", "o": "X@nvidia.com/other:1 Z@nvidia.com/other:1"})
	for _, c := range []struct{ cards, limits, want string }{
		{"X", "gpu:1", "0/0 X:1000"},
		{"X", "other:1", "0/0 X:1000"},
		{"Z|X", "gpu:1 other:2", "0/0 Z|X:2000 Y:1000"}, // the resource of the cards before it
		{"X", "gpu:1 other:2", "0/0 X:1000 Z:2000"},
		{"X", "gpu:0 other:2", "0/0 X:2000"}, // a resource with an amount
		{"", "gpu:1 other:2", "0/0 X|Y:1000 Z:2000"},
	} {
		if need, _ := w.sayTask(Task{Pod: podOf(c.cards, c.limits)}); need != c.want {
			t.Errorf("%s with %s: %s, want %s", c.cards, c.limits, need, c.want)
		}
	}
}

func TestResolveTaskManyAlternatives(t *testing.T) {
	var names, node []string
	for i := range 70 {
		names = append(names, fmt.Sprintf("c%02d", i))
		node = append(node, names[i]+":1")
	}
	w := worldOf(t, Config{}, map[string]string{"n": strings.Join(node, " ")}, "q", "c63:1 c69:1")
	most := strings.Join(names[:64], "|")
	need, _ := w.sayTask(Task{Pod: podOf(most, "gpu:1")})
	w.want(need, "0/0 "+most+":1000")
	w.want(w.allocatable(podOf(most, "gpu:1"), ""), "c63")
	need, notes := w.sayTask(Task{Pod: podOf(most+"|c64", "gpu:1")})
	if !strings.HasPrefix(need, "invalid") || !strings.HasSuffix(notes, "TooManyAlternatives") {
		t.Error(need, notes)
	}
	// Repeated names don't count, and unnamed resources may have any number.
	need, _ = w.sayTask(Task{Pod: podOf(most+"|c00", "gpu:1")})
	w.want(need, "0/0 "+most+":1000")
	w.want(w.allocatable(podOf("", "gpu:1"), ""), "c63 c69")
}

// A card whose name can't be written in an annotation can't be charged, and doesn't
// make its resource free.
func TestResolveTaskUnwritableCard(t *testing.T) {
	w := worldOf(t, Config{}, map[string]string{"n": "A|B@nvidia.com/other:1 A:1"}, "q", "A:1")
	for _, c := range []struct{ cards, limits, want string }{
		{"", "other:1", "invalid: the pod requests 1 of nvidia.com/other, whose cards have names that volcano.sh/card.name can't have: A|B"},
		{"A|B", "other:1", `invalid: volcano.sh/card.name: card "A": this card is carried by nvidia.com/gpu, of which the pod requests none`},
		{"A|B", "gpu:1", "0/0 A:1000"},
	} {
		need, _ := w.sayTask(Task{Pod: podOf(c.cards, c.limits)})
		w.want(need, c.want)
	}
}

func TestResolveTaskBound(t *testing.T) {
	w := fleet(t, Config{}, "q", "A100:0 H100:8")
	pod := func(cards, node string) *corev1.Pod {
		p := podOf(cards, "gpu:1")
		p.Spec.NodeName = node
		return p
	}
	w.want(w.allocatable(pod("A100|H100", ""), ""), "H100")
	w.want(w.allocatable(pod("A100|H100", "h"), ""), "H100")
	w.want(w.allocatable(pod("A100|H100", "both"), ""), "Scalar 0 of 0 at q") // the first that the node has
	w.want(w.allocatable(pod("H100|A100", "both"), ""), "H100")
	need, _ := w.sayTask(Task{Pod: pod("H100", "a")})
	w.want(need, `invalid: node "a" has none of H100: it has A100, M`)
	need, _ = w.sayTask(Task{Pod: pod("H100", ""), Node: "gone"})
	w.want(need, `invalid: node "gone" has none of H100: it has no cards, or isn't known`)
	need, _ = w.sayTask(Task{Node: "gone", Request: resourceList("cpu:1")})
	w.want(need, "1000/0")

	// What it needs is what it is charged: one card for each item.
	for _, c := range []struct{ cards, node, want string }{
		{"A100|H100", "", "0/0 A100|H100:1000"},
		{"A100|H100", "h", "0/0 H100:1000"},
		{"A100|H100", "both", "0/0 A100:1000"},
		{"H100|A100", "both", "0/0 H100:1000"},
		{"H100", "both", "0/0 H100:1000"},
		{"Ghost|H100|A100", "a", "0/0 A100:1000"},
	} {
		need, _ := w.sayTask(Task{Pod: pod(c.cards, c.node)})
		w.want(need, c.want)
	}

	// A task keeps its alternatives when it is bound, so it stays the same task.
	free, _, _ := w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod("A100|H100", "")})
	bound, _, _ := w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod("A100|H100", "h")})
	w.want(sayCharged(w.Commit(free)), "H100")
	w.want(sayCharged(w.Commit(bound)), "repeat")
	w.want(sayCharged(w.Commit(bound, "A100")), ErrConflict.Error()+`: task "t": it is charged on H100, which is not among the cards of this commit`)
}

// TestGangOfBoundTasks: tasks that are bound to nodes go on cards of their nodes, also
// where the gang would have chosen another card.
func TestGangOfBoundTasks(t *testing.T) {
	w := gpus(t, Config{}, "q", "A:9 B:3")
	var gang []*TaskRequest
	for _, id := range []string{"1", "2"} {
		r, _, err := w.ResolveTask(Task{ID: id, Job: "j", Queue: "q", Node: "b", Cards: []Item{{Alternatives: []string{"A", "B"}, Milli: 1000}}})
		if err != nil || r.Invalid() != "" {
			t.Fatal(r.Invalid(), err)
		}
		gang = append(gang, r)
	}
	w.want(w.copies(gang[0]), "3, then Scalar 0 of 3000 at q")
	a, err := w.CommitAll(gang)
	w.want(fmt.Sprint(say(a, err), " ", a.Charged), "yes [B B]")
}

func sayCharged(a Answer, err error) string {
	if s := say(a, err); s != "yes" {
		return s
	}
	return strings.Join(a.Charged, " ")
}

func TestAllocatableOn(t *testing.T) {
	w := fleet(t, Config{}, "q", "A100:0 H100:8")
	w.want(w.allocatable(podOf("A100|H100", "gpu:1"), "h"), "H100")
	w.want(w.allocatable(podOf("A100|H100", "gpu:1"), "both"), "H100")
	w.want(w.allocatable(podOf("A100|H100", "gpu:1"), "a"), "Scalar 0 of 0 at q")
	w.want(w.allocatable(podOf("H100", "gpu:1"), "a"), "GetTask")
	w.want(w.allocatable(podOf("H100", "gpu:1"), "gone"), "GetTask")
	w.want(w.allocatable(podOf("", "cpu:0"), "gone"), "")
	var a Answer
	r, _, _ := w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: podOf("A100|H100", "gpu:1")})
	if w.AllocatableOn(&a, r, "h"); len(a.Options) != 2 || a.Options[0].Why != ReasonNotOnNode || a.Options[1].Why != "" {
		t.Errorf("%+v", a.Options)
	}
	if !w.AllocatableOn(nil, r, "h") {
		t.Error("refused")
	}
	// The nodes of a new catalog count at once.
	testkit.Must(w.SetCatalog(cluster(map[string]string{"h": "A100:1"})))
	if w.AllocatableOn(&a, r, "h") {
		t.Error("the node has no H100 any more")
	}
	bare := worldOf(t, Config{}, nil, "q", "Quoted:1")
	testkit.Must(bare.SetCatalog(nil))
	bare.want(bare.allocatable(podOf("", "gpu:1"), "h"), "")
}

func TestResolveErrors(t *testing.T) {
	w := fleet(t, Config{})
	items := func(alternatives string, milli, unit int64) *Min {
		return &Min{Items: []Item{{strings.Split(alternatives, "|"), milli, unit}}}
	}
	any := true
	for _, c := range []struct {
		what string
		job  Job
		want error
	}{
		{"negative cpu", Job{Min: &Min{CPU: -1}}, ErrBadAmount},
		{"too much memory", Job{Min: &Min{Memory: 1 << 53}}, ErrBadAmount},
		{"negative cards", Job{Min: items("A100", -1, 0)}, ErrBadAmount},
		{"too many cards", Job{Min: items("A100", 1<<53, 0)}, ErrBadAmount},
		{"negative unit", Job{Min: items("A100", 1000, -1000)}, ErrBadAmount},
		{"no multiple of its unit", Job{Min: items("A100", 3000, 2000)}, ErrBadAmount},
		{"no whole cards", Job{Min: items("A100|H100", 1500, 0), AnyMix: &any}, ErrBadAmount},
		{"no name", Job{Min: items(" ", 1000, 0)}, entryError{Code: codeEmptyName, Field: `job "j": min`, Value: " "}},
		{"a sum of items", Job{Min: &Min{Items: []Item{{[]string{"A100"}, 1 << 52, 1}, {[]string{"A100"}, 1 << 52, 1}}}}, ErrBadAmount},
		{"a task's cards", Job{Tasks: []Task{{Cards: []Item{{Alternatives: []string{"A100"}, Milli: -1000}}}}}, ErrBadAmount},
	} {
		c.job.ID, c.job.Queue = "j", "q"
		if r, _, err := w.ResolveJob(c.job); r != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", c.what, r, err)
		}
	}
}

// sayJob is what a job resolves to.
func (w *world) sayJob(job Job) (need, notes string) {
	w.Helper()
	job.ID, job.Queue = "j", "q"
	r, list, err := w.resolveJob(job)
	switch {
	case err != nil:
		return err.Error(), ""
	case r.Invalid() != "":
		if r.min.Plain[dimCPU] != 0 || r.min.Plain[dimMemory] != 0 || r.min.Items != nil {
			w.Errorf("invalid, but %+v", r.Need())
		}
		return "invalid: " + r.Invalid(), codes(list)
	}
	return r.Need().text(), codes(list)
}

// asks makes the annotation of a job.
func asks(text string) map[string]string { return map[string]string{RequestAnnotation: text} }

func TestResolveJob(t *testing.T) {
	pods := func(n int, cards, limits string) (tasks []Task) {
		for range n {
			tasks = append(tasks, Task{ID: "t", Pod: podOf(cards, limits)})
		}
		return tasks
	}
	status := func(s TaskPhase, tasks []Task) []Task {
		for i := range tasks {
			tasks[i].Phase = s
		}
		return tasks
	}
	gated := func(tasks []Task) []Task {
		for i := range tasks {
			tasks[i].Pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
		}
		return tasks
	}
	phase := func(p corev1.PodPhase, tasks []Task) []Task {
		for i := range tasks {
			tasks[i].Pod.Status.Phase = p
		}
		return tasks
	}
	any, same, flag := true, false, Config{UnlimitedCPUMemory: true}
	for _, c := range []struct {
		what  string
		cfg   Config
		job   Job
		want  string
		notes string
	}{
		{"nothing", Config{}, Job{}, "0/0", ""},
		{"eight pods of one GPU", Config{}, Job{Annotations: asks(`{"A100":8}`), Tasks: pods(8, "A100", "gpu:1")}, "0/0 A100:8000", ""},
		{"pods win", Config{}, Job{Annotations: asks(`{"A100":2}`), Tasks: pods(1, "A100", "cpu:1 gpu:1")}, "0/0 A100:1000", ""},
		{"pods without cards don't", Config{}, Job{Annotations: asks(`{"A100":2}`), Tasks: pods(1, "", "cpu:1")}, "0/0 A100:2000", ""},
		{"nor do ended ones", Config{}, Job{Annotations: asks(`{"A100":2}`), Tasks: status(TaskSucceeded, pods(3, "H100", "gpu:1"))}, "0/0 A100:2000", ""},
		{"by the pod's phase", Config{}, Job{Annotations: asks(`{"A100":2}`), Tasks: phase(corev1.PodFailed, pods(3, "H100", "gpu:1"))}, "0/0 A100:2000", ""},
		{"keys", Config{}, Job{Tasks: slices.Concat(pods(2, "H100|A100", "gpu:1"), pods(1, "A100", "gpu:2"), pods(1, "A100|H100", "gpu:1"), pods(1, "M", "mig-1g.5gb:1"))},
			"0/0 A100:2000 M:1000 A100|H100:1000 H100|A100:2000", ""},
		{"two items in a pod", Config{}, Job{Tasks: pods(2, "A100", "gpu:1 mig-1g.5gb:4")}, "0/0 A100:2000 M:8000", ""},
		{"different amounts of a key", Config{}, Job{Tasks: slices.Concat(pods(2, "A100|H100", "gpu:2"), pods(3, "A100|H100", "gpu:1"), pods(1, "A100", "gpu:4"), pods(1, "A100", "gpu:1"))},
			"0/0 A100:5000 A100|H100:7000", ""},
		{"with AnyMix", Config{AnyMix: true}, Job{Tasks: slices.Concat(pods(2, "A100|H100", "gpu:2"), pods(3, "A100|H100", "gpu:1"), pods(1, "A100", "gpu:4"), pods(1, "A100", "gpu:1"))},
			"0/0 A100:5000 A100|H100:3000 A100|H100:4000/2000", ""},
		{"the job's own policy", Config{}, Job{AnyMix: &any, Tasks: pods(2, "A100|H100", "gpu:2")}, "0/0 A100|H100:4000/2000", ""},
		{"the other way", Config{AnyMix: true}, Job{AnyMix: &same, Tasks: pods(2, "A100|H100", "gpu:2")}, "0/0 A100|H100:4000", ""},
		{"an annotation with AnyMix", Config{AnyMix: true}, Job{Annotations: asks(`{"A100|H100":4}`)}, "0/0 A100|H100:4000", ""},

		{"a pod that can't be told", Config{}, Job{Annotations: asks(`{"A100":2}`), Tasks: slices.Concat(pods(1, "A100", "gpu:1"), pods(1, "Ghost", "gpu:1"))},
			`invalid: task "t": volcano.sh/card.name: no card of "Ghost" is known: known are A100, H100, M`, "Ghost UnknownCard"},
		{"that has ended", Config{}, Job{Tasks: slices.Concat(pods(1, "A100", "gpu:1"), status(TaskFailed, pods(1, "Ghost", "gpu:1")))}, "0/0 A100:1000", ""},
		{"the node of a pod doesn't matter", Config{}, Job{Tasks: []Task{{Pod: podOf("A100", "gpu:1"), Node: "gone"}}}, "0/0 A100:1000", ""},
		{"sums that are too large", Config{}, Job{Tasks: pods(2, "A100", "gpu:9007199254740")}, "invalid: the sum of the job's cards of A100 is 2^53 milli-cards or more: want less", ""},

		{"a bad entry", Config{}, Job{Annotations: asks(`{"A100":2,"H100":2.5}`)}, `invalid: volcano.sh/card.request: entry "H100": the count is 2.5: want a whole number of cards from 0 to 9007199254740, in digits`, "H100 NotInteger"},
		{"no JSON", Config{}, Job{Annotations: asks(`{"A100":2`)}, `invalid: volcano.sh/card.request: the text is not JSON: unexpected end of JSON input at byte 9: want a JSON object of cards and counts, such as {"A100": 2}`, "Syntax"},
		{"upstream's parser", Config{FailToZero: true}, Job{Annotations: asks(`{"A100":2,"H100":2.5}`)}, "0/0", "NotInteger"},
		{"with alternatives", Config{FailToZero: true}, Job{Annotations: asks(`{"A100|H100":2}`)}, "0/0 A100|H100:2000", ""},
		{"verbatim", Config{FailToZero: true}, Job{Annotations: asks(`{"A100| H100":2}`)}, "0/0 A100:2000", " H100 UnknownCard"},
		{"negative", Config{FailToZero: true}, Job{Annotations: asks(`{"A100":-2}`)}, `invalid: volcano.sh/card.request: entry "A100": the count is -2: want a whole number of cards from 0 to 9007199254740, in digits`, "A100 Negative"},
		{"zero", Config{}, Job{Annotations: asks(`{"A100":0}`)}, "0/0", ""},
		{"notes", Config{}, Job{Annotations: asks(`{"A100||A100|Ghost":2,"A100":1}`)}, "0/0 A100:3000", "EmptyAlternative, A100 DuplicateAlternative, Ghost UnknownCard"},
		{"unknown cards", Config{}, Job{Annotations: asks(`{"A100":2,"Ghost":1}`)}, `invalid: volcano.sh/card.request: no card of "Ghost" is known: known are A100, H100, M`, "Ghost UnknownCard"},
		{"another key", Config{RequestKey: "x"}, Job{Annotations: map[string]string{"x": `{"A100":1}`, RequestAnnotation: `{"A100":2}`}}, "0/0 A100:1000", ""},

		{"minResources", Config{}, Job{Annotations: asks(`{"A100":2}`), MinResources: resourceList("cpu:4 mem:4 gpu:7")}, "4000/4 A100:2000", ""},
		{"negative ones", Config{}, Job{MinResources: resourceList("cpu:-4")}, "invalid: minResources: cpu is -4: want 0 to less than 2^53 milli-cores", ""},
		{"flag: without pods", flag, Job{Annotations: asks(`{"A100":2}`), MinResources: resourceList("cpu:4 mem:4")}, "0/0 A100:2000", ""},
		{"flag: without cards", flag, Job{Annotations: asks(`{"A100":0}`), MinResources: resourceList("cpu:4 mem:4")}, "4000/4", ""},
		{"flag: a part without cards", flag, Job{MinResources: resourceList("cpu:9 mem:4"), Tasks: slices.Concat(pods(2, "A100", "cpu:4 mem:2 gpu:1"), pods(1, "", "cpu:3 mem:5"))}, "3000/4 A100:2000", ""},

		{"gated", Config{}, Job{MinResources: resourceList("cpu:9 mem:4"), Tasks: slices.Concat(pods(2, "A100", "cpu:2 mem:1 gpu:1"), gated(pods(2, "A100|H100", "cpu:2 mem:2 gpu:1")))}, "5000/0 A100:2000", ""},
		{"gated below 0", Config{}, Job{MinResources: resourceList("cpu:1"), Tasks: gated(pods(2, "", "cpu:1"))}, "0/0", ""},
		{"gated ones have cards too", Config{}, Job{Annotations: asks(`{"A100":2}`), Tasks: gated(pods(2, "A100", "gpu:1"))}, "0/0", ""},
		{"flag and gated", flag, Job{MinResources: resourceList("cpu:9"), Tasks: slices.Concat(gated(pods(1, "A100", "cpu:2 gpu:1")), pods(2, "", "cpu:2"), gated(pods(1, "", "cpu:1")))}, "4000/0", ""},

		{"the caller's min", Config{}, Job{MinResources: resourceList("cpu:9"), Tasks: pods(9, "A100", "gpu:1"), Min: &Min{CPU: 1, Memory: 2, Items: []Item{{[]string{"H100"}, 500, 0}, {[]string{"A100", "Ghost"}, 1000, 0}}}},
			"1/2 A100:1000 H100:500", "Ghost UnknownCard"},
		{"in units", Config{AnyMix: true}, Job{Min: &Min{Items: []Item{{[]string{"A100", "H100"}, 6000, 2000}, {[]string{"A100", "H100"}, 1000, 0}, {[]string{"A100"}, 4000, 2000}}}},
			"0/0 A100:4000 A100|H100:1000 A100|H100:6000/2000", ""},
		{"the flag counts for it", flag, Job{Tasks: pods(1, "", "cpu:1"), Min: &Min{CPU: 2000, Memory: 2, Items: []Item{{[]string{"A100"}, 1000, 0}}}}, "1000/0 A100:1000", ""},
		{"nothing needed", Config{}, Job{Tasks: pods(1, "A100", "gpu:1"), Min: &Min{}}, "0/0", ""},
		{"zero of an item", Config{}, Job{Min: &Min{Items: []Item{{Alternatives: []string{"A100"}}}}}, "0/0", ""},
		{"of unknown cards", Config{}, Job{Min: &Min{Items: []Item{{[]string{"Ghost"}, 1000, 0}}}}, `invalid: min: no card of "Ghost" is known: known are A100, H100, M`, "Ghost UnknownCard"},
	} {
		w := fleet(t, c.cfg, "q", "cpu:1")
		if need, notes := w.sayJob(c.job); need != c.want || notes != strings.TrimSpace(c.notes) {
			t.Errorf("%s: %s [%s], want %s [%s]", c.what, need, notes, c.want, c.notes)
		}
	}
}

// A card that only a quota has is known to jobs without pods: pools that grow from
// nothing.
func TestResolveJobQuotaMakesKnown(t *testing.T) {
	for _, c := range []struct{ org, q, want string }{
		{"Quoted:4", "A100:1", "0/0 Quoted:2000"},
		{"A100:1", "Quoted:4", "0/0 Quoted:2000"},
		{"A100:1", "A100:1", `invalid: volcano.sh/card.request: no card of "Quoted" is known: known are A100, H100, M`},
	} {
		w := fleet(t, Config{}, "org", c.org, "q < org", c.q)
		need, _ := w.sayJob(Job{Annotations: asks(`{"Quoted":2}`)})
		w.want(need, c.want)
		need, _ = w.sayJob(Job{Tasks: []Task{{Pod: podOf("Quoted", "gpu:1")}}})
		w.want(need, `invalid: task "": volcano.sh/card.name: no card of "Quoted" is known: known are A100, H100, M`)
	}
}

func TestResolveJobItems(t *testing.T) {
	w := fleet(t, Config{AnyMix: true})
	var tasks []Task
	for i := range maxJobItems + 1 {
		if i == maxJobItems {
			need, _ := w.sayJob(Job{Tasks: tasks})
			if strings.Count(need, ":") != maxJobItems {
				t.Error(need)
			}
		}
		tasks = append(tasks, Task{Pod: podOf("A100|H100", fmt.Sprintf("gpu:%d", i+1))})
	}
	need, _ := w.sayJob(Job{Tasks: tasks})
	w.want(need, "invalid: the job asks for more than 64 different lists of cards: want at most 64")
	need, _ = w.sayJob(Job{Tasks: append(tasks, tasks...)})
	w.want(need, "invalid: the job asks for more than 64 different lists of cards: want at most 64")
	same := false
	need, _ = w.sayJob(Job{AnyMix: &same, Tasks: tasks})
	w.want(need, "0/0 A100|H100:2145000")
}

// What has cards is neither checked nor charged for cpu and memory.
func TestUnlimitedCPUMemory(t *testing.T) {
	flag := Config{UnlimitedCPUMemory: true}
	w := fleet(t, flag)
	need, _ := w.sayTask(Task{Pod: podOf("A100", "cpu:2 mem:2Gi gpu:1")})
	w.want(need, "0/0 A100:1000")
	need, _ = w.sayTask(Task{Pod: podOf("", "cpu:2 mem:2")})
	w.want(need, "2000/2")
	need, _ = w.sayTask(Task{Pod: podOf("A100", "cpu:2 mem:2 gpu:0")})
	w.want(need, "2000/2")
}

func BenchmarkResolveTask(b *testing.B) {
	w := fleet(&testing.T{}, Config{}, "q", "A100:4")
	task := Task{ID: "t", Job: "j", Queue: "q", Pod: podOf("A100|H100", "cpu:2 mem:1Gi gpu:1")}
	b.ReportAllocs()
	for b.Loop() {
		if r, _, _ := w.ResolveTask(task); len(r.use.Items) != 1 {
			b.Fatal(r)
		}
	}
}

// TestPartsOfCards: a task that is built in code may ask for thousandths of a card. They
// are charged as they are, come back from Need, and from a snapshot.
func TestPartsOfCards(t *testing.T) {
	for _, anyMix := range []bool{false, true} {
		w := gpus(t, Config{AnyMix: anyMix}, "q", "A:4 B:4")
		half := func(id string) Task {
			return Task{ID: id, Job: "j", Queue: "q", Cards: []Item{{Alternatives: []string{"A", "B"}, Milli: 1500}}}
		}
		job, _, err := w.ResolveJob(Job{ID: "j", Queue: "q", Tasks: []Task{half("1"), half("2")}})
		if err != nil || job.Invalid() != "" {
			t.Fatal(err, job)
		}
		need := job.Need()
		again, _, err := w.ResolveJob(Job{ID: "j", Queue: "q", Min: &need})
		if err != nil || fmt.Sprint(again.Need()) != fmt.Sprint(need) {
			t.Errorf("%v, then %v, %v", need, again.Need(), err)
		}
		w.want(say(w.Reserve(again)), "yes")
		w.want(say(w.Reserve(job)), "repeat")
		w = w.again()
		for _, c := range []struct{ id, want string }{{"1", "1500/1500/0"}, {"2", "3000/0/0"}} {
			task := resolved(w.ResolveTask(half(c.id)))
			a, err := w.Commit(task)
			w.want(say(a, err), "yes")
			w.want(w.state("q", "A"), c.want)
		}
		w = w.again()
		w.want(w.probe("q", "A:1500m"), "Scalar 1000 of 4000 at q")
		w.want(fmt.Sprint(w.Check()), "<nil>")
	}
	w := gpus(t, Config{}, "q", "A:4")
	for _, item := range []Item{{Alternatives: []string{"A"}, Milli: -1}, {Alternatives: []string{"A"}, Milli: limitExact}, {Alternatives: []string{"A"}, Milli: 1000, Unit: 500}} {
		if _, _, err := w.ResolveTask(Task{ID: "1", Job: "j", Queue: "q", Cards: []Item{item}}); !errors.Is(err, ErrBadAmount) {
			t.Errorf("%v: %v", item, err)
		}
	}
}

// TestPartsOfDevices: what Koordinator's names ask for is on no card unless Cards say so,
// which is never silent.
func TestPartsOfDevices(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
		"koordinator.sh/gpu-core": resource.MustParse("50"), "koordinator.sh/gpu-memory": resource.MustParse("20Gi"), "koordinator.sh/rdma": resource.MustParse("1"),
	}}}}}}
	for _, c := range []struct {
		policy  UnnamedPolicy
		cards   []Item
		notes   int
		invalid string
	}{
		{"", nil, 2, ""},
		{UnnamedIgnore, nil, 0, ""},
		{UnnamedRefuse, nil, 2, "the pod requests 50 of koordinator.sh/gpu-core, a part of a device, and the task's Cards don't say of which card"},
		{UnnamedRefuse, []Item{{Alternatives: []string{"A"}, Milli: 500}}, 0, ""},
	} {
		w := newWorld(t, Config{Unnamed: c.policy}, "q", "A:1")
		task, notes, err := w.resolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod, Cards: c.cards})
		if err != nil || len(notes) != c.notes || task.Invalid() != c.invalid || len(task.Need().Items) != len(c.cards) {
			t.Errorf("%q: %v, %q, %v, %v", c.policy, notes, task.Invalid(), task.Need(), err)
		}
		for _, note := range notes {
			if !note.isNote() {
				t.Errorf("%v is no note", note)
			}
		}
	}
}
