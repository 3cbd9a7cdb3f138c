package scoring

import (
	"errors"
	"slices"

	"github.com/resvec/resvec/internal/document"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxDocument is the size in bytes of the largest document that is read, the most
// that a ConfigMap can hold.
const maxDocument = 1 << 20

// readDocument reads one document, as [document.Read] does; an empty one is null.
// Repeated keys are noted, numbers that are not finite are left to the walker.
// What makes the document unreadable is noted of it as a whole; ok is false then.
func readDocument(data []byte, r *report) (root any, ok bool) {
	root, faults, err := document.Read(data, maxDocument)
	switch {
	case err == nil:
	case errors.Is(err, document.ErrEmpty):
		return nil, true
	default:
		r.fail(field.Invalid(nil, field.OmitValueType{}, brief(err.Error())))
		return nil, false
	}
	noted := map[string]bool{}
	for _, fault := range faults {
		path := pathOf(fault.Path)
		if fault.Repeated && !noted[path] {
			noted[path] = true
			r.fail(duplicate(path, fault.Path[len(fault.Path)-1].Key))
		}
	}
	return root, true
}

// pathOf returns a path as the walker writes it: entries by name below some keys,
// fields elsewhere.
func pathOf(steps []document.Step) (path string) {
	byName := false
	for _, step := range steps {
		switch {
		case step.IsItem:
			path = itemPath(path, step.Item)
		case byName:
			path = keyPath(path, step.Key)
		default:
			path = fieldPath(path, step.Key)
		}
		byName = !byName && slices.Contains(keysOfNames, step.Key)
	}
	return path
}

// keysOfNames are the keys whose values have entries by name.
var keysOfNames = []string{pathResources, pathSRAWeights, pathProportion, pathWeights}
