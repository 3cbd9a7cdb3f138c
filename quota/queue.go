package quota

import (
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// Queue is a queue and its quota. The vectors are of the ledger's map, see
// [NewMap]: milli-cores, bytes, milli-cards. They hold whole numbers from 0 to
// below 2^53. A short or nil vector counts as 0 beyond its end. [Config.BuildQueue]
// makes one from resource lists and annotations.
type Queue struct {
	Name     string
	Parent   string // empty: at the top
	Priority int32
	State    State

	// Capability is the most that may be used; +Inf is unlimited. A 0 says nothing: a
	// parent doesn't limit the dimension, and a leaf may use none of it; cpu and memory
	// of a leaf follow [Config.MissingUnlimited]. To limit a parent to 0, use Denied.
	Capability vector.ResourceVector
	Guarantee  vector.ResourceVector // kept free of siblings' use, with Config.EnforceGuarantee
	Deserved   vector.ResourceVector // what the queue's share is measured by

	// Denied has dimensions of which the queue may use none, not even as a parent, where
	// Capability is 0. An empty text says that the 0 is meant. Another text says what is
	// wrong with an entry of the annotation that can't be read; refusals repeat it, and
	// the card doesn't count as configured.
	Denied map[int]string

	// Ignored are resources of the description's capability that don't count.
	// [Validate] warns of those that carry cards.
	Ignored []corev1.ResourceName
}

// State is the state of a queue, by Volcano's names; empty counts as StateOpen. Only an
// open queue admits; giving back always works. Other values count as StateUnknown.
type State string

const (
	StateOpen    State = "Open"
	StateClosing State = "Closing" // admits nothing new, not even pods of jobs that are reserved; what runs may end
	StateClosed  State = "Closed"
	StateUnknown State = "Unknown"
)

// known returns the constant that a state counts as.
func (s State) known() State {
	switch s {
	case "":
		return StateOpen
	case StateOpen, StateClosing, StateClosed:
		return s
	}
	return StateUnknown
}
