package quota

import (
	"sync"

	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// The files of the package, in reading order:
//
//	what is configured  config.go, annotations.go; queue.go, readqueues.go, buildqueue.go, validate.go
//	                    (queues); catalog.go (cards, the map)
//	the ledger          ledger.go, records.go, intern.go; tree.go (new queues, a new
//	                    catalog), derived.go (limits, shares)
//	                    site.go (on which node tasks are charged)
//	what is asked for   task.go, parse.go (annotations), requests.go, resolve.go,
//	                    resolvejob.go; outputs.go (what the transformation makes)
//	operations          operate.go, gang.go, release.go; batch.go, nodescore.go, copies.go
//	answers             answer.go, amount.go, message.go, explain.go (of the book), names.go, errors.go
//	the cluster         view.go, reconcile.go, resolverunning.go
//	what others see     events.go (and amounts), status.go, jobs.go, check.go, counters.go
//	restarts            snapshot.go, decode.go (the text), restore.go
//
// Decisions are made in internal/book. Its package comment says how to add one.

// Ledger is an account of queues, from [New] or [Restore]; the zero value panics.
type Ledger struct {
	// mu guards all but cfg and keys, which stay, spare and counts. What a discovery knows of
	// nodes, and the interner, have locks of their own, taken after mu and never before it.
	// The caller's code, OnEvent, runs without any.
	mu   sync.RWMutex
	cfg  Config
	keys []string // of cfg
	m    *vectormap.ResourceVectorMap
	seq  uint64

	book     book.Book
	queues   map[string]*queue
	ordered  []*queue // by name; orphans that have gone stay for a while, see byName
	jobs     map[string]*job
	tasks    map[string]*task
	waiting  map[string]*TaskRequest // pending by the views
	cards    []string                // by dimension; empty for dimensions that are no cards
	dims     map[string]int32
	order    []int32 // the dimensions as they are listed: cpu and memory, cards by name, outputs by name
	outs     *outputs
	source   *discovery
	sites    map[string]*site  // by node
	lost     []int64           // by dimension: what is charged on devices that are no longer allocatable
	stale    []int             // dimensions whose limits are of another total than there is
	refusals map[Reason]uint64 // of queues that don't exist
	events   events            // of the change that is being made, or the refusal

	spare    sync.Pool // *scratch
	interned interner
	counts   counts
}

// scratch is memory of a decision. It is used again, so that most decisions need no memory
// of their own.
type scratch struct {
	plan   book.Plan
	answer book.Answer
	picks  []book.Pick
	cards  book.Set
}

func (l *Ledger) scratch() *scratch { return l.spare.Get().(*scratch) }

// made panics for the zero value. The maps are made once, so they are read without the lock.
func (l *Ledger) made() {
	if l.tasks == nil {
		panic("quota: zero ledger")
	}
}

// lock begins a change, which unlock ends.
func (l *Ledger) lock() {
	l.made()
	l.mu.Lock()
}

// unlock ends a change, tells what happened, and returns the number of the state. A change
// ends with it also where nothing has changed: the number that it returns is of the state
// that the caller saw.
func (l *Ledger) unlock(changed bool) (seq uint64) {
	events := l.events
	l.events = nil
	// Before the lock goes: nobody may see an orphan without jobs, or a limit made of a total
	// that has changed.
	l.prune()
	l.relimit()
	if changed {
		l.seq++
	}
	seq = l.seq
	l.counts.operations.Add(1)
	l.mu.Unlock()
	// Without the lock, so that a callback may ask the ledger.
	for _, e := range events {
		l.cfg.OnEvent(e)
	}
	return seq
}

// rlock begins a question, which l.mu.RUnlock ends.
func (l *Ledger) rlock() {
	l.made()
	l.mu.RLock()
}

// intern returns the alternatives of a list of cards, one value per key.
func (l *Ledger) intern(cards []int32) *book.Alternatives { return l.interned.get(l.cards, cards) }

// resource returns what a dimension is called, see resourceOf.
func (l *Ledger) resource(dim int) string { return resourceOf(l.m, dim) }

// output returns the output of a dimension; empty of others.
func (l *Ledger) output(dim int32) corev1.ResourceName { return outputOf(l.m, int(dim)) }
