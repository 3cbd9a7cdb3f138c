package quota

import (
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// copies counts those of a [*JobRequest] or a [*TaskRequest].
func copies(l *Ledger, shape any) (Fits, error) {
	if task, ok := shape.(*TaskRequest); ok {
		return l.TaskCopies(task)
	}
	return l.JobCopies(shape.(*JobRequest))
}

// copies says how many copies fit, and why not one more.
func (w *world) copies(shape any) string {
	w.Helper()
	f, err := copies(w.Ledger, shape)
	if err != nil {
		return err.Error()
	}
	if f.Copies == Unlimited {
		return "unlimited " + say(f.Next, nil)
	}
	return fmt.Sprintf("%d, then %s", f.Copies, say(f.Next, nil))
}

func TestCopies(t *testing.T) {
	w := newWorld(t, Config{}, "q", "cpu:20 mem:64 A:9")
	w.want(w.reserve("r", "q", "cpu:3 A:2"), "yes")
	for _, shape := range []struct{ text, want string }{
		{"cpu:4 mem:8 A:1", "4, then CPU 1000 of 20000 at q"},
		{"A:2", "3, then Scalar 1000 of 9000 at q"},
		{"mem:65", "0, then Memory 68719476736 of 68719476736 at q"},
		{"B:1", "0, then Scalar 0 of 0 at q"},
		{"", "unlimited yes"},
	} {
		w.want(w.copies(w.job("x", "q", shape.text)), shape.want)
		w.want(w.copies(w.task("x", "x", "q", shape.text)), shape.want)
	}
	// The tasks of a job have what is held for it.
	w.want(w.copies(w.task("x", "r", "q", "A:1")), "9, then Scalar 0 of 9000 at q")
	w.want(w.copies(w.task("x", "r", "q", "cpu:1")), "20, then CPU 0 of 20000 at q")
	w.want(w.copies(w.job("x", "nope", "A:1")), "0, then UnknownQueue")
	w.want(w.copies(w.task("x", "r", "nope", "A:1")), `quota: id is in use with other content: job "r": it is in queue "q", not in "nope"`)
	w.want(w.copies(w.job("r", "nope", "A:1")), `quota: id is in use with other content: job "r": it is in queue "q", not in "nope"`)
	w.want(w.copies(w.task("x", "x", "nope", "A|B:1")), "0, then UnknownQueue")
}

// TestCopiesOfHold counts the copies that move a hold off a card without room: in few steps,
// however many they are.
func TestCopiesOfHold(t *testing.T) {
	w := newWorld(t, Config{AnyMix: true}, "q", "A:8000000000000 B:8000000000000")
	w.want(w.reserve("r", "q", "A|B:7000000000000"), "yes")
	w.replace(qs(w.m, "q", "A:0 B:8000000000000")...)
	w.want(w.copies(w.task("x", "r", "q", "A|B:1")), "8000000000000, then Scalar 0 of 0 at q")
}

// TestCopiesRooms reads the rooms of the first copy.
func TestCopiesRooms(t *testing.T) {
	w := newWorld(t, Config{}, "q", "cpu:20 A:9 B:1")
	w.want(w.reserve("r", "q", "cpu:3 A:2"), "yes")
	for _, c := range []struct {
		shape any
		cpu   int64
		cards string
	}{
		{w.job("x", "q", "A|B:2"), 17000, "0 A  7000 of 9000, 0 B OverCapacity 1000 of 1000"},
		{w.task("x", "x", "q", "B:2"), 17000, "0 B OverCapacity 1000 of 1000"},
		{w.task("x", "r", "q", "A:1"), 20000, "0 A  9000 of 9000"},
		{w.task("x", "s", "q", "A:8"), 17000, "0 A Promised 7000 of 9000"},
	} {
		f := testkit.Must(copies(w.Ledger, c.shape))
		want := []Headroom{{Resource: "cpu", Room: Amount(c.cpu), Level: "q", Limit: 20000}, {Resource: "memory", Level: "q"}}
		if !slices.Equal(f.Room[:2], want) {
			t.Errorf("room %v, want %v", f.Room[:2], want)
		}
		got := ""
		for i, o := range f.Room[2:] {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprintf("%d %s %s %d of %d", o.Item, o.Resource, o.Why, o.Room, o.Limit)
		}
		w.want(got, c.cards)
	}
	if f, err := w.JobCopies(w.job("x", "nope", "A:1")); err != nil || f.Room != nil {
		t.Errorf("a queue that isn't there has room: %+v", f)
	}
}

// TestCopiesRoomsTooLarge: what nothing limits has no room for more than can be counted.
func TestCopiesRoomsTooLarge(t *testing.T) {
	w := newWorld(t, Config{MissingUnlimited: true}, "q", "A:inf B:inf")
	w.want(w.reserve("j", "q", "A:9007199254740 cpu:9007199254740"), "yes")
	for _, shape := range []any{w.job("x", "q", "A|B:1 cpu:1"), w.task("x", "x", "q", "A|B:1 cpu:1")} {
		f, err := copies(w.Ledger, shape)
		if err != nil || f.Next.Refusal.Why != ReasonTooLarge {
			t.Fatalf("%+v, %v", f.Next.Refusal, err)
		}
		got := ""
		for _, o := range f.Room {
			got += fmt.Sprintf("%s %s %d, ", o.Resource, o.Why, o.Room)
		}
		w.want(got, "cpu TooLarge 991, memory  9223372036854775807, A TooLarge 991, B  9223372036854775807, ")
	}
}

// TestCopiesFirm: a limit stops the copies, also where another card that has none is listed, but
// the job is firm elsewhere.
func TestCopiesFirm(t *testing.T) {
	w := newWorld(t, Config{MissingUnlimited: true}, "q", "A:5000 B:inf")
	w.want(w.commit("1", "j", "q", "A|B:1", "A"), "A")
	w.want(w.copies(w.task("x", "j", "q", "A|B:1")), "4999, then Scalar 0 of 5000000 at q")
}

// TestCopiesMillions counts copies that nobody could make one by one: the test ends.
func TestCopiesMillions(t *testing.T) {
	const most = 9007199254740
	for _, anyMix := range []bool{false, true} {
		w := newWorld(t, Config{AnyMix: anyMix}, "q", fmt.Sprintf("cpu:inf A:%d B:%d C:1000000 H:3000000", int64(most), int64(most)))
		w.want(w.reserve("j", "q", "A:1000000"), "yes")
		w.want(w.copies(w.task("x", "y", "q", "A:1")), fmt.Sprintf("%d, then Scalar 0 of %d at q", int64(most)-1000000, int64(most)*1000))
		w.want(w.copies(w.job("x", "q", "A:1 cpu:1")), fmt.Sprintf("%d, then Scalar 0 of %d at q", int64(most)-1000000, int64(most)*1000))
		w.want(w.copies(w.job("x", "q", "A:1 cpu:1000")), "9007199254, then CPU 740991 of 9007199254740991 at q")
		w.want(w.reserve("k", "q", "C|H:2000000"), "yes")
		want := map[bool]string{false: "3000000, then Scalar 0 of 3000000000 at q", true: "4000000, then Scalar 0 of 1000000000 at q"}
		w.want(w.copies(w.task("x", "k", "q", "C|H:1")), want[anyMix])
	}
}

// TestCopiesLarge: amounts of which a few, or one, come to 2^53, where nothing limits
// them and where something else does. The test ends.
func TestCopiesLarge(t *testing.T) {
	for _, c := range []struct{ mem, copies string }{{"64", "unlimited yes"}, {"8388607", "1, then Memory 1073741823 of 9007199254740991 at r"}} { // in GiB
		w := newWorld(t, Config{}, "q", "mem:inf cpu:inf A:2000000 B:inf", "r", "mem:inf A:inf B:inf")
		w.want(w.copies(w.task("x", "y", "r", "mem:"+c.mem)), c.copies)
		w.want(w.copies(w.job("x", "r", "mem:"+c.mem)), c.copies)
		w.want(w.copies(w.task("x", "y", "q", "cpu:9007199254740 A:1 mem:"+c.mem)), "1, then CPU 991 of 9007199254740991 at q")
		w.want(w.copies(w.job("x", "q", "cpu:9007199254740 A:1 mem:"+c.mem)), "1, then CPU 991 of 9007199254740991 at q")
		w.want(w.reserve("j", "r", "mem:"+c.mem), "yes")
		w.want(w.copies(w.task("x", "j", "r", "mem:"+c.mem)), c.copies)
	}
	w := newWorld(t, Config{}, "r", "A:inf B:inf")
	w.want(w.copies(w.task("x", "y", "r", "A|B:9007199254740")), "1, then Scalar 991 of 9007199254740991 at r")
	w.want(w.copies(w.job("x", "r", "A|B:9007199254740")), "2, then Scalar 991 of 9007199254740991 at r")
}
