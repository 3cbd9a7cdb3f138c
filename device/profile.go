package device

import (
	"errors"
	"fmt"

	"github.com/resvec/resvec/vectormap"
)

// notProfile says what is wrong with a name, by the error of [vectormap.ParseMIG].
func notProfile(err error) string {
	var fault *vectormap.MIGError
	if !errors.As(err, &fault) {
		return err.Error()
	}
	return fmt.Sprintf("%q: must be a MIG profile such as 1g.5gb: %s", fault.Name, fault.Reason)
}
