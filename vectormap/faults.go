package vectormap

import (
	"errors"

	"github.com/resvec/resvec/internal/fieldpath"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Faults returns the faults of a configuration one by one, with path before the path of
// each. Use it to print them, or where the configuration is a part of another one. err is
// an error of a parser, a compiler or a check of any package of this module; nil has no
// faults, and for warnings it is their ToAggregate. A name that a map does not have is a
// fault of type NotFound. An error that is no *field.Error, such as YAML that cannot be
// read, is a fault of the whole configuration; with a nil path its path is (document).
// The faults are new, and in the order of err.
func Faults(path *field.Path, err error) field.ErrorList {
	c := faultCollector{root: path.String(), path: path}
	c.add(err)
	return c.list
}

type faultCollector struct {
	root string
	path *field.Path
	list field.ErrorList
}

// add adds the faults of an error.
func (c *faultCollector) add(err error) {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		switch e := inner.(type) {
		case *field.Error:
			c.note(*e)
			return
		case *UnknownResourcesError:
			for _, name := range e.Names {
				fault := field.NotFound(nil, name)
				fault.Detail = ErrUnknownResource.Error() + e.known()
				c.note(*fault)
			}
			return
		case utilerrors.Aggregate:
			c.addAll(e.Errors())
			return
		case interface{ Unwrap() []error }:
			c.addAll(e.Unwrap())
			return
		}
	}
	if err != nil {
		c.note(*field.Invalid(nil, field.OmitValueType{}, err.Error()))
	}
}

func (c *faultCollector) addAll(errs []error) {
	for _, err := range errs {
		c.add(err)
	}
}

// note adds a fault below the path.
func (c *faultCollector) note(fault field.Error) {
	fault.Field = fieldpath.Below(c.root, fault.Field)
	c.list = append(c.list, &fault)
}
