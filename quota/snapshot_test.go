package quota

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
)

// again restores the snapshot of a world with the same configuration.
func (w *world) again() *world {
	w.Helper()
	data := w.Snapshot()
	l, err := Restore(w.cfg, w.source.catalog, data)
	if err != nil {
		w.Fatalf("%v\n%s", err, data)
	}
	if back := l.Snapshot(); !bytes.Equal(back, data) {
		w.Fatalf("the snapshot changed:\n%s\n%s", data, back)
	}
	if found := errors.Join(w.Check(), l.Check()); found != nil {
		w.Fatalf("%v\n%s", found, data)
	}
	return &world{w.T, l}
}

// storyWorld is a ledger with a bit of everything.
func storyWorld(t *testing.T) *world {
	w := gpus(t, Config{}, "org", "A:9", "q < org", "A:4 B:inf cpu:8", "r", "A:1")
	w.reserve("j", "q", "cpu:2 A|B:3 A:1")
	w.commit("t1", "j", "q", "cpu:1 A|B:1", "B")
	w.commit("t2", "j", "q", "A|B:1 A:1")
	w.commit("t3", "k", "q", "A|B:1")
	w.commit("t4", "l", "r", "A:1")
	w.reconcile("m@q; t5 Pending cpu:1 B:1", "l@r; t4 Running@a A:1", "k@q; t3 Running@a A|B:1")
	w.replace(qs(w.m, "org", "A:9", "q < org", "A:4 B:inf cpu:8")...)
	return w
}

const storySnapshot = `{
	"config": {"keys": {"deserved": "", "guarantee": "", "name": "volcano.sh/card.name",
		"quota": "volcano.sh/card.quota", "request": "volcano.sh/card.request"},
		"missing": "denies", "mix": "same-card", "parser": "strict", "unnamed": "as-any"},
	"format": "resvec.quota/v1",
	"jobs": [
		{"id": "j", "items": [
				{"holds": {}, "key": "A", "min": 1000, "unit": 1000},
				{"holds": {"B": 1000}, "key": "A|B", "min": 3000, "unit": 1000}],
			"min": {"cpu": 2000, "memory": 0}, "policy": "same-card", "queue": "q", "reserved": true, "seq": 1},
		{"id": "k", "items": [{"holds": {}, "implicit": true, "key": "A|B", "min": 0, "unit": 0}],
			"min": {"cpu": 0, "memory": 0}, "policy": "same-card", "queue": "q", "seq": 0},
		{"id": "l", "items": [], "min": {"cpu": 0, "memory": 0}, "policy": "same-card", "queue": "r", "seq": 0}],
	"known": [{"card": "A", "resources": ["nvidia.com/gpu"]}, {"card": "B", "resources": ["nvidia.com/gpu"]},
		{"card": "K", "resources": ["nvidia.com/gpu"]}],
	"queues": [
		{"capability": {"card:A": 9000}, "deserved": {}, "guarantee": {}, "name": "org", "parent": "", "priority": 0, "state": "open"},
		{"capability": {"card:A": 4000, "card:B": "unlimited", "cpu": 8000}, "deserved": {}, "guarantee": {},
			"name": "q", "parent": "org", "priority": 0, "state": "open"},
		{"capability": {}, "deserved": {}, "guarantee": {}, "name": "r", "orphan": true,
			"parent": "", "priority": 0, "state": "closed"}],
	"seq": 7,
	"tasks": [
		{"charges": [{"card": "B", "covered": 1000, "item": 1, "key": "A|B", "milli": 1000}],
			"covered": {"cpu": 1000, "memory": 0}, "cpu": 1000, "id": "t1", "job": "j", "memory": 0, "order": 0,
			"queue": "q", "seq": 2, "state": "committed"},
		{"charges": [{"card": "B", "covered": 1000, "item": 1, "key": "A|B", "milli": 1000},
				{"card": "A", "covered": 1000, "item": 0, "key": "A", "milli": 1000}],
			"covered": {"cpu": 0, "memory": 0}, "cpu": 0, "id": "t2", "job": "j", "memory": 0, "order": 1,
			"queue": "q", "seq": 3, "state": "committed"},
		{"charges": [{"card": "A", "covered": 0, "item": 0, "key": "A|B", "milli": 1000}],
			"covered": {"cpu": 0, "memory": 0}, "cpu": 0, "id": "t3", "job": "k", "memory": 0, "node": "a", "order": 0,
			"queue": "q", "seq": 4, "state": "confirmed"},
		{"charges": [{"card": "A", "covered": 0, "key": "A", "milli": 1000}],
			"covered": {"cpu": 0, "memory": 0}, "cpu": 0, "id": "t4", "job": "l", "memory": 0, "node": "a", "order": 0,
			"queue": "r", "seq": 5, "state": "confirmed"},
		{"charges": [{"card": "", "covered": 0, "key": "B", "milli": 1000}], "covered": {"cpu": 0, "memory": 0},
			"cpu": 1000, "id": "t5", "job": "m", "memory": 0, "order": 0,
			"queue": "q", "seq": 0, "state": "pending"}]
}`

// compact takes the white space out.
func compact(t testing.TB, text string) string {
	var out bytes.Buffer
	testkit.Check(json.Compact(&out, []byte(text)))
	return out.String()
}

// sortedCards are those of a ledger's map.
func sortedCards(l *Ledger) []string { return sorted(l.dims) }

func TestSnapshot(t *testing.T) {
	w := storyWorld(t)
	data := string(w.again().Snapshot())
	w.want(data, compact(t, storySnapshot))
	var v any
	testkit.Check(json.Unmarshal([]byte(data), &v))
	w.want(string(testkit.Must(json.Marshal(v))), data)
	restored := testkit.Must(Restore(w.cfg, nil, []byte(data)))
	w.want(fmt.Sprint(sortedCards(restored)), "[A B K]")

	// What a card and a queue are called stays, and so do resources and priorities.
	m := testkit.Must(testMap([]string{`<"\`, "ä\n", "A"}))
	capability, _ := vectorOf(m, `cpu:1 <"\:2`)
	deserved, _ := vectorOf(m, "A:1")
	l := testkit.Must(newBuilt(Config{OnEvent: func(Event) {}}, m, cluster(map[string]string{"n": "A:1"}), []builtQueue{
		{Name: `"q" & ü`, Priority: -3, State: stateUnknown, Capability: capability, denied: map[int]string{m.Len() - 1: `the count is "<\n"`}},
		{Name: "d", Deserved: deserved, Guarantee: deserved}, {Name: "all", Capability: deserved},
	}))
	testkit.Must(l.Declare([]device.Card{{Name: `<"\`}, {Name: "ä\n", Resource: "r/x"}}))
	w = (&world{t, l}).again()
	for _, name := range []string{`"q" & ü`, "d", "all"} {
		want, _ := l.Queue(name)
		if got, ok := w.Queue(name); !ok || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	restored = testkit.Must(Restore(w.cfg, nil, w.Snapshot()))
	w.want(fmt.Sprintf("%q", sortedCards(restored)), `["<\"\\" "A" "ä\n"]`)
	if _, err := Restore(w.cfg, nil, nil); !errors.Is(err, ErrSnapshot) {
		t.Error(err)
	}
	w.want(fmt.Sprint(w.source.carried), "map[nvidia.com/gpu:[A] r/x:[ä\n]]")
}

// TestSnapshotLater: what a snapshot is restored with may know more, and less.
func TestSnapshotLater(t *testing.T) {
	w := gpus(t, Config{}, "q", "A:4 B:4")
	w.commit("t", "j", "q", "A:1")
	testkit.Must(w.SetCatalog(cluster(map[string]string{"b": "B:8"})))
	for range 2 { // card A's last node has left: it stays known, and charged
		if _, ok := w.source.known["A"]; !ok {
			t.Error("A isn't known any more")
		}
		w.want(w.state("q", "A"), "1000/0/0")
		r, _, err := w.ResolveTask(Task{ID: "u", Job: "j", Queue: "q", Pod: podOf("A", "gpu:1")})
		if err != nil || r.Invalid() != "" {
			t.Error(r, err)
		}
		w = w.again()
	}
	// Restored below the quota: it is over.
	text := strings.Replace(string(w.Snapshot()), `"card:A":4000`, `"card:A":0`, 1)
	l := testkit.Must(Restore(w.cfg, nil, []byte(text)))
	w.want(fmt.Sprint(l.Over()), "[{0 A OverCapacity -1000 q 0}]")

	// More cards, and fewer, in another order.
	for _, cards := range []string{"A:2 B:1 K:1", "K:1"} {
		l := testkit.Must(Restore(w.cfg, cluster(map[string]string{"n": cards}), w.Snapshot()))
		w.want(string(l.Snapshot()), string(w.Snapshot()))
	}

	// What isn't known is ignored.
	text = strings.ReplaceAll(string(w.Snapshot()), `{"`, `{"TASKS":[],"Milli":0,"zz":[{"a":null}],"`)
	for _, field := range []string{"holds", "capability", "deserved", "guarantee"} {
		text = strings.ReplaceAll(text, `"`+field+`":{"TASKS":[],"Milli":0,"zz":[{"a":null}],`, `"`+field+`":{`)
	}
	l = testkit.Must(Restore(w.cfg, w.source.catalog, []byte(text)))
	w.want(string(l.Snapshot()), string(w.Snapshot()))
}

// TestRestoreRefuses is the table of snapshots that are none: of a change to a good
// one, the error and the place that it names.
func TestRestoreRefuses(t *testing.T) {
	w := storyWorld(t)
	data := string(w.Snapshot())
	for _, c := range []struct {
		from, to string
		want     error
		place    string
	}{
		{data, "", ErrSnapshot, "not JSON"},
		{data, data + "{}", ErrSnapshot, "not JSON: invalid character '{' after top-level value at byte "},
		{data, "\n{", ErrSnapshot, "not JSON: unexpected end of JSON input at byte 2"},
		{data, "format: v1", ErrSnapshot, "not JSON: invalid character"},
		{data, data[:len(data)-2], ErrSnapshot, fmt.Sprintf("not JSON: unexpected end of JSON input at byte %d", len(data)-2)},
		{data, "null", ErrSnapshot, `the format is missing: want "resvec.quota/v1"`},
		{data, "[]", ErrSnapshot, `the format is missing: want "resvec.quota/v1"`},
		{"resvec.quota/v1", "resvec.quota/v2", ErrSnapshot, `the format is "resvec.quota/v2": want "resvec.quota/v1"`},
		{`"resvec.quota/v1"`, "1", ErrSnapshot, "the format is 1"},
		{`"format"`, `"Format"`, ErrSnapshot, "the format is missing"},

		{`"mix":"same-card"`, `"mix":"any-mix"`, ErrConfig, `mix is "any-mix" in the snapshot and "same-card" here`},
		{`"config":{`, `"config":{"unlimitedCPUMemory":true,`, ErrConfig, "config.unlimitedCPUMemory is true in the snapshot and nothing here"},
		{`"volcano.sh/card.name"`, `"x"`, ErrConfig, `keys.name is "x" in the snapshot and "volcano.sh/card.name" here`},

		// Types, keys and ranges.
		{`"config":{`, `"config":[],"x":{`, ErrSnapshot, "config is [] in the snapshot and {"},
		{`"config":{`, `"config":1e999,"x":{`, ErrSnapshot, "config is 1e999 in the snapshot and {"},
		{`"known":[`, `"known":["A",`, ErrSnapshot, `known[0] is "A" in the snapshot and {"card":"","resources":null} here`},
		{`"known":[`, `"known":1e999,"x":[`, ErrSnapshot, "known is 1e999 in the snapshot and null here"},
		{`"queues":[`, `"queues":{},"x":[`, ErrSnapshot, "queues is {} in the snapshot and null here"},
		{`"reserved":true`, `"reserved":1`, ErrSnapshot, "jobs.reserved is a number at byte 454: want another type"},
		{`"id":"j"`, `"id":[]`, ErrSnapshot, `jobs[0].id is [] in the snapshot and "" here`},
		{`"priority":0`, `"priority":2147483648`, ErrSnapshot, "queues[0].priority is 2147483648 in the snapshot and 0 here"},
		{`"seq":7`, `"seq":-7`, ErrSnapshot, "seq is -7 in the snapshot and 0 here"},
		{`"item":1`, `"item":"1"`, ErrSnapshot, `tasks[0].charges[0].item is "1" in the snapshot and 0 here`},
		{`"milli":1000`, `"milli":null`, ErrSnapshot, "tasks[0].charges[0].milli is null in the snapshot and 0 here"},
		{`"milli":1000`, `"milli":1.5`, ErrSnapshot, "tasks[0].charges[0].milli is 1.5"},
		{`"milli":1000`, `"milli":-1000`, ErrSnapshot, `task "t1": charges[0]: milli is -1000: want 0 to less than 2^53`},
		{`"milli":1000`, `"milli":9007199254740992`, ErrSnapshot, `task "t1": charges[0]: milli is 9007199254740992: want 0 to less than 2^53`},
		{`"milli":1000`, `"milli":1000,"milli":0`, ErrSnapshot, "tasks[0].charges[0].milli is there twice: want it once"},
		{`"milli":1000`, `"milli":1000,"\u006dilli":0`, ErrSnapshot, "tasks[0].charges[0].milli is there twice"},
		{`"milli":1000`, `"Milli":1000`, ErrSnapshot, "tasks[0].charges[0].milli is missing"},
		{`"tasks":[`, `"TASKS":[`, ErrSnapshot, "tasks is missing"},
		{`"tasks":[`, `"tasks":[],"tasks":[`, ErrSnapshot, "tasks is there twice"},
		{`"format"`, `"format":"resvec.quota/v1","format"`, ErrSnapshot, "format is there twice"},
		{`"covered":0,"item":0`, `"covered":0,"item":0,"Item":null`, ErrSnapshot, "tasks[2].charges[0].Item is there twice, in another case: want it once"},
		{`"holds":{"B":1000}`, `"holds":{"B":1000,"B":1000}`, ErrSnapshot, "jobs[0].items[1].holds.B is there twice"},
		{`"holds":{"B":1000}`, `"holds":{"B":-1000}`, ErrSnapshot, `job "j": items[1] "A|B": holds has -1000 on "B": want 0 to less than 2^53`},
		{`"holds":{"B":1000}`, `"holds":{"B":9223372036854775807}`, ErrSnapshot, `items[1] "A|B": holds has 9223372036854775807 on "B"`},
		{`"min":{"cpu":2000`, `"min":{"cpu":-2000`, ErrSnapshot, `job "j": min is -2000 of cpu and 0 of memory: want 0 to less than 2^53`},
		{`"covered":{"cpu":1000`, `"covered":{"cpu":-1`, ErrSnapshot, `task "t1", resource "cpu", -1 instead of 1000: no amount is below 0`},
		{`"card:A":4000`, `"card:A":-1`, ErrSnapshot, `queue "q": capability of "card:A" is -1: want 0 to less than 2^53, or of a capability unlimited`},
		{`"card:A":4000`, `"card:A":9223372036854775807`, ErrSnapshot, "queues[1].capability.card:A is 9223372036854775807 in the snapshot and 9223372036854776000 here"},
		{`"card:A":4000`, `"card:A":4000.0`, ErrSnapshot, "queues[1].capability.card:A is 4000.0 in the snapshot and 4000 here"},
		{`"card:A":4000`, `"card:A":0.5`, ErrSnapshot, `queue "q": capability of "card:A" is 0.5: want 0 to less than 2^53, or of a capability unlimited`},
		{`"card:A":4000`, `"card:A":"much"`, ErrSnapshot, `queue "q": capability of "card:A" is "much": want 0 to less than 2^53`},

		{`"seq":7`, `"seq":9007199254740992`, ErrSnapshot, "seq is 9007199254740992: want less than 2^52"},
		{`{"card":"K"`, `{"card":""`, ErrSnapshot, `known[2].card is "": want each card once, by its name`},
		{`{"card":"K"`, `{"card":"A"`, ErrSnapshot, `known[2].card is "A": want each card once`},

		{`"card:A":4000`, `"disk":4000`, ErrSnapshot, `queue "q": there is no dimension "disk"`},
		{`"deserved":{}`, `"deserved":{"cpu":"unlimited"}`, ErrSnapshot, `queue "org": deserved of "cpu" is "unlimited": want 0 to less than 2^53, or of a capability unlimited`},
		{`"deserved":{}`, `"denied":{"output:Z":""},"deserved":{}`, ErrSnapshot, `queue "org": there is no dimension "output:Z"`},
		{`"state":"open"`, `"state":"ajar"`, ErrSnapshot, `queues[0].state is "ajar" in the snapshot and "unknown" here: want the same`},
		{`"parent":"org"`, `"parent":"x"`, ErrSnapshot, `there is no queue "x" to be its parent`},
		{`"parent":"org"`, `"parent":"q"`, ErrSnapshot, "cycle"},
		{`"name":"org"`, `"name":""`, ErrSnapshot, "needs a name"},
		{`"parent":"org"`, `"parent":"r"`, ErrSnapshot, `queue "q": every charge has its job, every job its queue, every orphan a job and only orphans below it`},
		{`"name":"q"`, `"name":"q","orphan":true`, ErrSnapshot, "queues[1].capability.card:A is 4000 in the snapshot and nothing here"},
		{`"name":"r","orphan":true`, `"name":"r","orphan":true,"denied":{"card:A":""}`, ErrSnapshot, `queues[2].denied is {"card:A":""} in the snapshot and nothing here`},
		{`"name":"r","orphan":true`, `"name":"r","orphan":true,"unreadable":"?"`, ErrSnapshot, `queues[2].unreadable is "?" in the snapshot and nothing here`},
		{`{"capability":{},"deserved":{},"guarantee":{},"name":"r"`, `{"capability":{},"deserved":{},"guarantee":{},"name":"qq","orphan":true,"parent":"","priority":0,"state":"closed"},{"capability":{},"deserved":{},"guarantee":{},"name":"r"`,
			ErrSnapshot, `queue "qq": every charge has its job, every job its queue, every orphan a job`},
		{`"orphan":true,"parent":"","priority":0,"state":"closed"`, `"orphan":true,"parent":"","priority":0,"state":"open"`, ErrSnapshot, `queues[2].state is "open" in the snapshot and "closed" here`},

		{`{"id":"j"`, `{"id":""`, ErrSnapshot, `job "": want an id that no other job has`},
		{`{"id":"j"`, `{"id":"k"`, ErrSnapshot, `job "k": want an id that no other job has`},
		{`"seq":7`, `"seq":0`, ErrSnapshot, `job "j": seq is 1: want at most 0`},
		{`"policy":"same-card","queue":"r"`, `"policy":"same-card","queue":"s"`, ErrSnapshot, `job "l": there is no queue "s"`},
		{`"policy":"same-card","queue":"r"`, `"policy":"","queue":"r"`, ErrSnapshot, `jobs[2].policy is "" in the snapshot and "same-card" here`},
		{`"policy":"same-card","queue":"q","seq":0`, `"policy":"any-mix","queue":"q","seq":0`, ErrSnapshot, `job "k": items[0] "A|B": it is implicit: want several cards, policy same-card`},
		{`"reserved":true,`, "", ErrSnapshot, `job "j": items[0] "A": the job isn't reserved`},
		{`"key":"A|B","min":3000`, `"key":"A|B","output":true,"min":3000`, ErrSnapshot, `job "j": items[1] "A|B": there is no dimension "output:A|B"`},
		{`"key":"A|B","min":3000`, `"key":"A|A","min":3000`, ErrSnapshot, "twice"},
		{`"key":"A|B","min":3000`, `"key":"` + strings.Repeat("A|", 70) + `B","min":3000`, ErrSnapshot, `names "A" twice`},
		{`"min":3000,"unit":1000`, `"min":3000,"unit":0`, ErrSnapshot, `items[1] "A|B": min is 3000 and unit 0: want 0, and 1, to less than 2^53`},
		{`"holds":{"B":1000}`, `"holds":{"K":1000}`, ErrSnapshot, "jobs[0].items[1].holds.K is 1000 in the snapshot and nothing here"},
		{`"holds":{"B":1000}`, `"holds":{"A":500,"B":500}`, ErrSnapshot, "jobs[0].items[1].holds.A is 500 in the snapshot and nothing here"},
		{`"holds":{"B":1000}`, `"holds":{"B":3001}`, ErrSnapshot, `items[1] "A|B": more is held than min, 3000`},
		{`{"holds":{"B":1000}`, `{"holds":{},"key":"A|B","min":1000,"unit":1000},{"holds":{"B":1000}`, ErrSnapshot, `job "j": items[2] "A|B": want each item once`},

		{`"id":"t2"`, `"id":"t1"`, ErrSnapshot, `task "t1": the id is there twice`},
		{`"id":"t5"`, `"id":"t1"`, ErrSnapshot, `"t1": the id is there twice`},
		{`"id":"t5"`, `"id":""`, ErrSnapshot, `task "": want an id, a job and a queue`},
		{`"job":"m"`, `"job":""`, ErrSnapshot, `task "t5": want an id, a job and a queue`},
		{`"state":"committed"`, `"state":"done"`, ErrSnapshot, `task "t1": state: "done" is none of pending, committed`},
		{`"id":"t4","job":"l"`, `"id":"t4","job":"z"`, ErrSnapshot, `task "t4": there is no job "z"`},
		{`"id":"t4","job":"l","memory":0,"node":"a","order":0`, `"id":"t4","job":"k","memory":0,"node":"a","order":1`, ErrSnapshot, `tasks[3].queue is "r" in the snapshot and "q" here`},
		{`"seq":7`, `"seq":1`, ErrSnapshot, `task "t1": seq is 2: want at most 1`},
		{`"order":1`, `"order":2`, ErrSnapshot, "tasks[1].order is 2 in the snapshot and 1 here"},
		{`"covered":{"cpu":1000`, `"covered":{"cpu":1001`, ErrSnapshot, `queue "q", job "j", task "t1", resource "cpu", 1001 instead of 1000: no amount is below 0`},
		{`"min":{"cpu":2000`, `"min":{"cpu":500`, ErrSnapshot, `job "j"`},
		{`{"card":"A","covered":0,"key":"A"`, `{"card":"","covered":0,"key":"A"`, ErrSnapshot, `task "t4": charges[0]: there is no dimension "card:"`},
		{`"item":1`, `"item":2`, ErrSnapshot, `task "t1": charges[0]: item is 2: want the index of one of the 2 items`},
		{`"item":1`, `"item":-1`, ErrSnapshot, "item is -1: want"},
		{`{"card":"B","covered":1000,"item":1,"key":"A|B","milli":1000},`, `{"card":"A","covered":1000,"item":1,"key":"A|B","milli":1000},`, ErrSnapshot, `task "t2": charges[0]`},
		{`"holds":{"B":1000}`, `"holds":{"A":1000}`, ErrSnapshot, "jobs[0].items[1].holds.A is 1000 in the snapshot and nothing here"},

		// What the ledger's own check finds.
		{`"key":"A|B","min":3000`, `"key":"A|B","min":4000`, ErrSnapshot, `job "j"`},
		{`"holds":{"B":1000}`, `"holds":{}`, ErrSnapshot, `job "j"`},
		{`"item":1,`, ``, ErrSnapshot, `job "j"`},
		{`"covered":1000,"item":0`, `"covered":2000,"item":0`, ErrSnapshot, `task "t2"`},
	} {
		text := strings.Replace(data, c.from, c.to, 1)
		if text == data {
			t.Fatalf("%s isn't there", c.from)
		}
		_, err := Restore(w.cfg, w.source.catalog, []byte(text))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.place) {
			t.Errorf("%.80s: %v, want %v at %s", c.to, err, c.want, c.place)
		}
	}
}

// TestRestoreStrings puts into each string of a snapshot, at each place, what is no text: to
// encoding/json it is U+FFFD, which is another id.
func TestRestoreStrings(t *testing.T) {
	w := storyWorld(t)
	data := string(w.Snapshot())
	refused := func(text, want string) {
		t.Helper()
		if _, err := Restore(w.cfg, w.source.catalog, []byte(text)); !errors.Is(err, ErrSnapshot) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	isText := false
	for i := range len(data) {
		if isText = isText != (data[i] == '"'); !isText {
			continue
		}
		before, behind := data[:i+1], data[i+1:]
		refused(before+"\xff"+behind, fmt.Sprintf("not UTF-8 at byte %d", i+2))
		for _, half := range []string{`\ud800`, `\uDFFF`, `\ud83d\u0041`, `\ud83dx\ude42`} {
			refused(before+half+behind, fmt.Sprintf("half of a UTF-16 pair, %s, at byte %d", half[:6], i+2))
		}
	}
	refused(strings.Replace(data, "{", "{\"later\": \"\xff\",", 1), "not UTF-8")

	// Text that is written otherwise is the same text.
	for _, c := range []struct{ from, to string }{{`"org"`, `"\u006frg"`}, {`"k"`, `"k\ud83d\ude42"`}, {`"k"`, `"k\ufffd"`}, {`"k"`, `"k\\ud800"`}} {
		if _, err := Restore(w.cfg, w.source.catalog, []byte(strings.ReplaceAll(data, c.from, c.to))); err != nil {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}

// TestRestoreOutputsLast: an output before a card would count as a card.
func TestRestoreOutputsLast(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "10"))
	p.commit("0", "j", "q", "a100:1")
	text := strings.Replace(string(p.Snapshot()), `"output":true}]`, `"output":true},{"card":"A","covered":0,"key":"A","milli":1000}]`, 1)
	_, err := Restore(p.cfg, p.source.catalog, []byte(text))
	if !errors.Is(err, ErrSnapshot) || !strings.Contains(err.Error(), `task "0": charges[1]: it is on a card`) {
		t.Error(err)
	}
}

// TestRestoreSums: amounts that are good one by one may come to more than an int64 has.
func TestRestoreSums(t *testing.T) {
	for _, n := range []int{513, 1024, 2049, 4096} {
		restores(t, Config{}, `"queues":[{"name":"p","state":"open"},{"name":"q","parent":"p","state":"open"}],"jobs":[`+
			numbered(n, `{"id":"j%06d","queue":"q","policy":"same-card","reserved":true,"min":{"cpu":9007199254740991}}`, ",")+"]", `queue "p", resource "cpu", `)()
		// A job of nothing, whose tasks cover 2^53 - 1 each.
		restores(t, Config{}, `"queues":[{"name":"q","state":"open"}],"jobs":[{"id":"j","queue":"q","policy":"same-card","reserved":true}],"tasks":[`+
			numbered(n, `{"id":"t%06[1]d","job":"j","queue":"q","cpu":9007199254740991,"covered":{"cpu":9007199254740991},"order":%[1]d,"state":"committed"}`, ",")+"]", `job "j", resource "cpu", `)()
	}
}

// TestRestoreOlder: every version restores what the versions from v0.1.0 on have written.
// Files are only ever added: one that doesn't come back as it was is a fault of the code.
func TestRestoreOlder(t *testing.T) {
	configs := map[string]Config{
		"v1-same-card.json": {},
		"v1-any-mix.json": {
			AnyMix: true, CountReleasing: true, EnforceGuarantee: true, FailToZero: true, UnlimitedCPUMemory: true, Unnamed: UnnamedRefuse,
			RequestKey: "x/request", DeservedKey: "x/deserved",
		},
		"v1-outputs.json": {MissingUnlimited: true, Outputs: []corev1.ResourceName{credits, accelerator}, Transformation: compiled(t, poolRules)},
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != len(configs) {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data := testkit.Must(os.ReadFile(file))
		l, err := Restore(configs[filepath.Base(file)], nil, data)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if again := l.Snapshot(); string(again) != compact(t, string(data)) {
			t.Errorf("%s: it is now\n%s", file, again)
		}
	}
}

// TestLargeSnapshots: what is nothing but large is an error or a ledger.
func TestLargeSnapshots(t *testing.T) {
	w := gpus(t, Config{}, "q", "A:inf")
	for _, part := range []string{
		`"known":[` + strings.Repeat(`{"card":"A","resources":[]},`, 1e5) + `{}]`, `"seq":0,"jobs":[` + strings.Repeat("{},", 1e5) + `{}]`, `"zz":0,` + strings.Repeat(`"a":0,`, 1e5) + `"b":0`,
		`"config":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		`"zz":` + strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000),
	} {
		_, err := Restore(w.cfg, nil, snapshotWith(t, part))
		if err != nil && !errors.Is(err, ErrSnapshot) {
			t.Error(err)
		}
	}
}

// snapshotWith returns a snapshot with nothing but the configuration, and more fields.
func snapshotWith(t testing.TB, fields string) []byte {
	config := compact(t, storySnapshot)
	config = config[1:strings.Index(config, `,"format"`)]
	return []byte(`{"format":"resvec.quota/v1",` + fields + "," + config + "}")
}

// FuzzRestore: whatever the text, there is a ledger that agrees with itself or an
// error that is one of the three, and what was restored is the same a second time.
func FuzzRestore(f *testing.F) {
	t := &testing.T{}
	w := storyWorld(t)
	f.Add([]byte(storySnapshot))
	f.Add(w.Snapshot())
	w = gpus(t, Config{}, "q", "A:4 B:4")
	f.Add(w.Snapshot())
	f.Add([]byte(`{"format":"resvec.quota/v1"}`))
	f.Add(bytes.Replace(w.Snapshot(), []byte(`"q"`), []byte("\"q\xff\""), 1))
	f.Add(bytes.ReplaceAll(w.Snapshot(), []byte(`"q"`), []byte(`"q\ud83d\ude42"`)))
	p := poolOf(t, Config{}, queueOfCredits("q", "10"))
	p.reserve("j", "q", "a100:1", 2)
	p.commit("0", "j", "q", "a100:1")
	p.Release("0")
	p.commit("1", "j", "q", "mig:1")
	f.Add(p.Snapshot())
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg := w.cfg
		if doc, _, err := readSnapshot(data); err == nil && len(doc.Outputs) > 0 {
			cfg = p.cfg
		}
		l, err := Restore(cfg, w.source.catalog, data)
		if own, ownErr := Restore(cfg, w.source.catalog, data); err == nil && (ownErr != nil || own.Check() != nil) {
			t.Fatal(ownErr, own.Check())
		}
		if err == nil && !utf8.Valid(data) {
			t.Fatal("it is not UTF-8")
		}
		if err != nil {
			for _, known := range []error{ErrConfig, ErrSnapshot} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatal(err)
		}
		again := (&world{t, l}).again()
		for id := range l.jobs {
			if known(l.ReleaseJob(id)) != known(again.ReleaseJob(id)) {
				t.Error(id)
			}
		}
		if !bytes.Equal(l.Snapshot(), again.Snapshot()) || l.Check() != nil || len(l.tasks) > 0 {
			t.Errorf("%v\n%s", l.Check(), l.Snapshot())
		}
	})
}
