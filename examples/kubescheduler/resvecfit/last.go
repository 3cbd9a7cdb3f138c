package resvecfit

import (
	"fmt"

	fwk "k8s.io/kube-scheduler/framework"
)

// lastRead remembers what was last written to a cycle, so that the many reads for
// the nodes of one cycle need not look it up. It is set where kube-scheduler runs
// one cycle at a time, before the nodes are visited.
type lastRead[T fwk.StateData] struct {
	cycle fwk.CycleState
	value T
}

func (l *lastRead[T]) set(cycle fwk.CycleState, value T) { l.cycle, l.value = cycle, value }

// read returns the state of a cycle.
func (l *lastRead[T]) read(cycle fwk.CycleState, key fwk.StateKey) (T, error) {
	if l.cycle == cycle && cycle != nil {
		return l.value, nil
	}
	var none T
	data, err := cycle.Read(key)
	if err != nil {
		return none, fmt.Errorf("reading %q from cycleState: %w", key, err)
	}
	value, ok := data.(T)
	if !ok {
		return none, fmt.Errorf("%q in cycleState is a %T", key, data)
	}
	return value, nil
}
