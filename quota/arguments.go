package quota

import "github.com/resvec/resvec/internal/document"

// unlimitedArgument is the argument of Volcano's capacity-card plugin.
const unlimitedArgument = "cardUnlimitedCpuMemory"

// ParseArguments sets UnlimitedCPUMemory to the argument cardUnlimitedCpuMemory
// of Volcano's capacity-card plugin, which must be a bool; without it, to false.
// Any other argument is an error. All faults are reported at once, sorted by
// argument, as a utilerrors.Aggregate of *field.Error, and then nothing is set.
func (c *Config) ParseArguments(arguments map[string]any) error {
	c.some()
	r := document.Report{Sorted: true}
	x := document.FromGo(arguments, document.Options{NullIsFault: true}, &r).Fields()
	x.Known(unlimitedArgument)
	unlimited := x.Get(unlimitedArgument).Boolean()
	if err := r.Err("quota"); err != nil {
		return err
	}
	c.UnlimitedCPUMemory = unlimited
	return nil
}
