package quota

import corev1 "k8s.io/api/core/v1"

// Queue is a queue and its quota. The quota annotation counts as Guarantee and Deserved,
// too, unless [Config] has others for these. An entry that can't be read denies its card. A
// 0 is a limit, an amount from 2^53 on none. What isn't there a parent doesn't limit, and a
// leaf may use none of it, but outputs, and cpu and memory with MissingUnlimited.
type Queue struct {
	Name        string
	Parent      string // empty: at the top
	Priority    int32
	State       State
	Annotations map[string]string
	Cards       map[string]int64    // whole cards, in the place of the quota annotation; [Unlimited] is no limit; nil: the annotation
	Capability  corev1.ResourceList // the most that may be used of cpu, memory and outputs; others don't count
	Guarantee   corev1.ResourceList // what is kept free of siblings' use, with EnforceGuarantee
	Deserved    corev1.ResourceList // what the queue's share is measured by
}

// State is the state of a queue, by Volcano's names. Empty is Open; others count as
// Unknown. Only an open queue admits; giving back always works.
type State string

const (
	StateOpen    State = "Open"
	StateClosing State = "Closing" // admits nothing new, not even pods of jobs that are reserved; what runs may end
	StateClosed  State = "Closed"
	stateUnknown State = "Unknown"
)

// known returns the constant that a state counts as. A state that a later Volcano has must
// not admit by mistake.
func (s State) known() State {
	switch s {
	case "":
		return StateOpen
	case StateOpen, StateClosing, StateClosed:
		return s
	}
	return stateUnknown
}
