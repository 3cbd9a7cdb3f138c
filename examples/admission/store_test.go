package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota"
)

func sampleSpecs() []quota.Queue {
	return testkit.Must(quota.ReadQueues(sampleQueues))
}

func openSample(t testing.TB, dir string, every int) *store {
	t.Helper()
	s, notes, err := open(dir, sampleSpecs(), every)
	if err != nil || len(notes) > 0 {
		t.Fatalf("%v, %v", notes, err)
	}
	return s
}

// reserve reserves a job of a number of A100, and reports whether it was answered with a yes.
func (s *store) reserve(t testing.TB, id string, cards int) bool {
	t.Helper()
	request, _, err := s.ledger.ResolveJob(quota.Job{ID: id, Queue: "vision", Annotations: map[string]string{
		"cards": fmt.Sprintf(`{"NVIDIA-A100-SXM4-80GB|NVIDIA-H100-80GB-HBM3": %d}`, cards)}})
	if err != nil {
		t.Fatal(err)
	}
	var a quota.Answer
	testkit.Check(s.do(t.Context(), func() (record, bool) {
		a, _ = s.ledger.Reserve(request)
		need := request.Need()
		return record{a.Seq, id, "vision", &need}, a.OK && !a.Repeat
	}))
	return a.OK
}

func (s *store) release(t testing.TB, id string) {
	t.Helper()
	testkit.Check(s.do(t.Context(), func() (record, bool) {
		seq, known := s.ledger.ReleaseJob(id)
		return record{Seq: seq, Job: id}, known
	}))
}

// kill ends a store as a killed process does: nothing is written, and the lock goes.
func (s *store) kill(t testing.TB) {
	t.Helper()
	close(s.quit)
	<-s.done
	testkit.Check(errors.Join(s.err, s.journal.Close(), s.lock.Close()))
}

// recovered returns the ledger of a folder, before the queues of now.
func recovered(t testing.TB, dir string) (*quota.Ledger, error) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, snapshotName))
	if err != nil {
		t.Fatal(err)
	}
	l, err := quota.Restore(config, nil, data)
	if err != nil {
		t.Fatal(err)
	}
	_, err = replay(dir, l)
	return l, err
}

// TestTorn cuts the journal after each of its bytes, or of some of them, as a crash may. What
// was synced by then comes back, the same to the last byte; what wasn't is left out.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	s := openSample(t, dir, 1000)
	states := [][]byte{s.ledger.Snapshot()} // after each line
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 30 {
		if i > 4 && random.IntN(2) == 0 {
			s.release(t, fmt.Sprint(random.IntN(i)))
		} else {
			s.reserve(t, fmt.Sprint(i), 1+random.IntN(3))
		}
		if state := s.ledger.Snapshot(); !bytes.Equal(state, states[len(states)-1]) {
			states = append(states, state)
		}
	}
	name := filepath.Join(dir, journalName)
	s.kill(t)
	journal := testkit.Must(os.ReadFile(name))
	if len(states) < 20 || bytes.Count(journal, []byte("\n")) != len(states)-1 {
		t.Fatalf("%d states, %d lines", len(states), bytes.Count(journal, []byte("\n")))
	}
	step := testkit.Amount(t, 97, 13, 1)
	for size := 0; size <= len(journal); size += step {
		testkit.Check(os.WriteFile(name, journal[:size], 0o666))
		l, err := recovered(t, dir)
		if err != nil {
			t.Fatalf("%d of %d bytes: %v", size, len(journal), err)
		}
		if want := states[bytes.Count(journal[:size], []byte("\n"))]; !bytes.Equal(l.Snapshot(), want) {
			t.Fatalf("%d of %d bytes: another state", size, len(journal))
		}
	}

	// A bad line that others follow was answered: that is told, and nothing is left out.
	first := bytes.IndexByte(journal, '\n')
	for at := 0; at < first; at += step {
		bad := bytes.Clone(journal)
		bad[at] ^= 1
		testkit.Check(os.WriteFile(name, bad, 0o666))
		if _, err := recovered(t, dir); err == nil || !strings.Contains(err.Error(), "journal:1: ") {
			t.Fatalf("byte %d is another one: %v", at, err)
		}
	}
	testkit.Check(os.WriteFile(name, journal[first+1:], 0o666))
	if _, err := recovered(t, dir); err == nil {
		t.Error("a journal without its first line is taken")
	}
}

// TestSave ends the store at each step of a snapshot: the new one isn't there yet, or half, or
// it is and the journal still has its changes, or a first part of them.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	s := openSample(t, dir, 1000)
	write := func(name string, data []byte) {
		t.Helper()
		testkit.Check(os.WriteFile(filepath.Join(dir, name), data, 0o666))
	}
	read := func(name string) []byte {
		t.Helper()
		return testkit.Must(os.ReadFile(filepath.Join(dir, name)))
	}
	old := read(snapshotName)
	s.reserve(t, "a", 3)
	s.reserve(t, "b", 2)
	s.release(t, "a")
	journal, want := read(journalName), s.ledger.Snapshot()
	check := func(when string) {
		t.Helper()
		if l, err := recovered(t, dir); err != nil || !bytes.Equal(l.Snapshot(), want) {
			t.Errorf("%s: %v", when, err)
		}
	}
	check("before")
	write(snapshotName+".new", want[:100])
	check("half a snapshot")
	write(snapshotName, want)
	check("the snapshot, and all of the journal")
	var saved error
	err := s.do(t.Context(), func() (record, bool) { saved = s.save(); return record{}, false })
	testkit.Check(errors.Join(saved, err))
	check("saved")
	if len(read(journalName)) > 0 {
		t.Error("the journal is not empty")
	}
	s.reserve(t, "c", 1)
	want = s.ledger.Snapshot()
	check("a change after that")
	next := read(journalName)
	s.kill(t)

	// Files that are not of one store are faults.
	for _, c := range []struct {
		name, want        string
		snapshot, journal []byte
	}{
		{"an old snapshot", "change 5 reserves job \"c\": in the snapshot it is there: false, and this would be change 2", old, next},
		{"a line is lost", "change 3 reserves job \"b\": in the snapshot it is there: false, and this would be change 2", old, journal[bytes.IndexByte(journal, '\n')+1:]},
		{"a broken line", "journal:1: the checksum is wrong", old, append([]byte("0"), journal...)},
		{"half a snapshot", snapshotName + ": quota: broken snapshot", old[:100], nil},
	} {
		write(snapshotName, c.snapshot)
		write(journalName, c.journal)
		if _, _, err := open(dir, sampleSpecs(), 1000); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	write(snapshotName, old)
	write(journalName, journal[:len(journal)-1])
	s, notes, err := open(dir, sampleSpecs(), 1000)
	if err != nil || len(notes) != 1 || notes[0] != filepath.Join(dir, journalName)+":3 was torn by a crash, never answered, and is left out" {
		t.Fatalf("%q, %v", notes, err)
	}
	s.kill(t)
}

// TestStore: what was reserved is there after a kill and after an end, under other queues,
// too; snapshots come by themselves; and a folder has one process.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	s := openSample(t, dir, 3)
	if _, _, err := open(dir, sampleSpecs(), 3); err == nil || !strings.Contains(err.Error(), "another process may have it") {
		t.Errorf("a second store: %v", err)
	}
	for i := range 20 {
		if !s.reserve(t, fmt.Sprint(i), 2) {
			t.Fatal("refused")
		}
		s.release(t, fmt.Sprint(i))
	}
	s.reserve(t, "stays", 4)
	s.kill(t)
	s = openSample(t, dir, 3)
	status, known := s.ledger.Job("stays")
	if !known || status.Held.Cards["NVIDIA-A100-SXM4-80GB"] != 4000 {
		t.Errorf("%+v, %v", status, known)
	}
	testkit.Check(s.close())
	if info, err := os.Stat(filepath.Join(dir, journalName)); err != nil || info.Size() > 0 {
		t.Errorf("the journal is not empty: %v", err)
	}
	if err := s.do(t.Context(), nil); !errors.Is(err, errEnding) {
		t.Errorf("a change after the end: %v", err)
	}

	// Queues of which one is lowered, and one is gone.
	specs := sampleSpecs()[:2]
	specs[1].Annotations = map[string]string{quota.QuotaAnnotation: `{"NVIDIA-A100-SXM4-80GB": 3, "T4": "x"}`}
	s, notes, err := open(dir, specs, 3)
	if err != nil {
		t.Fatal(err)
	}
	if want := `queues[1].annotations[volcano.sh/card.quota][T4]: Invalid value: queue "vision": the count is "x": want a whole number of cards from 0 to 9007199254740, in digits
queue "vision": NVIDIA-A100-SXM4-80GB is over its limit, and admits nothing`; strings.Join(notes, "\n") != want {
		t.Errorf("notes\n%s\nwant\n%s", strings.Join(notes, "\n"), want)
	}
	if s.reserve(t, "more", 1) {
		t.Error("a queue over its limit admits")
	}
	testkit.Check(s.close())
	s, notes, err = open(dir, specs[:1], 3)
	if err != nil || len(notes) != 2 || notes[0] != `queue "vision" is gone, and closed until its last job is released` {
		t.Fatalf("%q, %v", notes, err)
	}
	testkit.Check(s.close())
}

// TestConcurrent: many at a time, with a snapshot every few changes, leave on disk what the
// ledger has.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	s := openSample(t, dir, 7)
	var clients sync.WaitGroup
	for c := range 16 {
		clients.Go(func() {
			for i := range 20 {
				id := fmt.Sprintf("%d-%d", c, i)
				if s.reserve(t, id, 1+i%3) && i%4 > 0 {
					s.release(t, id)
				}
			}
		})
	}
	clients.Wait()
	want := s.ledger.Snapshot()
	s.kill(t)
	if l, err := recovered(t, dir); err != nil || !bytes.Equal(l.Snapshot(), want) {
		t.Errorf("another state: %v", err)
	}
	testkit.Check(s.ledger.Check())
}

// TestDiskFails: when a sync fails, nothing is answered any more, and the end says why.
func TestDiskFails(t *testing.T) {
	s := openSample(t, t.TempDir(), 1000)
	testkit.Check(s.journal.Close())
	err := s.do(t.Context(), func() (record, bool) { return record{Seq: 2}, true })
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("answered %v", err)
	}
	<-s.done
	if err := s.do(t.Context(), nil); !errors.Is(err, errEnding) {
		t.Errorf("a change after that: %v", err)
	}
	if status, _ := (&handler{s, s.ledger}).health(nil); status != 503 {
		t.Errorf("health %d", status)
	}
	if err := s.close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the end: %v", err)
	}
}

// BenchmarkChange measures changes that wait for the disk, of one client and of many.
func BenchmarkChange(b *testing.B) {
	for _, clients := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			s := openSample(b, b.TempDir(), 1<<30)
			defer s.kill(b)
			lines := make(chan struct{}, clients)
			for b.Loop() {
				for c := range clients {
					go func() {
						id := fmt.Sprint(c)
						s.reserve(b, id, 1)
						s.release(b, id)
						lines <- struct{}{}
					}()
				}
				for range clients {
					<-lines
				}
			}
			b.ReportMetric(float64(b.N*clients)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkSnapshot measures a snapshot and a start, with so many jobs, and the start with as
// many changes in the journal.
func BenchmarkSnapshot(b *testing.B) {
	const jobs = 50_000
	specs := sampleSpecs()
	for i := range specs {
		specs[i].Annotations = map[string]string{quota.QuotaAnnotation: `{"NVIDIA-A100-SXM4-80GB": 1000000, "NVIDIA-H100-80GB-HBM3": 1000000}`}
	}
	dir := b.TempDir()
	s, _, err := open(dir, specs, 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	var records []record
	for i := range jobs {
		id := fmt.Sprintf("namespace/job-%06d", i)
		request, _, err := s.ledger.ResolveJob(quota.Job{ID: id, Queue: "vision", Annotations: map[string]string{"cards": `{"NVIDIA-A100-SXM4-80GB|NVIDIA-H100-80GB-HBM3": 8}`}})
		if err != nil {
			b.Fatal(err)
		}
		a, err := s.ledger.Reserve(request)
		if err != nil || !a.OK {
			b.Fatal(a, err)
		}
		need := request.Need()
		records = append(records, record{a.Seq, id, "vision", &need})
	}
	testkit.Check(s.save())
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			testkit.Check(s.save())
		}
		info := testkit.Must(os.Stat(filepath.Join(dir, snapshotName)))
		b.ReportMetric(float64(info.Size())/1e6, "MB")
	})
	b.Run("restore", func(b *testing.B) {
		for b.Loop() {
			testkit.Must(recovered(b, dir))
		}
	})
	s.kill(b)
	dir = b.TempDir()
	if s, _, err = open(dir, specs, 1<<30); err != nil {
		b.Fatal(err)
	}
	for len(records) > 0 {
		line := testkit.Must(journalLine(records[:100]))
		testkit.Must(s.journal.Write(line))
		records = records[100:]
	}
	s.kill(b)
	b.Run("replay", func(b *testing.B) {
		for b.Loop() {
			if l, err := recovered(b, dir); err != nil || l == nil {
				b.Fatal(err)
			}
		}
		info := testkit.Must(os.Stat(filepath.Join(dir, journalName)))
		b.ReportMetric(float64(info.Size())/1e6, "MB")
	})
}
