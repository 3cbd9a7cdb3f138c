package transform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/internal/quantity"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Severity says how likely a finding is a mistake.
type Severity string

const (
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Finding is something legal that looks wrong. The warnings are
//
//	capped-factor        the factor is written larger than Kubernetes holds
//	cycle                outputs of rules lead back to their inputs
//	excluded-input       a prefix drops the input: the rule never fires
//	excluded-multiplier  a prefix drops the multiplier, which counts as 1
//	never-positive       no factor of the output is positive
//	no-effect            Retain without outputs
//	rounded-factor       the factor is written with more digits than are kept
//	self-multiplier      the input multiplies itself
//	self-output          the input is among its outputs
//	unit-mismatch        factors of the output look like different units
//	unknown-input        requests have no such resource
//	unknown-multiplier   nor this one, which counts as 1
//
// and for information there are
//
//	chain                the output is the input of another rule, which does not fire for it
//	drops-input          Replace without outputs
//	excluded-output      a prefix matches the output, which is charged all the same
//	native-output        the output is a resource of Kubernetes itself
//	negative-factor      the factor is an allowance
//	zero-factor          nothing is charged
type Finding struct {
	Code     string
	Severity Severity
	Input    corev1.ResourceName // "" for an output as a whole; of a cycle its smallest name
	Output   corev1.ResourceName // "" for an input as a whole
	Detail   string
}

// infos are the codes that describe what is usual. All others are warnings.
var infos = map[string]bool{
	"chain": true, "drops-input": true, "excluded-output": true,
	"native-output": true, "negative-factor": true, "zero-factor": true,
}

// String returns the finding on one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s(%s,%s): %s", f.Severity, f.Code, f.Input, f.Output, f.Detail)
}

// Lint returns what looks wrong with t, sorted by Code, Input and Output. known
// are the names that requests have; when it is empty, names are not checked
// against it. Findings change nothing.
func (t *Transformation) Lint(known []corev1.ResourceName) []Finding {
	l := linter{t: t, known: map[corev1.ResourceName]bool{}}
	for _, f := range t.config.inexact {
		if _, ok := t.Factor(f.Output, f.Input); ok {
			l.findings = append(l.findings, f)
		}
	}
	for _, name := range known {
		l.known[name] = true
	}
	for k := range t.rules {
		l.rule(&t.rules[k])
	}
	for k := range t.outputs {
		l.output(&t.outputs[k])
	}
	l.cycles()
	slices.SortFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Input, b.Input), cmp.Compare(a.Output, b.Output))
	})
	return l.findings
}

// inexact returns the finding for a factor q that was read from a value, and false
// where q is exactly what is written there.
func inexact(in, out corev1.ResourceName, q resource.Quantity, v document.Value) (f Finding, ok bool) {
	if quantity.Kept(q, v.Exact()) == 0 {
		return f, false
	}
	why := "YAML reads a number without quotes as a float64"
	f = Finding{Code: "rounded-factor", Severity: Warning, Input: in, Output: out}
	text, _ := v.Literal("a quantity")
	switch quantity.Kept(q, text) {
	case 1:
		why = "Kubernetes holds nothing finer than 1n and rounds away from 0"
	case -1:
		why = "Kubernetes holds no more with a binary suffix"
		f.Code = "capped-factor"
	}
	f.Detail = fmt.Sprintf("%s is written, %s is charged: %s", short(v.Written()), canonical(q), why)
	return f, true
}

// linter collects findings.
type linter struct {
	t        *Transformation
	known    map[corev1.ResourceName]bool
	findings []Finding
}

func (l *linter) add(code string, in, out corev1.ResourceName, detail string, args ...any) {
	severity := Warning
	if infos[code] {
		severity = Info
	}
	l.findings = append(l.findings, Finding{code, severity, in, out, fmt.Sprintf(detail, args...)})
}

func (l *linter) unknown(name corev1.ResourceName) bool { return len(l.known) > 0 && !l.known[name] }

func (l *linter) rule(r *rule) {
	if l.t.excluded(r.Input) {
		l.add("excluded-input", r.Input, "", "the rule never fires")
	}
	if l.unknown(r.Input) {
		l.add("unknown-input", r.Input, "", "no such resource")
	}
	if r.MultiplyBy != "" {
		l.multiplier(r)
	}
	if len(r.entries) == 0 {
		if r.Strategy == Retain {
			l.add("no-effect", r.Input, "", "Retain without outputs")
		} else {
			l.add("drops-input", r.Input, "", "Replace without outputs charges nothing for it")
		}
	}
	for _, e := range r.entries {
		l.entry(r, e)
	}
}

func (l *linter) multiplier(r *rule) {
	if !l.t.readsMultiplier(r.MultiplyBy) {
		l.add("excluded-multiplier", r.Input, "", "multiplier %s is excluded and counts as 1", r.MultiplyBy)
	}
	if l.unknown(r.MultiplyBy) {
		l.add("unknown-multiplier", r.Input, "", "no such resource as %s, which counts as 1", r.MultiplyBy)
	}
	if r.MultiplyBy == r.Input {
		l.add("self-multiplier", r.Input, "", "the outputs grow with its square")
	}
}

func (l *linter) entry(r *rule, e entry) {
	switch e.factor.Sign() {
	case -1:
		l.add("negative-factor", r.Input, e.output, "%s is an allowance", e.factor)
	case 0:
		l.add("zero-factor", r.Input, e.output, "charges nothing")
	}
	switch {
	case e.output == r.Input && r.Strategy == Retain:
		l.add("self-output", r.Input, e.output, "is kept and charged %s times more", e.factor)
	case e.output == r.Input:
		l.add("self-output", r.Input, e.output, "is charged %s times", e.factor)
	case l.t.rule(e.output) != nil:
		l.add("chain", r.Input, e.output, "the rule of %s does not apply to what this rule generates", e.output)
	}
}

func (l *linter) output(p *product) {
	if isNative(p.name) {
		l.add("native-output", "", p.name, "is a resource of Kubernetes")
	}
	if l.t.excluded(p.name) {
		l.add("excluded-output", "", p.name, "is charged all the same")
	}
	positive := false
	var least, most *inf.Dec // magnitudes but 0
	binary, decimal := false, false
	for _, r := range p.rules {
		q := r.Outputs[p.name]
		d := dec(q)
		positive = positive || d.Sign() > 0
		d.Abs(d)
		if d.Sign() != 0 && (least == nil || d.Cmp(least) < 0) {
			least = d
		}
		if d.Sign() != 0 && (most == nil || d.Cmp(most) > 0) {
			most = d
		}
		binary = binary || q.Format == resource.BinarySI
		decimal = decimal || q.Format == resource.DecimalSI && d.Cmp(inf.NewDec(1000, 0)) >= 0
	}
	if !positive {
		l.add("never-positive", "", p.name, "no factor is positive, so it is always 0")
	}
	switch {
	case binary && decimal:
		l.add("unit-mismatch", "", p.name, "factors in powers of 1024 and of 1000")
	case least != nil && most.Cmp(new(inf.Dec).Mul(least, inf.NewDec(1_000_000, 0))) >= 0:
		l.add("unit-mismatch", "", p.name, "factors from %s to %s", least, most)
	}
}

// isNative reports whether a name is a resource that Kubernetes itself knows.
func isNative(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
		return true
	}
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// cycles reports the sets of two or more rules whose outputs lead from each to
// each other.
func (l *linter) cycles() {
	c := components{t: l.t, nodes: make([]node, len(l.t.rules))}
	for k := range c.nodes {
		c.visit(k)
	}
	for _, set := range c.sets {
		if len(set) > 1 {
			slices.Sort(set)
			l.add("cycle", set[0], "", "outputs lead back to %s; none is transformed again", join(set))
		}
	}
}

// components finds the strongly connected sets of rules (Tarjan, SIAM J. Comput.
// 1(2), 1972).
type components struct {
	t     *Transformation
	nodes []node // one per rule
	seen  int
	stack []int // rules whose set is not closed
	sets  [][]corev1.ResourceName
}

// node is what is known of a rule.
type node struct {
	order int // when it was seen, from 1 on
	low   int // the lowest order that it leads to
	open  bool
	next  int // of its outputs to look at
}

// visit finds the sets that a rule leads to, without recursion: a configuration
// may chain many thousands.
func (c *components) visit(k int) {
	if c.nodes[k].order > 0 {
		return
	}
	path := []int{c.enter(k)}
	for len(path) > 0 {
		k := path[len(path)-1]
		n, entries := &c.nodes[k], c.t.rules[k].entries
		if n.next == len(entries) {
			c.leave(k)
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := &c.nodes[path[len(path)-1]]
				parent.low = min(parent.low, n.low)
			}
			continue
		}
		to, ok := c.t.find(entries[n.next].output)
		n.next++
		switch {
		case !ok:
		case c.nodes[to].order == 0:
			path = append(path, c.enter(to))
		case c.nodes[to].open:
			n.low = min(n.low, c.nodes[to].order)
		}
	}
}

func (c *components) enter(k int) int {
	c.seen++
	c.nodes[k] = node{order: c.seen, low: c.seen, open: true}
	c.stack = append(c.stack, k)
	return k
}

// leave closes a set when the rule is the first of it.
func (c *components) leave(k int) {
	if c.nodes[k].low != c.nodes[k].order {
		return
	}
	var set []corev1.ResourceName
	for closed := -1; closed != k; {
		closed = c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		c.nodes[closed].open = false
		set = append(set, c.t.rules[closed].Input)
	}
	c.sets = append(c.sets, set)
}
