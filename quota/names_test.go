package quota

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

func TestMessage(t *testing.T) {
	for _, c := range []struct {
		r    Refusal
		want string
	}{
		{Refusal{}, ""},
		{Refusal{Reason: ReasonUnknownQueue, Queue: "q"}, `there is no queue "q"`},
		{Refusal{Reason: ReasonUnknownQueue, Queue: "visoin", Detail: `is "vision" meant?`}, `there is no queue "visoin": is "vision" meant?`},
		{Refusal{Reason: ReasonQueueNotLeaf, Queue: "q"}, `queue "q" has queues below it and takes no jobs: use one of those`},
		{Refusal{Reason: ReasonQueueNotOpen, Queue: "q"}, `queue "q" or a queue above it is not open`},
		{Refusal{Reason: ReasonQueueNotOpen, Queue: "q", Detail: queueRemoved, Headroom: Headroom{Level: "q"}}, `queue "q" is not open: it is removed`},
		{Refusal{Reason: ReasonQueueNotOpen, Queue: "q", Detail: "Closing", Headroom: Headroom{Level: "q"}}, `queue "q" is not open: it is Closing`},
		{Refusal{Reason: ReasonQueueNotOpen, Queue: "q", Detail: "Closed", Headroom: Headroom{Level: "org"}}, `queue "q" is not open: queue "org" above it is Closed`},
		{Refusal{Reason: ReasonGetTaskRequestResourceFailed, Queue: "q", Detail: noneOnNode, Headroom: Headroom{Resource: "A|B"}},
			`queue "q": the node has none of the cards A|B`},
		{Refusal{Reason: ReasonGetTaskRequestResourceFailed, Queue: "q", Detail: noneOnNode, Headroom: Headroom{Resource: "A|B"}, facts: facts{node: "n"}},
			`queue "q": node "n" has none of the cards A|B`},
		{Refusal{Reason: ReasonGetTaskRequestResourceFailed, Queue: "q", Detail: "no card\nis known"},
			`queue "q": the request is invalid: no card is known`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Best: "B", Requested: 2000, Headroom: Headroom{Level: "q", Resource: "A|B", Room: 1000, Limit: 5000}},
			`queue "q": insufficient quota of card A|B: requested 2 cards, room on B for 1 card of 5 cards, the total would be 6 cards`},
		{Refusal{Reason: ReasonInsufficientCPUQuota, Queue: "q", Requested: 500, Headroom: Headroom{Level: "org", Room: -250, Limit: 4000}},
			`queue "q": insufficient quota of cpu: requested 0.5 cores, 0.25 cores over the limit of 4 cores at queue "org", the total would be 4.75 cores`},
		{Refusal{Reason: ReasonInsufficientMemoryQuota, Queue: "q", Requested: 3 << 29, Headroom: Headroom{Level: "q", Room: 1 << 20, Limit: 1 << 30}},
			`queue "q": insufficient quota of memory: requested 1536 Mi, room for 1 Mi of 1 Gi, the total would be 2559 Mi`},
		{Refusal{Reason: ReasonInsufficientMemoryQuota, Queue: "q", Requested: 100 << 40, Headroom: Headroom{Level: "q", Room: 80 << 40, Limit: 1<<53 - 1, Why: ReasonTooLarge}},
			`queue "q": insufficient quota of memory: requested 100 Ti, room for 80 Ti of 9007199254740991 bytes, the total would be 9029189487296511 bytes; there is no limit, but more can't be counted`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Requested: 3 << 40, Headroom: Headroom{Level: "q", Resource: "ephemeral-storage", Room: 1 << 40, Limit: 2 << 40}, output: true},
			`queue "q": insufficient quota of ephemeral-storage: requested 3 Ti, room for 1 Ti of 2 Ti, the total would be 4 Ti`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Requested: 2 << 30, Headroom: Headroom{Level: "q", Resource: "hugepages-2Mi", Room: -(512 << 20), Limit: 1 << 30}, output: true},
			`queue "q": insufficient quota of hugepages-2Mi: requested 2 Gi, 512 Mi over the limit of 1 Gi, the total would be 3584 Mi`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Requested: 4096, Headroom: Headroom{Level: "q", Resource: "example.com/credits", Room: 1024, Limit: 2048}, output: true},
			`queue "q": insufficient quota of example.com/credits: requested 4096, room for 1024 of 2048, the total would be 5120`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Requested: 1000, Headroom: Headroom{Level: "q", Resource: "A", Room: -1000, Limit: 2000}},
			`queue "q": insufficient quota of card A: requested 1 card, 1 card over the limit of 2 cards, the total would be 4 cards`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Requested: 1000, Best: "B", Headroom: Headroom{Level: "q", Resource: "A|B", Room: -1000, Limit: 2000}},
			`queue "q": insufficient quota of card A|B: requested 1 card, on B 1 card over the limit of 2 cards, the total would be 4 cards`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q\n", Requested: 1000, Headroom: Headroom{Level: "q\n", Resource: "A\x1b", Room: 0, Limit: Unlimited}},
			`queue "q\n": insufficient quota of card A : requested 1 card, room for 0 cards`},
	} {
		if got := c.r.Message(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// TestMeant: which names may be meant by one that is mistyped.
func TestMeant(t *testing.T) {
	names := []string{"vision", "research", "team-a", "team-b", "team-c", "team-d", "q", "a\nb-queue"}
	for _, c := range []struct{ name, want string }{
		{"visoin", `is "vision" meant?`},
		{"vison", `is "vision" meant?`},
		{"visionn", `is "vision" meant?`},
		{"Vision", `is "vision" meant?`},
		{" vision", `is "vision" meant?`},
		{"reserach", `is "research" meant?`},
		{"rsch", ""},
		{"speech", ""},
		{"team_a", `is "team-a" or "team-b" or "team-c" meant?`},
		{"TEAM-D", `is "team-d" or "team-a" or "team-b" meant?`},
		{"Q", `is "q" meant?`},
		{"p", ""},
		{"", ""},
		{"a\nb-quene", `is "a\nb-queue" meant?`},
	} {
		if got := meant(c.name, names); got != c.want {
			t.Errorf("%q: %s, want %s", c.name, got, c.want)
		}
	}
	long := strings.Repeat("x", 70_000) // and so no table of 70,000 by 70,000
	if got := meant(long, []string{long + "y"}); !strings.HasPrefix(got, `is "xxx`) || len(got) > 600 {
		t.Errorf("%.700s", got)
	}
}

// TestDistance compares with the definition, without a table.
func TestDistance(t *testing.T) {
	var model func(a, b string) int
	model = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		i, k := len(a)-1, len(b)-1
		least := min(model(a[:i], b)+1, model(a, b[:k])+1)
		same := 1
		if a[i] == b[k] {
			same = 0
		}
		least = min(least, model(a[:i], b[:k])+same)
		if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
			least = min(least, model(a[:i-1], b[:k-1])+1)
		}
		return least
	}
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		text := make([]byte, rng.IntN(7))
		for i := range text {
			text[i] = "abc"[rng.IntN(3)]
		}
		return string(text)
	}
	for range 20_000 {
		a, b, most := word(), word(), rng.IntN(5)
		if got, want := distance(a, b, most), min(model(a, b), most+1); got != want {
			t.Fatalf("%q, %q, at most %d: %d, want %d", a, b, most, got, want)
		}
	}
}

// TestMistypedQueues: wherever a caller names a queue that isn't there, that is what is said
// first, with the names that may be meant; and no card is blamed that only the queue knows.
func TestMistypedQueues(t *testing.T) {
	w := worldFrom(t, Config{MissingUnlimited: true}, nil, Queue{Name: "research"}, Queue{Name: "vision", Parent: "research", Cards: map[string]int64{"A": 2}})
	const none = `there is no queue "visoin": is "vision" meant?`
	text := func(a Answer, err error) string {
		testkit.Check(err)
		if a.OK {
			return "yes"
		}
		return fmt.Sprint(a.Refusal.Reason, " ", a.Refusal.Message())
	}
	for _, c := range []struct{ queue, card, invalid, want string }{
		{"vision", "A", "", "yes"},
		{"visoin", "A", "", "UnknownQueue " + none},
		{"visoin", "B", none + `; volcano.sh/card.request: no card of "B" is known: known are A`, "UnknownQueue " + none},
		{"sales", "A", "", `UnknownQueue there is no queue "sales"`},
	} {
		job, notes, err := w.ResolveJob(Job{ID: "j", Queue: c.queue, Annotations: map[string]string{RequestAnnotation: `{"` + c.card + `": 1}`}})
		testkit.Check(err)
		if job.Invalid() != c.invalid || (len(notes) > 0) != (c.card == "B") {
			t.Errorf("%s, %s: %s %v, want %s", c.queue, c.card, job.Invalid(), notes, c.invalid)
		}
		var a Answer
		w.Enqueueable(&a, job)
		w.want(text(a, nil), c.want)
		if fits := testkit.Must(w.JobCopies(job)); c.want != "yes" {
			w.want(text(fits.Next, nil), c.want)
		}
		w.want(text(w.Reserve(job)), c.want)
		w.ReleaseJob("j")
		task, _, err := w.ResolveTask(Task{ID: "t", Job: "j", Queue: c.queue, Cards: []Item{{Alternatives: []string{c.card}, Milli: 1000}}})
		testkit.Check(err)
		if c.queue == "visoin" {
			w.want(text(w.Commit(task)), "UnknownQueue "+none)
			w.want(task.Invalid(), none+`; cards: no card of "`+c.card+`" is known: known are none`)
		}
	}

	// The queue may come later.
	need := func(card string) *Min { return &Min{Items: []Item{{Alternatives: []string{card}, Milli: 1000}}} }
	job, other := resolved(w.ResolveJob(Job{ID: "j", Queue: "visoin", Min: need("A")})), resolved(w.ResolveJob(Job{ID: "k", Queue: "visoin", Min: need("B")}))
	_, _, err := w.SetQueues([]Queue{{Name: "visoin", Cards: map[string]int64{"A": 2}}})
	testkit.Check(err)
	w.want(text(w.Reserve(job)), "yes")
	w.want(text(w.Reserve(other)), `GetTaskRequestResourceFailed queue "visoin": the request is invalid: min: no card of "B" is known: known are A`)
	w.want(other.Invalid(), `min: no card of "B" is known: known are A`)

	// Of many faults in a tree the first ones ask.
	var queues []Queue
	for i := range 20 {
		queues = append(queues, Queue{Name: fmt.Sprint("leaf-", i), Parent: "reserach"})
	}
	errs, _ := new(Config).Validate(append(queues, Queue{Name: "research"}), nil)
	asked := 0
	for _, err := range errs {
		if strings.HasSuffix(err.Error(), `there is no queue "reserach" to be its parent: is "research" meant?`) {
			asked++
		}
	}
	if asked != 8 || len(errs) != 20 {
		t.Errorf("%d of %d ask: %v", asked, len(errs), errs)
	}
}
