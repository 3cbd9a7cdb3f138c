package quota

import (
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// Queue is a queue and its quota. The vectors are of the ledger's map: whole numbers from
// 0 to below 2^53. What a short vector doesn't have counts as 0. [Config.BuildQueue] makes
// a queue from resource lists and annotations.
type Queue struct {
	Name     string
	Parent   string // empty: at the top
	Priority int32
	State    State

	// Capability is the most that may be used; +Inf is unlimited. A 0 says nothing: a
	// parent doesn't limit the dimension, and a leaf may use none of it; cpu and memory
	// of a leaf follow [Config.MissingUnlimited]. See [Queue.Deny].
	Capability vector.ResourceVector
	Guarantee  vector.ResourceVector // kept free of siblings' use, with Config.EnforceGuarantee
	Deserved   vector.ResourceVector // what the queue's share is measured by

	// denied has dimensions whose 0 is a limit. An empty text: it is meant. Another says what
	// is wrong with the entry; refusals repeat it, and the card doesn't count as configured.
	denied  map[int]string
	ignored []corev1.ResourceName // of a described capability, what doesn't count; Validate warns of what carries cards
}

// Deny makes a 0 of the capability a limit: not even a parent may use any of these
// dimensions of the map.
func (q *Queue) Deny(dims ...int) {
	if q.denied == nil {
		q.denied = map[int]string{}
	}
	for _, dim := range dims {
		q.denied[dim] = ""
	}
}

// State is the state of a queue, by Volcano's names; empty counts as StateOpen. Only an
// open queue admits; giving back always works. Other values count as stateUnknown.
type State string

const (
	StateOpen    State = "Open"
	StateClosing State = "Closing" // admits nothing new, not even pods of jobs that are reserved; what runs may end
	StateClosed  State = "Closed"
	stateUnknown State = "Unknown"
)

// known returns the constant that a state counts as.
func (s State) known() State {
	switch s {
	case "":
		return StateOpen
	case StateOpen, StateClosing, StateClosed:
		return s
	}
	return stateUnknown
}
