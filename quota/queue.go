package quota

import corev1 "k8s.io/api/core/v1"

// Queue is a queue and its quota, as its object or a configuration describes it.
//
// Cards are limited by the quota annotation, which counts as Guarantee and Deserved, too,
// unless [Config.Keys] names annotations of these. An entry that can't be read denies its
// card; [Config.Validate] warns of it. What is there with a 0 is limited to 0. What isn't
// there a parent doesn't limit, and a leaf may use none of it; cpu and memory of a leaf
// follow [Config.MissingUnlimited], and outputs aren't limited. An amount from 2^53 on is no
// limit.
type Queue struct {
	Name        string
	Parent      string // empty: at the top
	Priority    int32
	State       State
	Annotations map[string]string
	Cards       map[string]int64 // whole cards by name, in the place of the quota annotation; [Unlimited] is no limit; nil: the annotation

	Capability corev1.ResourceList // the most that may be used of cpu, memory and outputs; others don't count
	Guarantee  corev1.ResourceList // what is kept free of siblings' use, with Config.EnforceGuarantee
	Deserved   corev1.ResourceList // what the queue's share is measured by
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
