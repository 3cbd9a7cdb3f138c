package quota

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// unlimitedArgument is the argument of Volcano's capacity-card plugin.
const unlimitedArgument = "cardUnlimitedCpuMemory"

// ParseArguments sets UnlimitedCPUMemory to the argument cardUnlimitedCpuMemory
// of Volcano's capacity-card plugin, which must be a bool; without it, to false.
// Any other argument is an error. All faults are reported at once, sorted by
// argument, as a [field.ErrorList], and then nothing is set.
func (c *Config) ParseArguments(arguments map[string]any) error {
	unlimited := false
	var faults field.ErrorList
	for _, key := range sorted(arguments) {
		if key != unlimitedArgument {
			faults = append(faults, field.NotSupported(field.NewPath(brief(key)), brief(key), []string{unlimitedArgument}))
			continue
		}
		var ok bool
		if unlimited, ok = arguments[key].(bool); !ok {
			faults = append(faults, field.TypeInvalid(field.NewPath(key), field.OmitValueType{}, fmt.Sprintf("must be a boolean, not %T", arguments[key])))
		}
	}
	if len(faults) > 0 {
		return faults.ToAggregate()
	}
	c.UnlimitedCPUMemory = unlimited
	return nil
}
