package document

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/resvec/resvec/internal/quantity"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// KubeObject is an object of Kubernetes. Its paths begin with its kind and its name, such as
// Queue[team-a].spec, as a text may have many.
type KubeObject struct {
	APIVersion, Kind, Name string
	Root                   Value
	Metadata, Spec         Fields // of the metadata only what its user asks for is read
}

// ReadObjects returns the objects of any number of documents. A List, as kubectl prints
// it, stands for its items, which have the kind of a QueueList if they have none, as client
// libraries write it. What is wrong is noted in r; objects without a kind or a name are left out.
func ReadObjects(data []byte, o Options, r *Report) []KubeObject {
	var objects []KubeObject
	for i, root := range readRoots(data, math.MaxInt, o, r) {
		root = root.At(fmt.Sprintf("document[%d]", i))
		kind, isList := strings.CutSuffix(root.Peek("kind").Written(), "List")
		if !isList {
			objects = appendObject(objects, root, KubeObject{}, r)
			continue
		}
		list := root.Fields()
		list.Known("apiVersion", "kind", "metadata", "items")
		var of KubeObject
		if kind != "" {
			of = KubeObject{APIVersion: root.Peek("apiVersion").Written(), Kind: kind}
		}
		for _, item := range list.Get("items").Items() {
			objects = appendObject(objects, item, of, r)
		}
	}
	return objects
}

// appendObject appends an object, which takes the kind of o if it has none.
func appendObject(objects []KubeObject, root Value, o KubeObject, r *Report) []KubeObject {
	kind, name := cmp.Or(root.Peek("kind").Written(), o.Kind), root.Peek("metadata").Peek("name").Written()
	if kind != "" && name != "" { // with them, people find it
		root = root.At(OneLine(Cut(kind) + "[" + Cut(name) + "]"))
	}
	x := root.Item()
	if !x.IsRead() {
		return objects
	}
	o.Root, o.Metadata, o.Spec = root, x.Get("metadata").Fields(), x.Get("spec").Fields()
	x.Known("apiVersion", "kind", "metadata", "spec", "status")
	isWhole := true
	for _, part := range []struct {
		value Value
		text  *string
	}{{x.Get("apiVersion"), &o.APIVersion}, {x.Get("kind"), &o.Kind}, {o.Metadata.Get("name"), &o.Name}} {
		text, ok := part.value.Text()
		if part.value.Kind() == Absent {
			text = *part.text
		}
		if ok && text == "" {
			r.Fail(field.Required(field.NewPath(part.value.Path()), ""))
		}
		*part.text, isWhole = text, isWhole && text != ""
	}
	if !isWhole {
		return objects
	}
	return append(objects, o)
}

// Integer32 reads a whole number of 32 bits, and gives otherwise where it is absent.
func (v Value) Integer32(otherwise int32) int32 {
	x, found := v.Integer()
	switch {
	case found == NoNumber:
		return otherwise
	case found == Clean && int64(int32(x)) != x:
		v.Malformed("must be an integer of 32 bits")
	}
	return int32(x)
}

// Quantity reads a quantity of Kubernetes, a string or a number. ok is false when it is
// absent or something else.
func (v Value) Quantity() (q resource.Quantity, ok bool) {
	if _, ok = v.Literal("a quantity"); !ok {
		return q, false
	}
	text := v.Exact()
	q, err := quantity.Parse(text)
	switch {
	case err != nil:
		v.Malformed(err.Error())
	case quantity.Kept(q, text) != 0:
		v.Malformed("must be of nano units, and below 2^63 where its suffix is binary")
	default:
		return q, true
	}
	return q, false
}

// Amount is an amount of a resource in an object.
type Amount struct {
	Name string // of the resource
	Value
	Quantity resource.Quantity
}

// Amounts reads a list of resources, in the order of their names. Those that cannot be
// read are left out.
func (v Value) Amounts() (list []Amount) {
	for name, x := range v.Names().All() {
		if x.Kind() == Absent {
			continue
		}
		if q, ok := x.Quantity(); ok {
			list = append(list, Amount{name, x, q})
		}
	}
	return list
}

// VolcanoQueue is what the spec of a Queue of Volcano says about amounts and order.
type VolcanoQueue struct {
	Parent                          string // "": none is named
	ParentValue                     Value
	Priority, Weight                int32
	Capability, Guarantee, Deserved []Amount

	State Value // Open, Closing or Closed, of the status; often absent
}

// IsVolcanoQueue reports whether the object is a Queue of Volcano.
func (o KubeObject) IsVolcanoQueue() bool {
	return o.Kind == "Queue" && o.APIVersion == "scheduling.volcano.sh/v1beta1"
}

// VolcanoQueue reads a Queue of Volcano. Whether it may be reclaimed from and where its
// pods go are the scheduler's own matter. Of the status the state alone is looked at: it
// stands there in v1beta1, as the controller writes the rest of it.
func (o KubeObject) VolcanoQueue() (q VolcanoQueue) {
	o.Spec.Known("weight", "capability", "reclaimable", "extendClusters", "guarantee", "affinity", "type",
		"parent", "deserved", "priority", "dequeueStrategy")
	q.ParentValue = o.Spec.Get("parent")
	q.Parent, _ = q.ParentValue.Text()
	q.Priority = o.Spec.Get("priority").Integer32(0)
	weight := o.Spec.Get("weight")
	if q.Weight = weight.Integer32(1); q.Weight < 1 {
		weight.Malformed("must be at least 1")
	}
	guarantee := o.Spec.Get("guarantee").Fields()
	guarantee.Known("resource")
	q.Capability = o.Spec.Get("capability").Amounts()
	q.Guarantee = guarantee.Get("resource").Amounts()
	q.Deserved = o.Spec.Get("deserved").Amounts()
	q.State = o.Root.Peek("status").Peek("state")
	return q
}

// VolcanoParent returns the parent that a queue of Volcano has: where the queue root has an
// object, it is the parent of those that name none; where it has none, it is the top.
func VolcanoParent(name, parent string, hasRoot bool) string {
	switch {
	case hasRoot && parent == "" && name != volcanoRoot:
		return volcanoRoot
	case !hasRoot && parent == volcanoRoot:
		return ""
	}
	return parent
}

const volcanoRoot = "root"

// Annotations returns the annotations of an object, nil where it has none.
func (o KubeObject) Annotations() map[string]string {
	var list map[string]string
	for key, v := range o.Metadata.Get("annotations").Names().All() {
		if text, ok := v.Text(); ok {
			if list == nil {
				list = map[string]string{}
			}
			list[key] = text
		}
	}
	return list
}
