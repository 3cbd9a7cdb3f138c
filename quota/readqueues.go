package quota

import (
	"github.com/resvec/resvec/internal/document"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxText is the size in bytes of the largest text of queues that is read.
const maxText = 16 << 20

// ReadQueues reads Volcano's Queues, in YAML or JSON, in any number of documents or Lists.
// Where the queue root is among them, those that name no parent are below it; else queues
// below root are at the top. The error is an Aggregate of a *field.Error per fault;
// [Config.Validate] looks at annotations.
func ReadQueues(data []byte) ([]Queue, error) {
	var report document.Report
	var queues []Queue
	// By name: a Queue has no namespace.
	seen := map[string]bool{}
	for _, o := range document.ReadObjects(data, document.Options{MaxSize: maxText}, &report) {
		switch {
		case !o.IsVolcanoQueue():
			kind := o.Root.Peek("kind")
			// Not left out: a misspelt kind would lose a limit.
			kind.Refuse(field.NotSupported(field.NewPath(kind.Path()), document.Cut(o.APIVersion+" "+o.Kind), []string{"scheduling.volcano.sh/v1beta1 Queue"}))
			continue
		case seen[o.Name]:
			report.Fail(field.Duplicate(field.NewPath(o.Metadata.Get("name").Path()), document.Cut(o.Name)))
			continue
		}
		seen[o.Name] = true
		q := o.VolcanoQueue()
		queues = append(queues, Queue{
			Name: o.Name, Parent: q.Parent, Priority: q.Priority, State: readState(q.State),
			Annotations: o.Annotations(),
			Capability:  readAmounts(q.Capability, &report),
			Guarantee:   readAmounts(q.Guarantee, &report),
			Deserved:    readAmounts(q.Deserved, &report),
		})
	}
	// After all of them, since root may stand anywhere in the text.
	for i := range queues {
		q := &queues[i]
		q.Parent = document.VolcanoParent(q.Name, q.Parent, seen["root"])
	}
	// All faults at once, and no queue: half a tree would limit half of what it should.
	if err := report.Err("quota"); err != nil {
		return nil, err
	}
	return queues, nil
}

// readState reads the state of a status, which may be absent. A queue without one, which no
// controller has seen yet, is open.
func readState(v document.Value) State {
	text, _ := v.Text()
	switch state := State(text); state {
	case "", StateOpen, StateClosing, StateClosed, stateUnknown:
		return state
	}
	v.Refuse(field.NotSupported(field.NewPath(v.Path()), document.Cut(text), []State{StateOpen, StateClosing, StateClosed, stateUnknown}))
	return ""
}

// readAmounts returns amounts as a list of Kubernetes; nil: there are none. A negative one
// is a fault here already, where its place in the text is known.
func readAmounts(amounts []document.Amount, report *document.Report) corev1.ResourceList {
	if len(amounts) == 0 {
		return nil
	}
	list := make(corev1.ResourceList, len(amounts))
	for _, a := range amounts {
		if a.Quantity.Sign() < 0 {
			report.Fail(a.Invalid("must be 0 or more"))
		}
		list[corev1.ResourceName(a.Name)] = a.Quantity
	}
	return list
}
