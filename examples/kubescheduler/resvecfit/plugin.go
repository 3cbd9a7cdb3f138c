package resvecfit

import (
	"context"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"
)

// Name is the name of the plugin in the configuration of kube-scheduler.
const Name = "ResvecFit"

// Plugin is the plugin of one profile. It is made by [New] or [NewWith].
type Plugin struct {
	handle  fwk.Handle
	args    *Args
	ledger  Ledger
	classes fwk.DeviceClassResolver // nil: nothing is delegated

	ignored, ignoredGroups sets.Set[string]
	attempts               attempts

	cluster *cluster
	scorer  scorer
	last    lastRead[*state]

	proportionalConfig *scoring.ProportionalConfig
	proportional       *scoring.Proportional        // nil: none
	compiled           *vectormap.ResourceVectorMap // that proportional is compiled against

	exact  *exact // nil: off
	shared bool   // other plugins ask cluster, and expect all rows in step from PreFilter on
	prover prover // of gangs, see Args.GangScheduling

	// The choice of the best nodes, see Args.TopK.
	best    []int32
	cursor  int
	narrows *bool // what mayNarrow has found out

	namesNone bool // PreFilter only renews its state, see runBehind
}

var (
	_ fwk.PreFilterPlugin   = (*Plugin)(nil)
	_ fwk.FilterPlugin      = (*Plugin)(nil)
	_ fwk.PostFilterPlugin  = (*Plugin)(nil)
	_ fwk.PreScorePlugin    = (*Plugin)(nil)
	_ fwk.ScorePlugin       = (*Plugin)(nil)
	_ fwk.ReservePlugin     = (*Plugin)(nil)
	_ fwk.SignPlugin        = (*Plugin)(nil)
	_ fwk.EnqueueExtensions = (*Plugin)(nil)
)

// Name returns [Name].
func (p *Plugin) Name() string { return Name }

// New makes the plugin from the args of its pluginConfig. It is a PluginFactory
// of kube-scheduler's runtime.
func New(ctx context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	return Factory(nil)(ctx, obj, handle)
}

// Factory returns a [New] for a plugin with a ledger, which several profiles may
// share: the example shows how they share one of package cardquota.
func Factory(ledger Ledger) func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return func(ctx context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		args, err := DecodeArgs(obj)
		if err != nil {
			return nil, err
		}
		return NewWith(ctx, args, handle, ledger)
	}
}

// NewWith makes the plugin from arguments and a ledger, which may be nil. Faults of
// the arguments are reported all at once, each a *field.Error.
func NewWith(_ context.Context, args *Args, handle fwk.Handle, ledger Ledger) (*Plugin, error) {
	p := &Plugin{
		handle:        handle,
		args:          args,
		ignored:       sets.New(args.IgnoredResources...),
		ignoredGroups: sets.New(args.IgnoredResourceGroups...),
		attempts:      attempts{pods: sets.New[types.UID]()},
	}
	faults := args.validate()
	terms, more := args.parseTerms()
	p.scorer = scorer{handle: handle, key: fitScores, podLevel: args.podLevelResources(), terms: terms}
	faults = append(faults, more...)
	p.proportionalConfig, more = args.parseProportional()
	faults = append(faults, more...)
	faults = append(faults, p.resolveClasses()...)
	faults = append(faults, args.validateQuota(ledger)...)
	if len(faults) > 0 {
		return nil, faults.ToAggregate()
	}
	var err error
	if p.ledger, err = args.ledger(ledger, handle); err != nil {
		return nil, err
	}
	if p.cluster, err = newCluster(p.scorer.names()); err != nil {
		return nil, err
	}
	if err := p.compile(); err != nil {
		return nil, err
	}
	if p.exact, err = p.newExact(); err != nil {
		return nil, err
	}
	registerMetrics()
	return p, p.attempts.forgetDeleted(handle)
}

// compile compiles what is compiled against the map of the table, unless it is.
func (p *Plugin) compile() error {
	m := p.cluster.m
	if err := p.scorer.compile(p.cluster); err != nil {
		return err
	}
	if p.compiled == m || p.proportionalConfig == nil {
		return nil
	}
	var err error
	p.proportional, err = scoring.CompileProportional(*p.proportionalConfig, m, scoring.AllowUnknown)
	p.compiled = m
	return err
}

// resolveClasses finds out who knows which extended resources are provided by a
// DeviceClass.
func (p *Plugin) resolveClasses() field.ErrorList {
	if !p.args.draExtendedResource() {
		return nil
	}
	path := field.NewPath("draExtendedResource")
	manager := p.handle.SharedDRAManager()
	if manager == nil {
		return field.ErrorList{field.Invalid(path, true,
			"this scheduler has no DRA manager, so that the plugin can't know which resources a DeviceClass provides; "+
				"must be false where the feature gate DynamicResourceAllocation or DRAExtendedResource is off")}
	}
	p.classes = manager.DeviceClassResolver()
	if p.classes == nil {
		return field.ErrorList{field.Invalid(path, true, "the DRA manager does not resolve DeviceClasses; must be false")}
	}
	return nil
}
