package placement

import (
	"cmp"
	"slices"

	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// objects are what kube-scheduler looks at besides amounts: the nodes of a state with the pods
// on them, and namespaces, services and owners of pods.
type objects struct {
	config  profile.Config
	like    bool // scores are the default profile's
	others  []any
	cluster *profile.Cluster
	profile *profile.Profile

	nodes []*corev1.Node  // by row
	pods  [][]*corev1.Pod // by row

	totals []int64
}

// Observe makes a state look at objects, too: the spread constraints, pod affinity and host ports
// of pods, and the anti-affinity of pods that are there. others are namespaces, services and
// owners of pods, as [profile.Cluster.Set] takes them. With like the scores are those of
// kube-scheduler's default profile, and not those of the terms. [State.SetObjects] then says which
// object each node is: a node without one takes no pod. Errors are those of [profile.Bind] and
// Cluster.Set.
func (s *State) Observe(config profile.Config, like bool, others ...any) error {
	config.ComparisonOperators = true // as a Filter
	o := &objects{config: config, like: like, others: others, cluster: profile.NewCluster(s.nodes)}
	for _, other := range others {
		if err := o.cluster.Set(other); err != nil {
			return err
		}
	}
	var terms []profile.Term
	var err error
	if like {
		if terms, err = profile.DefaultTerms(s.m, s.nodes); err != nil {
			return err
		}
	}
	if o.profile, err = profile.Bind(config, o.cluster, terms...); err != nil {
		return err
	}
	s.objects = o
	return nil
}

// Observes reports whether a state looks at objects.
func (s *State) Observes() bool { return s.objects != nil }

// SetObjects says which object the node in a row is, and which pods run there, whose amounts
// are bound already. It does nothing without Observe. No two pods have the same name. The objects
// are kept and must not be changed.
func (s *State) SetObjects(row int, node *corev1.Node, pods []*corev1.Pod) error {
	o := s.objects
	if o == nil {
		return nil
	}
	for len(o.nodes) <= row {
		o.nodes, o.pods = append(o.nodes, nil), append(o.pods, nil)
	}
	o.nodes[row], o.pods[row] = node, pods
	return o.cluster.SetRow(node, pods, nil)
}

// Objects returns the object of the node in a row, and the pods there, of a state that observes.
func (s *State) Objects(row int) (*corev1.Node, []*corev1.Pod) {
	return s.objects.nodes[row], s.objects.pods[row]
}

// copyObjects makes c, which has the nodes of s, look at what s looks at.
func (s *State) copyObjects(c *State) error {
	o := s.objects
	if o == nil {
		return nil
	}
	if err := c.Observe(o.config, o.like, o.others...); err != nil {
		return err
	}
	for row, node := range o.nodes {
		if err := c.SetObjects(row, node, o.pods[row]); err != nil {
			return err
		}
	}
	return nil
}

// add adds a pod to a row, with its amounts.
func (o *objects) add(row int, pod *corev1.Pod, r *vector.PodAmounts) error {
	if err := o.cluster.Assume(row, pod, *r); err != nil {
		return err
	}
	o.pods[row] = append(slices.Clip(o.pods[row]), pod)
	return nil
}

// remove takes a pod off a row, with its amounts.
func (o *objects) remove(row int, pod *corev1.Pod, r *vector.PodAmounts) error {
	if err := o.cluster.Forget(row, pod, *r); err != nil {
		return err
	}
	o.pods[row] = slices.DeleteFunc(slices.Clone(o.pods[row]), func(p *corev1.Pod) bool {
		return p.Name == pod.Name && p.Namespace == pod.Namespace
	})
	return nil
}

// decide sets fits to the rows that are feasible, and points to the totals of the default
// profile where these are the scores.
func (o *objects) decide(fits *vector.Mask, points []float64, q profile.Question) error {
	if !o.like {
		return o.profile.Feasible(fits, q)
	}
	if len(o.totals) < len(points) {
		o.totals = make([]int64, len(points))
	}
	if err := o.profile.Totals(o.totals, fits, q); err != nil {
		return err
	}
	for row := range fits.All() {
		points[row] = float64(o.totals[row]) // exact: far below 2^53
	}
	return nil
}

// explain adds to reasons on how many of the rows a pod's objects keep it from a node, and
// returns the rows of which it counts what they lack: kube-scheduler looks at ports before
// amounts, and at other pods after them.
func (o *objects) explain(reasons map[string]int, q profile.Question) (*vector.Mask, error) {
	free := vector.NewMask(q.Rows.Len())
	ports := HostPorts(q.Pod)
	for row := range q.Rows.All() {
		isTaken := slices.ContainsFunc(ports, func(p HostPort) bool { return slices.ContainsFunc(o.pods[row], p.TakenBy) })
		if isTaken {
			reasons[profile.HostPortTaken.String()]++
		} else {
			free.Set(row)
		}
	}
	q.Rows = free
	rejections, err := o.profile.Rejections(q)
	for _, r := range rejections {
		if r.Reason > profile.ResourcesShort {
			reasons[r.Reason.String()] += r.Rows
		}
	}
	return free, err
}

// A HostPort is a port that a pod takes of its node.
type HostPort struct {
	IP       string // 0.0.0.0 are all
	Protocol string
	Port     int32
}

const anyIP = "0.0.0.0"

// HostPorts returns the ports of its node that a pod takes while it runs.
func HostPorts(pod *corev1.Pod) (ports []HostPort) {
	for i, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range containers {
			if i == 0 && (c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways) {
				continue // it ends
			}
			for _, port := range c.Ports {
				if port.HostPort > 0 {
					ports = append(ports, HostPort{cmp.Or(port.HostIP, anyIP), cmp.Or(string(port.Protocol), "TCP"), port.HostPort})
				}
			}
		}
	}
	return ports
}

// TakenBy reports whether a pod on the same node leaves the port to no other.
func (p HostPort) TakenBy(pod *corev1.Pod) bool {
	return slices.ContainsFunc(HostPorts(pod), func(q HostPort) bool {
		return p.Port == q.Port && p.Protocol == q.Protocol && (p.IP == q.IP || p.IP == anyIP || q.IP == anyIP)
	})
}
