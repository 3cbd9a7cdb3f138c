package device

import (
	"errors"
	"fmt"

	"github.com/resvec/resvec/vectormap"
)

// Profile is a parsed MIG profile, such as 3g.20gb or 1g.5gb+me. It is a
// comparable value; the zero value is no profile.
type Profile = vectormap.MIGProfile

// ProfileError reports a name that is no MIG profile.
type ProfileError = vectormap.MIGError

// ParseProfile parses the name of a MIG profile or of the resource that carries
// it, as [vectormap.ParseMIG] does; shared reports a name that ends in .shared.
// Anything else is a *[ProfileError].
func ParseProfile(name string) (p Profile, shared bool, err error) { return vectormap.ParseMIG(name) }

// notProfile says what is wrong with a name, by the error of [ParseProfile].
func notProfile(err error) string {
	var fault *ProfileError
	if !errors.As(err, &fault) {
		return err.Error()
	}
	return fmt.Sprintf("%q: must be a MIG profile such as 1g.5gb: %s", fault.Name, fault.Reason)
}
