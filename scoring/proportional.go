package scoring

import (
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Proportional keeps cpu and memory, or other secondary resources, in reserve
// for the idle devices of a node: a predicate of Volcano's plugin
// resource-strategy-fit. It is not a scorer.
//
// A pod that requests a primary resource, a device, may use the reserve: it
// passes everywhere. Any other pod fails on a node that would have less left of
// a secondary than its idle devices need:
//
//	needed = (max(0, A - U of the primary) * reserve) / scale of the primary
//	left   = (A - U of the secondary) - request
//
// reserve is what the configuration keeps for one idle device, in units of the
// map: 1000 per CPU, 1e9 per GB. scale is 1000 where the map counts the primary in
// thousandths, else 1.
//
// A node without the primary is not checked for it, several primaries are
// checked one by one, equality passes, and NaN fails. A failure can be cured by
// removing other pods from the node; report it as resolvable.
//
// A nil *Proportional, as [Strategy.Proportional] returns when there is no such
// policy, is not enabled and lets every node pass.
type Proportional struct {
	compiled
	primaries []int            // ascending
	rules     []proportionRule // ascending by primary and secondary
}

// Result is what a [Proportional] says about one node.
type Result struct {
	OK     bool
	Exempt bool // the pod requests a primary

	// The first pair of resources that fails, in the order of the map, and its
	// amounts, in units of the map; -1, -1, 0 and 0 when none does.
	Primary, Secondary int
	Needed, Left       float64
}

// CompileProportional compiles a configuration against a map. Errors are those
// of [CompileStrategyFit].
func CompileProportional(cfg ProportionalConfig, m *vectormap.ResourceVectorMap, opts ...Option) (*Proportional, error) {
	needMap(m)
	var r report
	p := compileProportional(&cfg, m, options(opts), &r)
	var err error
	if p.warnings, err = r.finish(); err != nil {
		return nil, err
	}
	return p, nil
}

func compileProportional(cfg *ProportionalConfig, m *vectormap.ResourceVectorMap, o Option, r *report) *Proportional {
	primaries, rules := resolveProportional(cfg, m, o, r)
	return &Proportional{compiled: compiled{m: m}, primaries: primaries, rules: rules}
}

// Warnings returns what was reported when the configuration was compiled, sorted
// by path. The caller must not change it.
func (p *Proportional) Warnings() field.ErrorList {
	if p == nil {
		return nil
	}
	return p.warnings
}

// Enabled reports whether there is a rule; otherwise every node passes.
func (p *Proportional) Enabled() bool { return p != nil && len(p.rules) > 0 }

// exempts reports whether the request is for a primary.
func (p *Proportional) exempts(request vector.ResourceVector) bool {
	for _, i := range p.primaries {
		if at(request, i) > 0 {
			return true
		}
	}
	return false
}

// rule returns what the kernel has to know of a rule, its columns aside.
func (r *proportionRule) rule(request vector.ResourceVector) kernel.ReserveRule {
	return kernel.ReserveRule{Request: at(request, r.secondary), PerUnit: r.perUnit, Scale: r.scale}
}

// Check checks one node. Errors are those of a [Scorer]; a nil p has none.
func (p *Proportional) Check(request, used, allocatable vector.ResourceVector) (Result, error) {
	passed := Result{OK: true, Primary: -1, Secondary: -1}
	if p == nil {
		return passed, nil
	}
	live(p.m != nil, true)
	if err := p.checkRow(request, used, allocatable); err != nil {
		return Result{}, err
	}
	if passed.Exempt = p.exempts(request); passed.Exempt {
		return passed, nil
	}
	for k := range p.rules {
		r := &p.rules[k]
		rule := r.rule(request)
		needed, left, ok := rule.Check(at(allocatable, r.primary), at(used, r.primary), at(allocatable, r.secondary), at(used, r.secondary))
		if !ok {
			return Result{Primary: r.primary, Secondary: r.secondary, Needed: needed, Left: left}, nil
		}
	}
	return passed, nil
}

// CheckIdle is Check for a caller who has what is idle of a node, allocatable less
// used, instead of what is used.
func (p *Proportional) CheckIdle(request, idle, allocatable vector.ResourceVector) (Result, error) {
	passed := Result{OK: true, Primary: -1, Secondary: -1}
	if p == nil {
		return passed, nil
	}
	live(p.m != nil, true)
	if err := checkLen("idle", idle, p.m); err != nil {
		return Result{}, err
	}
	if err := p.checkRow(request, nil, allocatable); err != nil {
		return Result{}, err
	}
	if passed.Exempt = p.exempts(request); passed.Exempt {
		return passed, nil
	}
	for k := range p.rules {
		r := &p.rules[k]
		rule := r.rule(request)
		needed, left, ok := rule.CheckIdle(at(allocatable, r.primary), at(idle, r.primary), at(idle, r.secondary))
		if !ok {
			return Result{Primary: r.primary, Secondary: r.secondary, Needed: needed, Left: left}, nil
		}
	}
	return passed, nil
}

// Filter sets dst to the selected nodes that pass; a nil mask selects all. dst is
// resized, and may be rows. The error is [vector.ErrSchema] or [vector.ErrShape], or a
// [*vector.AmountError] of the request; dst keeps its content then.
func (p *Proportional) Filter(dst *vector.Mask, nodes *vector.Nodes, request vector.ResourceVector, rows *vector.Mask) error {
	done, err := p.start(dst, nodes, nil, request, rows)
	if done || err != nil {
		return err
	}
	p.and(dst, request, nodes.Requested(), nodes.Allocatable())
	return nil
}

// and clears the bits of rows that fail.
func (p *Proportional) and(dst *vector.Mask, request vector.ResourceVector, requested, allocatable *vector.Matrix) {
	for k := range p.rules {
		r := &p.rules[k]
		rule := r.rule(request)
		rule.Primary, rule.PrimaryUsed = allocatable.Column(r.primary), requested.Column(r.primary)
		rule.Secondary, rule.SecondaryUsed = allocatable.Column(r.secondary), requested.Column(r.secondary)
		kernel.AndReserve(dst.Words(), &rule)
	}
}

// FilterIdle is Filter for idle amounts in the place of what the nodes have free: with
// what is about to be released, say.
func (p *Proportional) FilterIdle(dst *vector.Mask, nodes *vector.Nodes, idle *vector.Matrix, request vector.ResourceVector, rows *vector.Mask) error {
	if idle == nil {
		panic(panicMatrix)
	}
	done, err := p.start(dst, nodes, idle, request, rows)
	if done || err != nil {
		return err
	}
	for k := range p.rules {
		r := &p.rules[k]
		rule := r.rule(request)
		primary, free, secondary := nodes.Allocatable().Column(r.primary), idle.Column(r.primary), idle.Column(r.secondary)
		for row := range dst.All() {
			if _, _, ok := rule.CheckIdle(primary[row], free[row], secondary[row]); !ok {
				dst.Clear(row)
			}
		}
	}
	return nil
}

// start checks the operands of a filter, where idle may be nil, and sets dst to the
// selected rows. done says that these all pass.
func (p *Proportional) start(dst *vector.Mask, nodes *vector.Nodes, idle *vector.Matrix, request vector.ResourceVector, rows *vector.Mask) (done bool, err error) {
	switch {
	case dst == nil:
		panic(panicMask)
	case nodes == nil:
		panic(panicNodes)
	}
	n := nodes.Free().Rows()
	if idle != nil && idle.Rows() != n {
		return false, shapeError("idle has %d rows, the nodes %d", idle.Rows(), n)
	}
	if rows != nil && rows.Len() != n {
		return false, shapeError("the mask has %d rows, the nodes %d", rows.Len(), n)
	}
	if p != nil {
		live(p.m != nil, true)
		if err := p.checkMatrix("nodes", nodes.Free()); err != nil {
			return false, err
		}
		if idle != nil {
			if err := p.checkMatrix("idle", idle); err != nil {
				return false, err
			}
		}
		if err := p.checkRequest(request); err != nil {
			return false, err
		}
	}
	if rows == nil {
		dst.Resize(n)
		dst.SetAll()
	} else {
		dst.CopyFrom(rows)
	}
	return p == nil || p.exempts(request), nil
}
