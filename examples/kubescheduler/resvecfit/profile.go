package resvecfit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// The plugins of Kubernetes that the lists of a profile are searched for.
const (
	builtinFit       = "NodeResourcesFit"
	builtinBalanced  = "NodeResourcesBalancedAllocation"
	dynamicResources = "DynamicResources"
)

// lists are the plugins of a profile by extension point, in the order in which they run.
// The fields are named as those of kube-scheduler's configuration.
type lists struct {
	PreFilter, Filter, PostFilter, PreScore, Score, Reserve point
}

type point struct{ Enabled []enabled }

type enabled struct {
	Name   string
	Weight int64
}

// find returns the place of a plugin among those of the point, -1 for none.
func (p point) find(name string) int { return slices.Index(p.names(), name) }

func (p point) has(name string) bool { return p.find(name) >= 0 }

func (p point) weight(name string) int64 {
	if i := p.find(name); i >= 0 {
		return p.Enabled[i].Weight
	}
	return 0
}

func (p point) names() []string {
	names := make([]string, 0, len(p.Enabled))
	for i := range p.Enabled {
		names = append(names, p.Enabled[i].Name)
	}
	return names
}

// listsOf returns the lists of a handle's profile, nil where it does not say.
// [fwk.Handle] has no method for them. kube-scheduler's handle has ListPlugins, which
// returns a type of k8s.io/kubernetes, so that it is called by its name. The lists are
// complete when all plugins of the profile have been made: from EventsToRegister on.
func listsOf(handle fwk.Handle) *lists {
	method := reflect.ValueOf(handle).MethodByName("ListPlugins")
	if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
		return nil
	}
	document, err := json.Marshal(method.Call(nil)[0].Interface())
	if err != nil {
		return nil
	}
	l := &lists{}
	if err := json.Unmarshal(document, l); err != nil {
		return nil
	}
	return l
}

// completesFirst reports whether PostFilter of [Plugin] comes before every plugin that
// may evict pods. DynamicResources may be in front: it only takes claims of the pod
// itself back.
func (l *lists) completesFirst() bool {
	i := l.PostFilter.find(Name)
	return i >= 0 && !slices.ContainsFunc(l.PostFilter.names()[:i], func(name string) bool { return name != dynamicResources })
}

// CheckProfile returns an error when the profile enables other plugins such that arguments
// of this one can't act: [Args].TopK and [Args].Exact where PostFilter isn't the first to be
// asked, Exact also beside plugins that it can't answer for. The lists of plugins are
// complete once all have been made. A scheduler that would rather not start calls it in
// EventsToRegister, as the command of the example does. Where it is not called, the first
// cycle logs the error, and the plugin works without these arguments.
func (p *Plugin) CheckProfile() error {
	options := p.args.narrowing()
	if len(options) == 0 {
		return nil
	}
	l := listsOf(p.handle)
	var faults field.ErrorList
	if why := narrowingFault(l); why != "" {
		for _, option := range options {
			faults = append(faults, field.Forbidden(field.NewPath(option), why))
		}
	} else if p.args.Exact {
		if _, _, why := weightsOf(l); why != "" {
			faults = append(faults, field.Forbidden(field.NewPath("exact"), why))
		}
	}
	return faults.ToAggregate()
}

// narrowingFault returns why nodes that could hold a pod must not be left out, or "".
func narrowingFault(l *lists) string {
	switch {
	case l == nil:
		return "the scheduler's handle lists no plugins, so that their order at postFilter isn't known"
	case !l.completesFirst():
		return fmt.Sprintf("%s has to come before DefaultPreemption at postFilter, which would evict pods though "+
			"nodes that were left out have room; enabled there: %q", Name, l.PostFilter.names())
	}
	return ""
}

// mayNarrow reports whether nodes that could hold a pod may be left out in this profile,
// for the arguments that [Args.narrowing] lists. The first call logs why not.
func (p *Plugin) mayNarrow(ctx context.Context) bool {
	if p.narrows == nil {
		if err := p.CheckProfile(); err != nil {
			klog.FromContext(ctx).Error(err, "The plugin works without these arguments", "plugin", Name)
		}
		may := narrowingFault(listsOf(p.handle)) == ""
		p.narrows = &may
	}
	return *p.narrows
}

// warn logs likely mistakes in a profile, when the scheduler starts.
func warn(ctx context.Context, plugin string, warnings []string) {
	for _, warning := range warnings {
		klog.FromContext(ctx).Info("Warning: "+warning, "plugin", plugin)
	}
}

// twice returns where two plugins are both enabled that do the same.
func twice(points map[string]point, ours, builtin string) (warnings []string) {
	for _, name := range slices.Sorted(maps.Keys(points)) {
		if at := points[name]; at.has(ours) && at.has(builtin) {
			warnings = append(warnings, fmt.Sprintf("%s is enabled beside %s at %s, which does its work again: disable it", builtin, ours, name))
		}
	}
	return warnings
}

// warnings returns the likely mistakes of a profile about the plugin.
func (p *Plugin) warnings(l *lists) []string {
	warnings := twice(map[string]point{"preFilter": l.PreFilter, "filter": l.Filter, "preScore": l.PreScore, "score": l.Score}, Name, builtinFit)
	if l.Filter.has(Name) && !l.PreFilter.has(Name) {
		warnings = append(warnings, Name+" is enabled at filter, but not at preFilter: every pod will fail")
	}
	if p.ledger != nil && !l.Reserve.has(Name) {
		warnings = append(warnings, Name+" is not enabled at reserve: its ledger will charge nothing")
	}
	return warnings
}

// warnings returns the likely mistakes of a profile about the plugin.
func (b *Balanced) warnings(l *lists) []string {
	warnings := twice(map[string]point{"preScore": l.PreScore, "score": l.Score}, BalancedName, builtinBalanced)
	switch fit, own := l.Score.weight(Name), l.Score.weight(BalancedName); {
	case !l.PreFilter.has(Name):
		warnings = append(warnings, fmt.Sprintf("%s needs %s at preFilter, where it is not enabled: every pod will fail", BalancedName, Name))
	case !b.addToFit:
	case !l.Score.has(Name) || !l.PreScore.has(Name):
		warnings = append(warnings, fmt.Sprintf("addToFit has no effect: %s does not score", Name))
	case fit != own:
		warnings = append(warnings, fmt.Sprintf("addToFit counts %s with the weight of %s: %d instead of %d; make them equal, or set addToFit to false",
			BalancedName, Name, fit, own))
	case l.PreScore.find(BalancedName) < l.PreScore.find(Name):
		warnings = append(warnings, fmt.Sprintf("addToFit has no effect: %s comes before %s at preScore", BalancedName, Name))
	}
	return warnings
}
