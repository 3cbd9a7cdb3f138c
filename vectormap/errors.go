package vectormap

import (
	"errors"
	"fmt"
	"strings"

	"github.com/resvec/resvec/vector"
)

var (
	// ErrNotRepresentable says that an amount has no exact place in its column
	// or in the Kubernetes type. It is vector.ErrNotRepresentable.
	ErrNotRepresentable = vector.ErrNotRepresentable

	// ErrNegative says that an amount is negative where only 0 or more makes
	// sense. Such an error is ErrNotRepresentable too.
	ErrNegative = fmt.Errorf("negative: %w", vector.ErrNotRepresentable)

	// ErrUnknownResource says that a map does not have a name; see
	// [*UnknownResourcesError].
	ErrUnknownResource = errors.New("unknown resource")

	// ErrVendorConflict says that two different original names would share one
	// index; see [*OriginalsError].
	ErrVendorConflict = errors.New("different resources at one index")

	// ErrAmbiguousName says that an index has several original names and the
	// caller chose none; see [*OriginalsError].
	ErrAmbiguousName = errors.New("several original names")

	// ErrAmbiguousGPU says that an amount of GPUs has no canonical count and
	// portion; see [ResourceRequirements.FromVector].
	ErrAmbiguousGPU = errors.New("no canonical count and portion")
)

// UnknownResourcesError reports the names that a map does not have. It wraps
// [ErrUnknownResource].
type UnknownResourcesError struct {
	Names []string // sorted, each once
}

// Error names all of them.
func (e *UnknownResourcesError) Error() string {
	return "vectormap: unknown resource " + strings.Join(e.Names, ", ")
}

// Unwrap returns [ErrUnknownResource].
func (e *UnknownResourcesError) Unwrap() error { return ErrUnknownResource }

// AmountError reports an amount that cannot be converted. It is not the type of
// this name in package vector. Several faults come joined: errors.As finds the
// first, and the error's Unwrap() []error has all. Err is or wraps
// [ErrNotRepresentable], [ErrNegative] or [ErrAmbiguousGPU].
type AmountError struct {
	Resource string
	Amount   string // as it was written
	Err      error
	reason   string
}

// Error names the resource and the amount.
func (e *AmountError) Error() string {
	return "vectormap: " + e.Resource + ": amount " + e.Amount + " " + e.reason
}

// Unwrap returns Err.
func (e *AmountError) Unwrap() error { return e.Err }

// NameError reports a name or an option that a map cannot be built with.
type NameError struct {
	Name   string
	Reason string
}

// Error names the name and says what is wrong with it.
func (e *NameError) Error() string {
	return fmt.Sprintf("vectormap: name %q %s", e.Name, e.Reason)
}

// OriginalsError reports an index with several original names. Err is
// [ErrVendorConflict] when the map is built, [ErrAmbiguousName] when an amount
// is converted back.
type OriginalsError struct {
	Name      string   // the index's own name
	Originals []string // sorted
	Err       error
}

// Error names all originals and the way out.
func (e *OriginalsError) Error() string {
	originals := strings.Join(e.Originals, " and ")
	if e.Err == ErrVendorConflict {
		return fmt.Sprintf("vectormap: %s would stand for %s: use NoFold or FoldVendors", e.Name, originals)
	}
	return fmt.Sprintf("vectormap: %s stands for %s: name the one to use", e.Name, originals)
}

// Unwrap returns Err.
func (e *OriginalsError) Unwrap() error { return e.Err }
