package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/resvec/resvec/internal/testkit"
)

func TestRoundHalfEven(t *testing.T) {
	for _, test := range []struct{ a, b, want int64 }{
		{0, 7, 0}, {49, 100, 0}, {50, 100, 0}, {51, 100, 1}, {150, 100, 2}, {250, 100, 2}, {349, 100, 3}, {350, 100, 4}, {5, 3, 2}, {4, 3, 1}, {3, 2, 2}, {1, 2, 0},
	} {
		if got := roundHalfEven(test.a, test.b); got != test.want {
			t.Errorf("%d/%d rounds to %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestCurve(t *testing.T) {
	c := curve{capacity: 1000}
	for _, event := range []struct {
		arrived, placed int64
		frag            float64
	}{
		{5, 0, 100},      // 0.5 %: to the even 0
		{15, 10, 90},     // 1.5 %: to 2
		{24, 20, 90},     // 2
		{44, 40, 86},     // 4
		{1300, 1000, 0},  // 130, nothing is free
		{1304, 1000, 0},  // 130
		{1304, 1000, 64}, // 130
	} {
		c.record(event.arrived, event.placed, event.frag)
	}
	for _, test := range []struct {
		percent int64
		want    reading
		ok      bool
	}{
		{0, reading{0, 10, 10}, true},
		{1, reading{1, 28. / 3, (10 + 100*90./990 + 100*90./980) / 3}, true}, // the mean over all events around it
		{2, reading{1.5, 9, (100*90./990 + 100*90./980) / 2}, true},
		{3, reading{7. / 3, (9 + 9 + 8.6) / 3, (100*90./990 + 100*90./980 + 100*86./960) / 3}, true},
		{5, reading{4, 8.6, 100 * 86. / 960}, true},
		{6, reading{}, false},
		{130, reading{100, 6.4 / 3, 0}, true},
	} {
		got, ok := c.at(test.percent)
		if ok != test.ok || !isClose(got.alloc, test.want.alloc) || !isClose(got.frag, test.want.frag) || !isClose(got.ratio, test.want.ratio) {
			t.Errorf("at %d: %v, %v, want %v", test.percent, got, ok, test.want)
		}
	}
	if got := fmt.Sprint(c.percents()); got != "[0 1 2 3 4 5 129 130]" {
		t.Errorf("bins with a value: %s", got)
	}
}

func isClose(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }

func TestSpread(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   spread
		text   string
	}{
		{nil, spread{}, "-"},
		{[]float64{5}, spread{1, 5, 0}, "5.000"},
		{[]float64{1, 2, 3, 4}, spread{4, 2.5, math.Sqrt(5. / 3)}, "2.500 ± 1.291"},
	} {
		got := spreadOf(test.values)
		if got != test.want || got.String() != test.text {
			t.Errorf("%v: %v, want %v", test.values, got, test.want)
		}
	}
	if got := z(spread{10, 95, 0.3}, spread{10, 94, 0.4}); !isClose(got, 1/math.Sqrt(0.009+0.016)) {
		t.Errorf("z = %v", got)
	}
}

func TestPercentile(t *testing.T) {
	var samples []time.Duration
	for i := range time.Duration(200) {
		samples = append(samples, 200-i)
	}
	if got := percentile(samples, 99); got != 198 {
		t.Errorf("got %v", got)
	}
	if got := percentile(nil, 99); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// mustRun runs policies with seeds from 42 on.
func mustRun(t *testing.T, tr *trace, seeds int, selected ...*policy) []*result {
	t.Helper()
	return testkit.Must(testkit.Must(newCluster(tr)).runAll(t.Context(), &options{
		policies: selected, seeds: seeds, seed: 42, inflate: publishedInflation, ties: tiesPermuted,
	}, new(progress)))
}

// What a second program, written from the same description, gives.
func TestCheckValues(t *testing.T) {
	tr := testkit.Must(loadTrace("", ""))
	testkit.EachImpl(t, func(t *testing.T) {
		for i, want := range []struct {
			placed      int
			alloc, frag string
		}{
			{8230, "87.5582", "16.3587"},
			{8020, "90.6014", "10.3551"},
			{8124, "92.0436", "9.2109"},
			{8130, "92.1114", "9.0771"},
			{8185, "92.9593", "8.4217"},
			{8350, "95.2360", "6.0360"},
		} {
			r := mustRun(t, tr, 1, policies[i])[0]
			alloc, frag := fmt.Sprintf("%.4f", r.headline(0).mean), fmt.Sprintf("%.4f", r.headline(2).mean)
			if r.runs[0].placed != want.placed || alloc != want.alloc || frag != want.frag {
				t.Errorf("%s: %d placed, alloc@130 %s, frag@80 %s, want %+v", policies[i].name, r.runs[0].placed, alloc, frag, want)
			}
		}
	})
}

// The results of every published trace agree with the published ones.
func TestGate(t *testing.T) {
	if !isLong(t) {
		t.Skip("TestReport has the same runs of the embedded trace, and their comparison in its text")
	}
	agree, cells := 0, 0
	for _, p := range published {
		t.Run(p.name, func(t *testing.T) {
			if testkit.RaceEnabled {
				t.Skip("the race detector takes its time")
			}
			tr := publishedTrace(t, p.name)
			pub := publicationOf(tr, "")
			if pub == nil || pub.trace != p.name {
				t.Fatalf("taken for %v", pub)
			}
			results := mustRun(t, tr, 10, policies...)
			if err := pub.gate(results); err != nil {
				t.Error(err)
			}
			c := pub.compare(results)
			t.Logf("%d of %d cells agree, the farthest is %.2f standard errors away", c.agree, c.cells, c.largest)
			agree, cells = agree+c.agree, cells+c.cells
		})
	}
	if cells == 120 && agree < 108 {
		t.Errorf("%d of %d cells agree", agree, cells)
	}
}

// fixed returns a result with these alloc@130, alloc@100, frag@80 and frag@90.
func fixed(name string, cells [len(headline)]spread) *result {
	c := &outcome{curve: curve{bins: []bin{
		{80, 1, reading{frag: cells[2].mean}}, {90, 1, reading{frag: cells[3].mean}},
		{100, 1, reading{alloc: cells[1].mean}}, {130, 1, reading{alloc: cells[0].mean}},
	}}}
	return &result{policy: findPolicy(name), runs: []*outcome{c, c}}
}

// The gate fails when cells differ, and when FGD is not ahead.
func TestGateFails(t *testing.T) {
	for i := range publications {
		p := &publications[i]
		change := func(name string, cell int, by float64) []*result {
			var results []*result
			for _, policy := range policies {
				cells := p.cells[policy.name]
				if policy.name == name {
					cells[cell].mean += by * cells[cell].sd / math.Sqrt(10)
				}
				results = append(results, fixed(policy.name, cells))
			}
			return results
		}
		strict := p.trace == "default"
		for _, test := range []struct {
			about string
			cell  int
			by    float64
			fails bool
		}{
			{"as published", 0, 0, false},
			{"within two", 0, 1.9, false},
			{"beyond two", 0, 2.1, strict},
			{"beyond three and a half", 3, -3.6, true},
		} {
			if err := p.gate(change("BestFit", test.cell, test.by)); (err != nil) != test.fails {
				t.Errorf("%s, %s: %v", p.trace, test.about, err)
			}
		}
		results := change("", 0, 0)
		results[4] = fixed("BestFit", p.cells["FGD"])
		if p.gate(results) == nil {
			t.Errorf("%s: BestFit may be as good as FGD", p.trace)
		}
	}
}

func TestPublicationOf(t *testing.T) {
	tr := testkit.Must(loadTrace("", ""))
	if p := publicationOf(tr, "any"); p == nil || p.trace != "default" {
		t.Errorf("the embedded trace is taken for %v", p)
	}
	nodes, pods := shapeCounts(tr)
	pods[tr.requests[0]]++
	changed := newTrace(nodes, pods)
	if p := publicationOf(changed, "x/"+podList("cpu100")); p == nil || p.trace != "cpu100" {
		t.Errorf("a list with a published name is taken for %v", p)
	}
	if p := publicationOf(changed, "x/mine.csv"); p != nil {
		t.Errorf("an unknown list is taken for %s", p.trace)
	}
	nodes[tr.nodes[0]]++
	if p := publicationOf(newTrace(nodes, pods), podList("default")); p != nil {
		t.Errorf("other nodes are taken for %s", p.trace)
	}
}

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{"out.svg", "out.PNG", "out.pdf"} {
		status, _, errs := runProgram(t.Context(), "-seeds", "2", "-policies", "BestFit,DotProd", "-plot", file(name), "-csv", file("out.csv"))
		if status != 0 {
			t.Fatalf("%s: status %d: %s", name, status, errs)
		}
	}
	read := func(name string) []byte {
		return testkit.Must(os.ReadFile(file(name)))
	}
	for _, want := range []string{"<svg", "DotProd", "BestFit", "all placed", "arrived, % of GPUs", "allocated, % of GPUs", "fragmented, % of GPUs"} {
		if !bytes.Contains(read("out.svg"), []byte(want)) {
			t.Errorf("%q is missing in the picture", want)
		}
	}
	if _, err := png.Decode(bytes.NewReader(read("out.PNG"))); err != nil {
		t.Error(err)
	}
	if !bytes.HasPrefix(read("out.pdf"), []byte("%PDF-")) {
		t.Error("not a PDF file")
	}

	table := testkit.Must(csv.NewReader(bytes.NewReader(read("out.csv"))).ReadAll())
	if got := strings.Join(table[0], ","); got != "policy,seed,bin,alloc,frag,frag_ratio" {
		t.Errorf("header %s", got)
	}
	results := mustRun(t, testkit.Must(loadTrace("", "")), 2, findPolicy("BestFit"), findPolicy("DotProd"))
	row := 1
	for _, r := range results {
		for _, run := range r.runs {
			for _, percent := range run.curve.percents() {
				want, _ := run.curve.at(percent)
				got := table[row]
				row++
				if got[0] != r.policy.name || got[1] != fmt.Sprint(run.seed) || got[2] != fmt.Sprint(percent) ||
					got[3] != number64(want.alloc) || got[4] != number64(want.frag) || got[5] != number64(want.ratio) {
					t.Fatalf("row %d: %v, want %v", row, got, want)
				}
			}
		}
	}
	if row != len(table) {
		t.Errorf("%d rows, want %d", len(table), row)
	}
}

func number64(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
