package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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
	s, notes, err := open(dir, sampleSpecs(), every, false)
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
	s := &store{dir: dir}
	_, err := s.load(testkit.Must(readFile(dir, snapshotName)), testkit.Must(readFile(dir, journalName)), false)
	return s.ledger, err
}

// someChanges fills a journal with changes, and ends the process. It returns the journal, and
// the states after its lines.
func someChanges(t *testing.T, dir string, n int) (journal []byte, states [][]byte) {
	t.Helper()
	s := openSample(t, dir, 1000)
	states = [][]byte{s.ledger.Snapshot()}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		if i > 4 && random.IntN(2) == 0 {
			s.release(t, fmt.Sprint(random.IntN(i)))
		} else {
			s.reserve(t, fmt.Sprint(i), 1+random.IntN(3))
		}
		if state := s.ledger.Snapshot(); !bytes.Equal(state, states[len(states)-1]) {
			states = append(states, state)
		}
	}
	s.kill(t)
	journal = testkit.Must(os.ReadFile(filepath.Join(dir, journalName)))
	if lines := bytes.Count(journal, []byte("\n")); lines != len(states) {
		t.Fatalf("%d states, %d lines", len(states), lines)
	}
	return journal, states
}

// TestTorn cuts the journal after each of its bytes, or of some of them, as a crash may. What
// was synced by then comes back, the same to the last byte; what wasn't is left out.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	journal, states := someChanges(t, dir, 30)
	if len(states) < 20 {
		t.Fatalf("%d states", len(states))
	}
	name, step := filepath.Join(dir, journalName), testkit.Amount(t, 97, 13, 1)
	for size := 0; size <= len(journal); size += step {
		testkit.Check(os.WriteFile(name, journal[:size], 0o666))
		l, err := recovered(t, dir)
		lines := bytes.Count(journal[:size], []byte("\n"))
		if lines == 0 { // it comes with the file
			if err == nil || !strings.Contains(err.Error(), "journal is missing, or its first line is: restore it or") {
				t.Fatalf("%d of %d bytes: %v", size, len(journal), err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d of %d bytes: %v", size, len(journal), err)
		}
		if !bytes.Equal(l.Snapshot(), states[lines-1]) {
			t.Fatalf("%d of %d bytes: another state", size, len(journal))
		}
	}

	// Without two lines in the middle, twice the same, or two that changed places.
	lines := slices.Collect(bytes.Lines(journal))
	for what, other := range map[string][][]byte{
		"two are lost": slices.Concat(lines[:3], lines[5:]),
		"one twice":    slices.Concat(lines[:4], lines[3:]),
		"exchanged":    slices.Concat(lines[:3], lines[4:5], lines[3:4], lines[5:]),
	} {
		testkit.Check(os.WriteFile(name, bytes.Join(other, nil), 0o666))
		if _, err := recovered(t, dir); err == nil || !strings.Contains(err.Error(), "it is not the journal of this snapshot.json: change ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestFlippedBits flips each bit of both files, or some of them. A start says so, or has the same state: of the
// journal as it was synced, and of one whose last line a crash has torn.
func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	journal, states := someChanges(t, dir, 3)
	snapshot := testkit.Must(os.ReadFile(filepath.Join(dir, snapshotName)))
	last := bytes.LastIndexByte(journal[:len(journal)-1], '\n') + 1
	for _, c := range []struct {
		what              string
		snapshot, journal []byte
		want              []byte
	}{
		{"whole", snapshot, journal, states[3]},
		{"torn before the newline", snapshot, journal[:len(journal)-1], states[2]},
		{"torn in the middle", snapshot, journal[:(last+len(journal))/2], states[2]},
		{"torn at the checksum", snapshot, journal[:last+3], states[2]},
	} {
		s := &store{dir: dir}
		if notes, err := s.load(c.snapshot, c.journal, false); err != nil || (len(notes) > 0) != (c.what != "whole") || !bytes.Equal(s.ledger.Snapshot(), c.want) {
			t.Fatalf("%s: %q, %v", c.what, notes, err)
		}
		flip := func(file []byte) (taken int) {
			for at := 0; at < 8*len(file); at += testkit.Amount(t, 7, 1, 1) {
				file[at/8] ^= 1 << (at % 8)
				if _, err := s.load(c.snapshot, c.journal, false); err == nil {
					if taken++; !bytes.Equal(s.ledger.Snapshot(), c.want) {
						t.Errorf("%s: byte %d is %q, and nobody sees it", c.what, at/8, file[at/8])
					}
				}
				file[at/8] ^= 1 << (at % 8)
			}
			return taken
		}
		// What was torn was never answered, so it may be anything.
		if taken := flip(c.journal); (taken > 0) != (c.what != "whole") {
			t.Errorf("%s: %d of %d flipped bits of the journal are taken", c.what, taken, 8*len(c.journal))
		}
		if c.what != "whole" {
			continue
		}
		if taken := flip(c.snapshot); taken > 0 {
			t.Errorf("%d of %d flipped bits of the snapshot are taken", taken, 8*len(c.snapshot))
		}
	}
}

// TestSave ends the store at each step of a start and of a snapshot: the new one isn't there yet,
// or half, or it is and the journal still has its changes.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		testkit.Check(os.WriteFile(filepath.Join(dir, name), data, 0o666))
	}
	read := func(name string) []byte {
		t.Helper()
		return testkit.Must(readFile(dir, name))
	}
	// A first start that ends before its journal, before its snapshot, and after it.
	for _, name := range []string{journalName, snapshotName, ""} {
		block := filepath.Join(dir, name+".new")
		testkit.Check(os.Mkdir(block, 0o777))
		if s, _, err := open(dir, sampleSpecs(), 1000, false); name == "" {
			testkit.Check(err)
			s.kill(t)
		} else if err == nil || read(snapshotName) != nil {
			t.Fatalf("without %s: %v, and the snapshot is there", name, err)
		}
		testkit.Check(os.Remove(block))
	}
	write(journalName, firstLine(0))
	testkit.Check(os.Truncate(filepath.Join(dir, "lock"), 0))
	s := openSample(t, dir, 1000)

	old, begun := read(snapshotName), read(journalName)
	if want := firstLine(2); !bytes.Equal(begun, want) {
		t.Fatalf("the journal begins with %s, want %s", begun, want)
	}
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
	write(snapshotName, sealed(want))
	check("the snapshot, and all of the journal")
	write(journalName+".new", firstLine(5)[:4])
	check("half a journal")
	var saved error
	err := s.do(t.Context(), func() (record, bool) { saved = s.save(); return record{}, false })
	testkit.Check(errors.Join(saved, err))
	check("saved")
	if got, want := read(journalName), firstLine(5); !bytes.Equal(got, want) {
		t.Errorf("the journal is %s, want %s", got, want)
	}
	between := read(snapshotName)
	s.reserve(t, "c", 1)
	want = s.ledger.Snapshot()
	check("a change after that")
	next := read(journalName)
	s.kill(t)

	// Files that are not of one store are faults, and stay as they are.
	for _, c := range []struct {
		name, want        string
		snapshot, journal []byte
	}{
		{"an old snapshot", "journal:1: it is not the journal of this snapshot.json: it goes on from change 5, which isn't there", old, next},
		{"an old snapshot, and no change since", "journal:1: it is not the journal of this snapshot.json: it goes on from change 5, which isn't there", old, firstLine(5)},
		{"an old journal", "journal: it is not the journal of this snapshot.json: it ends with change 2, and that has 5", between, begun},
		{"a line is lost", "change 4 reserves job \"b\": in the snapshot it is there: false, and this would be change 3", old, bytes.Join(slices.Delete(slices.Collect(bytes.Lines(journal)), 1, 2), nil)},
		{"a broken line", "journal:1: the checksum is wrong", old, append([]byte("0"), journal...)},
		{"half a snapshot", snapshotName + ": the checksum is wrong", old[:100], journal},
		{"the beginning of one", snapshotName + ": the checksum is wrong", old[:len(sealBegin)], journal},
		{"half a snapshot without a checksum", snapshotName + ": quota: broken snapshot", old[30:100], journal},
		{"no snapshot", snapshotName + ": quota: broken snapshot", []byte{}, journal},
	} {
		write(snapshotName, c.snapshot)
		write(journalName, c.journal)
		if _, _, err := open(dir, sampleSpecs(), 1000, c.name != "a broken line"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Fatalf("%s: %v, want %s", c.name, err, c.want)
		}
		if !bytes.Equal(read(snapshotName), c.snapshot) || !bytes.Equal(read(journalName), c.journal) {
			t.Errorf("%s: the files are others now", c.name)
		}
	}
	write(snapshotName, old)
	write(journalName, journal[:len(journal)-1])
	s, notes, err := open(dir, sampleSpecs(), 1000, false)
	if err != nil || len(notes) != 1 || notes[0] != filepath.Join(dir, journalName)+":4 was torn by a crash, never answered, and is left out" {
		t.Fatalf("%q, %v", notes, err)
	}
	s.kill(t)
}

// TestMissing starts with each combination of files, and with what is damaged in the journal,
// without and with -lose-changes. What can't be lost without a word isn't.
func TestMissing(t *testing.T) {
	whole := t.TempDir()
	journal, states := someChanges(t, whole, 4)
	lines := slices.Collect(bytes.Lines(journal))
	files := map[string][]byte{journalName: journal}
	for _, name := range []string{snapshotName, "lock"} {
		files[name] = testkit.Must(readFile(whole, name))
	}
	last := bytes.Clone(journal)
	last[len(last)-4] ^= 1
	second := bytes.Clone(journal)
	second[len(lines[0])+12] ^= 4
	const (
		noSnapshot = "snapshot.json is missing, and was there: restore it or, to begin anew without its jobs, remove the folder"
		noJournal  = "journal is missing, or its first line is: restore it or, to start without the changes that it had, use -lose-changes"
		left       = "journal is missing, or its first line is: the changes that it had are lost"
		damaged    = ": the checksum is wrong, and the line was answered: restore the file or, to start with the lines before it, use -lose-changes"
	)
	for _, c := range []struct {
		what    string
		journal []byte // nil: none
		without string // the files that are missing, too
		fault   string // without the flag; empty: none
		note    string // with it, empty: the fault
		state   int    // the changes that are there then, -1: a new store
	}{
		{"nothing is missing", journal, "", "", "", 4},
		{"the lock is missing", journal, "lock", "", "", 4},
		{"a new folder", nil, "lock snapshot.json", "", "", -1},
		{"the journal is missing", nil, "", noJournal, left, 0},
		{"journal and lock", nil, "lock", noJournal, left, 0},
		{"the snapshot", journal, "snapshot.json", noSnapshot, "", 0},
		{"snapshot and lock", journal, "lock snapshot.json", noSnapshot, "", 0},
		{"both", nil, "snapshot.json", noSnapshot, "", 0},
		{"the journal is empty", []byte{}, "", noJournal, left, 0},
		{"the snapshot, and the journal is empty", []byte{}, "snapshot.json lock", noSnapshot, "", 0},
		{"its first line is cut", lines[0][:9], "", noJournal, left, 0},
		{"the snapshot, and no change since", firstLine(1), "snapshot.json lock", noSnapshot, "", 0},
		{"the last line is damaged", last, "", "journal:5" + damaged, "journal:5: the checksum is wrong: it and the 0 lines after it are left out", 3},
		{"the second line is", second, "", "journal:2" + damaged, "journal:2: the checksum is wrong: it and the 3 lines after it are left out", 0},
		{"the first line is", journal[1:], "", "journal:1" + damaged, "journal:1: the checksum is wrong: it and the 4 lines after it are left out", 0},
		{"the last newline is", append(bytes.Clone(journal[:len(journal)-1]), 'J'), "", "journal:5" + damaged, "journal:5: the checksum is wrong: it and the 0 lines after it are left out", 3},
		{"a newline is, and the last line torn", append(bytes.Join(lines[:4], nil)[:len(bytes.Join(lines[:4], nil))-1], "\v0123"...), "", "journal:4" + damaged, "journal:4: the checksum is wrong: it and the 0 lines after it are left out", 2},
	} {
		dir := t.TempDir()
		for name, data := range files {
			if name == journalName {
				data = c.journal
			}
			if data != nil && !strings.Contains(c.without, name) {
				testkit.Check(os.WriteFile(filepath.Join(dir, name), data, 0o666))
			}
		}
		if c.fault != "" {
			if _, _, err := open(dir, sampleSpecs(), 1000, false); err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v, want %s", c.what, err, c.fault)
				continue
			}
		}
		s, notes, err := open(dir, sampleSpecs(), 1000, c.fault != "")
		if c.fault != "" && c.note == "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s, with the flag: %v, want %s", c.what, err, c.fault)
			}
			continue
		}
		if err != nil || !strings.HasSuffix(strings.Join(notes, "\n"), c.note) || (len(notes) > 0) != (c.note != "") {
			t.Errorf("%s, with the flag: %q, %v, want %s", c.what, notes, err, c.note)
			continue
		}
		want := testkit.Must(quota.New(config, nil, nil))
		if c.state >= 0 {
			want = testkit.Must(quota.Restore(config, nil, states[c.state]))
		}
		if _, _, err := want.SetQueues(sampleSpecs()); err != nil || !bytes.Equal(s.ledger.Snapshot(), want.Snapshot()) {
			t.Errorf("%s: another state, %v", c.what, err)
		}
		// What was left out is over: the next start says nothing.
		s.kill(t)
		testkit.Check(openSample(t, dir, 1000).close())
	}
}

// TestOlder: a folder of a version without checksums is taken, once and with a note, in each state
// that a process of it may have left, also where the first start of this one ends early.
func TestOlder(t *testing.T) {
	from := t.TempDir()
	journal, states := someChanges(t, from, 4)
	lines := slices.Collect(bytes.Lines(journal))
	for what, c := range map[string]struct {
		snapshot, journal []byte
		note              string
		state             int
	}{
		"after its end":              {states[4], []byte{}, "", 4},
		"after a kill":               {states[0], bytes.Join(lines[1:], nil), "", 4},
		"within its first line":      {states[0], lines[1][:20], "journal:1 was torn by a crash, never answered, and is left out", 0},
		"within its last line":       {states[0], bytes.Join(append(lines[1:4:4], lines[4][:20]), nil), "journal:4 was torn by a crash, never answered, and is left out", 3},
		"before its journal was cut": {states[4], bytes.Join(lines[1:], nil), "", 4},
	} {
		dir := t.TempDir()
		for name, data := range map[string][]byte{snapshotName: c.snapshot, journalName: c.journal, "lock": {}} {
			testkit.Check(os.WriteFile(filepath.Join(dir, name), data, 0o666))
		}
		s, notes, err := open(dir, sampleSpecs(), 1000, false)
		if err != nil || len(notes) == 0 || !strings.HasSuffix(notes[0], "snapshot.json has no checksum, as one of an older version: the next one has") ||
			!strings.HasSuffix(strings.Join(notes[1:], ""), c.note) || (len(notes) > 1) != (c.note != "") {
			t.Fatalf("%s: %q, %v", what, notes, err)
		}
		want := testkit.Must(quota.Restore(config, nil, states[c.state]))
		_, _, err = want.SetQueues(sampleSpecs())
		if err != nil || !bytes.Equal(s.ledger.Snapshot(), want.Snapshot()) {
			t.Errorf("%s: another state, %v", what, err)
		}
		s.kill(t)
		if len(c.journal) > 20 { // this start ended when the snapshot was there, and not yet its journal
			testkit.Check(os.WriteFile(filepath.Join(dir, journalName), c.journal, 0o666))
		}
		s, notes, err = open(dir, sampleSpecs(), 1000, false)
		if err != nil || strings.Contains(strings.Join(notes, ""), "checksum") {
			t.Fatalf("%s, again: %q, %v", what, notes, err)
		}
		testkit.Check(s.close())
	}
}

// TestStrangeLines: a line with a good checksum and other records than this service writes is a
// fault. Else an id would be another one, or a part of a change be left out.
func TestStrangeLines(t *testing.T) {
	dir := t.TempDir()
	someChanges(t, dir, 0)
	for _, text := range []string{
		"[{\"seq\":2,\"job\":\"a\xff\"}]", `[{"seq":2,"job":"a\ud800"}]`, "[{\"seq\":2,\"job\":\"a\",\"queue\":\"\xff\"}]",
		`[{"seq":2,"job":"a","min":{"items":[{"alternatives":["A` + "\xff" + `"],"milli":1,"unit":1}]}}]`,
		`[{"seq":2,"job":"a","more":1}]`, `[{"seq":2,"job":"a","job":"b"}]`, `[{"seq":2,"Job":"a"}]`, `[{"seq":2,"job":"\u0061"}]`, `[{"seq":2, "job":"a"}]`,
		`[{"job":"a","seq":2}]`, `[{"seq":2,"job":null}]`, `[{"seq":2.0}]`, `[null]`, `{"seq":2}`, `[1]`, `"a"`, `[`, ``,
	} {
		for _, end := range []string{"\n", " \n", "\r\n"} {
			line := fmt.Sprintf("%s %s%s", checksum([]byte(text+end[:len(end)-1])), text, end)
			testkit.Check(os.WriteFile(filepath.Join(dir, journalName), append(firstLine(1), line...), 0o666))
			if _, err := recovered(t, dir); err == nil || !strings.Contains(err.Error(), "journal:2: ") {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	// In a snapshot they are faults of package quota.
	text := bytes.Replace(testkit.Must(readFile(dir, snapshotName)), []byte(`"vision"`), []byte("\"vision\xff\""), 1)
	snapshot := bytes.TrimSuffix(text[bytes.Index(text, []byte(`"snapshot":`))+len(`"snapshot":`):], []byte("}\n"))
	testkit.Check(os.WriteFile(filepath.Join(dir, snapshotName), sealed(snapshot), 0o666))
	if _, err := recovered(t, dir); err == nil || !strings.Contains(err.Error(), "snapshot.json: quota: broken snapshot: not UTF-8 at byte ") {
		t.Error(err)
	}
}

// TestStore: what was reserved is there after a kill and after an end, under other queues,
// too; snapshots come by themselves; and a folder has one process.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	s := openSample(t, dir, 3)
	if _, _, err := open(dir, sampleSpecs(), 3, false); err == nil || !strings.Contains(err.Error(), "another process may have it") {
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
	if journal, err := readFile(dir, journalName); err != nil || bytes.Count(journal, []byte("\n")) != 1 {
		t.Errorf("the journal is %s: %v", journal, err)
	}
	if err := s.do(t.Context(), nil); !errors.Is(err, errEnding) {
		t.Errorf("a change after the end: %v", err)
	}

	// Queues of which one is lowered, and one is gone.
	specs := sampleSpecs()[:2]
	specs[1].Annotations = map[string]string{quota.QuotaAnnotation: `{"NVIDIA-A100-SXM4-80GB": 3, "T4": "x"}`}
	s, notes, err := open(dir, specs, 3, false)
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
	s, notes, err = open(dir, specs[:1], 3, false)
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
	s, _, err := open(dir, specs, 1<<30, false)
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
	if s, _, err = open(dir, specs, 1<<30, false); err != nil {
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
