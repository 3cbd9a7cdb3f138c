package quota

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestFaultTexts: what is wrong with an annotation names the place, the value as it is
// written, and what would be right.
func TestFaultTexts(t *testing.T) {
	const (
		count  = ": want a whole number of cards from 0 to 9007199254740, in digits"
		object = `: want a JSON object of cards and counts, such as {"A100": 2}`
	)
	for _, c := range []struct {
		text         string
		want, failTo string // without and with FailToZero; empty: as before
	}{
		{`{"X": 2`, "the text is not JSON: unexpected end of JSON input at byte 7" + object, ""},
		{"  \u00a0{\"X\": 2} x", "the text is not JSON: invalid character 'x' after top-level value at byte 14" + object, ""},
		{`{"X": two}`, "the text is not JSON: invalid character 'w' in literal true (expecting 'r') at byte 8" + object, ""},
		{"{\"A\": 1, \"X\xff\": 2}", "the text is not JSON: not UTF-8 at byte 12" + object, "none"},
		{`{"X\ud800": 2}`, `the text is not JSON: half of a UTF-16 pair, \ud800, at byte 4` + object, "none"},
		{`{'X': 2}`, `the text is not JSON: invalid character '\'' looking for beginning of object key string at byte 2` + object, ""},
		{"[1,\n2]", "the text is [1, 2]" + object, ""},
		{`7`, "the text is 7" + object, ""},
		{`{"X":-1}`, `entry "X": the count is -1` + count, "none"},
		{`{"X":2.5}`, `entry "X": the count is 2.5` + count, `the count is 2.5 for "X"` + count},
		{`{"X":1e99999999}`, `entry "X": the count is 1e99999999` + count, `the count is 1e99999999 for "X"` + count},
		{`{"X":"3"}`, `entry "X": the count is "3"` + count, `the count is "3" for "X"` + count},
		{`{"X":null}`, `entry "X": the count is null` + count, "none"},
		{`{"X":{"a": [1]}}`, `entry "X": the count is {"a": [1]}` + count, `the count is {"a": [1]} for "X"` + count},
		{`{"X":99999999999999999999}`, `entry "X": the amount is 99999999999999999999, more than can be counted: it is no limit`, `the count is 99999999999999999999 for "X"` + count},
		{`{"X":1,"X":"b","X":3}`, `entry "X": the card is there more than once, as 1 and "b", and none of them counts: write it once`, `the count is "b" for "X"` + count},
		{`{"":1}`, `"" names no card`, "none"},
		{`{"X|Y":1}`, `entry "X|Y": a quota is of one card, not of alternatives: write an entry for each card`, "none"},
	} {
		for failToZero, want := range map[bool]string{false: c.want, true: c.failTo} {
			if want == "" {
				want = c.want
			}
			_, faults := parseQuota(c.text, failToZero)
			got := "none"
			if len(faults) > 0 {
				got = strings.TrimPrefix(faults[0].Error(), "quota: ")
			}
			if got != want {
				t.Errorf("%s, %v: %s, want %s", c.text, failToZero, got, want)
			}
		}
	}
	_, notes := parseAlternatives(strings.Repeat("a|", 3) + "|" + strings.Repeat("b|", 3))
	want := `[quota: card "a": it is there more than once in "a|a|a||b|b|b|" and counts once`
	if got := fmt.Sprint(notes); !strings.HasPrefix(got, want) || !strings.Contains(got, `quota: a part of "a|a|a||b|b|b|" is empty and is skipped`) {
		t.Error(got)
	}
	many := ""
	for i := range 70 {
		many += fmt.Sprintf("c%d|", i)
	}
	if _, notes = parseAlternatives(many); !strings.HasSuffix(notes[0].Error(), ": 71 alternatives: want at most 64") {
		t.Error(notes)
	}
}

// TestNoteTexts: notes on a task say what was left out, and why.
func TestNoteTexts(t *testing.T) {
	w := fleet(t, Config{}, "q", "A100:4 H100:8")
	pod := func(cards string, limits ...string) *corev1.Pod { return podOf(cards, strings.Join(limits, " ")) }
	for _, c := range []struct {
		task Task
		want string
	}{
		{Task{Pod: pod("Ghost|A100", "gpu:1")}, `volcano.sh/card.name: card "Ghost": no node has or had this card, and nobody declared it: known are A100, H100, M`},
		{Task{Pod: pod("A100|M", "gpu:1")}, `volcano.sh/card.name: card "M": this card is carried by nvidia.com/mig-1g.5gb, of which the pod requests none`},
		{Task{Pod: pod("A100|M", "gpu:1", "mig-1g.5gb:2")}, `volcano.sh/card.name: card "M": this card is carried by nvidia.com/mig-1g.5gb, the alternatives before it by another resource`},
		{Task{Pod: pod("A100||H100", "gpu:1")}, `volcano.sh/card.name: a part of "A100||H100" is empty and is skipped`},
		{Task{Pod: pod("A100", "gpu:1500m")}, `resource "nvidia.com/gpu": the pod requests 1500m, and is charged for whole cards`},
		{Task{Cards: []Item{{[]string{"A100"}, 1000, 0}, {[]string{"A100", "H100"}, 1000, 0}}}, `card "A100": the task's item A100 has this card already`},
		{Task{Cards: []Item{{Alternatives: []string{"Ghost", "A100"}, Milli: 1000}}}, `cards: card "Ghost": no node has or had this card, and nobody declared it: known are A100, H100, M`},
	} {
		c.task.ID, c.task.Job, c.task.Queue = "t", "j", "q"
		r, notes, err := w.resolveTask(c.task)
		if err != nil || r.Invalid() != "" || len(notes) != 1 || notes[0].Error() != "quota: "+c.want {
			t.Errorf("%v %v, want %s", notes, err, c.want)
		}
	}
}

// TestKnownCards: a card that isn't known is told with the known ones, a few of many.
func TestKnownCards(t *testing.T) {
	var inventory device.Inventory
	var cards []string
	for i := range 12 {
		name := fmt.Sprintf("c%02d", i)
		cards = append(cards, name)
		inventory.Nodes = append(inventory.Nodes, device.Node{Name: name, Cards: []device.Card{{Name: name, Resource: "nvidia.com/gpu", Count: 1}}})
	}
	m := testkit.Must(testMap(append(cards, "mine", "Ghost")))
	ask := func(catalog *device.Catalog) string {
		l := testkit.Must(newBuilt(Config{}, m, catalog, []builtQueue{q(m, "org", "mine:4"), q(m, "q < org", "mine:4")}))
		r := resolved(l.ResolveJob(Job{ID: "j", Queue: "q", Annotations: map[string]string{RequestAnnotation: `{"Ghost|Spook":2}`}}))
		return r.Invalid()
	}
	const none = `volcano.sh/card.request: no card of "Ghost|Spook" is known: known are `
	if got, want := ask(inventory.Catalog()), none+"c00, c01, c02, c03, c04, c05, c06, c07 and 5 more"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := ask(nil), none+"mine"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAmountsAsWritten: an amount that nothing can have is told where it stands, as it is
// written.
func TestAmountsAsWritten(t *testing.T) {
	w := fleet(t, Config{}, "q", "cpu:4 A100:4")
	list := func(name corev1.ResourceName, text string) corev1.ResourceList {
		return corev1.ResourceList{name: resource.MustParse(text)}
	}
	two := func(name corev1.ResourceName, text string) *corev1.Pod { // the second container has it
		p := podOf("", "")
		p.Spec.Containers = []corev1.Container{{}, {Resources: corev1.ResourceRequirements{Requests: list(name, text), Limits: list(name, text)}}}
		return p
	}
	const path = "spec.containers[1].resources.requests"
	for _, text := range []string{"1e99999999", "9E", "1e30", "9007199254740993"} {
		for _, c := range []struct{ got, want string }{
			{taskInvalid(t, w, Task{Pod: two("cpu", text)}), path + "[cpu] is " + text + ": want 0 to less than 2^53 milli-cores"},
			{taskInvalid(t, w, Task{Pod: two("memory", text)}), path + "[memory] is " + text + ": want 0 to less than 2^53 bytes"},
			{taskInvalid(t, w, Task{Pod: two("nvidia.com/gpu", text)}), path + "[nvidia.com/gpu] is " + text + ": want at most 9007199254740"},
			{taskInvalid(t, w, Task{Request: list("cpu", text)}), "request: cpu is " + text + ": want 0 to less than 2^53 milli-cores"},
			{jobInvalid(t, w, Job{MinResources: list("memory", text)}), "minResources: memory is " + text + ": want 0 to less than 2^53 bytes"},
		} {
			if c.got != c.want {
				t.Errorf("%s, want %s", c.got, c.want)
			}
		}
		_, _, err := w.cfg.buildQueue(w.m, Queue{Name: "q", Deserved: list("cpu", text)})
		if want := `queues[0].deserved[cpu]: Invalid value: "` + text + `": queue "q": want 0 to less than 2^53 milli-cores`; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if got, want := taskInvalid(t, w, Task{Pod: two("cpu", "-1e99999999")}), path+"[cpu] is -1e99999999: want 0 or more"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p := two("memory", "5Pi")
	p.Spec.Containers[0] = p.Spec.Containers[1]
	if got, want := taskInvalid(t, w, Task{Pod: p}), "the pod as a whole: memory is 10Pi: want 0 to less than 2^53 bytes"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func taskInvalid(t *testing.T, w *world, task Task) string {
	t.Helper()
	task.ID, task.Job, task.Queue = "t", "j", "q"
	r := resolved(w.ResolveTask(task))
	return r.Invalid()
}

func jobInvalid(t *testing.T, w *world, job Job) string {
	t.Helper()
	job.ID, job.Queue = "j", "q"
	r := resolved(w.ResolveJob(job))
	return r.Invalid()
}

// TestRefusalTexts: a refusal says why there is no room, and a quota that isn't there, or
// can't be read, is no quota of 0.
func TestRefusalTexts(t *testing.T) {
	annotated := func(name, parent, text string, lists corev1.ResourceList) Queue {
		return Queue{Name: name, Parent: parent, Annotations: map[string]string{QuotaAnnotation: text}, Capability: lists}
	}
	plain := corev1.ResourceList{"cpu": resource.MustParse("4")}
	const (
		count  = ": want a whole number of cards from 0 to 9007199254740, in digits"
		object = `: want a JSON object of cards and counts, such as {"A": 2}`
	)
	for _, c := range []struct {
		name   string
		cfg    Config
		queues []Queue
		held   string // for another job in queue q
		used   string // by another job in queue q
		need   string
		job    string
		task   string // empty: the same
		why    Reason
	}{
		{"absent", Config{}, []Queue{annotated("q", "", `{"B":2}`, nil)}, "", "", "A:1",
			`queue "q": insufficient quota of card A: requested 1 card, queue "q" has no quota of it`, "", ReasonNoQuota},
		{"0", Config{}, []Queue{annotated("q", "", `{"A":0}`, nil)}, "", "", "A:1",
			`queue "q": insufficient quota of card A: requested 1 card, room for 0 cards of 0 cards, the total would be 1 card`, "", ReasonOverCapacity},
		{"absent, of all alternatives", Config{}, []Queue{annotated("q", "", `{"C":2}`, nil)}, "", "", "A|B:1",
			`queue "q": insufficient quota of card A|B: requested 1 card, there is no quota of any of them`, "", ReasonNoQuota},
		{"absent, of all alternatives that may be mixed", Config{AnyMix: true}, []Queue{annotated("q", "", `{"C":2}`, nil)}, "", "", "A|B:1",
			`queue "q": insufficient quota of card A|B: requested 1 card, there is no quota of any of them`, "", ReasonNoQuota},
		{"absent, and another one full", Config{}, []Queue{annotated("q", "", `{"B":1}`, nil)}, "", "B:1", "A|B:1",
			`queue "q": insufficient quota of card A|B: requested 1 card, queue "q" has no quota of A, and the others have no more room`, "", ReasonNoQuota},
		{"cpu, absent", Config{}, []Queue{annotated("q", "", `{"A":1}`, nil)}, "", "", "cpu:1 A:1",
			`queue "q": insufficient quota of cpu: requested 1 core, queue "q" has no quota of it: write it into the capability, or see Config.MissingUnlimited`, "", ReasonNoQuota},
		{"unreadable", Config{}, []Queue{annotated("q", "", `{"A":"two","B":2}`, nil)}, "", "", "A:1",
			`queue "q": insufficient quota of card A: requested 1 card, the quota of queue "q" can't be read: volcano.sh/card.quota: entry "A": the count is "two"` + count, "", ReasonUnreadableQuota},
		{"unreadable above", Config{}, []Queue{annotated("org", "", `{"A":-1}`, nil), annotated("q", "org", `{"A":2}`, nil)}, "", "", "A:1",
			`queue "q": insufficient quota of card A: requested 1 card, the quota of queue "org" can't be read: volcano.sh/card.quota: entry "A": the count is -1` + count, "", ReasonUnreadableQuota},
		{
			"unreadable as a whole", Config{}, []Queue{annotated("q", "", `{"A":2`, plain)}, "", "", "A|B:1",
			`queue "q": insufficient quota of card A|B: requested 1 card, the quota of queue "q" can't be read: volcano.sh/card.quota: the text is not JSON: unexpected end of JSON input at byte 6` +
				strings.Replace(object, `{"A"`, `{"A100"`, 1), "", ReasonUnreadableQuota,
		},
		{
			"unreadable as a whole, mixed", Config{AnyMix: true}, []Queue{annotated("q", "", `[]`, plain)}, "", "", "A|B:1",
			`queue "q": insufficient quota of card A|B: requested 1 card, the quota of queue "q" can't be read: volcano.sh/card.quota: the text is []` +
				strings.Replace(object, `{"A"`, `{"A100"`, 1), "", ReasonUnreadableQuota,
		},
		{"unreadable, and another one full", Config{}, []Queue{annotated("q", "", `{"A":"two","B":1}`, nil)}, "", "B:1", "B|A:1",
			`queue "q": insufficient quota of card B|A: requested 1 card, room on B for 0 cards of 1 card, the total would be 2 cards; another alternative's quota can't be read: volcano.sh/card.quota: entry "A": the count is "two"` + count, "", ReasonOverCapacity},
		{"unreadable above, and another one held", Config{}, []Queue{annotated("org", "", `{"A":"two","B":2}`, nil), annotated("q", "org", `{"A":2,"B":2}`, nil)}, "B:1", "", "A|B:2",
			`queue "q": insufficient quota of card A|B: requested 2 cards, room on B for 1 card of 2 cards, the total would be 3 cards; part of the limit is held for other jobs, or for other items of this one; another alternative's quota can't be read: volcano.sh/card.quota: entry "A": the count is "two"` + count, "", ReasonPromised},
		{"unreadable, and another one absent", Config{}, []Queue{annotated("q", "", `{"A":1.5,"C":1}`, nil)}, "", "", "B|A:1",
			`queue "q": insufficient quota of card B|A: requested 1 card, queue "q" has no quota of B, and the others have no more room; another alternative's quota can't be read: volcano.sh/card.quota: entry "A": the count is 1.5` + count, "", ReasonNoQuota},
		{"unreadable, mixed", Config{AnyMix: true}, []Queue{annotated("q", "", `{"A":1.5,"B":1}`, nil)}, "", "", "B|A:2",
			`queue "q": insufficient quota of card B|A: requested 2 cards, room for 1 card of 1 card, the total would be 2 cards; another alternative's quota can't be read: volcano.sh/card.quota: entry "A": the count is 1.5` + count,
			`queue "q": insufficient quota of card B|A: requested 2 cards, room on B for 1 card of 1 card, the total would be 2 cards; another alternative's quota can't be read: volcano.sh/card.quota: entry "A": the count is 1.5` + count, ReasonOverCapacity},
		{"unreadable, and nothing else", Config{}, []Queue{annotated("q", "", `{"A":1.5}`, nil)}, "", "", "A:1",
			`queue "q" has no capability that can be read: volcano.sh/card.quota: entry "A": the count is 1.5` + count, "", ReasonEmptyQueueCapability},
		{"nothing", Config{}, []Queue{annotated("q", "", ``, nil)}, "", "", "A:1",
			`queue "q" has no capability: write cpu, memory or a quota of cards`, "", ReasonEmptyQueueCapability},
		{"held", Config{}, []Queue{annotated("q", "", `{"A":4}`, nil)}, "A:3", "", "A:2",
			`queue "q": insufficient quota of card A: requested 2 cards, room for 1 card of 4 cards, the total would be 5 cards; part of the limit is held for other jobs, or for other items of this one`, "", ReasonPromised},
		{"held above", Config{}, []Queue{annotated("org", "", `{"A":4}`, nil), annotated("q", "org", `{"A":6}`, nil)}, "A:3", "", "A:2",
			`queue "q": insufficient quota of card A: requested 2 cards, room for 1 card of 4 cards at queue "org", the total would be 5 cards; part of the limit is held for other jobs, or for other items of this one`, "", ReasonPromised},
		{"used", Config{}, []Queue{annotated("q", "", `{"A":4}`, nil)}, "", "A:3", "A:2",
			`queue "q": insufficient quota of card A: requested 2 cards, room for 1 card of 4 cards, the total would be 5 cards`, "", ReasonOverCapacity},
		{"closed", Config{}, []Queue{{Name: "org", State: StateClosing}, annotated("q", "org", `{"A":2}`, nil)}, "", "", "A:1",
			`queue "q" is not open: queue "org" above it is Closing`, "", ReasonQueueNotOpen},
	} {
		w := worldFrom(t, c.cfg, cluster(map[string]string{"n": "A:9 B:9 C:9"}), c.queues...)
		if c.held != "" {
			w.want(w.reserve("other", "q", c.held), "yes")
		}
		if c.used != "" {
			w.commit("used", "another", "q", c.used)
		}
		again := testkit.Must(Restore(c.cfg, nil, w.Snapshot()))
		for _, w := range []*world{w, {t, again}} {
			var a Answer
			w.Enqueueable(&a, w.job("j", "q", c.need))
			if got := a.Refusal.Message(); got != c.job || a.Refusal.Why != c.why {
				t.Errorf("%s: %v %s, want %s", c.name, a.Refusal.Why, got, c.job)
			}
			if c.task == "" {
				c.task = c.job
			}
			w.Allocatable(&a, w.task("t", "j", "q", c.need))
			if got := a.Refusal.Message(); got != c.task || a.Refusal.Why != c.why {
				t.Errorf("%s, task: %v %s, want %s", c.name, a.Refusal.Why, got, c.task)
			}
		}
	}
}
