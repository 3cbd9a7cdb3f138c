package device

import (
	"fmt"
	"slices"
)

// Problem is something that a source says and that is impossible, or can't be used. A
// node has at most one per Code and Key. The codes are
//
//	missing-label     a label or attribute that is missing, empty, or of the wrong type
//	bad-count         a count that is no number
//	bad-memory        no amount, below 64 MiB or above 4 TiB: unknown
//	bad-replicas      no number above 0
//	bad-capacity      a capacity that pods share, of an unknown name or impossible amount
//	bad-slots         memory slots where no MIG instance of the profile can be
//	unparsed-profile  a MIG name that is none
//	bad-strategy      GPUs that are cut differently, though the MIG strategy is single
//	count-mismatch    the labels and allocatable disagree
//	duplicate-node    a node twice in one source; the first is kept
//	duplicate-uuid    a device twice; the first is kept
//	stale-slice       a slice of an older generation of its pool
//	incomplete-pool   a pool whose slices are not all there
//	only-partitions   partitions that could be made of a GPU that isn't listed: a hint
//	not-node-local    devices that several nodes can reach
//	unknown-type      neither a GPU nor a MIG instance, or of no known kind
//	ambiguous-card    a card that different resources carry
//	unlisted          a resource that no rule lists, a driver that isn't known; only if asked for
//
// and those that package mig adds.
type Problem struct {
	Code   string
	Key    string // the label; for other codes the resource, node, pool or device
	Detail string // for people
}

// String returns the problem in a line, such as "bad-count nvidia.com/gpu.count:
// "a" is no whole number below 10^9".
func (p Problem) String() string {
	text := p.Code + " " + p.Key
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

const (
	missingLabel    = "missing-label"
	badCount        = "bad-count"
	badMemory       = "bad-memory"
	badReplicas     = "bad-replicas"
	badCapacity     = "bad-capacity"
	badSlots        = "bad-slots"
	unparsedProfile = "unparsed-profile"
	badStrategy     = "bad-strategy"
	countMismatch   = "count-mismatch"
	duplicateNode   = "duplicate-node"
	duplicateUUID   = "duplicate-uuid"
	staleSlice      = "stale-slice"
	incompletePool  = "incomplete-pool"
	onlyPartitions  = "only-partitions"
	notNodeLocal    = "not-node-local"
	unknownType     = "unknown-type"
	ambiguousCard   = "ambiguous-card"
	unlisted        = "unlisted"
)

// problemList collects the problems of a node, at most one per code and key: what reads
// one label for several resources finds the same fault each time. A list of few is
// searched; many would take quadratic time, and a node can have as many as it has labels.
// The zero value is empty.
type problemList struct {
	list []Problem
	seen map[problemID]bool // once the list is long
}

type problemID struct {
	code string
	key  string
}

// add adds a problem, unless there is one of this code and key.
func (p *problemList) add(code string, key, format string, args ...any) {
	if p.has(problemID{code, key}) {
		return
	}
	p.list = append(p.list, Problem{code, key, fmt.Sprintf(format, args...)})
	if p.seen != nil {
		p.seen[problemID{code, key}] = true
	}
}

func (p *problemList) has(id problemID) bool {
	const short = 16 // searched from end to end
	if len(p.list) > short && p.seen == nil {
		p.seen = make(map[problemID]bool, 2*len(p.list))
		for i := range p.list {
			p.seen[problemID{p.list[i].Code, p.list[i].Key}] = true
		}
	}
	if p.seen != nil {
		return p.seen[id]
	}
	return slices.ContainsFunc(p.list, func(q Problem) bool { return q.Code == id.code && q.Key == id.key })
}
