package main

import (
	"math"
	"strings"
)

// question is a line of the summary: what a scheduler asks 5,000 nodes.
type question struct {
	text                       string
	benchmark, key, name, cols string
	requested                  string // empty: all columns
}

// questions are the lines of the summary.
var questions = []question{
	{"`Fit`: which nodes can hold a pod", "Ratio", "kernel", "Fit", "8", ""},
	{"`Copies`: how many such pods", "Ratio", "kernel", "Copies", "8", ""},
	{"`ArgMax`: the best node", "Ratio", "kernel", "ArgMax", "1", ""},
	{"Volcano's strategy fit", "ScoringRatio", "scorer", "StrategyFit", "8", ""},
	{"kube-scheduler's BalancedAllocation", "ScoringRatio", "scorer", "Balanced", "8", ""},
	{"GPU fragmentation (FGD), 8 pods", "ScoringRatio", "scorer", "Fragmentation", "8", ""},
	{"a decision: filter, strategy fit and SRA, pick", "ScoringRatio", "scorer", "Decision", "8", ""},
}

// scenario is the line of the scenario filter, which has no implementations.
const scenario = "`Packer.Filter`: 64 members, 2,000 nodes, 4,000 of 16,000 victims"

// rows returns the results of a question, one for each implementation.
func (q *question) rows(all *results) []row {
	return all.where(q.benchmark, map[string]string{q.key: q.name, "nodes": "5000", "cols": q.cols, "requested": q.requested})
}

// rowLoopCall returns the time of the row loop for all that a call answers.
func (r row) rowLoopCall() float64 { return r.value(callTime) * r.per(kernelTime, rowLoopTime) }

// summaryTable answers the questions by every implementation, with the time of the first.
func summaryTable(all *results) string {
	var b strings.Builder
	quote := newQuoting(all)
	impls := distinct(all.where("Ratio", nil), "impl")
	names := []string{"5,000 nodes × 8 resources, one core", "row loop"}
	for _, impl := range impls {
		names = append(names, implName(impl))
	}
	tableHead(&b, append(names, "against structs")...)
	for _, q := range questions {
		found := q.rows(all)
		if len(found) == 0 {
			continue
		}
		line := []string{q.text, duration(found[0].rowLoopCall())}
		for _, impl := range impls {
			cell := ""
			for _, r := range found {
				if r.key("impl") == impl {
					cell = times(r.per(kernelTime, rowLoopTime), quote.rowLoop)
					if impl == impls[0] {
						cell = strings.TrimSuffix(duration(r.value(callTime))+", "+cell, ", ")
					}
				}
			}
			line = append(line, cell)
		}
		cells(&b, append(line, times(found[0].per(kernelTime, structMapTime), quote.structMap))...)
	}
	for _, r := range scenarioRows(all) {
		line := []string{scenario, duration(r.value(rowLoopCallTime)), duration(r.value(callTime)) + ", " + times(r.per(callTime, rowLoopCallTime), true)}
		for range len(impls) {
			line = append(line, "")
		}
		cells(&b, line...)
	}
	return b.String()
}

// scenarioRows returns the result of the scenario filter that the summary shows, if any.
func scenarioRows(all *results) []row {
	return all.where("ScenarioRatio", map[string]string{"members": "mixed", "prefix": "4000"})
}

// duration formats nanoseconds with three digits.
func duration(ns float64) string {
	switch {
	case math.IsNaN(ns):
		return ""
	case ns >= 1e7:
		return number(ns/1e6) + " ms"
	case ns >= 1e3:
		return number(ns/1e3) + " µs"
	}
	return number(ns) + " ns"
}
