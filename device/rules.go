package device

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/document"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule names the labels and resources by which a vendor describes the devices of a
// node. A vendor is data: one that [DefaultRules] does not know needs a Rule and no
// code.
//
// A rule names Product, and may name Count and Memory. It matches a node that has the
// labels of Product and of Count, if it names one, neither of them empty. Without the
// label of Memory the memory is unknown, which only shares can't do without: their cards
// are named after it. The rule takes the resources that it lists and no others.
//
// A rule whose Product begins with * is a pattern, such as *.product. The * stands for
// <domain>/<kind>, where the kind has only letters, digits and _. The rule matches once
// for each label of this form, in the order of the labels, if the label of Memory is there,
// too; labels that are the Product of an earlier rule are left out. A * at the start of its other labels and resources
// stands for the same <domain>/<kind>.
type Rule struct {
	Name   string `json:"name"`             // unique among the rules
	Vendor string `json:"vendor,omitempty"` // of the devices; empty: the domain of the resource
	Kind   string `json:"kind,omitempty"`   // of the devices; empty: [KindGPU]

	// Labels. Product is required. A memory is a whole number of MiB or, with the unit
	// Quantity, a quantity of Kubernetes such as 192G, which is bytes without a suffix.
	Product         string `json:"product"`
	Count           string `json:"count,omitempty"` // how many devices, a whole number
	Memory          string `json:"memory,omitempty"`
	MemoryUnit      string `json:"memoryUnit,omitempty"`      // of Memory and of MIG instances: MiB, the default, or Quantity
	Replicas        string `json:"replicas,omitempty"`        // how many pods share a device
	SharingStrategy string `json:"sharingStrategy,omitempty"` // mps or time-slicing
	MIGStrategy     string `json:"migStrategy,omitempty"`     // single: instances as whole devices
	// Partition has the labels that say which partitions of GPUs the whole devices are, such
	// as cpx_nps4. What they say is joined by _, each text once. A resource whose name is a
	// partition, such as amd.com/cpx_nps4, says it itself.
	Partition []string `json:"partition,omitempty"`

	// Resources. A rule needs at least one.
	Whole     []corev1.ResourceName `json:"whole,omitempty"`
	Shared    []corev1.ResourceName `json:"shared,omitempty"`    // needs the labels Replicas and Memory
	MIGPrefix string                `json:"migPrefix,omitempty"` // of resources that end in a MIG profile
}

// DefaultRules returns the rules for NVIDIA's GPU feature discovery, AMD's node labeller,
// Huawei's Ascend device plugin and Intel's Gaudi feature discovery, and a pattern for all
// vendors that set the labels <domain>/<kind>.product, .count and .memory. The caller owns
// the result.
func DefaultRules() []Rule {
	return []Rule{{
		Name:            "nvidia",
		Product:         "nvidia.com/gpu.product",
		Count:           "nvidia.com/gpu.count",
		Memory:          "nvidia.com/gpu.memory",
		Replicas:        "nvidia.com/gpu.replicas",
		SharingStrategy: "nvidia.com/gpu.sharing-strategy",
		MIGStrategy:     "nvidia.com/mig.strategy",
		Whole:           []corev1.ResourceName{"nvidia.com/gpu"},
		Shared:          []corev1.ResourceName{"nvidia.com/gpu.shared"},
		MIGPrefix:       migPrefix,
	}, {
		Name:       "amd",
		Product:    "amd.com/gpu.product-name",
		Memory:     "amd.com/gpu.vram",
		MemoryUnit: unitQuantity,
		// The operator's documents have the first; a fork of the labeller sets the other.
		Partition: []string{"amd.com/compute-memory-partition", "amd.com/gpu.compute-memory-partition"},
		Whole:     append([]corev1.ResourceName{"amd.com/gpu"}, amdPartitions()...),
	}, {
		// The chip, such as 910B3 or 310P3, is the only thing that Huawei's labels say of it:
		// MindCluster 7.3.0, Native Kubernetes Objects, table Node Labels,
		// https://www.hiascend.com/document/detail/en/mindcluster/730/clustersched/schedulingug/dlug_api_039.html
		// The resources stand for whole chips; virtual ones have names of their own:
		// https://www.hiascend.com/doc_center/source/zh/mindcluster/70rc1/clustersched/dlug/mxdlug_appendices_014.html
		Name:    "ascend",
		Product: "node.kubernetes.io/npu.chip.name",
		Whole:   []corev1.ResourceName{"huawei.com/Ascend910", "huawei.com/Ascend310P", "huawei.com/Ascend310"},
	}, {
		// The type is the driver's, such as GAUDI2. While the driver isn't loaded it is empty:
		// https://github.com/HabanaAI/gaudi-feature-discovery, collector.DefaultLabels
		// https://docs.habana.ai/en/latest/Orchestration/Gaudi_Kubernetes/Device_Plugin_for_Kubernetes.html
		Name:    "gaudi",
		Product: "habana.ai/device.type",
		Count:   "habana.ai/device.count",
		Whole:   []corev1.ResourceName{"habana.ai/gaudi"},
	}, {
		Name:    "generic",
		Product: "*.product",
		Count:   "*.count",
		Memory:  "*.memory",
		Whole:   []corev1.ResourceName{"*"},
	}}
}

// amdPartitions returns the resources of partitions, as AMD's device plugin names them with
// the strategy mixed: by the compute and the memory partition.
func amdPartitions() (names []corev1.ResourceName) {
	for _, compute := range []string{"spx", "dpx", "tpx", "qpx", "cpx"} {
		for _, memory := range []string{"1", "2", "4", "8"} {
			names = append(names, corev1.ResourceName("amd.com/"+compute+"_nps"+memory))
		}
	}
	return names
}

// The units of memory.
const (
	unitMiB      = "MiB"
	unitQuantity = "Quantity"
)

// ruleTerm is a label or resource of a rule. In a pattern it may begin with *; then a
// base stands in front of text.
type ruleTerm struct {
	text    string
	hasBase bool
}

// newRuleTerm takes the * off, if the text has one in front.
func newRuleTerm(text string) ruleTerm {
	rest, hasBase := strings.CutPrefix(text, "*")
	return ruleTerm{rest, hasBase}
}

// is reports whether the term, with its base, is name.
func (t ruleTerm) is(name, base string) bool {
	if t.hasBase {
		rest, ok := strings.CutPrefix(name, base)
		return ok && rest == t.text
	}
	return name == t.text
}

// matches reports whether the term stands for a label, with any base.
func (t ruleTerm) matches(label string) bool {
	if t.hasBase {
		base, ok := strings.CutSuffix(label, t.text)
		return ok && isRuleBase(base)
	}
	return label == t.text
}

// labelKey is the name of a label in two parts. Only a problem joins them.
type labelKey struct{ front, rest string }

// String returns the name.
func (k labelKey) String() string { return k.front + k.rest }

// key returns the term with its base.
func (t ruleTerm) key(base string) labelKey {
	if t.hasBase {
		return labelKey{base, t.text}
	}
	return labelKey{"", t.text}
}

// compiledRule is a Rule with its patterns taken apart. That is done once for all nodes.
type compiledRule struct {
	Rule
	order                            int // of the rule
	kind                             int // index of kinds
	product, count, memory, replicas ruleTerm
	sharingStrategy, migStrategy     ruleTerm
	partition                        []ruleTerm
	whole, shared                    []ruleTerm
	earlier                          []ruleTerm // products of earlier rules
}

// compileRules checks and prepares rules; nil stands for DefaultRules.
func compileRules(rules []Rule) ([]compiledRule, error) {
	if rules == nil {
		rules = DefaultRules()
	} else if err := document.Errors(checkRules(rules)); err != nil {
		return nil, err
	}
	compiled := make([]compiledRule, len(rules))
	for i, rule := range rules {
		c := compiledRule{
			Rule:            rule,
			order:           i,
			product:         newRuleTerm(rule.Product),
			count:           newRuleTerm(rule.Count),
			memory:          newRuleTerm(rule.Memory),
			replicas:        newRuleTerm(rule.Replicas),
			sharingStrategy: newRuleTerm(rule.SharingStrategy),
			migStrategy:     newRuleTerm(rule.MIGStrategy),
			partition:       newRuleTerms(rule.Partition),
			whole:           newRuleTerms(rule.Whole),
			shared:          newRuleTerms(rule.Shared),
		}
		for k, kind := range kinds {
			if rule.Kind == kind {
				c.kind = k
			}
		}
		for _, r := range compiled[:i] {
			c.earlier = append(c.earlier, r.product)
		}
		compiled[i] = c
	}
	return compiled, nil
}

// The lists of a rule.
const (
	listsNot = iota
	listsWhole
	listsShared
	listsMIG
)

// lists returns the list of the rule that has a resource. The prefix comes last: a rule
// that writes a full name means this resource.
func (c *compiledRule) lists(name, base string) int {
	switch {
	case hasTerm(c.whole, name, base):
		return listsWhole
	case hasTerm(c.shared, name, base):
		return listsShared
	case c.MIGPrefix != "" && strings.HasPrefix(name, c.MIGPrefix):
		return listsMIG
	}
	return listsNot
}

// basesOf returns the bases with which a pattern among the rule's resources is name. So
// a resource leads to its labels, and not each label has to be tried.
func (c *compiledRule) basesOf(name string) iter.Seq[string] {
	return func(yield func(base string) bool) {
		for _, terms := range [...][]ruleTerm{c.whole, c.shared} {
			for _, t := range terms {
				if base, ok := strings.CutSuffix(name, t.text); ok && t.hasBase && !yield(base) {
					return
				}
			}
		}
	}
}

// takes reports whether the rule is about a product label with this base. A label belongs
// to the first rule that matches it: the general pattern at the end of the defaults must
// not find again what a vendor's rule has read.
func (c *compiledRule) takes(base, label string) bool {
	return isRuleBase(base) && !slices.ContainsFunc(c.earlier, func(t ruleTerm) bool { return t.matches(label) })
}

// isRuleBase reports whether text is <domain>/<kind>. A kind has no -, which leaves out
// nvidia.com/mig-<profile>.
func isRuleBase(text string) bool {
	domain, kind, ok := strings.Cut(text, "/")
	return ok && domain != "" && kind != "" && strings.IndexFunc(kind, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_')
	}) < 0
}

// hasTerm reports whether one of the terms, with their base, is name.
func hasTerm(terms []ruleTerm, name, base string) bool {
	for _, t := range terms {
		if t.is(name, base) {
			return true
		}
	}
	return false
}

func newRuleTerms[S ~string](names []S) []ruleTerm {
	terms := make([]ruleTerm, len(names))
	for i, name := range names {
		terms[i] = newRuleTerm(string(name))
	}
	return terms
}

// checkRules returns every fault of rules.
func checkRules(rules []Rule) (errs field.ErrorList) {
	path := field.NewPath("rules")
	if len(rules) == 0 {
		return field.ErrorList{field.Required(path, "without a rule nothing is found")}
	}
	names := map[string]bool{}
	for i := range rules {
		c := ruleCheck{Rule: &rules[i], path: path.Index(i)}
		switch name := rules[i].Name; {
		case name == "":
			c.add(field.Required(c.path.Child("name"), "a name of the rule"))
		case names[name]:
			c.add(field.Duplicate(c.path.Child("name"), name))
		}
		names[rules[i].Name] = true
		c.checkEnums()
		c.checkLabels()
		c.checkResources()
		errs = append(errs, c.errs...)
	}
	return errs
}

// ruleCheck collects the faults of a rule.
type ruleCheck struct {
	*Rule
	path *field.Path
	errs field.ErrorList
}

// add adds a fault, with the name of the rule. The path has only its index, and people
// know their rules by name.
func (c *ruleCheck) add(err *field.Error) {
	detail := fmt.Sprintf("rule %q", c.Name)
	if err.Detail != "" {
		detail += ": " + err.Detail
	}
	err.Detail = detail
	c.errs = append(c.errs, err)
}

// checkEnums checks the fields that have only a few values. Empty stands for the default.
func (c *ruleCheck) checkEnums() {
	switch c.Kind {
	case "", KindGPU, KindRDMA, KindFPGA:
	default:
		c.add(field.NotSupported(c.path.Child("kind"), c.Kind, kinds[:]))
	}
	switch c.MemoryUnit {
	case "", unitMiB, unitQuantity:
	default:
		c.add(field.NotSupported(c.path.Child("memoryUnit"), c.MemoryUnit, []string{unitMiB, unitQuantity}))
	}
}

// checkLabels checks the labels. None is there twice: a number can't be both a count and
// a memory.
func (c *ruleCheck) checkLabels() {
	if c.Product == "" {
		c.add(field.Required(c.path.Child("product"), "the label of the product"))
	}
	labels := []struct {
		path *field.Path
		key  string
	}{
		{c.path.Child("product"), c.Product},
		{c.path.Child("count"), c.Count},
		{c.path.Child("memory"), c.Memory},
		{c.path.Child("replicas"), c.Replicas},
		{c.path.Child("sharingStrategy"), c.SharingStrategy},
		{c.path.Child("migStrategy"), c.MIGStrategy},
	}
	for i, key := range c.Partition {
		path := c.path.Child("partition").Index(i)
		if key == "" {
			c.add(field.Required(path, "a label"))
		}
		labels = append(labels, struct {
			path *field.Path
			key  string
		}{path, key})
	}
	seen := map[string]bool{"": true}
	for _, label := range labels {
		path := label.path
		switch {
		case label.key == "":
		case seen[label.key]:
			c.add(field.Duplicate(path, label.key))
		case label.key == "*":
			c.add(field.Invalid(path, label.key, "a pattern of labels needs an ending"))
		default:
			c.checkName(path, label.key)
		}
		seen[label.key] = true
	}
}

// checkResources checks the resources. A rule without any would match nodes and find
// nothing, which nobody wants.
func (c *ruleCheck) checkResources() {
	if len(c.Whole) == 0 && len(c.Shared) == 0 && c.MIGPrefix == "" {
		c.add(field.Required(c.path.Child("whole"), "a rule without resources finds nothing"))
	}
	seen := map[corev1.ResourceName]bool{}
	for _, list := range []struct {
		field string
		names []corev1.ResourceName
	}{{"whole", c.Whole}, {"shared", c.Shared}} {
		for i, name := range list.names {
			path := c.path.Child(list.field).Index(i)
			if seen[name] {
				c.add(field.Duplicate(path, string(name)))
				continue
			}
			seen[name] = true
			c.checkResource(path, string(name))
		}
	}
	if len(c.Shared) > 0 && c.Replicas == "" {
		c.add(field.Required(c.path.Child("replicas"), "the cards of shared resources are named after it"))
	}
	if len(c.Shared) > 0 && c.Memory == "" {
		c.add(field.Required(c.path.Child("memory"), "the cards of shared resources are named after it"))
	}
	if c.MIGPrefix != "" {
		c.checkMIGPrefix()
	}
}

// checkResource checks a resource. Names without a domain, such as cpu and memory, are
// Kubernetes' own and no devices.
func (c *ruleCheck) checkResource(path *field.Path, name string) {
	switch {
	case name == "":
		c.add(field.Required(path, "a resource name"))
	case !strings.HasPrefix(name, "*") && !strings.Contains(name, "/"):
		c.add(field.Invalid(path, name, "has no domain, as resources of devices have"))
	default:
		c.checkName(path, name)
	}
}

// checkMIGPrefix checks the prefix with a profile behind it: the prefix alone is no name
// that Kubernetes allows.
func (c *ruleCheck) checkMIGPrefix() {
	path := c.path.Child("migPrefix")
	if faults := validation.IsQualifiedName(c.MIGPrefix + "1g.5gb"); len(faults) > 0 {
		c.add(field.Invalid(path, c.MIGPrefix, strings.Join(faults, "; ")))
	} else if !strings.Contains(c.MIGPrefix, "/") {
		c.add(field.Invalid(path, c.MIGPrefix, "has no domain, as resources of devices have"))
	}
}

// checkName checks a label or resource. It may be a pattern only if the rule is one: the
// label of the product is what a pattern is found by, and it gives the base of the others.
func (c *ruleCheck) checkName(path *field.Path, name string) {
	t := newRuleTerm(name)
	if t.hasBase && !strings.HasPrefix(c.Product, "*") {
		c.add(field.Invalid(path, name, "is a pattern, and product is none"))
		return
	}
	if faults := validation.IsQualifiedName(t.key("domain/kind").String()); len(faults) > 0 {
		c.add(field.Invalid(path, name, strings.Join(faults, "; ")))
	}
}
