package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/resvec/resvec/quota"
)

// config is how the ledger decides. A request has its cards under that name, so that is what
// faults call them.
var config = quota.Config{MissingUnlimited: true, RequestKey: "cards"}

// A store is a ledger whose changes survive the process.
//
// One goroutine makes all changes. It takes as many as wait, makes them in the ledger, writes
// them to the journal as one line, syncs that, and answers: while one sync runs, the next
// changes gather (group commit). So the order of the journal is the order of the ledger, and
// what was answered is on disk, with all that it was decided on.
//
// When the journal has enough changes, a snapshot takes its place. A change has the number that
// the ledger gave it, so those that the snapshot has, too, are left out when the journal is
// read: a crash may come between the two.
type store struct {
	ledger *quota.Ledger // for questions; changes are for do
	dir    string
	every  int
	lock   *os.File

	changes chan *change
	quit    chan struct{} // closed by close
	done    chan struct{} // closed when no more changes are made
	err     error         // why that is, once done is closed; nil: quit was
	synced  atomic.Uint64 // the last change that is on disk

	// The goroutine's own.
	journal   *os.File
	journaled int // changes in it
}

// A change is what one request does to the ledger.
type change struct {
	apply  func() (record, bool) // false: nothing changed
	synced chan error            // for one answer, so that nobody waits to give it
}

// open opens the store in a folder, or makes it there, with the queues of now. The notes are
// on what was lost, on what doesn't count in the queues, and on limits that are exceeded. loses
// allows to start without changes that the journal has lost.
func open(dir string, queues []quota.Queue, every int, loses bool) (s *store, notes []string, err error) {
	switch err := os.Mkdir(dir, 0o777); {
	case err == nil: // a power cut must not take the folder away
		if err := syncFolder(filepath.Dir(filepath.Clean(dir))); err != nil {
			return nil, nil, err
		}
	case !errors.Is(err, os.ErrExist):
		return nil, nil, err
	}
	s = &store{dir: dir, every: every, changes: make(chan *change), quit: make(chan struct{}), done: make(chan struct{})}
	if s.lock, err = lockFile(filepath.Join(dir, "lock")); err != nil {
		return nil, nil, fmt.Errorf("%s: another process may have it: %w", dir, err)
	}
	if notes, err = s.restore(queues, loses); err != nil {
		return nil, nil, errors.Join(err, s.lock.Close())
	}
	go s.run()
	return s, notes, nil
}

// restore makes the ledger of what is on disk and of the queues. What was replayed was
// decided under the queues of the snapshot, so the present queues come last.
func (s *store) restore(queues []quota.Queue, loses bool) (notes []string, err error) {
	snapshot, err := readFile(s.dir, snapshotName)
	if err != nil {
		return nil, err
	}
	journal, err := readFile(s.dir, journalName)
	if err != nil {
		return nil, err
	}
	lock, err := s.lock.Stat()
	if err != nil {
		return nil, err
	}
	// A first start may have ended before its snapshot was there.
	if snapshot == nil && lock.Size() == 0 && (journal == nil || bytes.Equal(journal, firstLine(0))) {
		s.ledger, err = quota.New(config, nil, nil)
	} else {
		notes, err = s.load(snapshot, journal, loses)
	}
	if err != nil {
		return nil, err
	}
	has, _ := s.ledger.Release() // nothing: the last change
	orphans, seq, err := s.ledger.SetQueues(queues)
	if err != nil {
		return nil, err
	}
	_, warnings := config.Validate(queues, nil)
	for _, warning := range warnings {
		if !strings.HasSuffix(warning.Origin, "-below-children") { // an oversold tree may be meant
			notes = append(notes, warning.Error())
		}
	}
	for _, name := range orphans {
		notes = append(notes, fmt.Sprintf("queue %q is gone, and closed until its last job is released", name))
	}
	for _, over := range s.ledger.Over() {
		notes = append(notes, fmt.Sprintf("queue %q: %s is over its limit, and admits nothing", over.Level, over.Resource))
	}
	s.synced.Store(seq)
	// A journal comes before the snapshot, so that no crash leaves a snapshot alone.
	if !hasLine(journal) {
		if err := replaceFile(s.dir, journalName, firstLine(has)); err != nil {
			return nil, err
		}
	}
	if err := s.save(); err != nil {
		return nil, err
	}
	if lock.Size() == 0 {
		_, err := s.lock.WriteString(inUse)
		if err = errors.Join(err, s.lock.Sync()); err != nil {
			return nil, errors.Join(err, s.journal.Close())
		}
	}
	return notes, nil
}

// inUse stands in the lock from the first start on: so a folder that has lost both files isn't
// taken for a new one.
const inUse = "this folder has a snapshot and a journal\n"

// load makes the ledger of the files of an earlier process, nil for one that is missing. loses
// allows to leave out changes that the journal has lost.
func (s *store) load(snapshot, journal []byte, loses bool) (notes []string, err error) {
	name := filepath.Join(s.dir, snapshotName)
	if snapshot == nil {
		return nil, fmt.Errorf("%s is missing, and was there: restore it or, to begin anew without its jobs, remove the folder", name)
	}
	text, isSealed, err := unsealed(snapshot)
	if err == nil {
		s.ledger, err = quota.Restore(config, nil, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !isSealed {
		notes = append(notes, name+" has no checksum, as one of an older version: the next one has")
	}
	name = filepath.Join(s.dir, journalName)
	// Older versions wrote no first line.
	if journal != nil && (hasLine(journal) || !isSealed) {
		note, err := replay(name, journal, s.ledger, loses)
		if note != "" {
			notes = append(notes, note)
		}
		return notes, err
	}
	if !loses {
		return nil, fmt.Errorf("%s is missing, or its first line is: restore it or, to start without the changes that it had, use -lose-changes", name)
	}
	return append(notes, name+" is missing, or its first line is: the changes that it had are lost"), nil
}

// do makes a change, and returns when it is on disk. With an error it may be made all the
// same: ask again.
func (s *store) do(ctx context.Context, apply func() (record, bool)) error {
	c := &change{apply, make(chan error, 1)}
	select {
	case s.changes <- c:
	case <-s.done:
		return errEnding
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-c.synced:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errEnding = errors.New("the service is ending")

// mostTogether bounds how many changes are one line of the journal.
const mostTogether = 4096

// run makes the changes, until quit is closed or the disk fails. Nobody knows what a file has
// after a failed sync, so nothing is tried again.
func (s *store) run() {
	defer close(s.done)
	var batch []*change
	for s.err == nil {
		batch = batch[:0]
		select {
		case c := <-s.changes:
			batch = append(batch, c)
		case <-s.quit:
			return
		}
		for waits := true; waits && len(batch) < mostTogether; {
			select {
			case c := <-s.changes:
				batch = append(batch, c)
			default:
				waits = false
			}
		}
		s.err = s.commit(batch)
		for _, c := range batch {
			c.synced <- s.err
		}
		if s.err == nil && s.journaled >= s.every {
			s.err = s.save()
		}
	}
}

// commit makes changes, and brings them to disk.
func (s *store) commit(batch []*change) error {
	var records []record
	for _, c := range batch {
		if r, changed := c.apply(); changed {
			records = append(records, r)
		}
	}
	if len(records) == 0 {
		return nil
	}
	line, err := journalLine(records)
	if err != nil {
		return err
	}
	if _, err := s.journal.Write(line); err != nil {
		return err
	}
	if err := s.journal.Sync(); err != nil {
		return err
	}
	s.journaled += len(records)
	s.synced.Store(records[len(records)-1].Seq)
	return nil
}

// save writes a snapshot, and begins a journal that goes on from it.
func (s *store) save() error {
	seq, _ := s.ledger.Release() // nothing
	if err := replaceFile(s.dir, snapshotName, sealed(s.ledger.Snapshot())); err != nil {
		return err
	}
	// Windows replaces no file that is open.
	if s.journal != nil {
		if err := s.journal.Close(); err != nil {
			return err
		}
	}
	if err := replaceFile(s.dir, journalName, firstLine(seq)); err != nil {
		return err
	}
	s.journaled = 0
	var err error
	s.journal, err = os.OpenFile(filepath.Join(s.dir, journalName), os.O_WRONLY|os.O_APPEND, 0)
	return err
}

// close ends the store. The next start finds a snapshot, and nothing to replay.
func (s *store) close() error {
	close(s.quit)
	<-s.done
	err := s.err
	if err == nil {
		err = s.save()
	}
	return errors.Join(err, s.journal.Close(), s.lock.Close())
}
