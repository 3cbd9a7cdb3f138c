package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// results is what one run of the benchmarks said.
type results struct {
	cpu, family, model string // of the CPU, as the benchmarks say; family and model on Linux only
	rows               []row  // in the order of the input, each benchmark once
}

// row is one benchmark: its name, taken apart, and the least value of each unit
// over its runs.
type row struct {
	benchmark string            // Ratio
	keys      map[string]string // kernel: Fit, impl: avx512, …
	values    map[string]float64
}

func (r row) key(name string) string { return r.keys[name] }

// number returns the value of a key that is a number, 0 when there is none.
func (r row) number(name string) int {
	n, _ := strconv.Atoi(r.keys[name])
	return n
}

// value returns the least value of a unit, NaN when the benchmark has none.
func (r row) value(unit string) float64 {
	if v, ok := r.values[unit]; ok {
		return v
	}
	return math.NaN()
}

// per returns how many of the given unit's time fit into another's: the
// ratio of the fastest runs.
func (r row) per(unit, of string) float64 { return r.value(of) / r.value(unit) }

// read parses benchmark output. It is an error when a benchmark failed.
func read(in io.Reader, name string) (*results, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("FAIL")) || bytes.HasPrefix(line, []byte("--- FAIL")) {
			return nil, errors.New(name + ": a benchmark failed")
		}
	}
	all := new(results)
	index := map[string]int{}
	reader := benchfmt.NewReader(bytes.NewReader(text), name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, record
		case *benchfmt.Result:
			all.cpu, all.family, all.model = record.GetConfig("cpu"), record.GetConfig("cpu-family"), record.GetConfig("cpu-model")
			full := record.Name.String()
			i, known := index[full]
			if !known {
				i = len(all.rows)
				index[full] = i
				all.rows = append(all.rows, newRow(record))
			}
			all.rows[i].take(record)
		}
	}
	if err := reader.Err(); err != nil {
		return nil, err
	}
	if len(all.rows) == 0 {
		return nil, errors.New(name + ": no benchmark results")
	}
	return all, nil
}

func newRow(record *benchfmt.Result) row {
	base, parts := record.Name.Parts()
	r := row{benchmark: string(base), keys: map[string]string{}, values: map[string]float64{}}
	for _, part := range parts {
		if key, value, ok := strings.Cut(strings.TrimPrefix(string(part), "/"), "="); ok {
			r.keys[key] = value
		}
	}
	return r
}

// take keeps the values of one run that are the least so far.
func (r row) take(record *benchfmt.Result) {
	for _, v := range record.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" { // as the benchmark wrote it: ns, not seconds
			value, unit = v.OrigValue, v.OrigUnit
		}
		if least, ok := r.values[unit]; !ok || value < least {
			r.values[unit] = value
		}
	}
}

// where returns the rows of one benchmark whose keys have the given values; an
// empty value means that the key is absent.
func (all *results) where(benchmark string, keys map[string]string) []row {
	var found []row
	for _, r := range all.rows {
		if r.benchmark == benchmark && r.has(keys) {
			found = append(found, r)
		}
	}
	return found
}

func (r row) has(keys map[string]string) bool {
	for k, v := range keys {
		if r.keys[k] != v {
			return false
		}
	}
	return true
}

// distinct returns the values of a key in the rows, in order of appearance.
func distinct(rows []row, key string) []string {
	var all []string
	seen := map[string]bool{}
	for _, r := range rows {
		if v := r.keys[key]; v != "" && !seen[v] {
			seen[v] = true
			all = append(all, v)
		}
	}
	return all
}

// band is where a baseline has to lie at 8 columns and 5,000 nodes for the
// ratios against it to be quoted, in ns per node: a slower one would flatter.
type band struct{ low, high float64 }

var (
	rowLoopBand   = band{5, 15}
	structMapBand = band{50, 130}
)

// credible reports whether the fastest run of a baseline lies in its band, and
// where it lies.
func (all *results) credible(unit string, b band) (ns float64, ok bool) {
	ns = math.NaN()
	for _, r := range all.where("Ratio", map[string]string{"kernel": "Fit", "nodes": "5000", "cols": "8", "requested": ""}) {
		if v := r.value(unit); !(v >= ns) {
			ns = v
		}
	}
	return ns, ns >= b.low && ns <= b.high
}
