package scoring

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// KubeConfig configures [CompileKube]: a scoring strategy of kube-scheduler's
// plugin NodeResourcesFit, or its plugin NodeResourcesBalancedAllocation.
type KubeConfig struct {
	Type      ScoringType    `json:"type"`
	Resources []KubeResource `json:"resources"`       // they are scored in this order
	Shape     []ShapePoint   `json:"shape,omitempty"` // of RequestedToCapacityRatio
}

// KubeResource is a resource that counts, and how much.
type KubeResource struct {
	Name   string `json:"name"`   // exact, not pods
	Weight int64  `json:"weight"` // 1 to 100, 1 for BalancedAllocation; there is no default
}

// ShapePoint is the score of a resource of which so much is used. Scores between
// two points lie on the line between them, truncated toward the first; below the
// first point and above the last they stay the same.
type ShapePoint struct {
	Utilization int64 `json:"utilization"` // percent, strictly increasing
	Score       int64 `json:"score"`       // 0 to 10, where 10 stands for 100
}

// Kube scores a node as kube-scheduler v1.36 does, to the last digit: a whole
// number from 0 to 100 by one of the scoring strategies LeastAllocated,
// MostAllocated and RequestedToCapacityRatio of the plugin NodeResourcesFit, or
// by the plugin NodeResourcesBalancedAllocation.
//
// Amounts are taken in units of Kubernetes, rounded up to whole ones: a is
// allocatable, u requested and x requested with the pod. cpu, memory and ephemeral-storage
// count whether the pod requests them or not, other resources only when it does;
// one that the node does not have is left out. All divisions truncate.
//
//	LeastAllocated            (a - x) * 100 / a, or 0 for x > a
//	MostAllocated             min(x, a) * 100 / a
//	RequestedToCapacityRatio  the shape at the percentage of MostAllocated
//	BalancedAllocation        50 + (50 + b(x) - b(u)) / 2
//
// The first three are averaged with the weights; RequestedToCapacityRatio
// leaves out the resources that get 0, and rounds to the nearest, halves up. b
// of BalancedAllocation is 100 * (1 - d), where d is the standard deviation of
// the fractions of a, at most 1 each: 75 is a pod that makes a node neither more
// balanced nor less. A pod that requests none of its resources scores 0.
//
// Unlike kube-scheduler's, the products don't wrap around. A node with an
// amount that is NaN, negative or 2^63 and more, of a resource that counts and
// that the node has, scores 0.
//
// What a container without requests counts as is for the caller to say:
// kube-scheduler feeds BalancedAllocation with the true amounts, and the others
// with amounts, both of the pod and of what is requested, in which every container
// without a cpu request has 100m and every one without a memory request has
// 200Mi.
type Kube struct {
	compiled
	name   ScoringType
	kind   kernel.KubeType
	rules  []kubeRule // in the order of the configuration
	points kernel.KubeTable
}

var _ Scorer = (*Kube)(nil)

// CompileKube compiles a configuration against a map. Resources are looked up by
// [vectormap.ResourceVectorMap.Index]. Errors are a utilerrors.Aggregate of
// *field.Error sorted by path, a [*vectormap.UnknownResourcesError], or both
// joined; with [AllowUnknown] or [Lenient] a resource that the map does not have
// is a warning, and left out.
func CompileKube(cfg KubeConfig, m *vectormap.ResourceVectorMap, opts ...Option) (*Kube, error) {
	var r report
	k := &Kube{compiled: compiled{m: m}, name: cfg.Type}
	k.kind = r.kubeType(cfg.Type)
	k.rules = r.kubeRules(&cfg, m, options(opts))
	r.checkShape(&cfg)
	var err error
	if k.warnings, err = r.finish(); err != nil {
		return nil, err
	}
	if cfg.Type == RequestedToCapacityRatio {
		for v := range int64(101) {
			k.points[v] = uint8(brokenLine(cfg.Shape, 10, v))
		}
	}
	return k, nil
}

// kubeType returns the kernel's name of a type.
func (r *report) kubeType(t ScoringType) kernel.KubeType {
	switch t {
	case LeastAllocated:
		return kernel.KubeLeast
	case MostAllocated:
		return kernel.KubeMost
	case RequestedToCapacityRatio:
		return kernel.KubeRatio
	case BalancedAllocation:
		return kernel.KubeBalanced
	}
	r.fail(field.NotSupported(field.NewPath("type"), t,
		[]ScoringType{LeastAllocated, MostAllocated, RequestedToCapacityRatio, BalancedAllocation}))
	return 0
}

// kubeRule is a resource of the configuration that the map has.
type kubeRule struct {
	index         int
	weight, scale float64
	always        bool // it counts without being requested
}

// kubeRules checks the resources and returns those that the map has.
func (r *report) kubeRules(cfg *KubeConfig, m *vectormap.ResourceVectorMap, o Option) []kubeRule {
	path := field.NewPath(pathResources)
	if len(cfg.Resources) == 0 {
		r.fail(field.Required(path, "at least one resource must be given"))
	}
	most, allowed := int64(100), "must be from 1 to 100"
	if cfg.Type == BalancedAllocation {
		most, allowed = 1, "must be 1"
	}
	var rules []kubeRule
	names, indexes := map[string]bool{}, map[int]bool{}
	for i, resource := range cfg.Resources {
		name, weight := path.Index(i).Child("name"), path.Index(i).Child("weight")
		if resource.Weight < 1 || resource.Weight > most {
			r.fail(field.Invalid(weight, resource.Weight, allowed))
		}
		index, known := m.Index(resource.Name)
		switch {
		case resource.Name == "":
			r.fail(field.Required(name, ""))
		case known && index == vectormap.Pods:
			r.fail(invalid(name.String(), resource.Name, "kube-scheduler does not score pods"))
		case names[resource.Name] || known && indexes[index]:
			r.fail(duplicate(name.String(), resource.Name))
		case known:
			rules = append(rules, newKubeRule(m, index, resource.Weight))
		default:
			r.lookup(m, o, name.String(), resource.Name)
		}
		names[resource.Name] = true
		if known {
			indexes[index] = true
		}
	}
	return rules
}

// newKubeRule returns the rule of an index of the map.
func newKubeRule(m *vectormap.ResourceVectorMap, index int, weight int64) kubeRule {
	rule := kubeRule{index: index, weight: float64(weight), scale: 1}
	if m.Unit(index) == vectormap.UnitMilli {
		rule.scale = 1000
	}
	rule.always = index == vectormap.CPU || index == vectormap.Memory || m.Name(index) == "ephemeral-storage"
	return rule
}

// checkShape checks the points of a shape, and that there is one where it is
// needed.
func (r *report) checkShape(cfg *KubeConfig) {
	path := field.NewPath("shape")
	if cfg.Type == RequestedToCapacityRatio && len(cfg.Shape) == 0 {
		r.fail(field.Required(path, "at least one point must be given"))
	}
	if cfg.Type != RequestedToCapacityRatio && len(cfg.Shape) > 0 {
		r.warn(field.Forbidden(path, "only RequestedToCapacityRatio has a shape"))
	}
	for i, p := range cfg.Shape {
		utilization, score := path.Index(i).Child("utilization"), path.Index(i).Child("score")
		switch {
		case p.Utilization < 0 || p.Utilization > 100:
			r.fail(field.Invalid(utilization, p.Utilization, "must be from 0 to 100"))
		case i > 0 && p.Utilization <= cfg.Shape[i-1].Utilization:
			r.fail(field.Invalid(utilization, p.Utilization, "must be above the one before"))
		}
		if p.Score < 0 || p.Score > 10 {
			r.fail(field.Invalid(score, p.Score, "must be from 0 to 10"))
		}
	}
}

// brokenLine returns factor times the score of the line through the points at
// utilization v, each step rounded toward the point before.
func brokenLine(points []ShapePoint, factor, v int64) int64 {
	for i, p := range points {
		if v > p.Utilization {
			continue
		}
		if i == 0 {
			return factor * p.Score
		}
		from := points[i-1]
		rise, run := factor*(p.Score-from.Score), p.Utilization-from.Utilization
		return factor*from.Score + rise*(v-from.Utilization)/run
	}
	return factor * points[len(points)-1].Score
}

// Score returns the score of one node, a whole number.
func (k *Kube) Score(request, requested, allocatable vector.ResourceVector) (float64, error) {
	if err := k.checkRow(request, requested, allocatable); err != nil {
		return 0, err
	}
	n := kubeNodes{used: requested, allocatable: allocatable}
	return float64(k.score(request, &n, 0)), nil
}

// score scores one node.
func (k *Kube) score(request vector.ResourceVector, n *kubeNodes, row int) int64 {
	if k.idle(request) {
		return 0
	}
	var s kernel.KubeSum
	for i := range k.rules {
		r := &k.rules[i]
		if p, counts := r.request(request); counts {
			e := r.entry(p)
			n.columns(&e, r.index)
			s.Add(k.kind, &e, &k.points, row)
		}
	}
	if !s.Again(k.kind) {
		return s.Score(k.kind)
	}
	for i := range k.rules {
		r := &k.rules[i]
		if p, counts := r.request(request); counts {
			e := r.entry(p)
			n.columns(&e, r.index)
			s.AddAgain(&e, row)
		}
	}
	return s.Score(k.kind)
}

// idle reports whether the pod requests none of the resources of a balance.
func (k *Kube) idle(request vector.ResourceVector) bool {
	if k.kind != kernel.KubeBalanced {
		return false
	}
	for i := range k.rules {
		if p, _ := k.rules[i].request(request); p > 0 {
			return false
		}
	}
	return true
}

// request returns the amount that a pod requests, in units of Kubernetes, and
// whether the resource counts for it.
func (r *kubeRule) request(request vector.ResourceVector) (p float64, counts bool) {
	p = math.Ceil(at(request, r.index) / r.scale)
	return p, r.always || p > 0
}

// entry returns the rule as the kernel takes it, without the columns.
func (r *kubeRule) entry(p float64) kernel.KubeEntry {
	return kernel.KubeEntry{Request: p, Weight: r.weight, Scale: r.scale}
}

// kubeNodes is where the amounts of nodes are: one node, or the rows of two
// matrices.
type kubeNodes struct {
	used, allocatable         vector.ResourceVector
	usedRows, allocatableRows *vector.Matrix // nil: one node
}

// columns gives e the amounts of a resource.
func (n *kubeNodes) columns(e *kernel.KubeEntry, index int) {
	if n.usedRows == nil {
		e.Used, e.Allocatable = amount(n.used, index), amount(n.allocatable, index)
	} else {
		e.Used, e.Allocatable = n.usedRows.Column(index), n.allocatableRows.Column(index)
	}
}

// amount returns the column of amount i of one node, 0 beyond the end of v.
func amount(v vector.ResourceVector, i int) []float64 {
	if i < len(v) {
		return v[i : i+1]
	}
	return noAmount[:]
}

var noAmount [1]float64

func (k *Kube) self() Scorer { return k }

func (k *Kube) bind() rowScorer { return k }

// highest is 0 where no resource can count.
func (k *Kube) highest() float64 { return float64(100 * min(len(k.rules), 1)) }

func (k *Kube) divisors() []int {
	var columns []int
	for i := range k.rules {
		if k.rules[i].scale == 1 {
			columns = append(columns, k.rules[i].index)
		}
	}
	return columns
}

func (k *Kube) cost() rowCost {
	c := rowCost{column: 0.25, most: float64(len(k.rules))}
	if k.kind == kernel.KubeBalanced {
		c.column = 0.8
	}
	for i := range k.rules {
		if k.rules[i].always {
			c.least++
		}
	}
	return c
}

func (k *Kube) scoreRows(dst []float64, a *amounts, words []uint64) { kubeRows(k, dst, a, words) }

func (k *Kube) scoreInts(dst []int64, a *amounts, words []uint64) { kubeRows(k, dst, a, words) }

// kubeRows is the batch, of either type.
func kubeRows[T kernel.Number](k *Kube, dst []T, a *amounts, words []uint64) {
	var list kubeList
	if list.fill(k, a) {
		kernel.Kube(dst, list.kind, list.entries[:list.n], &k.points, words)
		return
	}
	n := kubeNodes{usedRows: a.requested, allocatableRows: a.allocatable}
	kernel.EachRow(len(dst), words, func(row int) { dst[row] = T(k.score(a.request, &n, row)) })
}

// kubeList is what the kernels take.
type kubeList struct {
	kind    kernel.KubeType
	entries [kernel.KubeEntries]kernel.KubeEntry
	n       int
}

// fill makes the list of a request, and reports whether there is room for it.
func (l *kubeList) fill(k *Kube, a *amounts) bool {
	if k.idle(a.request) {
		return true // the mean of nothing is 0
	}
	l.kind = k.kind
	for i := range k.rules {
		r := &k.rules[i]
		p, counts := r.request(a.request)
		if !counts {
			continue
		}
		if l.n == len(l.entries) {
			return false
		}
		e := &l.entries[l.n]
		*e = r.entry(p)
		e.Used, e.Allocatable = a.requested.Column(r.index), a.allocatable.Column(r.index)
		if reciprocals, whole := a.reciprocals(r.index); whole && r.scale == 1 {
			e.Reciprocals = reciprocals
		}
		l.n++
	}
	return true
}

// Explain returns the part of every resource of the configuration, in its
// order, and then the others that the pod requests. The weighted mean is of
// whole numbers and truncated, so that the resources share the score in the
// proportion of their weighted points; a balance is of all resources alike.
func (k *Kube) Explain(request, requested, allocatable vector.ResourceVector) (Explanation, error) {
	if err := k.checkRow(request, requested, allocatable); err != nil {
		return Explanation{}, err
	}
	x := kubeExplanation{k: k, request: request, requested: requested, allocatable: allocatable}
	x.term = TermExplanation{Name: string(k.name), Weight: 1}
	if k.idle(request) {
		x.reason = "the pod requests none of the resources that are balanced"
	}
	ruled := make(map[int]bool, len(k.rules))
	for i := range k.rules {
		x.add(&k.rules[i])
		ruled[k.rules[i].index] = true
	}
	for i := range k.m.Len() {
		if d := dimension(k.m, i, request, requested, allocatable); d.Request > 0 && !ruled[i] {
			d.Status = NotConfigured
			x.term.Dims = append(x.term.Dims, d)
		}
	}
	return x.finish(), nil
}

// kubeExplanation is a partial explanation.
type kubeExplanation struct {
	k                               *Kube
	request, requested, allocatable vector.ResourceVector

	term   TermExplanation
	reason string
	shares float64            // the sum of all contributions, until finish
	good   []kernel.KubeEntry // that count, and are not bad
}

// add explains one rule; the contribution is in proportion only.
func (x *kubeExplanation) add(r *kubeRule) {
	d := dimension(x.k.m, r.index, x.request, x.requested, x.allocatable)
	d.Type, d.Weight, d.Status = string(x.k.name), r.weight, NotRequested
	p, counts := r.request(x.request)
	if counts && !x.k.idle(x.request) {
		e := r.entry(p)
		e.Used, e.Allocatable = amount(x.requested, r.index), amount(x.allocatable, r.index)
		requested, _, allocatable, ok := e.Amounts(0)
		switch {
		case !ok:
			d.Status = BadValue
			if x.reason == "" {
				x.reason = d.Name + ": an amount of the node is NaN, negative or too large"
			}
		case allocatable == 0:
			d.Status = MissingOnNode
		default:
			d.Status = Scored
			if requested > allocatable {
				d.Status = OverCapacity
			}
			d.Contribution = x.k.share(&e)
			x.shares += d.Contribution
			x.good = append(x.good, e)
		}
	}
	x.term.Dims = append(x.term.Dims, d)
}

// share returns what an entry adds to the sum that is averaged.
func (k *Kube) share(e *kernel.KubeEntry) float64 {
	if k.kind == kernel.KubeBalanced {
		return 1
	}
	return float64(kernel.KubeRow(k.kind, []kernel.KubeEntry{*e}, &k.points, 0)) * e.Weight
}

// finish scales the contributions to the score that they make.
func (x *kubeExplanation) finish() Explanation {
	points := 0.0
	if !x.k.idle(x.request) {
		points = float64(kernel.KubeRow(x.k.kind, x.good, &x.k.points, 0))
	}
	if x.shares > 0 {
		for i := range x.term.Dims {
			d := &x.term.Dims[i]
			d.Contribution = points * d.Contribution / x.shares
		}
	} else if points > 0 {
		x.reason = "the node has none of the resources that are balanced"
	}
	n := kubeNodes{used: x.requested, allocatable: x.allocatable}
	x.term.Score = float64(x.k.score(x.request, &n, 0))
	return Explanation{Total: x.term.Score, Reason: x.reason, Terms: []TermExplanation{x.term}}
}
