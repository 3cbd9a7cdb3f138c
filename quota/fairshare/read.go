package fairshare

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ParseError is the error of [ReadQueues] for text that it cannot read, or whose objects
// are not of the form that they must have.
type ParseError = document.ParseError

// NamedQueue is a queue to [Tree.Set].
type NamedQueue struct {
	Name string
	Queue
}

// maxText is the size in bytes of the largest text that is read.
const maxText = 16 << 20

// maxWeight is the greatest weight that a queue may have.
const maxWeight = 1e6

// ReadQueues reads the Queues of KAI (scheduling.run.ai/v2) or Volcano
// (scheduling.volcano.sh/v1beta1), or the ClusterQueues and Cohorts of Kueue
// (kueue.x-k8s.io, v1beta1 and v1beta2): all that there are, in YAML or JSON, in any number
// of documents. Parents come first in the result. Ranks follow creation times, then the text.
//
// Amounts are in the units of the map, and must be whole there: declare a resource with
// fractions as [vectormap.Milli]. A flavor of Kueue has the column FLAVOR/RESOURCE where
// the map has that name, otherwise the one of the resource; [ResourceNames] has the names.
//
// Defaults are those of the projects. In KAI an absent quota, weight or limit is 0, and the
// priority 100. A ClusterQueue without a cohort borrows nothing, and has nothing of what it
// doesn't cover, except pods. A cohort that has no object is a queue at the top. What is
// no share, such as reclaimable, preemption policies and flavors' order, is the host's matter.
//
// The error names for each fault the object, the field and the value, all at once: a
// [*ParseError], or an Aggregate of *field.Error where the form is right.
func ReadQueues(data []byte, m *vectormap.ResourceVectorMap) ([]NamedQueue, error) {
	r := reader{m: m, at: map[string]int{}}
	for _, o := range document.ReadObjects(data, document.Options{MaxSize: maxText}, &r.report) {
		r.object(o)
	}
	r.addTops()
	queues := r.sorted()
	if err := r.report.Err("fairshare"); err != nil {
		return nil, err
	}
	return queues, nil
}

// ResourceNames returns the names that a map needs for [ReadQueues], sorted: the
// resources, and FLAVOR/RESOURCE for one that Kueue's objects have in several flavors. The
// error is the one of ReadQueues, as far as no map is needed to find it.
func ResourceNames(data []byte) ([]string, error) {
	r := reader{at: map[string]int{}, flavors: map[string]map[string]bool{}}
	for _, o := range document.ReadObjects(data, document.Options{MaxSize: maxText}, &r.report) {
		r.object(o)
	}
	if err := r.report.Err("fairshare"); err != nil {
		return nil, err
	}
	var names []string
	for resource, flavors := range r.flavors {
		if len(flavors) == 1 {
			names = append(names, resource)
			continue
		}
		for flavor := range flavors {
			if flavor != "" {
				names = append(names, flavor+"/"+resource)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// reader collects the queues of a text.
type reader struct {
	report document.Report
	m      *vectormap.ResourceVectorMap
	queues []readQueue
	at     map[string]int // where a name is in queues

	flavors map[string]map[string]bool // of a resource, where there is no map yet
}

// readQueue is a queue with what only its place in the tree and its rank need.
type readQueue struct {
	NamedQueue
	parent  document.Value
	created time.Time

	isKueue   bool // its parent is a cohort, which needs no object
	isVolcano bool // its top is the queue root, which needs no object
}

func (r *reader) object(o document.KubeObject) {
	q := r.newQueue(o.Name)
	// One text may have the kinds of all three projects. What is no queue is refused by its kind:
	// to pass over a kind that is misspelled would leave out its queues without a word.
	var read func(document.KubeObject, *readQueue)
	switch {
	case o.APIVersion == "scheduling.run.ai/v2" && o.Kind == "Queue":
		read = r.kai
	case o.IsVolcanoQueue():
		read = r.volcano
	case strings.HasPrefix(o.APIVersion, "kueue.x-k8s.io/") && (o.Kind == "ClusterQueue" || o.Kind == "Cohort"):
		read = r.kueue
	default:
		kinds := []string{"scheduling.run.ai/v2 Queue", "scheduling.volcano.sh/v1beta1 Queue",
			"kueue.x-k8s.io/v1beta1 ClusterQueue", "kueue.x-k8s.io/v1beta1 Cohort",
			"kueue.x-k8s.io/v1beta2 ClusterQueue", "kueue.x-k8s.io/v1beta2 Cohort"}
		kind := o.Root.Peek("kind")
		kind.Refuse(field.NotSupported(field.NewPath(kind.Path()), document.Cut(o.APIVersion+" "+o.Kind), kinds))
		return
	}
	if _, twice := r.at[o.Name]; twice {
		r.report.Fail(field.Duplicate(field.NewPath(o.Metadata.Get("name").Path()), document.Cut(o.Name)))
		return
	}
	created := o.Metadata.Get("creationTimestamp")
	if text, ok := created.Text(); ok && text != "" {
		var err error
		if q.created, err = time.Parse(time.RFC3339, text); err != nil {
			created.Malformed("must be a time such as 2026-01-31T12:00:00Z")
		}
	}
	read(o, &q)
	r.at[o.Name] = len(r.queues)
	r.queues = append(r.queues, q)
}

// newQueue returns a queue without limits, with all columns once there is a map.
func (r *reader) newQueue(name string) readQueue {
	q := readQueue{NamedQueue: NamedQueue{Name: name}}
	if r.m != nil {
		unlimited := vector.ResourceVector{math.Inf(1)}
		q.Deserved, q.Guarantee = r.m.NewVector(), r.m.NewVector()
		q.Limit, q.Lending = slices.Repeat(unlimited, r.m.Len()), slices.Repeat(unlimited, r.m.Len())
	}
	return q
}

// kai reads a Queue of KAI. Amounts are numbers: of cards, of thousandths of a CPU, and of
// 10^6 bytes. What is not there is 0, as in its Go types: a queue without a limit in the text may
// have nothing, and -1 is what lifts it. That surprises, but it is what the cluster does.
func (r *reader) kai(o document.KubeObject, q *readQueue) {
	o.Spec.Known("displayName", "parentQueue", "resources", "priority", "preemptMinRuntime", "reclaimMinRuntime")
	q.parent = o.Spec.Get("parentQueue")
	q.Parent, _ = q.parent.Text()
	q.Priority = int64(o.Spec.Get("priority").Integer32(100))
	resources := o.Spec.Get("resources").Fields()
	resources.Known("gpu", "cpu", "memory")
	if r.m != nil {
		q.Weight = slices.Repeat([]float64{1}, r.m.Len())
	}
	for _, of := range []struct {
		key, name string
		unit      *big.Rat
	}{
		{"gpu", "nvidia.com/gpu", big.NewRat(1, 1)},
		{"cpu", "cpu", big.NewRat(1, 1000)},
		{"memory", "memory", big.NewRat(1e6, 1)},
	} {
		x := resources.Get(of.key).Fields()
		x.Known("quota", "overQuotaWeight", "limit", "lendingLimit")
		c := r.column(x.Get("quota"), "", of.name, of.key)
		c.scale.Mul(c.scale, of.unit) // 1/1000 of a CPU may be a whole number of the column's unit, or not
		amount := func(key string, absent, bad float64) float64 {
			v := x.Get(key)
			switch n, found := v.Number(); {
			case found == document.NoNumber:
				return absent
			case found != document.Clean:
				return bad
			case n == -1 && key != "lendingLimit":
				return math.Inf(1)
			}
			return r.whole(v, c, bad)
		}
		// A limit that can't be read bounds nothing: its quota is no second fault.
		deserved, limit, lending := amount("quota", 0, 0), amount("limit", 0, math.Inf(1)), amount("lendingLimit", math.Inf(1), math.Inf(1))
		r.bound(x.Get("quota"), c, deserved, limit, "limit")
		weight := 0.0
		if v := x.Get("overQuotaWeight"); v.Kind() != document.Absent {
			if _, found := v.Number(); found == document.Clean {
				weight = r.weight(v)
			}
		}
		if c.index >= 0 {
			q.Deserved[c.index], q.Limit[c.index], q.Lending[c.index], q.Weight[c.index] = deserved, limit, lending, weight
		}
	}
}

// volcano reads a Queue of Volcano. Its queue root is the top where it has no object.
func (r *reader) volcano(o document.KubeObject, q *readQueue) {
	spec := o.VolcanoQueue()
	q.Parent, q.parent, q.isVolcano = spec.Parent, spec.ParentValue, true
	q.Priority, q.Weight = int64(spec.Priority), []float64{float64(spec.Weight)}
	if spec.Weight > maxWeight {
		r.report.Fail(o.Root.Peek("spec").Peek("weight").Invalid("must be at most 10^6"))
	}
	for _, list := range []struct {
		amounts []document.Amount
		dst     vector.ResourceVector
	}{{spec.Capability, q.Limit}, {spec.Guarantee, q.Guarantee}, {spec.Deserved, q.Deserved}} {
		seen := map[int]bool{}
		for _, a := range list.amounts {
			c := r.column(a.Value, "", a.Name)
			if c.index < 0 {
				continue
			}
			if seen[c.index] {
				r.report.Fail(field.Duplicate(field.NewPath(a.Path()), r.m.Name(c.index)))
			}
			seen[c.index] = true
			list.dst[c.index] = r.whole(a.Value, c, list.dst[c.index])
			r.bound(a.Value, c, list.dst[c.index], q.Limit[c.index], "capability") // which is read first
		}
	}
}

// kueue reads a ClusterQueue or a Cohort. Both have quotas: a cohort's are for all below it.
// What a queue doesn't cover it can't have, so its limit is 0 there; but Kueue counts pods
// only in queues that cover them, and so does this. A cohort without quota lends what its
// queues have, and is limited by nothing.
func (r *reader) kueue(o document.KubeObject, q *readQueue) {
	version := strings.TrimPrefix(o.APIVersion, "kueue.x-k8s.io/")
	parent := "parentName"
	switch {
	case version != "v1beta1" && version != "v1beta2":
		v := o.Root.Peek("apiVersion")
		v.Refuse(field.NotSupported(field.NewPath(v.Path()), document.Cut(o.APIVersion), []string{"kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"}))
		return
	case o.Kind == "Cohort":
		o.Spec.Known(parent, "resourceGroups", "fairSharing")
	default:
		keys := []string{"resourceGroups", "queueingStrategy", "namespaceSelector", "flavorFungibility", "preemption",
			"admissionChecksStrategy", "stopPolicy", "fairSharing", "admissionScope"}
		if parent = "cohortName"; version == "v1beta1" {
			parent = "cohort"
			keys = append(keys, "admissionChecks")
		} else {
			keys = append(keys, "concurrentAdmissionPolicy")
		}
		o.Spec.Known(append(keys, parent)...)
	}
	q.parent, q.isKueue = o.Spec.Get(parent), true
	q.Parent, _ = q.parent.Text()
	sharing := o.Spec.Get("fairSharing").Fields()
	sharing.Known("weight")
	if w := sharing.Get("weight"); w.Kind() != document.Absent {
		q.Weight = []float64{r.weight(w)}
	}
	// Each resource is in one group, and each flavor of the group has it. What the tree needs is the
	// quota of each flavor; in which order flavors are tried is the host's matter.
	covered := map[int]bool{}
	for _, group := range o.Spec.Get("resourceGroups").Items() {
		x := group.Item()
		x.Known("coveredResources", "flavors")
		for _, name := range x.Get("coveredResources").Items() {
			_, _ = name.Text()
		}
		for _, flavor := range x.Get("flavors").Items() {
			r.flavor(flavor.Item(), o, q, covered)
		}
	}
	for column := range q.Limit {
		if o.Kind == "ClusterQueue" && !covered[column] && r.m.Name(column) != "pods" {
			q.Limit[column] = 0
		}
	}
}

// flavor reads what a queue of Kueue has of a flavor. A borrowing limit counts on top of the
// nominal quota, so the limit of the tree is their sum; without a cohort there is nobody to
// borrow from, and the quota is the limit.
func (r *reader) flavor(x document.Fields, o document.KubeObject, q *readQueue, covered map[int]bool) {
	x.Known("name", "resources")
	name, _ := x.Get("name").Text()
	for _, item := range x.Get("resources").Items() {
		quota := item.Item()
		quota.Known("name", "nominalQuota", "borrowingLimit", "lendingLimit")
		resource, isText := quota.Get("name").Text()
		if isText && resource == "" {
			r.report.Fail(field.Required(field.NewPath(quota.Get("name").Path()), ""))
		}
		nominal, borrowing, lending := quota.Get("nominalQuota"), quota.Get("borrowingLimit"), quota.Get("lendingLimit")
		if quota.IsRead() && o.APIVersion == "kueue.x-k8s.io/v1beta1" && nominal.Kind() == document.Absent {
			r.report.Fail(field.Required(field.NewPath(nominal.Path()), ""))
		}
		if resource == "" {
			continue
		}
		c := r.column(quota.Get("name"), name, resource)
		deserved := r.whole(nominal, c, 0)
		most, lent := r.whole(borrowing, c, math.Inf(1)), r.whole(lending, c, math.Inf(1))
		// Kueue's webhook refuses these, too. To read them as no limit would lend what isn't lent.
		for _, limit := range []document.Value{borrowing, lending} {
			if q.Parent == "" && limit.Kind() != document.Absent {
				r.report.Fail(limit.Invalid("must be absent: there is no cohort above to borrow from or to lend to"))
			}
		}
		switch {
		case c.index < 0:
			continue
		case covered[c.index]:
			r.report.Fail(field.Duplicate(field.NewPath(quota.Get("name").Path()), document.Cut(resource)))
			continue
		}
		covered[c.index] = true
		// The tree would refuse the limit, and name a value that is nowhere in the text.
		if sum := deserved + most; sum >= tooLarge && !math.IsInf(sum, 1) {
			r.report.Fail(borrowing.Invalid("must be below 2^53 of what its column counts, with nominalQuota"))
		}
		q.Deserved[c.index], q.Lending[c.index], q.Limit[c.index] = deserved, lent, deserved+most
		if o.Kind == "ClusterQueue" && q.Parent == "" {
			q.Limit[c.index] = deserved
		}
	}
}

// column is a column of the map, and how many of its units one of a resource is; the index is -1
// where there is none.
type column struct {
	index int
	scale *big.Rat
}

// column returns the column of a resource: of the first of its names that the map has. v
// is what a fault is about. Where there is no map yet, the name is noted for it.
func (r *reader) column(v document.Value, flavor string, names ...string) column {
	resource := names[0]
	if r.m == nil {
		of := r.flavors[resource]
		if of == nil {
			of = map[string]bool{}
			r.flavors[resource] = of
		}
		of[flavor] = true
		return column{-1, new(big.Rat)}
	}
	if flavor != "" {
		names = append([]string{flavor + "/" + resource}, names...)
	}
	for _, name := range names {
		if i, ok := r.m.Index(name); ok {
			return column{i, big.NewRat(r.m.Unit(i).Scale(), 1)}
		}
	}
	// To leave the amount out would give the queue more, or less, than its owner wrote.
	r.report.Fail(field.NotFound(field.NewPath(v.Path()), document.Cut(resource)))
	return column{-1, new(big.Rat)}
}

// whole reads an amount, in units of a column where there is one. Absent and bad amounts are
// otherwise.
func (r *reader) whole(v document.Value, c column, otherwise float64) float64 {
	x, ok := r.scaled(v, c.scale)
	switch {
	case !ok || c.index < 0:
		return otherwise
	case !x.IsInt():
		r.report.Fail(v.Invalid("must be a whole number of what its column counts"))
	case x.Cmp(big.NewRat(tooLarge, 1)) >= 0:
		r.report.Fail(v.Invalid("must be below 2^53 of what its column counts"))
	default:
		whole, _ := x.Float64()
		return whole
	}
	return otherwise
}

// bound notes an amount that is more than the limit of its queue. The tree would refuse the queue,
// too, and not say where in the text it is.
func (r *reader) bound(v document.Value, c column, x, limit float64, what string) {
	if c.index >= 0 && x > limit && !math.IsInf(x, 1) {
		r.report.Fail(v.Invalid("must not be more than the " + what + ", which is " + r.m.Format(c.index, limit)))
	}
}

// weight reads a weight, which is 1 where it is bad.
func (r *reader) weight(v document.Value) float64 {
	x, ok := r.scaled(v, big.NewRat(1000, 1))
	if !ok {
		return 1
	}
	if !x.IsInt() || x.Cmp(big.NewRat(1000*maxWeight, 1)) > 0 {
		r.report.Fail(v.Invalid("must be a multiple of 0.001 from 0 to 10^6"))
		return 1
	}
	thousandths, _ := x.Float64()
	return thousandths / 1000
}

// scaled reads a quantity as a multiple of 1/scale, as a fraction: 100m of a column in whole
// units is 1/10, which whole then refuses, where a float64 would have to guess. It is not ok where it is absent or bad.
func (r *reader) scaled(v document.Value, scale *big.Rat) (x *big.Rat, ok bool) {
	q, ok := v.Quantity()
	if !ok {
		return nil, false
	}
	if q.Sign() < 0 {
		r.report.Fail(v.Invalid("must be 0 or more"))
		return nil, false
	}
	x, ok = new(big.Rat).SetString(q.AsDec().String())
	return x.Mul(x, scale), ok
}

// addTops adds the cohorts that are named and have no object, in the order of names, and
// puts what Volcano has at its top there.
func (r *reader) addTops() {
	cohorts := map[string]bool{}
	_, hasRoot := r.at["root"]
	for i := range r.queues {
		q := &r.queues[i]
		_, known := r.at[q.Parent]
		switch {
		case q.isKueue && q.Parent != "" && !known:
			cohorts[q.Parent] = true
		case q.isVolcano:
			q.Parent = document.VolcanoParent(q.Name, q.Parent, hasRoot)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cohorts)) {
		r.at[name] = len(r.queues)
		r.queues = append(r.queues, r.newQueue(name))
	}
}

// sorted gives the queues their ranks and returns them, parents first: level by level, from
// the top. So a host can set them in this order, and what is never reached is below itself, or
// below a parent that isn't there.
func (r *reader) sorted() []NamedQueue {
	order := make([]int, len(r.queues))
	for i := range order {
		order[i] = i
	}
	// Objects without a time come first, as the oldest: kubectl prints one for all that are in a
	// cluster, so these were written by hand.
	slices.SortStableFunc(order, func(i, j int) int { return r.queues[i].created.Compare(r.queues[j].created) })
	below := map[string][]int{}
	for rank, i := range order {
		q, rank := &r.queues[i], int64(rank)
		q.Rank = &rank
		if _, known := r.at[q.Parent]; q.Parent != "" && !known {
			r.report.Fail(field.NotFound(field.NewPath(q.parent.Path()), document.Cut(q.Parent)))
		}
		below[q.Parent] = append(below[q.Parent], i)
	}
	var queues []NamedQueue
	reached, isReached := below[""], make([]bool, len(r.queues))
	for k := 0; k < len(reached); k++ { // it grows
		q := &r.queues[reached[k]]
		isReached[reached[k]] = true
		queues = append(queues, q.NamedQueue)
		reached = append(reached, below[q.Name]...)
	}
	// What nothing at the top is above is below an unknown parent, or below itself.
	for i := range r.queues {
		q := &r.queues[i]
		if _, known := r.at[q.Parent]; known && !isReached[i] {
			r.report.Fail(q.parent.Invalid("must lead to the top, through its parents"))
		}
	}
	return queues
}
