package share

import "errors"

var (
	// ErrInvalidCombination says that a pod requests resources that can't be requested
	// together, or of the wrong kind of devices.
	ErrInvalidCombination = errors.New("share: invalid combination of resources")

	// ErrInvalidUnit says that an amount is negative, no integer, or not one that
	// its resource can have.
	ErrInvalidUnit = errors.New("share: invalid amount")

	// ErrNoTotal says that a conversion needs the total of a device, such as its memory,
	// which is unknown or not the same for all.
	ErrNoTotal = errors.New("share: no total memory to convert by")

	// ErrJointViolation says that devices that must share their PCIe roots can't.
	ErrJointViolation = errors.New("share: devices not on the same PCIe")
)
