package cardquota

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Config is the section cardQuota of the plugin's args.
type Config struct {
	// Queues are the queues and their quotas; a tree, of which only the leaves take
	// pods.
	Queues []Queue `json:"queues,omitempty"`

	// QueueLabel is the label of pods that names their queue. The default is
	// scheduling.volcano.sh/queue-name. Pods without it are of DefaultQueue and, where
	// that is empty, not charged.
	QueueLabel   string `json:"queueLabel,omitempty"`
	DefaultQueue string `json:"defaultQueue,omitempty"`

	// JobLabels are the labels that name the job a pod is of, in the order in which
	// they are looked for; a pod group of Kubernetes comes before them, and a pod with
	// neither is a job of its own. The default is scheduling.x-k8s.io/pod-group and
	// batch.kubernetes.io/job-name. The pods of a job that name the same alternatives
	// are all charged on one of them.
	JobLabels []string `json:"jobLabels,omitempty"`

	// Missing says what a queue may use of cpu and memory when its capability doesn't
	// mention them: Denied, the default, or Unlimited. Cards that a queue doesn't
	// mention are denied in any case.
	Missing string `json:"missing,omitempty"`

	// CardUnlimitedCPUMemory leaves pods with cards out of the accounting of cpu and
	// memory.
	CardUnlimitedCPUMemory bool `json:"cardUnlimitedCpuMemory,omitempty"`
}

// Queue is a queue and the most that its pods and the pods of the queues below
// it may use together.
type Queue struct {
	Name   string `json:"name"`             // a value of a label
	Parent string `json:"parent,omitempty"` // empty: at the top

	Capability corev1.ResourceList `json:"capability,omitempty"` // of cpu and memory
	Cards      map[string]int64    `json:"cards,omitempty"`      // by name, whole cards
}

func (c *Config) queueLabel() string {
	if c.QueueLabel == "" {
		return "scheduling.volcano.sh/queue-name"
	}
	return c.QueueLabel
}

func (c *Config) jobLabels() []string {
	if c.JobLabels == nil {
		return []string{"scheduling.x-k8s.io/pod-group", "batch.kubernetes.io/job-name"}
	}
	return c.JobLabels
}

// ledger returns the configuration of the account. Pods count until they are gone.
func (c *Config) ledger() quota.Config {
	cfg := quota.Config{UnlimitedCPUMemory: c.CardUnlimitedCPUMemory, CountReleasing: true}
	if c.Missing == "Unlimited" {
		cfg.MissingUnlimited = true
	}
	return cfg
}

// Validate reports all faults, each with the path of its field below path. What is
// wrong with the queues as a whole is reported when nothing else is.
func (c *Config) Validate(path *field.Path) field.ErrorList {
	var faults field.ErrorList
	if len(c.Queues) == 0 {
		faults = append(faults, field.Required(path.Child("queues"), "at least one queue"))
	}
	label := func(path *field.Path, name string) {
		for _, fault := range validation.IsQualifiedName(name) {
			faults = append(faults, field.Invalid(path, name, fault))
		}
	}
	label(path.Child("queueLabel"), c.queueLabel())
	for i, name := range c.JobLabels {
		label(path.Child("jobLabels").Index(i), name)
	}
	if c.Missing != "" && c.Missing != "Denied" && c.Missing != "Unlimited" {
		faults = append(faults, field.NotSupported(path.Child("missing"), c.Missing, []string{"Denied", "Unlimited"}))
	}
	names, parents := map[string]bool{}, map[string]bool{}
	for i := range c.Queues {
		q, at := &c.Queues[i], path.Child("queues").Index(i)
		switch {
		case q.Name == "":
			faults = append(faults, field.Required(at.Child("name"), ""))
		case names[q.Name]:
			faults = append(faults, field.Duplicate(at.Child("name"), q.Name))
		}
		for _, fault := range validation.IsValidLabelValue(q.Name) {
			faults = append(faults, field.Invalid(at.Child("name"), q.Name, fault))
		}
		names[q.Name], parents[q.Parent] = true, true
		faults = append(faults, q.validate(at)...)
	}
	for i, q := range c.Queues {
		if q.Parent != "" && !names[q.Parent] {
			faults = append(faults, field.NotFound(path.Child("queues").Index(i).Child("parent"), q.Parent))
		}
	}
	switch at := path.Child("defaultQueue"); {
	case c.DefaultQueue == "":
	case !names[c.DefaultQueue]:
		faults = append(faults, field.NotFound(at, c.DefaultQueue))
	case parents[c.DefaultQueue]:
		faults = append(faults, field.Invalid(at, c.DefaultQueue, "has queues below it and takes no pods"))
	}
	if len(faults) > 0 {
		return faults
	}
	if _, err := c.account(); err != nil { // an amount that is too large, queues in a circle
		faults = append(faults, vectormap.Faults(path, err)...)
	}
	return faults
}

// account returns the ledger of the queues, without cards of nodes.
func (c *Config) account() (*quota.Ledger, error) {
	return quota.New(c.ledger(), nil, c.specs())
}

func (q *Queue) validate(path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(q.Capability)) {
		quantity := q.Capability[name]
		at := path.Child("capability").Key(string(name))
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			faults = append(faults, field.NotSupported(at, name, []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}))
		} else if quantity.Sign() < 0 {
			faults = append(faults, field.Invalid(at, quantity.String(), "must not be negative"))
		}
	}
	errs, _ := new(quota.Config).Validate([]quota.Queue{{Name: cmp.Or(q.Name, "unnamed"), Cards: q.Cards}}, nil)
	for _, err := range errs {
		err.Field = path.String() + strings.TrimPrefix(err.Field, "queues[0]")
	}
	return append(faults, errs...)
}

// specs returns the queues as the ledger wants them described.
func (c *Config) specs() []quota.Queue {
	specs := make([]quota.Queue, len(c.Queues))
	for i := range c.Queues {
		q := &c.Queues[i]
		specs[i] = quota.Queue{Name: q.Name, Parent: q.Parent, Capability: q.Capability, Cards: q.Cards}
	}
	return specs
}
