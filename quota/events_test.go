package quota

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// told writes events in short.
func told(events []Event) string {
	var lines []string
	for _, e := range events {
		line := fmt.Sprintf("%d %s %s %s", e.Seq, e.Kind, e.Queue, e.Job)
		if e.Task != "" {
			line += "/" + e.Task
		}
		if e.CPU > 0 || e.Memory > 0 {
			line += fmt.Sprintf(" %d/%d", e.CPU, e.Memory)
		}
		for _, card := range sorted(e.Cards) {
			line += fmt.Sprintf(" %s:%d", card, e.Cards[card])
		}
		if e.Kind == EventRefused {
			line += fmt.Sprintf(" %s %d", e.Refusal.Reason, e.Refusal.Requested)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// listening makes a world whose events are appended to what is returned.
func listening(t *testing.T, cfg Config, pairs ...string) (*world, *[]Event) {
	var events []Event
	cfg.OnEvent = func(e Event) { events = append(events, e) }
	return newWorld(t, cfg, pairs...), &events
}

// TestQuestionsMakeNoEvents: nor do they count as refusals.
func TestQuestionsMakeNoEvents(t *testing.T) {
	w, events := listening(t, Config{}, "q", "A:1")
	before := w.sampled()
	w.Enqueueable(nil, w.job("k", "q", "A:2"))
	w.Allocatable(nil, w.task("5", "k", "q", "A:2"))
	testkit.Must(w.JobCopies(w.job("k", "q", "A:2")))
	w.want(told(*events), "")
	w.want(w.sampled(), before)
}

func TestEvents(t *testing.T) {
	w, events := listening(t, Config{AnyMix: true}, "q", "cpu:8 mem:8 A:4 B:4")
	for _, c := range []struct {
		does func()
		want string
	}{
		{func() { w.reserve("j", "q", "cpu:2 mem:1 A|B:6") }, "1 Reserved q j 2000/1073741824 A:4000 B:2000"},
		{func() { w.reserve("j", "q", "cpu:2 mem:1 A|B:6") }, ""},                             // a repeat
		{func() { w.reserve("j", "q", "cpu:2 mem:1 A|B:5") }, ""},                             // a conflict
		{func() { _, _ = w.Resize(w.job("j", "q", "A|B:5")) }, "2 Resized q j A:4000 B:1000"}, //
		{func() { _, _ = w.Resize(w.job("j", "q", "A|B:9")) }, "2 Refused q j InsufficientScalarQuota 9000"},
		{func() { _, _ = w.Resize(w.job("k", "q", "A|B:1")) }, "3 Reserved q k B:1000"},
		{func() { w.commit("1", "j", "q", "cpu:1 A|B:1", "B") }, "4 Committed q j/1 1000/0 B:1000"},
		{func() { w.commit("1", "j", "q", "cpu:1 A|B:1", "B") }, ""},
		{func() { w.commit("2", "x", "q", "cpu:8") }, "4 Refused q x/2 InsufficientCPUQuota 8000"},
		{func() { w.commit("2", "x", "nope", "cpu:8") }, "4 Refused nope x/2 UnknownQueue 0"},
		{func() { w.Rollback("1", "2") }, "5 RolledBack q j/1 1000/0 B:1000"},
		{func() {
			_, _ = w.CommitAll([]*TaskRequest{w.task("1", "j", "q", "A:1"), w.task("2", "j", "q", "B:1")})
		}, "6 Committed q j/1 A:1000\n6 Committed q j/2 B:1000"},
		{func() {
			_, _ = w.CommitAll([]*TaskRequest{w.task("3", "j", "q", "A:1"), w.task("4", "j", "q", "B:9")})
		}, "6 Refused q j/4 InsufficientScalarQuota 9000"},
		{func() {
			_, _ = w.ReserveMany([]*JobRequest{w.job("l", "q", "cpu:1"), w.job("m", "q", "cpu:9"), w.job("n", "q", "cpu:2")})
		}, "7 Reserved q l 1000/0\n6 Refused q m InsufficientCPUQuota 9000\n7 Reserved q n 2000/0"},
		{func() { w.Release("1") }, "8 Released q j/1 A:1000"},
		{func() { w.Release("1") }, ""},
		{func() { w.Expire(4) }, "9 Expired q j A:3000\n9 Expired q k B:1000"},
		{func() { w.ReleaseJob("n") }, "10 Released q n 2000/0"},
		{func() { w.ReleaseJob("n") }, ""},
	} {
		*events = nil
		c.does()
		w.want(told(*events), c.want)
	}
}

// TestEventsUnlocked asks the ledger from within an event.
func TestEventsUnlocked(t *testing.T) {
	var w *world
	calls := 0
	w = newWorld(t, Config{OnEvent: func(e Event) {
		calls++
		w.Enqueueable(nil, w.job("x", "q", "A:1"))
		if e.Task == "" {
			w.commit("1", "j", "q", "A:1")
		}
	}}, "q", "A:4")
	w.reserve("j", "q", "A:1")
	if calls != 2 {
		t.Errorf("%d events", calls)
	}
}
