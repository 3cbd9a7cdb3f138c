package quota

import (
	"github.com/resvec/resvec/internal/document"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The name of Volcano's capacity-card plugin, and its argument.
const (
	pluginName        = "capacity-card"
	unlimitedArgument = "cardUnlimitedCpuMemory"
)

// ParseArguments sets UnlimitedCPUMemory to the argument cardUnlimitedCpuMemory
// of Volcano's capacity-card plugin, which must be a bool; without it, to false.
// Any other argument is an error. All faults are reported at once, sorted by
// argument, as a utilerrors.Aggregate of *field.Error, and then nothing is set.
func (c *Config) ParseArguments(arguments map[string]any) error {
	r := document.Report{Sorted: true}
	unlimited := unlimitedIn(document.FromGo(arguments, document.Options{}, &r))
	return c.set(unlimited, &r)
}

// ParseSchedulerConf is [Config.ParseArguments] for a whole configuration of
// Volcano's scheduler, as YAML or JSON: it looks for the arguments of the plugin
// capacity-card, which must occur exactly once. Other plugins, and what else the
// document holds, are looked at for repeated keys only. Paths begin with
// tiers[i].plugins[j].arguments. A document has at most 1 MiB.
func (c *Config) ParseSchedulerConf(data []byte) error {
	r := document.Report{Sorted: true}
	unlimited := false
	for arguments := range document.PluginArguments(document.Read(data, document.Options{}, &r), pluginName, unlimitedArgument) {
		unlimited = unlimitedIn(arguments)
	}
	return c.set(unlimited, &r)
}

// unlimitedIn reads the arguments of the plugin.
func unlimitedIn(arguments document.Value) bool {
	x := arguments.Fields()
	x.Known(unlimitedArgument)
	v := x.Get(unlimitedArgument)
	if v.Kind() == document.Absent && arguments.Has(unlimitedArgument) {
		v.Refuse(field.TypeInvalid(field.NewPath(v.Path()), field.OmitValueType{}, "must be true or false, not null"))
	}
	return v.Boolean()
}

// set takes over what was read, unless there are faults.
func (c *Config) set(unlimited bool, r *document.Report) error {
	if err := r.Err("quota"); err != nil {
		return err
	}
	c.UnlimitedCPUMemory = unlimited
	return nil
}
