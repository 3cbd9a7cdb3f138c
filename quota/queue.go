package quota

import (
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// Queue is a queue and its quota. The vectors are of the ledger's map, see
// [NewMap]: milli-cores, bytes, milli-cards. They hold whole numbers from 0 to
// below 2^53; in Capability +Inf is unlimited. A short or nil vector counts as 0
// beyond its end. [Config.BuildQueue] makes one from resource lists and
// annotations.
type Queue struct {
	Name     string
	Parent   string // empty: at the top
	Priority int32
	State    State

	Capability vector.ResourceVector // the most that may be used
	Guarantee  vector.ResourceVector // kept free of siblings' use, with Config.EnforceGuarantee
	Deserved   vector.ResourceVector // what the queue's share is measured by

	// Mentioned lists the dimensions that Capability says something about,
	// ascending. Nil means all, or none if Capability is nil. What isn't
	// mentioned is unlimited at a parent; at a leaf it is 0, but cpu and memory
	// follow [Config.MissingUnlimited].
	Mentioned []int

	// Denied has cards, by dimension, that the queue may not use although Capability
	// doesn't mention them, not even as a parent: entries of the annotation that can't
	// be read, and what is wrong with each, for refusals. They don't count as
	// configured.
	Denied map[int]string

	// Ignored are the resources that the description's capability names and that
	// don't count; [Validate] warns of those that carry cards.
	Ignored []corev1.ResourceName
}

// State is the state of a queue. Only an open queue admits; giving back always
// works. Other values count as Unknown.
type State uint8

const (
	StateOpen State = iota
	StateClosing
	StateClosed
	StateUnknown
)
