package kernel

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// loop is where an AVX-512 kernel goes over the columns of some vectors of rows.
type loop struct {
	function string
	parts    [][2]string // from one label to another label or instruction
	vectors  int
}

// limits are the loops of testdata/limits.md by the name that they have there.
var limits = []struct {
	name string
	loop
}{
	{"Fit, float32 codes", loop{"andGE32", [][2]string{{"column:", "JNE"}}, 4}},
	{"NormalizedSumRows", loop{"normalizedSumRowsKept", [][2]string{{"column8:", "columns8:"}}, 8}},
	{"DominantResourceRows", loop{"dominantShareRowsKept", [][2]string{{"column8:", "columns8:"}}, 8}},
	{"StrategyFit", loop{"strategyFitKept", [][2]string{{"term:", "most:"}}, 4}},
	{"StrategyFit with SRA", loop{"strategySumKept", [][2]string{{"term:", "most:"}}, 4}},
	{"Best of these, finding the blocks", loop{"strategyPeaks", [][2]string{{"peak_term:", "JNZ"}}, 4}},
	{"LeastAllocated", loop{"kubeLeast", [][2]string{{"item:", "divided:"}}, 4}},
	{"RequestedToCapacityRatio", loop{"kubeRatio", [][2]string{{"item:", "divided:"}}, 4}},
	{"BalancedAllocation", loop{"kubeBalanced", [][2]string{{"item:", "divided:"}, {"square_entry:", "square_entered:"}}, 2}},
}

// operations counts instructions by what a CPU has units for.
type operations struct{ loads, multiply, add, other, divide float64 }

var (
	memory   = regexp.MustCompile(`^V\S+ +(\$\w+, )?[^,(]*\((R|DI|[A-D]X|SI)[^)]*\).*, `)
	store    = regexp.MustCompile(`, [^,(]*\([^)]*\)$`)
	move     = regexp.MustCompile(`^VMOVUP`)
	multiply = regexp.MustCompile(`^V(MUL|FN?MADD|FN?MSUB|PMADD|CMP|PTEST|PCMP)`) // the same units compare
	add      = regexp.MustCompile(`^V(ADD|SUB|MAX|MIN)P`)
	divide   = regexp.MustCompile(`^V(DIV|SQRT)`)
	once     = regexp.MustCompile(`BROADCAST|BCST`) // for all vectors of the loop
)

func (o *operations) count(line string) {
	switch {
	case !strings.HasPrefix(line, "V") && !strings.HasPrefix(line, "K"), strings.Contains(line, "BROADCAST"), store.MatchString(line):
		return
	case memory.MatchString(line) && !once.MatchString(line):
		o.loads++
	}
	switch {
	case move.MatchString(line):
	case divide.MatchString(line):
		o.divide++
	case multiply.MatchString(line):
		o.multiply++
	case add.MatchString(line):
		o.add++
	default:
		o.other++
	}
}

// operations counts the instructions for one vector.
func (l *loop) operations(t *testing.T) (o operations) {
	t.Helper()
	files, err := filepath.Glob("*_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	var code string
	for _, file := range files {
		if _, after, ok := strings.Cut(readFile(t, file), "TEXT ·"+l.function+"AVX512(SB)"); ok {
			code, _, _ = strings.Cut(after, "TEXT")
		}
	}
	for _, part := range l.parts {
		_, after, begins := strings.Cut(code, "\n"+part[0]+"\n")
		body, _, ends := strings.Cut(after, "\n"+part[1])
		if !strings.HasSuffix(part[1], ":") {
			body, _, ends = strings.Cut(after, "\n\t"+part[1]+" ")
		}
		if !begins || !ends {
			t.Fatalf("%s has no loop from %q to %q", l.function, part[0], part[1])
		}
		for line := range strings.Lines(body) {
			o.count(strings.TrimSpace(line))
		}
	}
	n := float64(l.vectors)
	return operations{o.loads / n, o.multiply / n, o.add / n, o.other / n, o.divide / n}
}

// row returns the line of the table in testdata/limits.md. The cycles are what a vector
// takes at least: Zen 4 has one unit each for 512 bits of multiplications and of sums, and
// between them two operations a cycle; Sapphire Rapids has two units for everything. The
// second-level caches give 32 and 64 bytes a cycle.
func (l *loop) row(t *testing.T, name string) string {
	o := l.operations(t)
	bytes, all := 64*o.loads, (o.multiply+o.add+o.other)/2
	perRow := bytes / 8
	if l.function == "andGE32" { // 16 rows
		perRow = bytes / 16
	}
	units, memory := max(o.multiply, o.add, all), bytes/32
	bound := func(units, memory float64) string {
		if units > memory {
			return fmt.Sprintf("%.3g, units", units)
		}
		return fmt.Sprintf("%.3g, cache", memory)
	}
	return fmt.Sprintf("| %s | %g | %g | %g | %g | %g | %s | %s |",
		name, perRow, o.multiply, o.add, o.other, o.divide, bound(units, memory), bound(all, bytes/64))
}

// TestLimits holds the table of testdata/limits.md against the assembly.
func TestLimits(t *testing.T) {
	page := readFile(t, "testdata/limits.md")
	for i := range limits {
		if row := limits[i].row(t, limits[i].name); !strings.Contains(page, "\n"+row+"\n") {
			t.Errorf("testdata/limits.md has no row\n%s", row)
		}
	}
}
