package share

import (
	"errors"
	"fmt"

	"github.com/resvec/resvec/vector"
)

var (
	// ErrInvalidCombination says that a pod asks for resources that can't be
	// asked for together.
	ErrInvalidCombination = errors.New("share: invalid combination of resources")

	// ErrInvalidUnit says that an amount is negative, no integer, or not one
	// that its resource can have.
	ErrInvalidUnit = errors.New("share: invalid amount")

	// ErrNoTotal says that the memory of a device, which a conversion needs, is
	// unknown.
	ErrNoTotal = errors.New("share: total memory unknown")

	// ErrJointViolation says that devices that must share their PCIe roots
	// can't.
	ErrJointViolation = errors.New("share: devices not on the same PCIe")

	// ErrNotRepresentable says that an amount has no exact place: in a batch one
	// that is no integer, or of a magnitude of 2^53 or more; elsewhere a sum or a
	// conversion of 2^63 or more.
	ErrNotRepresentable = vector.ErrNotRepresentable
)

// What a nil operand panics with.
const (
	panicNode = "share: nil node"
	panicMask = "share: nil mask"
)

// enumName returns the name of a value of an enumeration.
func enumName(value int, names ...string) string {
	if value < len(names) {
		return names[value]
	}
	return fmt.Sprintf("unknown(%d)", value)
}
