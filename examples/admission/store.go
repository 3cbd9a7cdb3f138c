package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
// on what doesn't count in the queues, and on limits that are exceeded.
func open(dir string, queues []quota.Queue, every int) (s *store, notes []string, err error) {
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
	if notes, err = s.restore(queues); err != nil {
		return nil, nil, errors.Join(err, s.lock.Close())
	}
	go s.run()
	return s, notes, nil
}

// restore makes the ledger of what is on disk and of the queues. What was replayed was
// decided under the queues of the snapshot, so the present queues come last.
func (s *store) restore(queues []quota.Queue) (notes []string, err error) {
	data, err := os.ReadFile(filepath.Join(s.dir, snapshotName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		if s.ledger, err = quota.New(config, nil, nil); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		if s.ledger, err = quota.Restore(config, nil, data); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(s.dir, snapshotName), err)
		}
	}
	torn, err := replay(s.dir, s.ledger)
	if err != nil {
		return nil, err
	}
	if torn != "" {
		notes = append(notes, torn+" was torn by a crash, never answered, and is left out")
	}
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
	if s.journal, err = os.OpenFile(filepath.Join(s.dir, journalName), os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		return nil, err
	}
	if err := s.save(); err != nil {
		return nil, errors.Join(err, s.journal.Close())
	}
	return notes, nil
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

// save writes a snapshot, and empties the journal.
func (s *store) save() error {
	if err := replaceFile(s.dir, snapshotName, s.ledger.Snapshot()); err != nil {
		return err
	}
	s.journaled = 0
	_, err := s.journal.Seek(0, io.SeekStart)
	return errors.Join(err, s.journal.Truncate(0), s.journal.Sync())
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
