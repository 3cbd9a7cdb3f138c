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
// be torn, without its end, and that was never answered; anything else is a fault.
//
// The first line has one record, without a job: the change that the journal goes on from. It
// comes with the file, so a journal that has lost it, or a snapshot that is older, is a fault.
const (
	journalName  = "journal"
	snapshotName = "snapshot.json"
)

// A record is a change in the journal: a job that was promised its min or, without one, a job
// that was released.
type record struct {
	Seq   uint64     `json:"seq"`
	Job   string     `json:"job,omitempty"`
	Queue string     `json:"queue,omitempty"`
	Min   *quota.Min `json:"min,omitempty"`
}

// redo makes the change in a ledger that is as it was before it. It has to get the same
// answer: otherwise the journal isn't of this ledger.
func (r *record) redo(l *quota.Ledger) error {
	if r.Job == "" {
		return fmt.Errorf("it goes on from change %d, which isn't there", r.Seq)
	}
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

func checksum(text []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)))
}

var errChecksum = errors.New("the checksum is wrong")

func journalLine(records []record) ([]byte, error) {
	text, err := json.Marshal(records)
	return fmt.Appendf(nil, "%s %s\n", checksum(text), text), err
}

// firstLine is the line of a journal that goes on from a change.
func firstLine(seq uint64) []byte {
	line, _ := journalLine([]record{{Seq: seq}}) // a number has a form in JSON
	return line
}

// hasLine reports whether a journal has a line.
func hasLine(journal []byte) bool { return bytes.Contains(journal, []byte("\n")) }

// readLine reads what journalLine wrote.
func readLine(line []byte) (records []record, err error) {
	sum, text, _ := bytes.Cut(line, []byte(" "))
	if checksum(bytes.TrimSuffix(text, []byte("\n"))) != string(sum) {
		return nil, errChecksum
	}
	if err := json.Unmarshal(text, &records); err != nil {
		return nil, err
	}
	// What encoding/json takes for something else, such as an id that isn't UTF-8, or leaves out.
	if again, err := journalLine(records); err != nil || !bytes.Equal(again, line) {
		return nil, errors.New("this service writes it otherwise")
	}
	return records, nil
}

// isTorn reports whether the last line of a journal may be what a crash left of it. One that has
// its end, or all before that and another byte there, was synced.
func isTorn(line []byte) bool {
	sum, text, _ := bytes.Cut(line, []byte(" "))
	var records json.RawMessage
	switch {
	case bytes.HasSuffix(line, []byte("\n")):
		return false
	case json.NewDecoder(bytes.NewReader(text)).Decode(&records) != nil:
		return true
	}
	return len(records) == len(text) || checksum(records) != string(sum)
}

// replay makes the changes of a journal that a ledger lacks. It stops at a line that is damaged,
// unless loses allows to leave out that and the lines after it. note says what was left out.
func replay(name string, journal []byte, l *quota.Ledger, loses bool) (note string, err error) {
	has, _ := l.Release() // nothing: the last change of the ledger
	read, line, last := 0, 0, uint64(0)
	for text := range bytes.Lines(journal) {
		line++
		read += len(text)
		at := fmt.Sprintf("%s:%d", name, line)
		records, err := readLine(text)
		switch {
		case err == nil:
		case read == len(journal) && isTorn(text):
			note = at + " was torn by a crash, never answered, and is left out"
		case loses:
			return fmt.Sprintf("%s: %v: it and the %d lines after it are left out", at, err, bytes.Count(journal[read:], []byte("\n"))), nil
		default:
			return "", fmt.Errorf("%s: %w, and the line was answered: restore the file or, to start with the lines before it, use -lose-changes", at, err)
		}
		for i := range records {
			if last = records[i].Seq; last <= has {
				continue
			}
			if err := records[i].redo(l); err != nil {
				return "", fmt.Errorf("%s: it is not the journal of this %s: %w", at, snapshotName, err)
			}
		}
	}
	// A snapshot takes the place of a journal that has all of its changes but the last one, which
	// a start may make.
	if line > 0 && last+1 < has {
		return "", fmt.Errorf("%s: it is not the journal of this %s: it ends with change %d, and that has %d", name, snapshotName, last, has)
	}
	return note, nil
}

// sealed returns the text of snapshot.json: a snapshot, and its checksum.
func sealed(snapshot []byte) []byte {
	return fmt.Appendf(nil, "%s%s\",\"snapshot\":%s}\n", sealBegin, checksum(snapshot), snapshot)
}

const sealBegin = `{"crc32c":"`

// unsealed returns the snapshot in the text of snapshot.json. Without a checksum, as older versions
// wrote it, the text is the snapshot.
func unsealed(text []byte) (snapshot []byte, isSealed bool, err error) {
	if !bytes.HasPrefix(text, []byte(sealBegin)) {
		return text, false, nil
	}
	begin, end := len(sealed(nil))-len("}\n"), len(text)-len("}\n")
	if begin > end || !bytes.Equal(sealed(text[begin:end]), text) {
		return nil, true, errChecksum
	}
	return text[begin:end], true, nil
}

// readFile returns the content of a file, nil if it isn't there.
func readFile(dir, name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return data, err
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
