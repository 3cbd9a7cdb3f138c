package scoring

import (
	"strings"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// StrategyConfig configures [CompileStrategy]: Volcano's plugin
// resource-strategy-fit as a whole.
type StrategyConfig struct {
	Fit          StrategyFitConfig
	SRA          *SRAConfig          // nil: off
	Proportional *ProportionalConfig // nil: off
}

// The paths of configuration fields, as YAML has them.
const (
	pathFitWeight    = "resourceStrategyFitWeight"
	pathResources    = "resources" // of all three parts
	pathSRA          = "sra"
	pathSRAWeight    = "weight"
	pathSRAWeights   = "resourceWeight"
	pathProportional = "proportional"
	pathProportion   = "resourceProportion"
	pathSecondaries  = "secondaries"
	pathMemoryUnit   = "memoryUnit"
)

// Strategy is Volcano's plugin resource-strategy-fit as a whole. As a [Scorer]
// its score is that of [StrategyFit] plus that of [SRA]; where the pod doesn't
// fit, the fit is 0 and SRA is still added. [Proportional] stays a predicate of
// its own.
type Strategy struct {
	compiled
	fit          *StrategyFit
	sra          *SRA          // nil: not configured
	proportional *Proportional // nil: not configured
}

// CompileStrategy compiles a configuration against a map. Errors are those of
// [CompileStrategyFit], of all parts together, with paths that begin with sra and
// proportional for those.
func CompileStrategy(cfg StrategyConfig, m *vectormap.ResourceVectorMap, opts ...Option) (*Strategy, error) {
	needMap(m)
	var r report
	o := options(opts)
	s := &Strategy{compiled: compiled{m: m}, fit: compileFit(&cfg.Fit, m, o, &r)}
	if cfg.SRA != nil {
		back := r.below(pathSRA)
		s.sra = compileSRA(cfg.SRA, m, o, &r)
		back()
	}
	if cfg.Proportional != nil {
		back := r.below(pathProportional)
		s.proportional = compileProportional(cfg.Proportional, m, o, &r)
		back()
	}
	var err error
	if s.warnings, err = r.finish(); err != nil {
		return nil, err
	}
	return s, nil
}

// Warnings returns what was reported when the configuration was compiled, sorted
// by path. The caller must not change it.
func (s *Strategy) Warnings() field.ErrorList {
	live(s != nil && s.m != nil, s != nil)
	return s.warnings
}

// Fit returns the fit. It may be off; see [StrategyFit.Enabled]. Warnings of the
// parts are those of the Strategy.
func (s *Strategy) Fit() *StrategyFit {
	live(s != nil && s.m != nil, s != nil)
	return s.fit
}

// SRA returns the avoidance of scarce resources, nil when it is not configured; its
// methods then score 0.
func (s *Strategy) SRA() *SRA {
	live(s != nil && s.m != nil, s != nil)
	return s.sra
}

// Proportional returns the predicate, nil when it is not configured; its methods
// then let every node pass.
func (s *Strategy) Proportional() *Proportional {
	live(s != nil && s.m != nil, s != nil)
	return s.proportional
}

// WithOverride returns the scorer of a pod that brings its own rules for the
// fit; see [StrategyFit.WithOverride]. A nil override returns s.
func (s *Strategy) WithOverride(o *PodOverride) *Strategy {
	live(s != nil && s.m != nil, s != nil)
	if o == nil {
		return s
	}
	own := *s
	own.fit = s.fit.WithOverride(o)
	return &own
}

// Score returns the score of one node.
func (s *Strategy) Score(request, requested, allocatable vector.ResourceVector) (float64, error) {
	live(s != nil && s.m != nil, s != nil)
	if err := s.checkRow(request, requested, allocatable); err != nil {
		return 0, err
	}
	score := s.fit.score(request, requested, allocatable)
	if s.sra != nil {
		score += s.sra.score(request, allocatable)
	}
	return score, nil
}

// adds reports whether SRA can add anything to the fit.
func (s *Strategy) adds() bool { return s.sra != nil && s.sra.points(s.sra.total) > 0 }

func (s *Strategy) divisors() []int { return s.fit.divisors() }

func (s *Strategy) cost() rowCost { return s.fit.cost() }

func (s *Strategy) scoreRows(dst []float64, a *amounts, words []uint64) {
	var fit fitBatch
	fit.init(s.fit, a)
	if !s.adds() {
		fit.set(dst, words)
		return
	}
	var sra sraBatch
	sra.init(s.sra, a, &fit)
	sra.setSum(dst, &fit, words)
}

func (s *Strategy) peaks(dst []float64, a *amounts, words []uint64) (slack float64, ok bool) {
	if !s.adds() {
		return s.fit.peaks(dst, a, words)
	}
	var fit fitBatch
	fit.init(s.fit, a)
	return fit.peaks(dst, a.base[:a.allocatable.Rows()], s.sra.scale(), words)
}

// Explain returns the parts of both scorers.
func (s *Strategy) Explain(request, requested, allocatable vector.ResourceVector) (Explanation, error) {
	live(s != nil && s.m != nil, s != nil)
	if err := s.checkRow(request, requested, allocatable); err != nil {
		return Explanation{}, err
	}
	fit, reason := s.fit.explain(request, requested, allocatable)
	e := Explanation{Total: fit.Score, Terms: []TermExplanation{fit}}
	var reasons []string
	if reason != "" {
		reasons = append(reasons, reason)
	}
	if s.sra != nil {
		sra, reason := s.sra.explain(request, requested, allocatable)
		e.Total += sra.Score
		e.Terms = append(e.Terms, sra)
		if reason != "" {
			reasons = append(reasons, reason)
		}
	}
	e.Reason = strings.Join(reasons, "; ")
	return e, nil
}
