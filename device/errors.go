package device

import (
	"errors"

	"github.com/resvec/resvec/vector"
)

var (
	// ErrUnknownGeometry says that a product isn't known to have MIG.
	ErrUnknownGeometry = errors.New("device: unknown MIG geometry")

	// ErrUnknownCard says that no node has a card of this name.
	ErrUnknownCard = errors.New("device: unknown card")

	// ErrAmbiguousCard says that nodes disagree on the resource of a card.
	ErrAmbiguousCard = errors.New("device: card has several resources")

	// ErrInvalidCombination says that a pod asks for resources that can't be
	// asked for together.
	ErrInvalidCombination = errors.New("device: invalid combination of resources")

	// ErrInvalidUnit says that an amount is negative, no integer, or not one
	// that its resource can have.
	ErrInvalidUnit = errors.New("device: invalid amount")

	// ErrNoTotal says that the memory of a device, which a conversion needs, is
	// unknown.
	ErrNoTotal = errors.New("device: total memory unknown")

	// ErrJointViolation says that devices that must share their PCIe roots
	// can't.
	ErrJointViolation = errors.New("device: devices not on the same PCIe")

	// ErrNotRepresentable says that an amount has no exact place: in a batch one
	// that is no integer, or of a magnitude of 2^53 or more; elsewhere a sum or a
	// conversion of 2^63 or more.
	ErrNotRepresentable = vector.ErrNotRepresentable
)
