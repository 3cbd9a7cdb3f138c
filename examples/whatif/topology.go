package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"github.com/resvec/resvec/vectormap"
)

// topologyOptions are the flags about gangs in racks.
type topologyOptions struct {
	keys                string // label keys, separated by commas
	required, preferred string
}

// check checks the flags, and sets the level where none is given.
func (o *topologyOptions) check() error {
	levels := o.levels()
	switch {
	case o.keys == "" && (o.required != "" || o.preferred != ""):
		return errors.New("-required and -preferred: want -topology")
	case o.keys == "":
		return nil
	case o.required == "" && o.preferred == "":
		o.preferred = levels[len(levels)-1]
	}
	if _, err := gang.NewTopology(levels...); err != nil {
		return fmt.Errorf("-topology: %w", err)
	}
	for _, level := range []string{o.required, o.preferred} {
		if level != "" && !slices.Contains(levels, level) {
			return fmt.Errorf("no level %q in -topology %s", level, o.keys)
		}
	}
	if o.preferred != "" && slices.Index(levels, o.preferred) < slices.Index(levels, o.required) {
		return fmt.Errorf("-preferred: %s is coarser than %s, which is required", o.preferred, o.required)
	}
	return nil
}

func (o *topologyOptions) levels() []string { return strings.Split(o.keys, ",") }

// gangHead are the columns of placeGangs.
var gangHead = []string{"GANG", "PODS", "GOES TO"}

// placeGangs returns where the gangs go, each by itself on the nodes as they are, and
// remarks about the nodes.
func (r *report) placeGangs(o *topologyOptions) (rows [][]string, remarks []string, err error) {
	if o.keys == "" {
		return nil, nil, nil
	}
	if missing := r.missingLevels(o); len(missing) > 0 {
		for _, g := range r.gangs {
			rows = append(rows, []string{g.name, fmt.Sprint(len(g.pods)), "nowhere: no node has the label of a level"})
		}
		return rows, missing, nil
	}
	top, notes, err := vectormap.NewTopology(o.levels(), bareNodes(r.cluster.nodes))
	if err != nil {
		return nil, nil, err
	}
	for _, g := range r.gangs {
		where, err := r.place(g, top, o)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, []string{g.name, fmt.Sprint(len(g.pods)), where})
	}
	// Clusters without the label have a remark per node: one line for each text names them.
	nodes := make(map[string][]string)
	for _, n := range notes {
		remark := n.(vectormap.Remark)
		nodes[remark.Text] = append(nodes[remark.Text], remark.Name)
	}
	for _, text := range sortedKeys(nodes) {
		remarks = append(remarks, text+": "+list(nodes[text], r.most))
	}
	return rows, remarks, nil
}

// missingLevels says which label keys no node has.
func (r *report) missingLevels(o *topologyOptions) (remarks []string) {
	there := make(map[string]bool)
	for _, n := range r.cluster.nodes {
		for key := range n.Labels {
			there[key] = true
		}
	}
	for _, level := range o.levels() {
		if !there[level] {
			remarks = append(remarks, fmt.Sprintf("%s: no node has this label%s", level, command.Nearest(level, sortedKeys(there))))
		}
	}
	return remarks
}

// title says what is asked of the gangs.
func (o *topologyOptions) title() string {
	text := "Gangs, each by itself on the nodes as they are"
	if o.required != "" {
		text += ", required " + o.required
	}
	if o.preferred != "" {
		text += ", preferred " + o.preferred
	}
	return text
}

// topology writes where the gangs go.
func (r *report) topology(o *topologyOptions, gangs [][]string, remarks []string) {
	if o.keys == "" {
		return
	}
	r.printf("\n%s\n\n", o.title())
	for _, remark := range remarks {
		r.printf("%s\n\n", remark)
	}
	r.table(slices.Concat([][]string{gangHead}, gangs))
}

// mayAllGo returns the nodes to which each pod of a gang may go.
func (r *report) mayAllGo(g *gangOfPods) *vector.Mask {
	rows := new(vector.Mask)
	rows.CopyFrom(r.verdicts[g.pods[0]].rows)
	for _, i := range g.pods[1:] {
		rows.And(rows, r.verdicts[i].rows)
	}
	return rows
}

// place says where a gang goes.
func (r *report) place(g *gangOfPods, top *gang.Topology, o *topologyOptions) (string, error) {
	free := r.state.Nodes().Free()
	members := vector.NewMatrix(free.Schema(), 0, free.Cols())
	for _, i := range g.pods {
		members.AppendRow(r.requests[i].Requested)
	}
	rows := r.mayAllGo(g)
	level, err := top.Level(cmp.Or(o.preferred, o.required))
	if err != nil {
		return "", err
	}
	request, alike := alikeBut(members)
	if !alike {
		coarsest := 0
		if o.required != "" {
			if coarsest, err = top.Level(o.required); err != nil {
				return "", err
			}
		}
		return r.placeMixed(members, rows, top, level, coarsest, o.required != "")
	}
	request.Required, request.Preferred = o.required, o.preferred
	var packer gang.Packer
	found, err := packer.PlaceTopology(gang.TopologyPlacement{}, free, request, rows, top)
	switch {
	case err != nil:
		return "", err
	case found.Fits && found.Leader >= 0:
		return r.domains(append(found.Placement, int32(found.Leader)), top, level), nil
	case found.Fits:
		return r.domains(found.Placement, top, level), nil
	}
	who := "all together"
	if found.Domain >= 0 {
		who = strings.Join(top.Path(nil, found.Domain), "/")
	}
	other := ""
	if request.Leader != nil {
		other = " besides the leader"
	}
	text := fmt.Sprintf("nowhere: %s could take %d of %d%s", who, found.Could, request.Count, other)
	for j, n := range found.Rejections {
		if n > 0 {
			text += fmt.Sprintf("; %d nodes have too little %s for one", n, r.m.Name(j))
		}
	}
	return text, nil
}

// alikeBut returns the request of a gang whose pods are alike, but for a leader.
func alikeBut(members *vector.Matrix) (request gang.TopologyRequest, ok bool) {
	rows := make([]vector.ResourceVector, members.Rows())
	number := make(map[string]int)
	for i := range rows {
		rows[i] = members.Row(nil, i)
		number[fmt.Sprint(rows[i])]++
	}
	worker := 0
	switch {
	case len(number) > 2:
		return request, false
	case len(number) == 2:
		for i := range rows {
			if n := number[fmt.Sprint(rows[i])]; n == 1 && request.Leader == nil {
				request.Leader = rows[i]
			} else {
				worker = i
			}
		}
		if request.Leader == nil {
			return request, false
		}
		request.Count = len(rows) - 1
	default:
		request.Count = len(rows)
	}
	request.Request = rows[worker]
	return request, true
}

// placeMixed is place for pods of many shapes: the first domain in which large pods
// first find room, of the levels from level to the coarsest.
func (r *report) placeMixed(members *vector.Matrix, rows *vector.Mask, top *gang.Topology, level, coarsest int, required bool) (string, error) {
	free := r.state.Nodes().Free()
	packer := gang.NewPacker(gang.Options{Total: vector.SumColumns(nil, free, nil), Restarts: 8})
	var domains gang.Domains
	for l := level; l >= coarsest; l-- {
		if err := top.Domains(&domains, top.Levels()[l]); err != nil {
			return "", err
		}
		if found, _, ok := packer.Place(nil, free, members, rows, &domains); ok {
			return r.domains(found, top, level), nil
		}
	}
	within := &domains
	if !required {
		within = nil
		for row := range rows.Len() {
			if row >= top.Rows() || top.Domain(row, 0) < 0 {
				rows.Clear(row)
			}
		}
		if found, _, ok := packer.Place(nil, free, members, rows, nil); ok {
			return r.domains(found, top, level), nil
		}
	}
	if _, proved := packer.Infeasible(free, members, rows, within); proved {
		return "nowhere: there is no room, however its pods are placed", nil
	}
	return "not found: its pods differ, and nothing is proved", nil
}

// domains writes on which domains of a level pods are.
func (r *report) domains(rows []int32, top *gang.Topology, level int) string {
	name := top.Levels()[level]
	if at := strings.LastIndex(name, "/"); at >= 0 {
		name = name[at+1:]
	}
	number := make(map[string]int)
	for _, row := range rows {
		number[strings.Join(top.Path(nil, top.Domain(int(row), level)), "/")]++
	}
	var parts []string
	for _, path := range sortedKeys(number) {
		parts = append(parts, fmt.Sprintf("%s: %d", path, number[path]))
	}
	return fmt.Sprintf("%d %s, %s", len(number), name, list(parts, r.most))
}
