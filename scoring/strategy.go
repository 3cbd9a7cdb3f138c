package scoring

import (
	"iter"
	"strings"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// StrategyConfig configures [CompileStrategy]: Volcano's plugin
// resource-strategy-fit as a whole, or one part of it.
type StrategyConfig struct {
	Fit          StrategyFitConfig   // the zero value has default rules; with a Weight of 0 it is off
	SRA          *SRAConfig          // nil: off
	Proportional *ProportionalConfig // nil: off
}

// Strategy is Volcano's plugin resource-strategy-fit. As a [Scorer] its score is that of
// its [StrategyFitConfig] plus that of its [SRAConfig]; where the pod doesn't
// fit, the fit is 0 and SRA is still added. [Proportional] stays a predicate of
// its own. A part that is off adds 0: to score or audit one part alone, compile a
// configuration in which only that one is on.
type Strategy struct {
	compiled
	fit          *strategyFit
	sra          *avoidance    // nil: not configured
	proportional *Proportional // nil: not configured
}

// CompileStrategy compiles a configuration against a map. Patterns are resolved here,
// once. Errors are a utilerrors.Aggregate of *field.Error sorted by path, a
// [*vectormap.UnknownResourcesError], or both joined, of all parts together: paths begin
// with sra and proportional for those.
func CompileStrategy(cfg StrategyConfig, m *vectormap.ResourceVectorMap, opts ...Option) (*Strategy, error) {
	var r report
	o := options(opts)
	s := &Strategy{compiled: compiled{m: m}, fit: compileFit(&cfg.Fit, m, o, &r)}
	if cfg.SRA != nil {
		back := r.below("sra")
		s.sra = compileSRA(cfg.SRA, m, o, &r)
		back()
	}
	if cfg.Proportional != nil {
		back := r.below("proportional")
		s.proportional = compileProportional(cfg.Proportional, m, o, &r)
		back()
	}
	var err error
	if s.warnings, err = r.finish(); err != nil {
		return nil, err
	}
	return s, nil
}

// Proportional returns the predicate, nil when it is not configured; its methods
// then let every node pass.
func (s *Strategy) Proportional() *Proportional {
	return s.proportional
}

// Resolved returns which key of the rules of the fit, a name or a pattern, gives the
// rule of which resource: indices in the map, ascending, with keys.
func (s *Strategy) Resolved() iter.Seq2[int, string] {
	return func(yield func(index int, key string) bool) {
		for _, r := range s.fit.rules {
			if !yield(r.index, r.key) {
				return
			}
		}
	}
}

// withOverride returns the scorer of a pod that brings its own rules for the fit.
func (s *Strategy) withOverride(o *PodOverride) *Strategy {
	own := *s
	own.fit = s.fit.withOverride(o)
	return &own
}

// Score returns the score of one node.
func (s *Strategy) Score(request, requested, allocatable vector.ResourceVector) (float64, error) {
	if err := s.checkRow(request, requested, allocatable); err != nil {
		return 0, err
	}
	score := s.fit.score(request, requested, allocatable)
	if s.sra != nil {
		score += s.sra.score(request, allocatable)
	}
	return score, nil
}

func (s *Strategy) self() Scorer { return s }

func (s *Strategy) bind() rowScorer {
	b := &boundStrategy{Strategy: s}
	// An SRA without points would keep a score per node for nothing.
	if s.sra != nil && s.sra.points(s.sra.total) > 0 {
		b.sra = &boundSRA{avoidance: s.sra}
	}
	return b
}

// boundStrategy is a Strategy over the rows of nodes.
type boundStrategy struct {
	*Strategy
	sra *boundSRA // nil: it adds nothing to the fit
}

// withRules shares what is kept for SRA, which has no rules of a pod.
func (s *boundStrategy) withRules(o *PodOverride) rowScorer {
	return &boundStrategy{s.withOverride(o), s.sra}
}

func (s *boundStrategy) divisors() []int { return s.fit.divisors() }

func (s *boundStrategy) cost() rowCost { return s.fit.cost() }

func (s *boundStrategy) highest() float64 {
	if s.sra == nil {
		return s.fit.highest()
	}
	return s.fit.highest() + s.sra.highest()
}

// scoreRows adds both parts in one pass: a second one would read dst again, and the columns
// of what both look at.
func (s *boundStrategy) scoreRows(dst []float64, a *amounts, words []uint64) {
	var fit fitBatch
	fit.init(s.fit, a)
	if s.sra == nil {
		fit.set(dst, words)
		return
	}
	var sra sraBatch
	sra.init(s.sra, a, &fit)
	sra.setSum(dst, &fit, words)
}

func (s *boundStrategy) blockBounds(dst []float64, a *amounts, words []uint64) (slack float64, ok bool) {
	var fit fitBatch
	fit.init(s.fit, a)
	if s.sra == nil {
		return fit.blockBounds(dst, nil, 0, words)
	}
	return fit.blockBounds(dst, s.sra.base(a.allocatable), s.sra.highest(), words)
}

// Explain returns a term for the fit, also when it is off, and one for SRA if it is
// configured.
func (s *Strategy) Explain(request, requested, allocatable vector.ResourceVector) (Explanation, error) {
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
