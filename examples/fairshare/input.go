package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/examples/internal/kai"
	"github.com/resvec/resvec/quota/fairshare"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

var (
	//go:embed queues.yaml
	sampleQueues []byte
	//go:embed day.csv
	sampleDay []byte
)

// input is what the files say.
type input struct {
	m       *vectormap.ResourceVectorMap
	queues  []fairshare.NamedQueue // parents first
	total   vector.ResourceVector
	jobs    []*job
	isStory bool

	named map[string]bool // resources that queues name or jobs request
}

// job is some pods of one queue that run or wait together.
type job struct {
	name, queue string
	pods        int
	request     vector.ResourceVector // of a pod
	all         vector.ResourceVector // of all pods
	fixed       bool                  // not preemptible
	runs        bool

	hour, left int     // when it comes, and how long it has to run yet
	nodes      []int32 // of a story: where its pods run
	started    int     // counts starts, so that the newest is known
	id         int     // in the tree, while it waits
	why        string  // it waits
}

// readInput reads the files, or takes the three teams.
func readInput(o *options, stdin io.Reader) (*input, error) {
	queues, jobs, name := sampleQueues, sampleDay, "day.csv"
	total := cmp.Or(o.total, "nvidia.com/gpu=12")
	in := &input{isStory: o.jobs == ""}
	var err error
	if o.queues != "" {
		if queues, err = os.ReadFile(o.queues); err != nil {
			return nil, err
		}
	}
	if given := cmp.Or(o.jobs, o.over); given != "" {
		name = given
		if given == "-" {
			jobs, err = io.ReadAll(stdin)
		} else {
			jobs, err = os.ReadFile(given)
		}
		if err != nil {
			return nil, err
		}
	}
	list, err := parseAmounts("-total", total)
	if err != nil {
		return nil, command.UsageError{Err: err}
	}
	names, err := fairshare.ResourceNames(queues)
	if err != nil {
		return nil, err
	}
	var pods []corev1.Pod
	if !isTable(jobs) {
		if pods, err = in.readPods(name, jobs, o.label); err != nil {
			return nil, err
		}
	}
	in.named = map[string]bool{}
	for _, resource := range names {
		in.named[resource] = true
	}
	for resource := range list {
		names = append(names, string(resource))
	}
	milli, err := milliOf(o.milli, names, pods)
	if err != nil {
		return nil, command.UsageError{Err: err}
	}
	if in.m, err = vectormap.New(names, vectormap.Milli(milli...)); err != nil {
		return nil, err
	}
	if in.queues, err = fairshare.ReadQueues(queues, in.m); err != nil {
		return nil, err
	}
	if in.total, err = in.m.CapacityVector(nil, list, nil); err != nil {
		return nil, command.UsageError{Err: fmt.Errorf("-total: %w", err)}
	}
	if isTable(jobs) {
		err = in.readTable(name, jobs)
	} else {
		err = in.addPods(name, pods, o.label)
	}
	if err != nil {
		return nil, err
	}
	if err = in.checkTotal(list); err != nil {
		return nil, command.UsageError{Err: err}
	}
	return in, nil
}

// milliOf returns the resources that are counted in thousandths: those of a flag, and GPUs where a
// pod asks for a part of one.
func milliOf(flag string, names []string, pods []corev1.Pod) (milli []string, err error) {
	m, err := vectormap.New(names)
	if err != nil {
		return nil, err
	}
	if flag != "" {
		milli = strings.Split(flag, ",")
	}
	for _, name := range milli {
		if _, ok := m.Index(name); !ok {
			var known []string
			for k := range m.All() {
				known = append(known, originals(m, k))
			}
			return nil, fmt.Errorf("-milli: resource %q is not known: known are %s", name, strings.Join(known, ", "))
		}
	}
	for i := range pods {
		if _, ok, _ := kai.PartOfGPUs(&pods[i]); ok && !slices.Contains(milli, string(kai.GPU)) {
			return append(milli, string(kai.GPU)), nil
		}
	}
	return milli, nil
}

// originals returns the names of a column as objects have them.
func originals(m *vectormap.ResourceVectorMap, column int) string {
	return cmp.Or(strings.Join(m.Originals(column), ", "), m.Name(column))
}

// checkTotal asks that queues or jobs name each resource of the total, and that some job requests
// any of it. Otherwise all shares would be 0 for a name that is misspelled.
func (in *input) checkTotal(list corev1.ResourceList) error {
	known := strings.Join(slices.Sorted(maps.Keys(in.named)), ", ")
	named := map[int]bool{}
	for name := range in.named {
		if k, ok := in.m.Index(name); ok {
			named[k] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if k, _ := in.m.Index(string(name)); !named[k] {
			return fmt.Errorf("-total: no queue names %s, and no job requests it: known are %s", name, known)
		}
	}
	if !slices.ContainsFunc(in.jobs, func(j *job) bool { return slices.Max(j.request) > 0 }) {
		return fmt.Errorf("-total: no job requests any of it: known are %s", known)
	}
	return nil
}

// parseAmounts reads RESOURCE=QUANTITY,...
func parseAmounts(what, text string) (corev1.ResourceList, error) {
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		name, amount, _ := strings.Cut(part, "=")
		q, err := resource.ParseQuantity(amount)
		if err != nil || name == "" {
			return nil, fmt.Errorf("%s: %q is not RESOURCE=QUANTITY", what, part)
		}
		list[corev1.ResourceName(name)] = q
	}
	return list, nil
}

// isTable reports whether a text is CSV: its first line has the names of columns.
func isTable(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return slices.Contains(strings.Split(strings.TrimSpace(string(first)), ","), "job")
}

// readTable reads jobs from CSV. Lines of a story come in any order.
func (in *input) readTable(name string, text []byte) error {
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(lines) < 2 {
		return fmt.Errorf("%s: there is no job behind the names of columns", name)
	}
	for i, line := range lines[1:] {
		j := &job{pods: 1}
		list := corev1.ResourceList{}
		for k, column := range lines[0] {
			fault := func(want string) error {
				return fmt.Errorf("%s: line %d: %s %q: want %s", name, i+2, column, line[k], want)
			}
			n, err := strconv.Atoi(line[k])
			switch column {
			case "job":
				j.name = line[k]
			case "queue":
				j.queue = line[k]
			case "pods", "hour", "hours":
				if err != nil || n < 0 || n > 1000 || column != "hour" && n == 0 {
					return fault("a whole number up to 1000")
				}
				*map[string]*int{"pods": &j.pods, "hour": &j.hour, "hours": &j.left}[column] = n
			case "preemptible":
				if j.fixed = line[k] == "no"; !j.fixed && line[k] != "yes" {
					return fault("yes or no")
				}
			case "state":
				if j.runs = line[k] == "runs"; !j.runs && line[k] != "waits" {
					return fault("runs or waits")
				}
			default:
				if list[corev1.ResourceName(column)], err = resource.ParseQuantity(cmp.Or(line[k], "0")); err != nil {
					return fault("a quantity")
				}
			}
		}
		if in.isStory && j.left == 0 {
			return fmt.Errorf("%s: line %d: want a column hours", name, i+2)
		}
		request, err := in.m.RequestVector(nil, list, nil)
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", name, i+2, err)
		}
		if err := in.add(j, request); err != nil {
			return fmt.Errorf("%s: line %d: %w", name, i+2, err)
		}
	}
	return nil
}

// readPods reads the pods of a list that have a queue and have not ended.
func (in *input) readPods(name string, text []byte, label string) (pods []corev1.Pod, err error) {
	if in.isStory {
		return nil, fmt.Errorf("%s: want a table with the columns hour, job, queue and hours", name)
	}
	var list corev1.PodList
	if err := yaml.Unmarshal(text, &list); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		if strings.Contains(first, ",") && !strings.ContainsAny(first, ":{") {
			return nil, fmt.Errorf("%s: line 1: columns %q: want job and queue among them", name, strings.Split(strings.TrimSpace(first), ","))
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	labels := map[string]bool{}
	for _, pod := range list.Items {
		for key := range pod.Labels {
			labels[key] = true
		}
		if _, ok := pod.Labels[label]; ok && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			pods = append(pods, pod)
		}
	}
	switch {
	case len(list.Items) == 0:
		return nil, fmt.Errorf("%s: neither a list of pods nor a table with the columns job and queue", name)
	case !labels[label]:
		return nil, fmt.Errorf("%s: no pod has the label %s, which names its queue: known are %s; see -label", name, label, someOf(slices.Sorted(maps.Keys(labels))))
	case len(pods) == 0:
		return nil, fmt.Errorf("%s: all pods with the label %s have ended", name, label)
	}
	return pods, nil
}

// addPods adds pods, each of which is a job.
func (in *input) addPods(name string, pods []corev1.Pod, label string) error {
	for i := range pods {
		pod := &pods[i]
		j := &job{name: pod.Namespace + "/" + pod.Name, queue: pod.Labels[label], pods: 1, runs: pod.Spec.NodeName != ""}
		request, err := in.podRequest(pod)
		if err == nil {
			err = in.add(j, request)
		}
		if err != nil {
			return fmt.Errorf("%s: pod %s: %w", name, j.name, err)
		}
	}
	return nil
}

// podRequest returns what a pod requests, with the part of GPUs that it asks KAI for.
func (in *input) podRequest(pod *corev1.Pod) (vector.ResourceVector, error) {
	var others []string // what neither the queues nor the total have
	request, err := in.m.PodRequest(nil, pod, vectormap.PodOptions{}, &others)
	if err != nil {
		return nil, err
	}
	for _, name := range others {
		in.named[name] = true
	}
	gpus, ok, err := kai.PartOfGPUs(pod)
	if !ok || err != nil {
		return request, err
	}
	part, err := in.m.RequestVector(nil, corev1.ResourceList{kai.GPU: gpus}, nil)
	if err == nil {
		request.Add(part)
	}
	return request, err
}

// someOf lists names, and cuts long lists.
func someOf(names []string) string {
	const most = 10
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// add adds a job with the request of a pod, in the columns of which there is something.
func (in *input) add(j *job, request vector.ResourceVector) error {
	if err := in.checkQueue(j.queue); err != nil {
		return err
	}
	for k, x := range request {
		if x > 0 {
			in.named[originals(in.m, k)] = true
		}
	}
	j.request, j.all = request, in.m.NewVector()
	for k := range j.request {
		if in.total.Get(k) == 0 {
			j.request[k] = 0
		}
		j.all[k] = j.request[k] * float64(j.pods)
	}
	in.jobs = append(in.jobs, j)
	return nil
}

// checkQueue asks that a queue is known.
func (in *input) checkQueue(name string) error {
	var known []string
	for _, q := range in.queues {
		if q.Name == name {
			return nil
		}
		known = append(known, q.Name)
	}
	return fmt.Errorf("queue %q is not known: known are %s", name, someOf(known))
}

// with returns the input with what -set says.
func (in *input) with(sets []string) (*input, error) {
	out := *in
	out.queues = slices.Clone(in.queues)
	for _, set := range sets {
		path, value, _ := strings.Cut(set, "=")
		dot := max(strings.LastIndex(path, "."), 0)
		if err := out.set(path[:dot], strings.TrimPrefix(path[dot:], "."), value); err != nil {
			return nil, fmt.Errorf("-set %s: %w", set, err)
		}
	}
	return &out, nil
}

// set sets a field of a queue.
func (in *input) set(name, field, value string) (err error) {
	if err := in.checkQueue(name); err != nil {
		return err
	}
	q := &in.queues[slices.IndexFunc(in.queues, func(q fairshare.NamedQueue) bool { return q.Name == name })]
	parts := map[string]*vector.ResourceVector{"deserved": &q.Deserved, "guarantee": &q.Guarantee, "limit": &q.Limit, "lending": &q.Lending}
	switch field {
	case "weight":
		q.Weight = []float64{0}
		q.Weight[0], err = strconv.ParseFloat(value, 64)
	case "priority":
		q.Priority, err = strconv.ParseInt(value, 10, 64)
	case "parent":
		if q.Parent = value; value != "" {
			err = in.checkQueue(value)
		}
	default:
		part := parts[field]
		if part == nil {
			return fmt.Errorf("%q is no field of a queue: known are weight, priority, parent, deserved, guarantee, limit, lending", field)
		}
		*part, err = in.amounts(*part, value)
	}
	return err
}

// amounts returns a copy of v with RESOURCE=QUANTITY or RESOURCE=unlimited in it.
func (in *input) amounts(v vector.ResourceVector, text string) (vector.ResourceVector, error) {
	v = slices.Clone(v)
	list, unlimited := corev1.ResourceList{}, false
	if name, found := strings.CutSuffix(text, "=unlimited"); found {
		list[corev1.ResourceName(name)], unlimited = resource.Quantity{}, true
	} else {
		var err error
		if list, err = parseAmounts("amounts", text); err != nil {
			return nil, err
		}
	}
	amounts, err := in.m.CapacityVector(nil, list, nil)
	if err != nil {
		return nil, err
	}
	for name := range list {
		k, _ := in.m.Index(string(name))
		if in.total.Get(k) == 0 {
			return nil, fmt.Errorf("resource %s: the total has nothing of it", name)
		}
		if v[k] = amounts[k]; unlimited {
			v[k] = math.Inf(1)
		}
	}
	return v, nil
}
