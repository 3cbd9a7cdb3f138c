package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/quota"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// story is a cluster and its ledger. Its methods do something and print what came
// of it; after an error they do nothing.
type story struct {
	out    io.Writer
	ledger *quota.Ledger
	err    error
}

// say prints a line.
func (s *story) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// begin makes a ledger over nodes and queues.
func (s *story) begin(cfg quota.Config, nodes []corev1.Node, queues ...quota.Queue) {
	if s.err == nil {
		cfg.OnEvent = s.event
		s.ledger, s.err = newLedger(cfg, nodes, queues)
	}
}

// newLedger goes the whole way from the objects of a cluster to a ledger.
func newLedger(cfg quota.Config, nodes []corev1.Node, queues []quota.Queue) (*quota.Ledger, error) {
	inventory, err := device.FromNodes(nodes, nil, device.Options{})
	if err != nil {
		return nil, err
	}
	_, warnings := cfg.Validate(queues, nil)
	for _, warning := range warnings {
		if strings.Contains(warning.Field, "annotations") { // an entry that can't be read denies its card
			return nil, warning
		}
	}
	return quota.New(cfg, inventory.Catalog(), queues)
}

// event prints an event of the ledger.
func (s *story) event(e quota.Event) {
	who, what := e.Job, e.Refusal.Message()
	if e.Task != "" {
		who = e.Task
	}
	if e.Kind != quota.EventRefused {
		what = ""
		for _, card := range slices.Sorted(maps.Keys(e.Cards)) {
			what += fmt.Sprintf("%s x %d  ", card, e.Cards[card]/1000)
		}
	}
	s.say("%4d  %-10s  %-11s  %s", e.Seq, e.Kind, who, strings.TrimSpace(what))
}

// books prints what each queue has of its cards.
func (s *story) books() {
	if s.err != nil {
		return
	}
	for queue := range s.ledger.Samples() {
		for _, c := range queue.Cards {
			s.say("      %s has %d of %d %s, and %d held",
				queue.Name, c.Allocated/1000, c.Capability/1000, c.Resource, c.Inqueue/1000)
		}
	}
}

// job resolves a job whose PodGroup asks for cards.
func (s *story) job(queue, id, request string) *quota.JobRequest {
	if s.err != nil {
		return nil
	}
	job := quota.Job{ID: id, Queue: queue, Annotations: map[string]string{quota.RequestAnnotation: request}}
	handle, _, err := s.ledger.ResolveJob(job)
	s.err = err
	return handle
}

// reserve promises a job its cards.
func (s *story) reserve(queue, id, request string) {
	if job := s.job(queue, id, request); s.err == nil {
		_, s.err = s.ledger.Reserve(job)
	}
}

// fits prints how many jobs of a kind would be admitted.
func (s *story) fits(queue, request string) {
	job := s.job(queue, "another", request)
	if s.err != nil {
		return
	}
	fits, err := s.ledger.JobCopies(job)
	s.err = err
	s.say("      %d more of %s would fit", fits.Copies, request)
}

// task resolves a pod of a job. Its name is the name of the job and an index.
func (s *story) task(queue, job string, index int, pod *corev1.Pod) *quota.TaskRequest {
	if s.err != nil {
		return nil
	}
	id := fmt.Sprintf("%s-%d", job, index)
	handle, _, err := s.ledger.ResolveTask(quota.Task{ID: id, Job: job, Queue: queue, Pod: pod})
	s.err = err
	return handle
}

// commit charges pods of a job, those with the indices from to below to, each on
// the first card with room.
func (s *story) commit(queue, job string, from, to int, pod *corev1.Pod) {
	for i := from; i < to; i++ {
		if task := s.task(queue, job, i, pod); s.err == nil {
			_, s.err = s.ledger.Commit(task)
		}
	}
}

// gpus are nodes with whole GPUs of a product, as GPU feature discovery labels
// them.
func gpus(product string, count int, names ...string) (nodes []corev1.Node) {
	for _, name := range names {
		nodes = append(nodes, gpuNode(name, product, "nvidia.com/gpu", count))
	}
	return nodes
}

// gpuNode is a node with an amount of a resource.
func gpuNode(name, product string, carrier corev1.ResourceName, amount int) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"nvidia.com/gpu.product": product,
			"nvidia.com/gpu.count":   "4",
			"nvidia.com/gpu.memory":  "81920",
		}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{carrier: quantity(amount)}},
	}
}

// pod asks for an amount of a resource, on any of the cards that it names.
func pod(cards string, carrier corev1.ResourceName, amount int) *corev1.Pod {
	limits := corev1.ResourceList{carrier: quantity(amount)}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{quota.NameAnnotation: cards}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Limits: limits, Requests: limits},
		}}},
	}
}

func quantity(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

// team is a queue that may use cards, below another one unless parent is empty.
func team(name, parent, cards string) quota.Queue {
	return quota.Queue{Name: name, Parent: parent, Annotations: map[string]string{quota.QuotaAnnotation: cards}}
}
