package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A scheduler is what is known of a cluster, and what is booked in it. One goroutine
// calls it.
type scheduler struct {
	bind func(object *corev1.Pod, node string, devices []share.Allocation) error

	resources *vectormap.ResourceVectorMap
	nodes     *vector.Nodes // what nodes have, and what their pods request
	account   share.Account // the devices of the same rows
	ledger    *quota.Ledger // the queues
	queues    []quota.Queue // as they were given to it, parents first
	cards     []device.CardTotal

	known map[string]*node
	pods  map[types.UID]*pod // on a node, assumed or bound
	moved bool               // nodes have changed since the ledger got their cards

	typical *gpu.Typical
	scores  *scoring.Bound // of pods without GPUs
	gpus    *gpu.Bound     // of pods with GPUs
	devices *share.Bound

	fits, byAmount, byDevice, counted vector.Mask // nodes for the pod in turn
	points                            []float64
}

// A node is a node and the pods on it, which may be seen before it.
type node struct {
	name        string
	generation  int64
	inventory   *device.Inventory // nil: not seen yet, or gone
	allocatable vector.ResourceVector
	pods        []*pod
}

// A pod is a pod in the forms that the packages read.
type pod struct {
	id      types.UID
	request vector.ResourceVector
	needs   []share.Requirement // of devices
	gpu     gpu.Request         // the same for FGD
	task    *quota.TaskRequest

	node    string // that it is on
	devices []share.Allocation
}

const queueLabel = "example.com/queue" // of a pod

var podOptions = vectormap.PodOptions{APIServerDefaults: true, UseStatusResources: true}

// jobOf returns a pod as the ledger reads it: as a job of its own.
func jobOf(object *corev1.Pod) quota.Job {
	id, queue := string(object.UID), cmp.Or(object.Labels[queueLabel], "default")
	return quota.Job{
		ID: id, Queue: queue, Phase: quota.PhaseInqueue,
		MinResources: vectormap.PodRequests(object, podOptions),
		Tasks:        []quota.Task{{ID: id, Job: id, Queue: queue, Pod: object}},
	}
}

// admit promises a pod what it takes of its queue: what it requests, and what the
// transformation makes of that.
func (s *scheduler) admit(object *corev1.Pod) error {
	if err := s.updateCards(); err != nil {
		return err
	}
	job, _, err := s.ledger.ResolveJob(jobOf(object))
	if err != nil {
		return err
	}
	answer, err := s.ledger.Reserve(job)
	if errors.Is(err, quota.ErrReserved) { // the pod has changed since
		answer, err = s.ledger.Resize(job)
	}
	return refused(answer, err)
}

// schedule is the cycle of an admitted pod.
func (s *scheduler) schedule(object *corev1.Pod) error {
	p, err := s.read(object)
	if err != nil {
		return err
	}
	return s.place(object, p)
}

// place finds a node for a pod that was read, and binds it there.
func (s *scheduler) place(object *corev1.Pod, p *pod) error {
	if err := s.filter(p); err != nil {
		return err
	}
	row, err := s.score(p)
	if err != nil {
		return err
	}
	if err := s.reserve(p, row); err != nil {
		return err
	}
	if err := s.bind(object, p.node, p.devices); err != nil { // perhaps in the background
		return errors.Join(err, s.unreserve(p))
	}
	return nil
}

// read converts a pod, once.
func (s *scheduler) read(object *corev1.Pod) (*pod, error) {
	if on := s.pods[object.UID]; on != nil {
		return nil, fmt.Errorf("is on %s already", on.node)
	}
	var unknown []string
	request, err := s.resources.PodRequest(nil, object, podOptions, &unknown)
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("no node has %v", unknown)
	}
	job := jobOf(object)
	needs, err := share.Normalize(job.MinResources)
	if err != nil {
		return nil, err
	}
	if err := s.updateCards(); err != nil {
		return nil, err
	}
	task, _, err := s.ledger.ResolveTask(job.Tasks[0])
	if err != nil {
		return nil, err
	}
	return &pod{id: object.UID, request: request, needs: needs, task: task}, nil
}

// filter leaves in fits the nodes that can take a pod. Other predicates, such as taints,
// clear bits there, too. Without a node the error says why.
func (s *scheduler) filter(p *pod) error {
	var answer quota.Answer
	if !s.ledger.Allocatable(&answer, p.task) {
		return refused(answer, nil)
	}
	vector.Fit(&s.byAmount, s.nodes.Free(), p.request)
	if !s.byAmount.Any() {
		lacking := vector.Rejections(nil, s.nodes.Free(), p.request, nil)
		return errors.New(s.resources.ExplainRejections(s.nodes.Len(), lacking))
	}
	s.fits.CopyFrom(&s.byAmount)
	for i := range p.needs { // a kind of devices each
		if err := s.devices.Fit(&s.byDevice, p.needs[i:i+1]); err != nil {
			return err
		}
		if s.byNumber(p, &p.needs[i]) {
			s.account.Without(&s.counted, p.needs[i].Kind) // there the number decides alone
			s.byDevice.Or(&s.byDevice, &s.counted)
		}
		s.fits.And(&s.fits, &s.byDevice)
	}
	if !s.fits.Any() {
		lacking, err := s.devices.Rejections(p.needs, &s.byAmount)
		return errors.Join(err, errors.New(lacking.String()))
	}
	if len(answer.Options) > 0 { // cards, of which not every node has the right one
		for row := range s.fits.All() {
			if !s.ledger.AllocatableOn(&answer, p.task, s.nodes.Name(row)) {
				s.fits.Clear(row)
			}
		}
	}
	if !s.fits.Any() {
		return refused(answer, nil) // on the last of these nodes
	}
	return nil
}

// byNumber reports whether a pod requests devices by their number, such as nvidia.com/gpu:
// then the vector says which nodes have so many. By Koordinator's names only the account knows.
func (s *scheduler) byNumber(p *pod, need *share.Requirement) bool {
	for i, amount := range p.request {
		if amount > 0 && need.Kind == device.KindGPU && s.resources.IsGPU(i) {
			return true
		}
	}
	return false
}

// score returns the best of the nodes that fit: by what is left of cpu and memory or, for
// a pod with GPUs, by how useful the rest of the GPUs is for other pods.
func (s *scheduler) score(p *pod) (row int, err error) {
	tie := vector.TieSeeded(42)
	if len(p.needs) == 0 || p.needs[0].Kind != device.KindGPU {
		row, _ = s.scores.Best(vector.PodAmounts{Requested: p.request}, &s.fits, tie)
		return row, nil
	}
	p.gpu, err = s.account.GPURequest(p.request, p.needs[0])
	if errors.Is(err, share.ErrNoTotal) { // bytes, of GPUs that have more and less
		points := make([]int64, s.nodes.Len())
		err = s.devices.Score(points, p.needs, &s.fits)
		return vector.ArgMax(points, &s.fits, tie), err
	}
	if err != nil {
		return -1, err
	}
	s.points = slices.Grow(s.points[:0], s.nodes.Len())[:s.nodes.Len()]
	if err := s.gpus.Score(s.points, &p.gpu, &s.fits); err != nil {
		return -1, err
	}
	return vector.ArgMax(s.points, &s.fits, tie), nil
}

// choose returns the devices that a pod should get on a node.
func (s *scheduler) choose(p *pod, row int) (devices []share.Allocation, err error) {
	for _, need := range p.needs {
		if s.account.Without(&s.counted, need.Kind); s.counted.Test(row) {
			continue // only a number
		}
		request := share.AllocRequest{Requirement: need}
		if need.Kind == device.KindGPU {
			request.Required = s.account.Minors(nil, row, s.gpus.ChooseDevices(nil, &p.gpu, row))
		}
		chosen, err := s.devices.Allocate(row, request)
		if err != nil {
			return nil, err
		}
		devices = append(devices, chosen)
	}
	return devices, nil
}

// reserve books a node for a pod: quota, devices, amounts. With an error nothing is
// booked.
func (s *scheduler) reserve(p *pod, row int) error {
	p.node = s.nodes.Name(row)
	if err := refused(s.ledger.CommitOn(p.task, p.node)); err != nil {
		return err
	}
	devices, err := s.choose(p, row)
	if err == nil {
		err = s.account.Commit(row, devices...)
	}
	if err != nil {
		s.ledger.Rollback(string(p.id))
		return err
	}
	if err := s.nodes.Assume(row, vector.PodAmounts{Requested: p.request}); err != nil {
		err = errors.Join(err, s.account.Release(row, devices...))
		s.ledger.Rollback(string(p.id))
		return err
	}
	p.devices = devices
	s.put(p)
	return nil
}

// unreserve gives back what reserve has booked, in the reverse order. The pod is still
// admitted: it may be tried again.
func (s *scheduler) unreserve(p *pod) error {
	if s.pods[p.id] != p {
		return nil // seen on a node all the same, or gone: podSeen or podGone gave back
	}
	s.remove(p)
	var err error
	if row, ok := s.nodes.Row(p.node); ok { // rows may have moved, or the node has gone
		err = errors.Join(
			s.nodes.Forget(row, vector.PodAmounts{Requested: p.request}),
			s.account.Release(row, p.devices...))
	}
	s.ledger.Rollback(string(p.id))
	return err
}

// refused makes an error of a refusal.
func refused(answer quota.Answer, err error) error {
	if err == nil && !answer.OK {
		err = fmt.Errorf("%s: %s", answer.Refusal.Reason, answer.Refusal.Message())
	}
	return err
}
