package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"

	"github.com/resvec/resvec/quota"
)

// The journal is a file of changes. A line is what one sync brought to disk: a checksum, and
// records in JSON. The line after it was not written before. So of a crash the last line may
// be torn, and that was never answered; anything else is a fault.
const (
	journalName  = "journal"
	snapshotName = "snapshot.json"
)

// A record is a change in the journal: a job that was promised its min or, without one, a job
// that was released.
type record struct {
	Seq   uint64     `json:"seq"`
	Job   string     `json:"job"`
	Queue string     `json:"queue,omitempty"`
	Min   *quota.Min `json:"min,omitempty"`
}

// redo makes the change in a ledger that is as it was before it. It has to get the same
// answer: otherwise the journal isn't of this ledger.
func (r *record) redo(l *quota.Ledger) error {
	if r.Min == nil {
		if seq, known := l.ReleaseJob(r.Job); !known || seq != r.Seq {
			return fmt.Errorf("change %d releases job %q: in the snapshot it is there: %t, and this would be change %d", r.Seq, r.Job, known, seq)
		}
		return nil
	}
	job, _, err := l.ResolveJob(quota.Job{ID: r.Job, Queue: r.Queue, Min: r.Min})
	if err != nil {
		return err
	}
	switch a, err := l.Reserve(job); {
	case err != nil:
		return fmt.Errorf("change %d: %w", r.Seq, err)
	case !a.OK:
		return fmt.Errorf("change %d reserves job %q: by the snapshot it is refused: %s", r.Seq, r.Job, a.Refusal.Message())
	case a.Repeat || a.Seq != r.Seq:
		return fmt.Errorf("change %d reserves job %q: in the snapshot it is there: %t, and this would be change %d", r.Seq, r.Job, a.Repeat, a.Seq)
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func journalLine(records []record) ([]byte, error) {
	text, err := json.Marshal(records)
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(text, castagnoli), text), err
}

// readLine reads what journalLine wrote.
func readLine(line []byte) (records []record, err error) {
	sum, text, _ := bytes.Cut(line, []byte(" "))
	text, whole := bytes.CutSuffix(text, []byte("\n"))
	if !whole || fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)) != string(sum) {
		return nil, errors.New("the checksum is wrong")
	}
	return records, json.Unmarshal(text, &records)
}

// replay makes the changes of a folder's journal that a ledger lacks. torn says which line was
// left out, if one was.
func replay(dir string, l *quota.Ledger) (torn string, err error) {
	name := filepath.Join(dir, journalName)
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	has, _ := l.Release() // nothing: the last change of the ledger
	read, line := 0, 0
	for text := range bytes.Lines(data) {
		line++
		read += len(text)
		at := fmt.Sprintf("%s:%d", name, line)
		records, err := readLine(text)
		switch {
		case err != nil && read == len(data):
			return at, nil
		case err != nil:
			return "", fmt.Errorf("%s: %w", at, err)
		}
		for i := range records {
			if records[i].Seq <= has {
				continue
			}
			if err := records[i].redo(l); err != nil {
				return "", fmt.Errorf("%s: it is not the journal of this %s: %w", at, snapshotName, err)
			}
		}
	}
	return "", nil
}

// replaceFile writes a file so that, whenever the machine stops, it has either its old
// content or all of the new one.
func replaceFile(dir, name string, data []byte) error {
	path := filepath.Join(dir, name)
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return syncFolder(dir)
}

// syncFolder brings to disk which files a folder has. Windows does so by itself.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
