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
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/quota"
)

// A record is a change in the journal: a job that was promised its min or, without one, a job
// that was released.
type record struct {
	Seq   uint64     `json:"seq"`
	Job   string     `json:"job"`
	Queue string     `json:"queue,omitempty"`
	Min   *quota.Min `json:"min,omitempty"`
}

// redo makes the change in a ledger that is as it was before it. Anything else but the same
// answer is a fault of the journal.
func (r *record) redo(l *quota.Ledger) error {
	if r.Min == nil {
		if seq, known := l.ReleaseJob(r.Job); !known || seq != r.Seq {
			return fmt.Errorf("change %d: release of job %q: there: %t, change %d", r.Seq, r.Job, known, seq)
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
	case !a.OK || a.Repeat || a.Seq != r.Seq:
		return fmt.Errorf("change %d: job %q: reserved before: %t, change %d %s", r.Seq, r.Job, a.Repeat, a.Seq, a.Refusal.Message())
	}
	return nil
}

// A journal is a file of changes. A line is what one sync brought to disk: a checksum, and
// records in JSON. The line after it was not written before. So of a crash the last line of
// the last journal may be torn, and that was never answered; anything else is a fault.
type journal struct {
	file    *os.File
	number  int
	changes int
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newJournal(dir string, number int) (*journal, error) {
	file, err := os.OpenFile(journalName(dir, number), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	return &journal{file: file, number: number}, syncFolder(dir)
}

// append returns when the records are on disk.
func (j *journal) append(records []record) error {
	line, err := journalLine(records)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(line); err != nil {
		return err
	}
	j.changes += len(records)
	return j.file.Sync()
}

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

// replay makes the changes of the journals that a ledger lacks, and returns the number of
// the last journal, 0 if there is none.
func replay(dir string, l *quota.Ledger) (last int, err error) {
	numbers, err := journals(dir)
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	last = numbers[len(numbers)-1]
	has, _ := l.Release() // nothing: the last change of the ledger
	for _, n := range numbers {
		name := journalName(dir, n)
		data, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		read, line := 0, 0
		for text := range bytes.Lines(data) {
			line++
			read += len(text)
			records, err := readLine(text)
			if err != nil {
				if n == last && read == len(data) {
					break
				}
				return 0, fmt.Errorf("%s:%d: %w", name, line, err)
			}
			for i := range records {
				if records[i].Seq <= has {
					continue
				}
				if err := records[i].redo(l); err != nil {
					return 0, fmt.Errorf("%s:%d: %w", name, line, err)
				}
			}
		}
	}
	return last, nil
}

const (
	snapshotName  = "snapshot.json"
	journalPrefix = "journal-"
)

func journalName(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("%s%08d", journalPrefix, number))
}

// journals returns the numbers of the journals, sorted.
func journals(dir string) (numbers []int, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), journalPrefix)
		if n, err := strconv.Atoi(digits); ok && err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
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
