package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/examples/internal/command"
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
	for resource := range list {
		names = append(names, string(resource))
	}
	var units []vectormap.Option
	if o.milli != "" {
		units = append(units, vectormap.Milli(strings.Split(o.milli, ",")...))
	}
	if in.m, err = vectormap.New(names, units...); err != nil {
		return nil, err
	}
	if in.queues, err = fairshare.ReadQueues(queues, in.m); err != nil {
		return nil, err
	}
	if in.total, err = in.m.CapacityVector(nil, list, nil); err != nil {
		return nil, fmt.Errorf("-total: %w", err)
	}
	if isTable(jobs) {
		err = in.readTable(name, jobs)
	} else {
		err = in.readPods(name, jobs, o.label)
	}
	if err == nil && in.isStory && len(in.jobs) == 0 {
		err = fmt.Errorf("%s: no job", name)
	}
	return in, err
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

// readPods reads pods, each of which is a job. Those of no known queue are left out.
func (in *input) readPods(name string, text []byte, label string) error {
	if in.isStory {
		return fmt.Errorf("%s: want a table with the columns hour, job, queue and hours", name)
	}
	var pods corev1.PodList
	if err := yaml.Unmarshal(text, &pods); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		queue, ok := pod.Labels[label]
		if !ok || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		var others []string // what no queue counts
		request, err := in.m.PodRequest(nil, pod, vectormap.PodOptions{}, &others)
		if err == nil {
			err = in.add(&job{name: pod.Namespace + "/" + pod.Name, queue: queue, pods: 1, runs: pod.Spec.NodeName != ""}, request)
		}
		if err != nil {
			return fmt.Errorf("%s: pod %s/%s: %w", name, pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

// add adds a job with the request of a pod, in the columns of which there is something.
func (in *input) add(j *job, request vector.ResourceVector) error {
	if !slices.ContainsFunc(in.queues, func(q fairshare.NamedQueue) bool { return q.Name == j.queue }) {
		return fmt.Errorf("queue %q is not known", j.queue)
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

// with returns the input with what -set says.
func (in *input) with(sets []string) (*input, error) {
	out := *in
	out.queues = slices.Clone(in.queues)
	for _, set := range sets {
		path, value, _ := strings.Cut(set, "=")
		dot := max(strings.LastIndex(path, "."), 0)
		name, field := path[:dot], strings.TrimPrefix(path[dot:], ".")
		i := slices.IndexFunc(out.queues, func(q fairshare.NamedQueue) bool { return q.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("-set %s: queue %q is not known", set, name)
		}
		q := &out.queues[i]
		var err error
		switch parts := map[string]*vector.ResourceVector{"deserved": &q.Deserved, "guarantee": &q.Guarantee, "limit": &q.Limit, "lending": &q.Lending}; field {
		case "weight":
			var w float64
			w, err = strconv.ParseFloat(value, 64)
			q.Weight = []float64{w}
		case "priority":
			q.Priority, err = strconv.ParseInt(value, 10, 64)
		case "parent":
			q.Parent = value
		default:
			part := parts[field]
			if part == nil {
				return nil, fmt.Errorf("-set %s: %q is no field of a queue", set, field)
			}
			*part, err = in.amounts(*part, value)
		}
		if err != nil {
			return nil, fmt.Errorf("-set %s: %w", set, err)
		}
	}
	return &out, nil
}

// amounts returns a copy of v with RESOURCE=QUANTITY or RESOURCE=unlimited in it.
func (in *input) amounts(v vector.ResourceVector, text string) (vector.ResourceVector, error) {
	v = slices.Clone(v)
	if name, found := strings.CutSuffix(text, "=unlimited"); found {
		k, ok := in.m.Index(name)
		if !ok {
			return nil, fmt.Errorf("resource %q is not known", name)
		}
		v[k] = math.Inf(1)
		return v, nil
	}
	list, err := parseAmounts("amounts", text)
	if err != nil {
		return nil, err
	}
	amounts, err := in.m.CapacityVector(nil, list, nil)
	for name := range list {
		if k, ok := in.m.Index(string(name)); ok && err == nil {
			v[k] = amounts[k]
		}
	}
	return v, err
}
