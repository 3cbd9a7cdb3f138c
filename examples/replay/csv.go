package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The limits of what a list may hold. Up to them every amount is a whole number
// below 2^53 in the units of the schema, so all arithmetic is exact.
const (
	maxNumber  = math.MaxInt32 // milli-CPU, MiB or devices
	maxDevices = 256           // of one node
	maxGPUs    = 1 << 16       // of one pod
	maxRows    = 1 << 24       // nodes or pods, counts included
	maxColumns = 1 << 26       // nodes times the devices of the largest, a column each
	wholeGPU   = 1000          // gpu_milli of one device
)

// A nodeShape is what a node list says of a node, without its name.
type nodeShape struct {
	cpuMilli, memoryMiB, gpus int64
	model                     string
}

// A podShape is what a pod list says of a pod, without its name and history.
type podShape struct {
	cpuMilli, memoryMiB, gpus int64
	gpuMilli                  int64  // of each device
	spec                      string // models joined by |, empty for any
}

// totalMilli returns what the pod asks of all its devices together.
func (p podShape) totalMilli() int64 { return p.gpus * p.gpuMilli }

// readNodes reads a node list and returns how many nodes have each shape. name
// stands for the list in errors.
func readNodes(name string, r io.Reader) (map[nodeShape]int, error) {
	counts := make(map[nodeShape]int)
	gpus := false
	err := readTable(name, r, []string{"cpu_milli", "memory_mib", "gpu", "model"}, func(row *tableRow) {
		shape := nodeShape{
			cpuMilli:  row.number("cpu_milli", 0, maxNumber),
			memoryMiB: row.number("memory_mib", 0, maxNumber),
			gpus:      row.number("gpu", 0, maxDevices),
			model:     row.text("model"),
		}
		counts[shape] += row.count()
		gpus = gpus || shape.gpus > 0
	})
	switch {
	case err != nil:
		return nil, err
	case len(counts) == 0:
		return nil, fmt.Errorf("%s: no nodes", name)
	case !gpus:
		return nil, fmt.Errorf("%s: no node has a GPU", name)
	}
	return counts, nil
}

// readPods reads a pod list and returns how many pods make each request.
func readPods(name string, r io.Reader) (map[podShape]int, error) {
	counts := make(map[podShape]int)
	gpus := false
	err := readTable(name, r, []string{"cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}, func(row *tableRow) {
		shape := podShape{
			cpuMilli:  row.number("cpu_milli", 0, maxNumber),
			memoryMiB: row.number("memory_mib", 0, maxNumber),
			gpus:      row.number("num_gpu", 0, maxGPUs),
		}
		if shape.gpus > 0 {
			shape.spec = row.text("gpu_spec")
		}
		// Only a single device can be asked for in part.
		switch shape.gpus {
		case 0:
			shape.gpuMilli = row.number("gpu_milli", 0, 0)
		case 1:
			shape.gpuMilli = row.number("gpu_milli", 1, wholeGPU)
		default:
			shape.gpuMilli = row.number("gpu_milli", wholeGPU, wholeGPU)
		}
		counts[shape] += row.count()
		gpus = gpus || shape.gpus > 0
	})
	switch {
	case err != nil:
		return nil, err
	case len(counts) == 0:
		return nil, fmt.Errorf("%s: no pods", name)
	case !gpus:
		return nil, fmt.Errorf("%s: no pod asks for a GPU, so there is no demand to scale", name)
	}
	return counts, nil
}

// readTable reads a CSV file by the names in its header and calls each for
// every row. The columns of required must be there; others may be, in any
// order. It stops at the first row in which each met a bad value.
func readTable(name string, r io.Reader, required []string, each func(*tableRow)) error {
	file := csv.NewReader(withoutMark(r))
	file.ReuseRecord = true
	header, err := file.Read()
	if err == io.EOF {
		return fmt.Errorf("%s: row 1: no header, want %s", name, strings.Join(required, ","))
	}
	if err != nil {
		return readError(name, 0, err)
	}
	header = slices.Clone(header)
	row := tableRow{name: name, columns: make(map[string]int, len(header))}
	for i, column := range header {
		if _, twice := row.columns[column]; twice && slices.Contains(known, column) {
			return fmt.Errorf("%s: row 1: column %s stands there twice", name, column)
		}
		row.columns[column] = i
	}
	for _, column := range required {
		if _, ok := row.columns[column]; !ok {
			return fmt.Errorf("%s: row 1: column %s is missing, want %s", name, column, strings.Join(required, ","))
		}
	}
	for {
		row.record, err = file.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return readError(name, len(header), err)
		}
		row.line, _ = file.FieldPos(0)
		if each(&row); row.err != nil {
			return row.err
		}
	}
}

// withoutMark returns r without the byte order mark that some programs put
// before the first line.
func withoutMark(r io.Reader) io.Reader {
	const mark = "\ufeff"
	b := bufio.NewReader(r)
	if start, _ := b.Peek(len(mark)); string(start) == mark {
		b.Discard(len(mark))
	}
	return b
}

// known are the columns that are read.
var known = []string{"cpu_milli", "memory_mib", "gpu", "model", "num_gpu", "gpu_milli", "gpu_spec", "count"}

// readError says in one line why the rows of a list could not be read.
func readError(name string, fields int, err error) error {
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		if errors.Is(err, csv.ErrFieldCount) {
			return fmt.Errorf("%s: row %d: another number of columns than the %d of the header", name, syntax.Line, fields)
		}
		return fmt.Errorf("%s: row %d: %w", name, syntax.Line, syntax.Err)
	}
	return fileError(name, err)
}

// fileError says in one line what is wrong with a file.
func fileError(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// A tableRow is one row of a list. The first bad value is kept in err.
type tableRow struct {
	name    string
	columns map[string]int // header name to field
	line    int            // where the row starts in the file; the header is row 1
	record  []string
	rows    int64 // the counts so far
	err     error
}

// text returns the value of a column, empty when the file does not have it.
func (r *tableRow) text(column string) string {
	if i, ok := r.columns[column]; ok {
		return strings.Clone(r.record[i]) // without the rest of the row
	}
	return ""
}

// number returns the whole number in a column, which must be from least to
// most.
func (r *tableRow) number(column string, least, most int64) int64 {
	text := r.record[r.columns[column]]
	x, err := strconv.ParseInt(text, 10, 64)
	if err == nil && least <= x && x <= most {
		return x
	}
	want := fmt.Sprintf("a whole number from %d to %d", least, most)
	if least == most {
		want = strconv.FormatInt(least, 10)
	}
	r.refuse(column, text, want)
	return least
}

// count returns how many entities the row stands for: its count column, or 1.
func (r *tableRow) count() int {
	n := int64(1)
	if _, ok := r.columns["count"]; ok {
		n = r.number("count", 1, maxRows)
	}
	if r.rows += n; r.rows > maxRows {
		r.refuse("count", strconv.FormatInt(n, 10), fmt.Sprintf("at most %d in the whole file", maxRows))
	}
	return int(n)
}

// refuse keeps the first bad value of the row.
func (r *tableRow) refuse(column, value, want string) {
	if r.err != nil {
		return
	}
	if len(value) > 40 {
		value = value[:40] + "..."
	}
	r.err = fmt.Errorf("%s: row %d: column %s: got %q, want %s", r.name, r.line, column, value, want)
}
