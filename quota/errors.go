package quota

import (
	"errors"
	"fmt"
)

// Test by errors.Is. Texts name object, value and what would be right.
var (
	ErrConflict  = errors.New("quota: id is in use with other content")     // or a job is in another queue
	ErrReserved  = fmt.Errorf("%w: reserved with another min", ErrConflict) // see [Ledger.Resize]
	ErrBadAmount = errors.New("quota: bad amount")                          // that nothing can have: negative, too large, no multiple of its unit, of no output; a sum that is too large
	ErrBadName   = errors.New("quota: name is empty or not UTF-8")          // it couldn't be written down
	ErrConfig    = errors.New("quota: snapshot of another configuration")
	ErrSnapshot  = errors.New("quota: broken snapshot") // of another format or version, broken off, or its content contradicts itself
)
