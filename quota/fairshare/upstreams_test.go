package fairshare

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestUpstreams runs the cases of the other projects' own tests. Those that differ here must
// say so.
func TestUpstreams(t *testing.T) {
	text := testkit.Must(os.ReadFile("testdata/upstreams.json"))
	var file struct {
		Division struct {
			Cases []struct {
				Name   string
				Total  float64
				Queues [][5]float64
				Want   []float64
			}
		}
		Borrowing struct {
			Cases []struct {
				Name       string
				Groups     []int
				Request    vector.ResourceVector
				Queues     [][6]json.RawMessage
				Limits     map[string]vector.ResourceVector
				Want, Here map[string]float64
			}
		}
		Reclaim struct {
			Cases []struct {
				Name    string
				P       string
				Fixed   bool
				Request vector.ResourceVector
				Queues  [][6]json.RawMessage
				Victims [][2]json.RawMessage
				First   *bool
				All     *bool
			}
		}
		Preemption struct {
			Base  [][4]json.RawMessage
			Cases []struct {
				Name    string
				Queues  json.RawMessage
				Jobs    [][3]json.RawMessage
				P       string
				Request vector.ResourceVector
				Want    []string
			}
		}
		VolcanoShares struct {
			Cases []struct {
				Name                        string
				Deserved, Allocated, Wanted vector.ResourceVector
				Want                        float64
			}
		}
		VolcanoReclaim struct {
			Cases []struct {
				Name                 string
				Weights              bool
				Total, Free, Request vector.ResourceVector
				Queues               [][5]json.RawMessage
				Running, Fixed       [][3]json.RawMessage
				P                    string
				Want, Here           []string
			}
		}
		VolcanoOrder struct {
			Cases []struct {
				Name   string
				Queues [][5]json.RawMessage
				Want   string
			}
		}
	}
	testkit.Check(json.Unmarshal(text, &file))

	for _, test := range file.Division.Cases {
		tree := testkit.Must(NewTree(vector.Schema{}, 1, Options{}))
		testkit.Check(tree.SetTotal(vector.ResourceVector{test.Total}))
		var got []float64
		for i, q := range test.Queues {
			row, _, err := tree.Set(fmt.Sprint("queue-", i+1), Queue{
				Deserved: vector.ResourceVector{min(q[0], unlimitedAs(q[2]))}, Weight: []float64{q[1]}, Limit: vector.ResourceVector{unlimitedAs(q[2])}, Priority: int64(q[3]),
			})
			testkit.Check(err)
			testkit.Check(tree.SetUsage(row, Usage{Wanted: vector.ResourceVector{q[4]}}))
		}
		tree.Divide()
		for _, row := range tree.All() {
			got = append(got, tree.Share(nil, row)[0])
		}
		if !slices.Equal(got, test.Want) {
			t.Errorf("division, %s: %v, want %v", test.Name, got, test.Want)
		}
	}

	for _, test := range file.Borrowing.Cases {
		cols := max(len(test.Groups), 2)
		tree := testkit.Must(NewTree(vector.Schema{}, cols, Options{Rules: Kueue, Groups: test.Groups}))
		for _, q := range test.Queues {
			var weight float64
			testkit.Check(json.Unmarshal(q[2], &weight))
			queue := Queue{Parent: textOf(t, q[1]), Weight: []float64{weight}, Deserved: amountsOf(t, q[3]), Lending: amountsOf(t, q[4]), Limit: infinite(test.Limits[textOf(t, q[0])])}
			row := first(tree.Set(textOf(t, q[0]), queue))
			if has := amountsOf(t, q[5]); has != nil {
				testkit.Check(tree.SetUsage(row, Usage{Allocated: has}))
			}
		}
		tree.tidy()
		leaf, _ := tree.Row("cq")
		for name, want := range test.Want {
			if here, ok := test.Here[name]; ok {
				want = here
			}
			row, _ := tree.Row(name)
			var more []int64
			if name == "cq" && test.Request != nil {
				more = whole(test.Request, cols)
			}
			got := math.Ceil(tree.borrowing(int32(row), int32(leaf), more, 1).Float64())
			if got != unlimitedAs(want) && name == "cq" || name != "cq" && got != want {
				t.Errorf("borrowing, %s: %s has %v, want %v", test.Name, name, got, want)
			}
		}
	}

	for _, test := range file.Reclaim.Cases {
		tree := testkit.Must(NewTree(vector.Schema{}, len(test.Request), Options{Rules: KAI}))
		for _, q := range test.Queues {
			row := first(tree.Set(textOf(t, q[0]), Queue{Parent: textOf(t, q[1]), Deserved: amountsOf(t, q[2])}))
			if has := amountsOf(t, q[4]); has != nil {
				testkit.Check(tree.SetUsage(row, Usage{Allocated: has, Unpreemptible: amountsOf(t, q[5])}))
			}
		}
		tree.Divide()
		for _, q := range test.Queues {
			row, _ := tree.Row(textOf(t, q[0]))
			copy(tree.used(int32(row), share), whole(amountsOf(t, q[3]), len(test.Request)))
		}
		row, _ := tree.Row(test.P)
		claim := NewClaim(tree)
		why, ok, err := claim.Begin(row, Job{Request: test.Request, Unpreemptible: test.Fixed})
		testkit.Check(err)
		if test.First != nil && ok != *test.First {
			t.Errorf("reclaim, %s: first is %v: %v", test.Name, ok, why)
		}
		for _, v := range test.Victims {
			if leaf, _ := tree.Row(textOf(t, v[0])); ok {
				why, ok = claim.Take(Victim{Queue: leaf, Amounts: amountsOf(t, v[1])})
			}
		}
		if ok {
			why, ok = claim.Keep(nil)
		}
		if test.All != nil && ok != *test.All {
			t.Errorf("reclaim, %s: all is %v: %v", test.Name, ok, why)
		}
	}

	for _, test := range file.Preemption.Cases {
		queues := file.Preemption.Base
		if string(test.Queues) != `"base"` {
			queues = nil
			testkit.Check(json.Unmarshal(test.Queues, &queues))
		}
		cols := len(test.Request)
		groups := make([]int, cols) // columns are flavors of cpu
		tree := testkit.Must(NewTree(vector.Schema{}, cols, Options{Rules: Kueue, Groups: groups}))
		free := make(vector.ResourceVector, cols)
		for _, q := range queues {
			var weight float64
			testkit.Check(json.Unmarshal(q[2], &weight))
			deserved := amountsOf(t, q[3])
			first(tree.Set(textOf(t, q[0]), Queue{Parent: textOf(t, q[1]), Weight: []float64{weight}, Deserved: deserved}))
			free.Add(deserved)
		}
		var victims []Victim
		for _, job := range test.Jobs {
			row, _ := tree.Row(textOf(t, job[1]))
			v := Victim{Queue: row, Amounts: amountsOf(t, job[2])}
			testkit.Check(tree.Assume(row, Job{Request: v.Amounts}))
			victims = append(victims, v)
			free.Sub(v.Amounts)
		}
		row, _ := tree.Row(test.P)
		claim := NewClaim(tree)
		first(claim.Begin(row, Job{Request: test.Request}))
		_, kept, _, _ := makeRoom(claim, claim.Victims(victims), test.Request, free, victims)
		var got []string
		for _, i := range kept {
			got = append(got, textOf(t, test.Jobs[i][0]))
		}
		slices.Sort(got)
		if !slices.Equal(got, test.Want) {
			why, _ := claim.Refused()
			t.Errorf("preemption, %s: %v, want %v (%v)", test.Name, got, test.Want, why)
		}
	}

	for _, test := range file.VolcanoShares.Cases {
		tree := testkit.Must(NewTree(vector.Schema{}, 2, Options{Rules: Volcano}))
		row := first(tree.Set("test-queue", Queue{Deserved: test.Deserved}))
		testkit.Check(tree.SetUsage(row, Usage{Allocated: test.Allocated, Wanted: test.Wanted}))
		if got := tree.Measure(row).Float64(); got != test.Want {
			t.Errorf("share, %s: %v, want %v", test.Name, got, test.Want)
		}
	}

	for _, test := range file.VolcanoReclaim.Cases {
		cols := len(test.Total)
		tree := testkit.Must(NewTree(vector.Schema{}, cols, Options{Rules: Volcano, ByWeight: test.Weights}))
		testkit.Check(tree.SetTotal(test.Total))
		set := func(q [5]json.RawMessage, deserved vector.ResourceVector) {
			var priority int64
			testkit.Check(json.Unmarshal(q[4], &priority))
			first(tree.Set(textOf(t, q[0]), Queue{Parent: textOf(t, q[1]), Deserved: deserved, Limit: amountsOf(t, q[3]), Priority: priority}))
		}
		for _, q := range test.Queues {
			set(q, amountsOf(t, q[2]))
		}
		var victims []Victim
		for i, job := range slices.Concat(test.Running, test.Fixed) {
			row, _ := tree.Row(textOf(t, job[1]))
			v := Victim{Queue: row, Amounts: amountsOf(t, job[2])}
			testkit.Check(tree.Assume(row, Job{Request: v.Amounts, Unpreemptible: i >= len(test.Running)}))
			victims = append(victims, v)
		}
		victims = victims[:len(test.Running)]
		row, _ := tree.Row(test.P)
		testkit.Must(tree.Wait(row, Job{Request: test.Request}))
		tree.Divide()
		if test.Weights { // what the division gives is what is deserved
			for _, q := range test.Queues {
				row, _ := tree.Row(textOf(t, q[0]))
				set(q, tree.Share(nil, row))
			}
		}
		want := test.Want
		if test.Here != nil {
			want = test.Here
		}
		room := slices.Clone(test.Free)
		fits := func() bool { return test.Request.FitsIn(room) }
		claim := NewClaim(tree)
		why, ok, err := claim.Begin(row, Job{Request: test.Request})
		testkit.Check(err)
		got := []string{}
		if ok {
			for _, amounts := range claim.Victims(victims) {
				if room.Add(amounts); fits() {
					break
				}
			}
			if why, ok = claim.Keep(nil); ok && fits() {
				for _, i := range claim.Taken(nil) {
					got = append(got, textOf(t, test.Running[i][0]))
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("Volcano's reclaim, %s: %v, want %v (%v)", test.Name, got, want, why)
		}
	}

	for _, test := range file.VolcanoOrder.Cases {
		tree := testkit.Must(NewTree(vector.Schema{}, 2, Options{Rules: Volcano}))
		for _, q := range test.Queues {
			var priority int64
			testkit.Check(json.Unmarshal(q[3], &priority))
			row := first(tree.Set(textOf(t, q[0]), Queue{Limit: amountsOf(t, q[1]), Priority: priority}))
			testkit.Check(tree.SetUsage(row, Usage{Allocated: amountsOf(t, q[2])}))
			if request := amountsOf(t, q[4]); request != nil {
				testkit.Must(tree.Wait(row, Job{Request: request}))
			}
		}
		if leaf, _, _ := tree.Next(); tree.Name(leaf) != test.Want {
			t.Errorf("Volcano's order, %s: %s, want %s", test.Name, tree.Name(leaf), test.Want)
		}
	}
}

func unlimitedAs(x float64) float64 {
	if x < 0 {
		return inf
	}
	return x
}

func infinite(v vector.ResourceVector) vector.ResourceVector {
	for j := range v {
		v[j] = unlimitedAs(v[j])
	}
	return v
}

func textOf(t *testing.T, raw json.RawMessage) (text string) {
	t.Helper()
	testkit.Check(json.Unmarshal(raw, &text))
	return text
}

// amountsOf returns amounts, with -1 as +Inf; nil for null.
func amountsOf(t *testing.T, raw json.RawMessage) (v vector.ResourceVector) {
	t.Helper()
	testkit.Check(json.Unmarshal(raw, &v))
	return infinite(v)
}

// whole returns amounts as whole numbers, padded with zeros.
func whole(v vector.ResourceVector, cols int) []int64 {
	whole := make([]int64, cols)
	for j := range whole {
		whole[j] = int64(v.Get(j))
	}
	return whole
}
