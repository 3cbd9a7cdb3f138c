package share

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// ExplainAllocation returns how [Bound.Allocate] comes to its choice or refusal. The text
// is a table with a line for each device of the kind: first the part that the
// choice is from, in the order of the policy, then what fits elsewhere, then the
// others by minor. It returns the errors of Allocate, but for the refusal.
func (b *Bound) ExplainAllocation(node int, req AllocRequest) (string, error) {
	e, err := b.explainAllocation(node, &req)
	if err != nil {
		return "", err
	}
	return e.String(), nil
}

// explainAllocation is ExplainAllocation before it is made a text.
func (b *Bound) explainAllocation(node int, req *AllocRequest) (allocationExplanation, error) {
	c := &b.first
	if err := b.consider(c, node, req); err != nil {
		return allocationExplanation{}, err
	}
	taken, from, refusal := c.choose()
	return c.explanation(taken, from, c.ordered(nil, from), refusal), nil
}

// allocationExplanation is how a choice of devices came about.
type allocationExplanation struct {
	Kind   string
	Policy Policy
	Want   int64 // instances

	// The part of the node that the devices are from or, with a refusal, that
	// has most of them: the node where no device fits.
	Scope    Scope
	NUMANode int32  // -1: unknown, or the whole node
	PCIeRoot string // with [ScopePCIe]; empty if none has any

	Refusal *NotEnoughError // nil: devices were chosen

	// Devices are all of the kind: first the ones of this part that fit, in the
	// order of the policy, then what fits elsewhere, also in that order,
	// then the others by minor.
	Devices []deviceChoice
}

// deviceChoice is why one device was chosen or not.
type deviceChoice struct {
	Minor    int32
	NUMANode int32
	PCIeRoot string
	Chosen   bool

	// What the order depends on, of a device that fits.
	Preferred bool
	Change    int64 // of fragmentation, with [LeastFragmentation]: in percent of a device, times the weights of Mix
	Score     int64 // by MostAllocated with [LeastFragmentation]

	// Reasons are why the device couldn't be chosen. They are empty for a device that
	// could: if it isn't Chosen, enough others came first, or there are too few in all.
	Reasons []Reason
}

// explanation explains a choice from a part of the node, the devices of which are
// given in the order in which they are taken.
func (c *consideration) explanation(taken []*candidate, from part, inside []*candidate, refusal *NotEnoughError) allocationExplanation {
	e := allocationExplanation{
		Kind: c.req.Kind, Policy: c.req.Policy, Want: c.req.Count,
		Scope: from.scope, NUMANode: from.numa, PCIeRoot: from.root,
		Refusal: refusal,
	}
	for _, d := range inside {
		row := d.explain()
		row.Chosen = slices.Contains(taken, d)
		e.Devices = append(e.Devices, row)
	}
	for _, d := range c.ordered(nil, wholeNode) {
		if !slices.Contains(inside, d) {
			d.cause = CauseOutsideScope
			e.Devices = append(e.Devices, d.explain())
		}
	}
	unfit := len(e.Devices)
	for i := range c.devices {
		if d := &c.devices[i]; !slices.Contains(c.fitting, d) {
			e.Devices = append(e.Devices, d.explain())
		}
	}
	slices.SortFunc(e.Devices[unfit:], func(a, b deviceChoice) int { return cmp.Compare(a.Minor, b.Minor) })
	return e
}

// explain returns the row of a device that wasn't chosen.
func (d *candidate) explain() deviceChoice {
	return deviceChoice{
		Minor: d.state.Minor, NUMANode: d.state.NUMANode, PCIeRoot: d.state.PCIeRoot,
		Preferred: d.preferred, Change: d.change, Score: d.score,
		Reasons: d.reasons(),
	}
}

// String returns the explanation as a table, a line per device.
func (e allocationExplanation) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %s\n", e.Policy, e.outcome())
	if len(e.Devices) > 0 {
		fmt.Fprint(w, "  minor\tNUMA\tPCIe\tpreferred\tchange\tscore\tverdict\n")
	}
	enough := e.Refusal == nil && (e.Want == 0 || e.chosen() > 0)
	for i := range e.Devices {
		d := &e.Devices[i]
		fmt.Fprintf(w, "  %d\t%s\t%s\t%s\t%s\n",
			d.Minor, numaText(d.NUMANode), cmp.Or(d.PCIeRoot, "-"), d.place(e.Policy), d.verdict(enough))
	}
	w.Flush()
	return b.String()
}

// place returns the cells of what the order depends on.
func (d *deviceChoice) place(policy Policy) string {
	if !d.fits() {
		return "-\t-\t-"
	}
	preferred, change := "no", "-"
	if d.Preferred {
		preferred = "yes"
	}
	if policy == LeastFragmentation {
		change = strconv.FormatInt(d.Change, 10)
	}
	return fmt.Sprintf("%s\t%s\t%d", preferred, change, d.Score)
}

// fits reports whether the device could take an instance, were it for itself alone.
func (d *deviceChoice) fits() bool {
	return len(d.Reasons) == 0 || d.Reasons[0].Cause == CauseOutsideScope || d.Reasons[0].Cause == CauseApart
}

// outcome returns how many devices were found where.
func (e *allocationExplanation) outcome() string {
	chosen := e.chosen()
	none := ""
	if len(e.Devices) == 0 {
		none = ": " + CauseNoneOfKind.String()
	}
	if e.Refusal == nil && chosen == 0 && e.Want > 0 {
		return fmt.Sprintf("%d wanted, none chosen%s", e.Want, none)
	}
	where := "the node"
	switch e.Scope {
	case ScopeNUMA:
		where = "NUMA node " + numaText(e.NUMANode)
		if e.NUMANode < 0 {
			where = "any NUMA node"
		}
	case ScopePCIe:
		where = fmt.Sprintf("PCIe root %s of NUMA node %s", e.PCIeRoot, numaText(e.NUMANode))
		if e.PCIeRoot == "" {
			where = "any PCIe root"
		}
	}
	if e.Refusal != nil {
		return fmt.Sprintf("refused, %d of %d fit on %s%s", e.Refusal.Got, e.Refusal.Want, where, none)
	}
	return fmt.Sprintf("%d from %s", chosen, where)
}

// chosen returns how many devices were.
func (e *allocationExplanation) chosen() (n int) {
	for i := range e.Devices {
		if e.Devices[i].Chosen {
			n++
		}
	}
	return n
}

func numaText(numa int32) string {
	if numa < 0 {
		return "-"
	}
	return strconv.Itoa(int(numa))
}

// verdict returns what became of the device.
func (d *deviceChoice) verdict(enough bool) string {
	switch {
	case d.Chosen:
		return "chosen"
	case len(d.Reasons) == 0 && enough:
		return "not needed"
	case len(d.Reasons) == 0:
		return "fits"
	}
	parts := make([]string, len(d.Reasons))
	for i, r := range d.Reasons {
		parts[i] = r.phrase()
	}
	return strings.Join(parts, ", ")
}
