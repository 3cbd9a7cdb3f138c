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

// do carries out one line of a case and says what came of it:
//
//	reserve j q A:4          "yes", "repeat", "conflict", or reason, room, limit and level
//	resize j q A:4           the same
//	probe q A:4              the same, for Enqueueable of another job
//	may 1 j q A|B:1          the cards with room, or as above
//	commit 1 j q A|B:1 @B    the cards charged, or as above
//	gang j q A|B:1, A:1      the same, for tasks g0, g1, ... of j
//	rollback 1 2             whether the tasks were known; also release
//	releasejob j             whether the job was known
//	why 1 j q A|B:1          what is wrong with each alternative
//	state q A                allocated/held/elastic in milli
//	queues q, A:4, p, A:2    what SetQueues returns
func (w *world) do(line string) string {
	f := strings.Fields(line)
	op, args := f[0], f[1:]
	rest := func(n int) string { return strings.Join(args[n:], " ") }
	var node []string
	if at := slices.IndexFunc(args, func(s string) bool { return s[0] == '@' }); at > 0 {
		for _, card := range args[at:] {
			node = append(node, strings.TrimPrefix(card, "@"))
		}
		args = args[:at]
	}
	short := func(s string) string {
		switch {
		case strings.HasPrefix(s, ErrConflict.Error()):
			return "conflict"
		}
		return s
	}
	switch op {
	case "reserve":
		return short(w.reserve(args[0], args[1], rest(2)))
	case "resize":
		a, err := w.Resize(w.job(args[0], args[1], rest(2)))
		return short(say(a, err))
	case "probe":
		return w.probe(args[0], rest(1))
	case "may":
		return w.may(args[0], args[1], args[2], rest(3))
	case "why":
		var a Answer
		w.Allocatable(&a, w.task(args[0], args[1], args[2], rest(3)))
		var whys []string
		for _, o := range a.Options {
			whys = append(whys, o.Resource+" "+map[Reason]string{
				"": "yes", ReasonOverCapacity: "capacity", ReasonPromised: "promised", ReasonFirmElsewhere: "firm",
				ReasonNotOnNode: "node", ReasonHoldTooLarge: "hold", ReasonNoQuota: "none", ReasonNotTogether: "together",
				ReasonUnreadableQuota: "unreadable", ReasonTooLarge: "too large",
			}[o.Why])
		}
		return strings.Join(whys, ", ")
	case "commit":
		return short(w.commit(args[0], args[1], args[2], rest(3), node...))
	case "gang":
		var tasks []*TaskRequest
		for i, text := range strings.Split(rest(2), ",") {
			tasks = append(tasks, w.task(fmt.Sprint("g", i), args[0], args[1], text))
		}
		a, err := w.CommitAll(tasks)
		if s := short(say(a, err)); s != "yes" {
			return s
		}
		return strings.Join(a.Charged, " ")
	case "rollback":
		return fmt.Sprint(known(w.Rollback(args...)))
	case "release":
		return fmt.Sprint(known(w.Release(args...)))
	case "releasejob":
		return fmt.Sprint(known(w.ReleaseJob(args[0])))
	case "state":
		return w.state(args[0], args[1])
	case "queues":
		orphans, _, err := w.setBuilt(qs(w.m, strings.Split(rest(0), ", ")...), nil)
		if err != nil {
			return short(err.Error())
		}
		return strings.Join(orphans, " ")
	}
	panic("no such step: " + line)
}

// decisionCase is a story: steps as [world.do] takes them, "line = outcome".
type decisionCase struct {
	name   string
	cfg    Config
	queues []string
	steps  string
}

func (c *decisionCase) run(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		w := newWorld(t, c.cfg, c.queues...)
		for _, step := range strings.Split(strings.TrimSpace(c.steps), "\n") {
			line, want, ok := strings.Cut(strings.TrimSpace(step), " = ")
			if !ok {
				line, want = strings.TrimSuffix(line, " ="), ""
			}
			if got := w.do(line); got != want {
				t.Errorf("%s: got %q, want %q", line, got, want)
			}
		}
	})
}

var anyMix = Config{AnyMix: true}

func TestSeed(t *testing.T) {
	for _, c := range []decisionCase{
		{"example 1", Config{}, []string{"q", "A:5"}, `
			reserve j q A:4 = yes
			state q A = 0/4000/0
			commit 1 j q A:1 = A
			commit 2 j q A:1 = A
			commit 3 j q A:1 = A
			commit 4 j q A:1 = A
			state q A = 4000/0/0
			reserve k q A:2 = Scalar 1000 of 5000 at q
			commit 5 x q A:1 = A
			commit 6 x q A:1 = Scalar 0 of 5000 at q`},
		{"example 2, on one card", Config{}, []string{"q", "A:5 H:4"}, `
			commit x1 x q A:3 = A
			reserve j q A|H:4 = yes
			state q H = 0/4000/0
			commit 1 j q A|H:1 = H
			commit 2 j q A|H:1 = H
			commit 3 j q A|H:1 = H
			commit 4 j q A|H:1 = H
			state q H = 4000/0/0`},
		{"example 2, AnyMix", anyMix, []string{"q", "A:5 H:4"}, `
			commit x1 x q A:3 = A
			reserve j q A|H:4 = yes
			state q A = 3000/2000/0
			state q H = 0/2000/0
			commit 1 j q A|H:1 = A
			commit 2 j q A|H:1 = A
			commit 3 j q A|H:1 = H
			commit 4 j q A|H:1 = H`},
		{"story 2", Config{}, []string{"q", "A:4 B:4"}, `
			reserve j q A|B:3 = yes
			state q A = 0/3000/0
			may 1 j q A|B:1 = A B
			commit 1 j q A|B:1 @B = B
			state q B = 1000/2000/0
			state q A = 0/0/0
			may 2 j q A|B:1 = B
			rollback 1 = true
			may 2 j q A|B:1 = A B
			state q B = 0/3000/0
			reserve k q B:1 = yes
			may 2 j q A|B:1 = A B`},
		{"story 2, B promised to another", Config{}, []string{"q", "A:4 B:4"}, `
			reserve j q A|B:3 = yes
			reserve k q B:2 = yes
			may 1 j q A|B:1 = A
			why 1 j q A|B:1 = A yes, B promised`},
		{"no card has room for all, on one card", Config{}, []string{"q", "A:5 H:3"}, `
			commit 1 x q A:2 = A
			commit 2 x q H:1 = H
			probe q A|H:4 = Scalar 3000 of 5000 at q`},
		{"no card has room for all, AnyMix", anyMix, []string{"q", "A:5 H:3"}, `
			commit 1 x q A:2 = A
			commit 2 x q H:1 = H
			probe q A|H:4 = yes`},
	} {
		c.run(t)
	}
}

func TestLedgerFacts(t *testing.T) {
	for _, c := range []decisionCase{
		{"a stranger doesn't get what is promised", Config{}, []string{"q", "A:4"}, `
			reserve j q A:4 = yes
			commit 1 x q A:1 = Scalar 0 of 4000 at q
			why 1 x q A:1 = A promised
			reserve j q A:4 = repeat
			reserve j q A:3 = conflict`},
		{"repeats of tasks", Config{}, []string{"q", "A:4 B:4", "p", "A:4"}, `
			commit 1 j q A|B:1 = A
			commit 1 j q A|B:1 = repeat
			commit 1 j q A|B:1 @A @B = repeat
			commit 1 j q A|B:1 @B = conflict
			commit 1 j q A|B:2 = conflict
			commit 1 k q A|B:1 = conflict
			commit 1 j p A|B:1 = conflict
			commit 2 j p A:1 = conflict
			reserve j p A:1 = conflict
			rollback 2 = false
			release 1 2 = false
			release 1 = false
			releasejob j = false
			commit 1 j p A:1 = A`},
		{"a gang, single names first", anyMix, []string{"q", "A:1 B:1"}, `
			gang j q A|B:1, A:1, A:1 = Scalar 0 of 1000 at q
			state q A = 0/0/0
			state q B = 0/0/0
			gang j q A|B:1, A:1 = B A
			gang j q A|B:1, A:1 = repeat`},
		{"rollback and release", Config{}, []string{"q", "A:4"}, `
			reserve j q A:4 = yes
			gang j q A:1, A:1, A:1, A:1 = A A A A
			rollback g1 = true
			state q A = 3000/1000/0
			probe q A:1 = Scalar 0 of 4000 at q
			commit g1 j q A:1 = A
			release g1 = true
			state q A = 3000/0/0
			probe q A:1 = yes`},
		{"elastic", Config{}, []string{"q", "A:4"}, `
			reserve j q A:2 = yes
			gang j q A:1, A:1, A:1, A:1 = A A A A
			state q A = 4000/0/2000
			reserve k q A:2 = yes
			commit k1 k q A:1 = Scalar 0 of 4000 at q
			release g3 = true
			commit k1 k q A:1 = A
			release g2 = true
			commit x1 x q A:1 = Scalar 0 of 4000 at q
			why x1 x q A:1 = A promised
			probe q A:1 = Scalar 0 of 4000 at q`},
		{"rollback lets later charges draw on what comes free", Config{}, []string{"q", "A:4"}, `
			reserve j q A:2 = yes
			gang j q A:1, A:1, A:1 = A A A
			state q A = 3000/0/1000
			rollback g0 = true
			state q A = 2000/0/0
			rollback g1 = true
			state q A = 1000/1000/0`},
		{"reserve keeps to the card of the first charge", Config{}, []string{"q", "A:4 B:8"}, `
			commit 1 j q A|B:1 = A
			reserve j q A|B:5 = Scalar 4000 of 4000 at q
			reserve j q A|B:3 = yes
			resize j q A|B:5 = Scalar 4000 of 4000 at q
			resize j q A|B:4 = yes
			release 1 = true
			may 2 j q A|B:1 = A B`},
		{"a job with its own policy of nothing left", Config{}, []string{"q", "A:4"}, `
			reserve j q A:2 = yes
			commit 1 j q A:2 = A
			release 1 = true
			reserve j q = repeat
			reserve j q A:2 = conflict
			resize j q A:2 = yes
			releasejob j = true
			releasejob j = false
			reserve j q A:3 = yes`},
		{"an orphan that comes back", Config{}, []string{"q", "A:4"}, `
			reserve j q A:2 = yes
			queues p, A:2 = q
			queues p, A:2, q, A:4 = 
			commit 1 j q A:1 = A
			state q A = 1000/1000/0`},
	} {
		c.run(t)
	}
}

func TestTreeFacts(t *testing.T) {
	for _, c := range []decisionCase{
		{"every level counts", anyMix, []string{"org", "A:4 H:4", "x < org", "A:4 H:4", "y < org", "A:4"}, `
			reserve j x A|H:4 = yes
			state x A = 0/4000/0
			probe y A:4 = Scalar 0 of 4000 at org
			probe x H:1 = yes
			commit 1 j x A|H:1 @H = H
			probe y A:1 = yes
			probe y A:4 = Scalar 1000 of 4000 at org
			probe org A:1 = QueueNotLeaf
			commit 2 x org A:1 = QueueNotLeaf`},
		{"the parent sells less than its children", Config{}, []string{"org", "A:6", "x < org", "A:4", "y < org", "A:4"}, `
			reserve j x A:4 = yes
			reserve k y A:3 = Scalar 2000 of 6000 at org
			reserve k y A:2 = yes`},
		{"the lowest level on ties", Config{}, []string{"org", "A:4", "x < org", "A:4"}, `
			probe x A:5 = Scalar 4000 of 4000 at x`},
		{"what a parent doesn't mention is unlimited", Config{}, []string{"org", "", "x < org", "cpu:4 A:4"}, `
			probe x A:4 cpu:4 = yes
			probe x A:5 = Scalar 4000 of 4000 at x`},
		{"a leaf that becomes a parent keeps its records", Config{}, []string{"x", "A:4"}, `
			reserve j x A:2 = yes
			commit 1 j x A:1 = A
			queues x, A:4, y < x, A:4 = 
			state x A = 1000/1000/0
			commit 2 j x A:1 = QueueNotLeaf
			probe y A:3 = Scalar 2000 of 4000 at x
			releasejob j = true
			probe y A:3 = yes`},
		{"an orphan below the queue above the one that went with it", Config{}, []string{"org", "A:5", "team < org", "A:5", "leaf < team", "A:5", "other < org", "A:5"}, `
			commit 1 j leaf A:5 = A
			queues org, A:5, other < org, A:5 = leaf
			state org A = 5000/0/0
			reserve k other A:5 = Scalar 0 of 5000 at org
			commit 2 k other A:1 = Scalar 0 of 5000 at org
			probe team A:1 = UnknownQueue
			probe leaf A:1 = QueueNotOpen
			release 1 = true
			reserve k other A:5 = yes
			probe leaf A:1 = UnknownQueue`},
		{"an orphan below an orphan with records of its own", Config{}, []string{"org", "A:9", "team < org", "A:9"}, `
			commit 1 j team A:2 = A
			queues org, A:9, team < org, A:9, leaf < team, A:9, other < org, A:9 = 
			commit 2 k leaf A:3 = A
			queues org, A:9, other < org, A:9 = leaf team
			state team A = 5000/0/0
			probe other A:5 = Scalar 4000 of 9000 at org
			release 1 = true
			probe team A:1 = UnknownQueue
			state leaf A = 3000/0/0
			state org A = 3000/0/0
			probe other A:7 = Scalar 6000 of 9000 at org
			release 2 = true
			probe leaf A:1 = UnknownQueue
			probe other A:9 = yes`},
		{"an orphan that comes back elsewhere", Config{}, []string{"org", "A:5", "team < org", "A:5", "leaf < team", "A:5", "corp", "A:6"}, `
			commit 1 j leaf A:4 = A
			queues corp, A:6, org, A:5 = leaf
			state org A = 4000/0/0
			queues corp, A:6, org, A:5, leaf < corp, A:4 = 
			state org A = 0/0/0
			state corp A = 4000/0/0
			commit 2 j leaf A:1 = Scalar 0 of 4000 at leaf`},
	} {
		c.run(t)
	}
}

// What SetQueues and SetCatalog refuse leaves the map as it was, too.
func TestWiderMapRefused(t *testing.T) {
	w := newWorld(t, Config{})
	alone, below := []builtQueue{}, []builtQueue{{Name: "org"}}
	for i := range 513 {
		name := fmt.Sprintf("q%03d", i)
		alone, below = append(alone, q(w.m, name, "A:inf")), append(below, q(w.m, name+" < org", "A:inf"))
	}
	w.replace(alone...)
	for _, spec := range alone {
		w.want(w.reserve("j"+spec.Name, spec.Name, "A:9007199254740991m"), "yes")
	}
	m, before := w.m, string(w.Snapshot())
	wider := testkit.Must(extendMap(m, []string{"X"}))
	below[1] = q(wider, "q000 < org", "A:inf X:1")
	bad := []builtQueue{q(wider, "q000", "X:1"), {Name: ""}}
	for _, c := range []struct {
		name  string
		do    func() error
		want  error
		names string
	}{
		{"sums", func() error { _, _, err := w.setBuilt(below, wider); return err }, ErrBadAmount, `queue "org": 9007199254740.99 cards of A: want sums below 2^62 milli-cards`},
		{"faults", func() error { _, _, err := w.setBuilt(bad, wider); return err }, ErrBadName, ""},
		{"cards", func() error { _, err := w.SetCatalog(cluster(map[string]string{"n": "X:1 \xff:1"})); return err }, ErrBadName, `card "\xff"`},
		{"declared cards", func() error { _, err := w.Declare([]device.Card{{Name: "X"}, {}}); return err }, ErrBadName, `card ""`},
	} {
		if err := c.do(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, ok := w.dims["X"]; ok || w.m != m || len(w.queues["q001"].Cells) != m.Len() {
			t.Errorf("%s: the map is another one", c.name)
		}
		w.want(string(w.Snapshot()), before)
		w.want(fmt.Sprint(w.Check()), "<nil>")
	}
	w.ReleaseJob("jq000")
	if _, _, err := w.setBuilt(below, wider); err != nil || w.m != wider {
		t.Error(err)
	}
	w.want(w.reserve("l", "q000", "X:1"), "yes")
	w.want(fmt.Sprint(w.Check()), "<nil>")
}

// So many amounts that their sum would not even be an int64.
func TestVeryMuchBelowOneQueue(t *testing.T) {
	const n = 1 << 10
	alone, below := []builtQueue{}, []builtQueue{{Name: "org"}}
	w := newWorld(t, Config{})
	for i := range n {
		name := fmt.Sprintf("q%04d", i)
		alone, below = append(alone, q(w.m, name, "A:inf")), append(below, q(w.m, name+" < org", "A:inf"))
	}
	w.replace(alone...)
	for _, spec := range alone {
		w.want(w.reserve("j"+spec.Name, spec.Name, "A:9007199254740991m"), "yes")
	}
	if _, _, err := w.setBuilt(below, nil); !errors.Is(err, ErrBadAmount) {
		t.Errorf("%v", err)
	}
	w.want(w.probe("org", "A:1"), "UnknownQueue")
}

// Amounts that no queue can have change nothing.
func TestBadQueueAmounts(t *testing.T) {
	w := &world{t, testkit.Must(New(Config{Outputs: []corev1.ResourceName{"x"}}, cluster(map[string]string{"n": "A:4"}), []Queue{{Name: "q", Cards: map[string]int64{"A": 4}}}))}
	w.want(w.reserve("j", "q", "A:2"), "yes")
	before := string(w.Snapshot())
	for _, c := range []struct {
		queue Queue
		want  error
		names string
	}{
		{Queue{Name: "q", Capability: list("cpu=-1")}, ErrBadAmount, `queues[0].capability[cpu]: Invalid value: "-1": queue "q": want 0 to less than 2^53 milli-cores`},
		{Queue{Name: "q", Deserved: list("cpu=9007199254741")}, ErrBadAmount, `queues[0].deserved[cpu]: Invalid value: "9007199254741"`},
		{Queue{Name: "q", Guarantee: list("memory=8Pi")}, ErrBadAmount, `queues[0].guarantee[memory]: Invalid value: "8Pi": queue "q": want 0 to less than 2^53 bytes`},
		{Queue{Name: "q", Deserved: list("x=9007199254740992")}, ErrBadAmount, "queues[0].deserved[x]"},
		{Queue{Name: "q", Capability: list("x=-1m")}, ErrBadAmount, `queues[0].capability[x]: Invalid value: "-1m": queue "q": want 0 to less than 2^53`},
		{Queue{Name: "q", Cards: map[string]int64{"A": -1}}, ErrBadAmount, `queues[0].cards[A]: Invalid value: -1: queue "q": want a whole number of cards from 0`},
		{Queue{Name: "q", Cards: map[string]int64{"A|B": 1}}, ErrBadName, `queues[0].cards[A|B]: Invalid value: "A|B": queue "q": a quota is of one card`},
		{Queue{Name: "q", Cards: map[string]int64{" ": 1}}, ErrBadName, `queues[0].cards[ ]: Invalid value: " ": queue "q": " " names no card`},
		{Queue{Name: "q", Cards: map[string]int64{"": 1}}, ErrBadName, `queue "q": want the name of a card`},
		{Queue{Name: "q", Cards: map[string]int64{"A": 1, " A": 2}}, ErrBadName, `queues[0].cards[A]: Duplicate value: "A"`},
		{Queue{Name: "q", Capability: corev1.ResourceList{"\xff": resource.MustParse("1")}}, ErrBadName, `queue "q": want the name of a resource`},
		{Queue{}, ErrBadName, "queues[0].name"},
	} {
		_, _, err := w.SetQueues([]Queue{c.queue})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%+v: %v", c.queue, err)
		}
		if errs, _ := w.cfg.Validate([]Queue{c.queue}, nil); len(errs) != 1 {
			t.Errorf("%+v: %v", c.queue, errs)
		}
		w.want(string(w.Snapshot()), before)
	}
}

// Programmer errors panic with constant strings.
func TestPanics(t *testing.T) {
	w := newWorld(t, Config{}, "q", "A:4")
	if got := testkit.Recovered(func() { _, _ = New(Config{Unnamed: "other"}, nil, nil) }); got != "quota: unknown value in config" {
		t.Errorf("panic %v", got)
	}
	w.want(w.reserve("j", "q", "A:1"), "yes") // nothing is left locked
}
