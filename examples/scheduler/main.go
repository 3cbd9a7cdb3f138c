// Scheduler is a whole scheduler in four files, with every package of resvec at its
// place: scheduler.go is the life of a pod, fair.go which pod is next and who goes for it,
// cluster.go what is heard of nodes and pods, and start.go the start and the restart. docs/embedding.md explains it.
//
// The command lets some pods live and prints what becomes of them. The exit status is 1 when
// something fails and 2 for wrong flags.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func main() {
	os.Exit(help.Status(program(os.Args[1:], os.Stdout), os.Stderr))
}

// help is what -help prints.
var help = command.Help{Name: "scheduler", About: "Lets some pods live in a small scheduler, and prints what becomes of them."}

// program is the program; [command.Help.Status] says which faults it has.
func program(args []string, stdout io.Writer) error {
	if err := help.Parse(flag.NewFlagSet("scheduler", flag.ContinueOnError), args, stdout); err != nil {
		return err
	}
	return story(stdout)
}

// operator charges credits for GPUs, whole or in percent, and limits a queue in them.
var operator = config{
	rules: `
transformations:
- {input: nvidia.com/gpu, strategy: Retain, outputs: {example.com/credits: 100}}
- {input: koordinator.sh/gpu, strategy: Replace, outputs: {example.com/credits: 1}}
`,
	queues: []quota.Queue{{
		Name:  "research",
		Cards: map[string]int64{"NVIDIA-A100-SXM4-80GB": 5, "Tesla-T4-SHARED": 4},
		Capability: corev1.ResourceList{
			"cpu": resource.MustParse("256"), "memory": resource.MustParse("1Ti"), "example.com/credits": resource.MustParse("800"),
		},
	}},
	typical: []gpu.TypicalPod{
		{CPU: 4000, Count: 1, Milli: 500, Pods: 50},
		{CPU: 8000, Count: 1, Milli: 1000, Pods: 30},
		{CPU: 16000, Count: 4, Milli: 1000, Pods: 5},
	},
}

// newNode returns a node with GPUs as NVIDIA's feature discovery and Koordinator describe
// it; it may have none.
func newNode(name, cpu, product string, gpus int64) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		"cpu": resource.MustParse(cpu), "memory": resource.MustParse("256Gi"), "pods": resource.MustParse("110"),
	}}}
	if gpus == 0 {
		return n
	}
	n.Labels = map[string]string{"nvidia.com/gpu.product": product, "nvidia.com/gpu.count": fmt.Sprint(gpus), "nvidia.com/gpu.memory": "81920"}
	n.Status.Allocatable["nvidia.com/gpu"] = *resource.NewQuantity(gpus, resource.DecimalSI)
	n.Status.Allocatable["koordinator.sh/gpu"] = *resource.NewQuantity(100*gpus, resource.DecimalSI)
	n.Status.Allocatable["koordinator.sh/gpu-memory"] = *resource.NewQuantity(gpus*80<<30, resource.BinarySI)
	return n
}

// sharedNode returns a node whose one GPU four pods share in turns.
func sharedNode(name string) *corev1.Node {
	n := newNode(name, "16", "Tesla-T4-SHARED", 4)
	n.Labels["nvidia.com/gpu.count"], n.Labels["nvidia.com/gpu.replicas"] = "1", "4"
	delete(n.Status.Allocatable, "koordinator.sh/gpu")
	delete(n.Status.Allocatable, "koordinator.sh/gpu-memory")
	return n
}

// newPod returns a pod of the queue research; cards may be empty.
func newPod(name, cards string, requests corev1.ResourceList) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{queueLabel: "research"}}}
	if cards != "" {
		p.Annotations = map[string]string{quota.NameAnnotation: cards}
	}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}
	return p
}

func amounts(cpu, name, amount string) corev1.ResourceList {
	list := corev1.ResourceList{"cpu": resource.MustParse(cpu)}
	if name != "" {
		list[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return list
}

// bindTo writes a binding into the pod itself, as an API server would into its object.
func bindTo(object *corev1.Pod, node string, devices []share.Allocation) error {
	object.Spec.NodeName = node
	if len(devices) == 0 {
		return nil
	}
	text, err := json.Marshal(devices)
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	object.Annotations[deviceAnnotation] = string(text)
	return err
}

// evicted returns a pod as it was before it was bound.
func evicted(object *corev1.Pod) *corev1.Pod {
	object.Spec.NodeName = ""
	delete(object.Annotations, deviceAnnotation)
	return object
}

// story lets pods of several kinds live in a small cluster.
func story(w io.Writer) error {
	s, err := newScheduler(operator, nil)
	if err != nil {
		return err
	}
	s.bind = bindTo
	nodes := []*corev1.Node{
		newNode("cpu-1", "96", "", 0),
		newNode("gpu-1", "64", "NVIDIA-A100-SXM4-80GB", 4),
		newNode("gpu-2", "64", "NVIDIA-A100-SXM4-80GB", 2),
		sharedNode("shared-1"),
	}
	for _, n := range nodes {
		if err := s.nodeSeen(n); err != nil {
			return err
		}
	}

	const whole, percent, a100 = "nvidia.com/gpu", "koordinator.sh/gpu", "NVIDIA-A100-SXM4-80GB"
	pods := []*corev1.Pod{
		newPod("web", "", amounts("8", "", "")),
		newPod("notebook-1", "", amounts("4", percent, "40")),
		newPod("notebook-2", "", amounts("4", percent, "60")),
		newPod("notebook-3", "", amounts("4", percent, "50")),
		newPod("cheap", "Tesla-T4-SHARED", amounts("2", whole, "1")),
		newPod("unlucky", a100, amounts("8", whole, "1")),
		newPod("pair", a100, amounts("8", whole, "2")),
		newPod("three", a100, amounts("16", whole, "3")),
		newPod("broad", "", amounts("8", percent, "200")),
		newPod("many", "", amounts("8", percent, "300")),
		newPod("huge", "", amounts("100", "", "")),
	}
	var running []*corev1.Pod
	try := func(p *corev1.Pod) {
		if err := s.admit(p); err != nil {
			fmt.Fprintf(w, "%s is not admitted: %v\n", p.Name, err)
			return
		}
		if err := s.schedule(p); err != nil {
			fmt.Fprintf(w, "%s waits: %v\n", p.Name, err)
			return
		}
		where := s.pods[p.UID]
		fmt.Fprintf(w, "%s goes to %s", p.Name, where.node)
		for _, d := range where.devices {
			fmt.Fprintf(w, ", %s %v", d.Kind, d.Minors())
		}
		fmt.Fprintln(w)
		running = append(running, p)
	}
	for _, p := range pods {
		if p.Name == "unlucky" {
			s.bind = func(*corev1.Pod, string, []share.Allocation) error { return errors.New("the API server said no") }
			try(p)
			s.bind = bindTo
		}
		try(p)
	}
	before := s.booked()
	fmt.Fprintf(w, "booked:\n%s", before)

	// The process dies, and the next one knows the same.
	next, err := newScheduler(operator, s.ledger.Snapshot())
	if err != nil {
		return err
	}
	s, next.bind = next, bindTo
	for _, n := range nodes {
		if err := s.nodeSeen(n); err != nil {
			return err
		}
	}
	for _, p := range running {
		if err := s.podSeen(p); err != nil {
			return err
		}
	}
	if err := s.resume(pods); err != nil {
		return err
	}
	fmt.Fprintln(w, "the same after a restart:", s.booked() == before)
	for _, p := range pods {
		if err := s.podGone(p.UID); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "when all have ended:\n%s", s.booked())
	return shareGPUs(w)
}

// shareGPUs lets two queues share four GPUs: what one doesn't want the other may use, until it
// is wanted back.
func shareGPUs(w io.Writer) error {
	const card = "NVIDIA-A100-SXM4-80GB"
	teams := config{rules: operator.rules, typical: operator.typical}
	for _, name := range []string{"vision", "speech"} {
		teams.queues = append(teams.queues, quota.Queue{Name: name, Cards: map[string]int64{card: 4}, Capability: corev1.ResourceList{
			"cpu": resource.MustParse("64"), "memory": resource.MustParse("256Gi"), "example.com/credits": resource.MustParse("400"),
		}})
	}
	s, err := newScheduler(teams, nil)
	if err != nil {
		return err
	}
	s.bind = bindTo
	if err := s.nodeSeen(newNode("gpu-1", "64", card, 4)); err != nil {
		return err
	}
	var waiting []*corev1.Pod
	objects := map[types.UID]*corev1.Pod{}
	come := func(queue string, n int) {
		for i := range n {
			p := newPod(fmt.Sprint(queue, "-", i+1), card, amounts("4", "nvidia.com/gpu", "1"))
			p.Labels[queueLabel] = queue
			waiting, objects[p.UID] = append(waiting, p), p
		}
	}
	cycle := func(when string) error {
		waits, evict, err := s.cycle(waiting)
		if err != nil {
			return err
		}
		waiting = slices.DeleteFunc(waiting, func(p *corev1.Pod) bool {
			if waits[p.UID] == nil {
				fmt.Fprintf(w, "%s: %s runs\n", when, p.Name)
			} else {
				fmt.Fprintf(w, "%s: %s waits: %v\n", when, p.Name, waits[p.UID])
			}
			return waits[p.UID] == nil
		})
		for _, id := range evict { // in a cluster this comes when it has ended
			fmt.Fprintf(w, "%s: %s has to go, and waits again\n", when, id)
			if err := s.podGone(id); err != nil {
				return err
			}
			waiting = append(waiting, evicted(objects[id]))
		}
		return nil
	}
	come("vision", 4)
	if err := cycle("morning"); err != nil {
		return err
	}
	come("speech", 4)
	if err := cycle("noon"); err != nil {
		return err
	}
	return cycle("a minute later")
}

// booked says what pods have of the nodes and of their queue.
func (s *scheduler) booked() string {
	var b strings.Builder
	for name, row := range s.nodes.All() {
		cpu := s.resources.Format(vectormap.CPU, s.nodes.Requested().Row(nil, row)[vectormap.CPU])
		fmt.Fprintf(&b, "  %s: cpu %s, left of GPUs %v\n", name, cpu, s.account.GPUs().Devices(row))
	}
	q, _ := s.ledger.Queue("research")
	for _, u := range append(q.Cards, q.Outputs...) {
		fmt.Fprintf(&b, "  research: %s %d\n", u.Resource, u.Allocated)
	}
	return b.String()
}
