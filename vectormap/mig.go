package vectormap

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

const migPrefix = "nvidia.com/mig-"

// MIGProfile is the parsed name of an NVIDIA MIG profile. It is a comparable
// value; [ParseMIG] makes valid ones.
type MIGProfile struct {
	C      int    // compute slices of a compute instance; 0: the whole GPU instance
	G      int    // compute slices of the GPU instance
	MemGB  int    // memory in GB as the name has it, a rounded number
	Suffix string // "", "+me", "+me.all", "-me" or "+gfx"
}

// MIGError reports a name that is no MIG profile.
type MIGError struct {
	Name   string
	Reason string
}

// Error names the name and says what is wrong with it.
func (e *MIGError) Error() string {
	return fmt.Sprintf("vectormap: %q is no MIG profile: %s", e.Name, e.Reason)
}

// ParseMIG parses a MIG profile name,
//
//	[nvidia.com/mig- | mig-] [<c>c.] <g>g. <m>gb [suffix] [.shared]
//
// where c, g and m are numbers from 1 to 9999 without leading zeros, c is at
// most g, and suffix is +me, +me.all, +gfx or -me, or the spelling of resource
// names, .me, .me.all or .gfx. It is the one grammar of such names in this
// module. The result has the suffix in its + form; shared reports whether the
// name ended in .shared, as a device plugin names the replicas of an instance.
// Anything else is a [*MIGError]. It does not allocate unless it fails.
func ParseMIG(name string) (p MIGProfile, shared bool, err error) {
	rest := strings.TrimPrefix(name, migPrefix)
	if len(rest) == len(name) {
		rest = strings.TrimPrefix(name, "mig-")
	}
	fail := func(reason string) (MIGProfile, bool, error) {
		return MIGProfile{}, false, &MIGError{name, reason}
	}
	first, after, ok := migNumber(rest)
	if !ok {
		return fail("it starts with no number from 1 to 9999")
	}
	if tail, ok := strings.CutPrefix(after, "c."); ok {
		p.C = first
		if first, after, ok = migNumber(tail); !ok {
			return fail("no number from 1 to 9999 after the compute slices")
		}
	}
	tail, ok := strings.CutPrefix(after, "g.")
	if !ok {
		return fail("no GPU slices (<g>g.)")
	}
	p.G = first
	if p.C > p.G {
		return fail("more compute slices than GPU slices")
	}
	if p.MemGB, after, ok = migNumber(tail); !ok {
		return fail("no memory size from 1 to 9999")
	}
	if tail, ok = strings.CutPrefix(after, "gb"); !ok {
		return fail("no memory unit gb")
	}
	tail, shared = strings.CutSuffix(tail, ".shared")
	switch tail {
	case "":
	case "+me", ".me":
		p.Suffix = "+me"
	case "+me.all", ".me.all":
		p.Suffix = "+me.all"
	case "+gfx", ".gfx":
		p.Suffix = "+gfx"
	case "-me":
		p.Suffix = "-me"
	default:
		return fail("unknown suffix")
	}
	return p, shared, nil
}

// migNumber cuts a number from 1 to 9999 without leading zero off s.
func migNumber(s string) (n int, rest string, ok bool) {
	digits := 0
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits > 4 || s[0] == '0' {
		return 0, s, false
	}
	for i := range digits {
		n = 10*n + int(s[i]-'0')
	}
	return n, s[digits:], true
}

// String returns the profile's name in NVIDIA's form, such as 1g.5gb+me.
func (p MIGProfile) String() string {
	var b []byte
	if p.C != 0 {
		b = append(strconv.AppendInt(b, int64(p.C), 10), "c."...)
	}
	b = append(strconv.AppendInt(b, int64(p.G), 10), "g."...)
	b = append(strconv.AppendInt(b, int64(p.MemGB), 10), "gb"...)
	return string(append(b, p.Suffix...))
}

// ResourceName returns the name of the extended resource, such as
// nvidia.com/mig-1g.5gb.me: a resource name has no +, so a point stands for it.
func (p MIGProfile) ResourceName() corev1.ResourceName {
	return corev1.ResourceName(migPrefix + strings.ReplaceAll(p.String(), "+", "."))
}

// MIGSlices counts what v holds of GPUs and MIG slices: every whole GPU is 1,
// every MIG instance as many as it has GPU slices (nvidia.com/mig-2g.10gb is
// 2). It is the quota count that KAI-Scheduler calls TotalGPUs, with suffixed
// profiles counted too. It is no number of GPU equivalents: that takes the
// geometry of the GPU.
//
// The weights were attached when the map was built; names that look like a MIG profile
// and are none count 0 and are in [ResourceVectorMap.Notes]. On a [NoFold] map the
// columns that would have been folded into gpu count as GPUs. The sum is added in index
// order, shares of a [Milli] column exactly; what a longer v has beyond the map counts
// nothing. It does not allocate.
func (m *ResourceVectorMap) MIGSlices(v vector.ResourceVector) float64 {
	var whole, milli float64
	for _, w := range m.slices {
		switch x := v.Get(w.index); {
		case w.milli:
			milli += float64(x * w.slices)
		default:
			whole += float64(x * w.slices)
		}
	}
	return whole + milli/1000
}

// sliceWeight is how many slices one unit of a column counts.
type sliceWeight struct {
	index  int
	slices float64
	milli  bool // the column is in thousandths
}

// looksLikeMIG reports whether name claims to be a MIG profile.
func looksLikeMIG(name string) bool {
	return strings.HasPrefix(name, migPrefix) || strings.HasPrefix(name, "mig-")
}

// attachSlices derives the slice weight of index i, and its notes.
func (m *ResourceVectorMap) attachSlices(i int) {
	c := &m.columns[i]
	w := sliceWeight{index: i, milli: c.unit.Scale() == 1000}
	switch {
	case c.literal:
		return
	case c.gpu:
		w.slices = 1
	case looksLikeMIG(c.name):
		p, shared, err := ParseMIG(c.name)
		if err != nil {
			m.notes = append(m.notes, Remark{c.name, "not a MIG profile, counted as 0 slices"})
			return
		}
		if shared {
			m.notes = append(m.notes, Remark{c.name, "shared MIG instances, every replica counted"})
		}
		w.slices = float64(p.G)
	default:
		return
	}
	m.slices = append(m.slices, w)
}
