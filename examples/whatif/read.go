package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/resvec/resvec/examples/internal/progress"
	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/internal/document"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// objects are the objects of some files.
type objects struct {
	nodes []node
	pods  []pod

	// unknown are the fields that this program's Kubernetes types don't have, by
	// path without indices, and in how many objects they are.
	unknown       map[string]int
	unknownFields int // the sum

	problems []string // fields of nodes that can't be read

	notRead map[string]int // objects of other kinds

	least  map[string]int // how many pods a PodGroup needs, by namespace/name
	owners []any          // namespaces, services and owners of pods
	dra

	line   *progress.Line           // says how far it is
	shared map[shareKey]*corev1.Pod // pods that others may share
	images map[string]string        // of containers, each kept once
}

// place says where an object was read.
type place string

type node struct {
	*corev1.Node
	from   place
	closed string // the path of a field that can't be read; no pod may go there
}

// A pod may share its object with pods that differ from it in nothing but their names.
type pod struct {
	*corev1.Pod
	Name  string // empty: that of the object
	from  place
	group string // of spec.schedulingGroup or spec.workloadRef
}

// key returns the name by which people call a pod.
func (p pod) key() string { return p.Namespace + "/" + cmp.Or(p.Name, p.Pod.Name) }

// named returns the object of a pod under its own name.
func (p pod) named() *corev1.Pod {
	if p.Name == "" || p.Name == p.Pod.Name {
		return p.Pod
	}
	object := *p.Pod
	object.Name = p.Name
	return &object
}

// kinds are the kinds of objects that a file may hold.
type kinds struct{ node, pod bool }

func (k kinds) String() string {
	switch {
	case k.node && k.pod:
		return "Node or Pod"
	case k.node:
		return "Node"
	default:
		return "Pod"
	}
}

// object adds one object. Items of a NodeList have no kind of their own when a
// client library wrote it.
func (o *objects) object(at string, text json.RawMessage, kind string, want kinds) error {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &head); err != nil {
		return fmt.Errorf("%s: %w", at, headError(err))
	}
	if head.Kind == "" {
		head.Kind = kind
	}
	if head.APIVersion == "" && kind != "" {
		head.APIVersion = cmp.Or(ownerKinds[kind], "v1")
		switch kind {
		case "Node", "Pod", "Namespace", "Service", "ReplicationController", "ReplicaSet", "StatefulSet":
		case "PodGroup":
			head.APIVersion = podGroups[0] // whose it is makes no difference
		default:
			head.APIVersion = resourcev1.SchemeGroupVersion.String()
		}
	}
	isCore := head.APIVersion == "v1"
	isOwner := ownerKinds[head.Kind] == head.APIVersion && head.APIVersion != ""
	switch {
	case isCore && head.Kind == "Node" && want.node:
		at += fmt.Sprintf(" (Node %s)", head.Metadata.Name)
	case isCore && head.Kind == "Pod" && want.pod:
		if head.Metadata.Namespace == "" {
			head.Metadata.Namespace = corev1.NamespaceDefault // a manifest that was not applied yet
		}
		at += fmt.Sprintf(" (Pod %s/%s)", head.Metadata.Namespace, head.Metadata.Name)
	case isOwner:
		at += fmt.Sprintf(" (%s %s)", head.Kind, strings.TrimPrefix(head.Metadata.Namespace+"/"+head.Metadata.Name, "/"))
	case head.Kind == "PodGroup" && slices.Contains(podGroups, strings.SplitN(head.APIVersion, "/", 2)[0]):
		at += fmt.Sprintf(" (PodGroup %s)", head.Metadata.Name)
	case head.APIVersion == resourcev1.SchemeGroupVersion.String():
		at += fmt.Sprintf(" (%s %s)", head.Kind, head.Metadata.Name)
	case want.node && want.pod && head.APIVersion != "" && isOther(head.Kind, head.APIVersion):
		if o.notRead == nil {
			o.notRead = make(map[string]int)
		}
		o.notRead[head.Kind+" of "+head.APIVersion]++
		return nil
	default:
		return fmt.Errorf("%s: kind: got %q of apiVersion %q, want %s of v1", at, head.Kind, head.APIVersion, want)
	}
	if head.Metadata.Name == "" {
		return fmt.Errorf("%s: metadata.name: it is empty", at)
	}
	if isOwner {
		if err := o.owner(head.Kind, cmp.Or(head.Metadata.Namespace, corev1.NamespaceDefault), text); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		return nil
	}
	if !isCore {
		key := cmp.Or(head.Metadata.Namespace, corev1.NamespaceDefault) + "/" + head.Metadata.Name
		if head.Kind == "PodGroup" {
			return o.podGroup(at, key, text)
		}
		err := o.addDRA(head.Kind, key, func(into any, another func() any) error { return o.decode(text, into, another) })
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		return nil
	}
	if head.Kind == "Node" {
		return o.node(at, text, head.Metadata.Name)
	}
	p := pod{Name: head.Metadata.Name, from: place(at), group: groupOf(text)}
	key, shareable := withoutName(text, head.Metadata.Name)
	if p.Pod = o.shared[key]; p.Pod == nil {
		p.Pod = new(corev1.Pod)
		unknown := o.unknownFields
		if err := o.decode(text, p.Pod, func() any { return new(corev1.Pod) }); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		p.Namespace = head.Metadata.Namespace
		o.shed(p.Pod)
		if shareable && o.unknownFields == unknown { // they are counted for each pod
			put(&o.shared, key, p.Pod)
		}
	}
	o.pods = append(o.pods, p)
	return nil
}

// ownerKinds are the kinds of namespaces, services and owners of pods, with their apiVersion.
var ownerKinds = map[string]string{
	"Namespace": "v1", "Service": "v1", "ReplicationController": "v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1",
}

// owner adds a namespace, a service or an owner of pods: its labels or its selector.
func (o *objects) owner(kind, namespace string, text json.RawMessage) error {
	of := func(m metav1.ObjectMeta) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: m.Name}
	}
	var err error
	var kept any
	switch kind {
	case "Namespace":
		var x corev1.Namespace
		err = o.decode(text, &x, func() any { return new(corev1.Namespace) })
		kept = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: x.Name, Labels: x.Labels}}
	case "Service":
		var x corev1.Service
		err = o.decode(text, &x, func() any { return new(corev1.Service) })
		kept = &corev1.Service{ObjectMeta: of(x.ObjectMeta), Spec: corev1.ServiceSpec{Selector: x.Spec.Selector}}
	case "ReplicationController":
		var x corev1.ReplicationController
		err = o.decode(text, &x, func() any { return new(corev1.ReplicationController) })
		kept = &corev1.ReplicationController{ObjectMeta: of(x.ObjectMeta), Spec: corev1.ReplicationControllerSpec{Selector: x.Spec.Selector}}
	case "ReplicaSet":
		var x appsv1.ReplicaSet
		err = o.decode(text, &x, func() any { return new(appsv1.ReplicaSet) })
		kept = &appsv1.ReplicaSet{ObjectMeta: of(x.ObjectMeta), Spec: appsv1.ReplicaSetSpec{Selector: x.Spec.Selector}}
	case "StatefulSet":
		var x appsv1.StatefulSet
		err = o.decode(text, &x, func() any { return new(appsv1.StatefulSet) })
		kept = &appsv1.StatefulSet{ObjectMeta: of(x.ObjectMeta), Spec: appsv1.StatefulSetSpec{Selector: x.Spec.Selector}}
	}
	if err == nil {
		o.owners = append(o.owners, kept)
	}
	return err
}

// A shareKey stands for all of an object but its name; the zero value for no object.
type shareKey [sha256.Size]byte

// withoutName returns a key for the text of an object without its name. ok is false where
// something else has the name, too, or may have it, and for pods with claims, which are changed.
func withoutName(text json.RawMessage, name string) (key shareKey, ok bool) {
	if bytes.Count(text, []byte(name)) != 1 || bytes.IndexByte(text, '\\') >= 0 || bytes.Contains(text, []byte(`"resourceClaims"`)) {
		return key, false
	}
	before, after, _ := bytes.Cut(text, []byte(name))
	hash := sha256.New()
	hash.Write(before)
	hash.Write([]byte{0}) // which no JSON has
	hash.Write(after)
	return shareKey(hash.Sum(nil)), true
}

// shed drops what nobody asks about a pod, most of its bytes. A pod in the network of its host
// takes the ports of its containers there.
func (o *objects) shed(p *corev1.Pod) {
	p.ManagedFields, p.Status.PodIPs = nil, nil
	p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type != corev1.PodResizePending && c.Type != corev1.PodResizeInProgress
	})
	delete(p.Annotations, corev1.LastAppliedConfigAnnotation)
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i, c := range containers {
			if _, known := o.images[c.Image]; !known {
				put(&o.images, c.Image, c.Image)
			}
			containers[i] = corev1.Container{Name: c.Name, Image: o.images[c.Image], Resources: c.Resources, ResizePolicy: c.ResizePolicy, RestartPolicy: c.RestartPolicy, Ports: c.Ports}
			for k := range c.Ports {
				if port := &c.Ports[k]; p.Spec.HostNetwork && port.HostPort == 0 {
					port.HostPort = port.ContainerPort // as the API server does
				}
			}
		}
	}
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i, s := range statuses {
			statuses[i] = corev1.ContainerStatus{Name: s.Name, Resources: s.Resources, AllocatedResources: s.AllocatedResources}
		}
	}
}

// isOther reports whether objects are of a kind that has nothing to say here, and not of one
// that this program would read if they were written otherwise.
func isOther(kind, apiVersion string) bool {
	group := strings.SplitN(apiVersion, "/", 2)[0]
	return kind != "" && !strings.EqualFold(kind, "Node") && !strings.EqualFold(kind, "Pod") && group != resourcev1.GroupName
}

// groupOf returns the gang that a pod names in its spec: Kubernetes 1.36 and later have
// schedulingGroup, 1.35 workloadRef. The types of one version don't have the other.
func groupOf(text json.RawMessage) string {
	var p struct {
		Spec struct {
			SchedulingGroup struct {
				PodGroupName string `json:"podGroupName"`
			} `json:"schedulingGroup"`
			WorkloadRef struct {
				Name               string `json:"name"`
				PodGroup           string `json:"podGroup"`
				PodGroupReplicaKey string `json:"podGroupReplicaKey"`
			} `json:"workloadRef"`
		} `json:"spec"`
	}
	if !bytes.Contains(text, []byte("schedulingGroup")) && !bytes.Contains(text, []byte("workloadRef")) {
		return ""
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &p); err != nil {
		return "" // no group has such a name
	}
	if ref := p.Spec.WorkloadRef; ref.Name != "" {
		return strings.TrimSuffix(ref.Name+"/"+ref.PodGroup+"/"+ref.PodGroupReplicaKey, "/")
	}
	return p.Spec.SchedulingGroup.PodGroupName
}

// podGroups are the API groups of PodGroups: Kubernetes, Volcano, KAI, coscheduling.
var podGroups = []string{"scheduling.k8s.io", "scheduling.volcano.sh", "scheduling.run.ai", "scheduling.x-k8s.io"}

// podGroup adds how many pods a PodGroup needs.
func (o *objects) podGroup(at, key string, text json.RawMessage) error {
	var group struct {
		Spec struct {
			MinMember        int `json:"minMember"`
			SchedulingPolicy struct {
				Basic *struct{} `json:"basic"` // no gang
				Gang  struct {
					MinCount int `json:"minCount"`
				} `json:"gang"`
			} `json:"schedulingPolicy"`
		} `json:"spec"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &group); err != nil {
		return fmt.Errorf("%s: %w", at, headError(err))
	}
	policy := group.Spec.SchedulingPolicy
	if least := max(group.Spec.MinMember, policy.Gang.MinCount); least > 0 || policy.Basic != nil {
		put(&o.least, key, least)
	}
	return nil
}

// mostFaults is how many fields of a node are left out before all of it is.
const mostFaults = 8

// node adds a node. An amount that can't be read is left out, so that the node has nothing
// of it. Another field that can't be read closes the node, since it may be what keeps pods
// away. Both are problems and no errors: one node of thousands is not the end.
func (o *objects) node(at string, text json.RawMessage, name string) error {
	n := node{new(corev1.Node), place(at), ""}
	for faults := 0; ; faults++ {
		err := o.decode(text, n.Node, func() any { return new(corev1.Node) })
		var fault *fieldFault
		switch {
		case err == nil:
			n.Name = name
			o.checkAmounts(&n)
			o.nodes = append(o.nodes, n)
			return nil
		case !errors.As(err, &fault) || fault.path == "":
			return fmt.Errorf("%s: %w", at, err)
		}
		o.problems = append(o.problems, fmt.Sprintf("%s: %v", at, err))
		n.Node = new(corev1.Node)
		if !strings.HasPrefix(fault.path, "status.allocatable") && !strings.HasPrefix(fault.path, "status.capacity") {
			n.closed = fault.path
		}
		root, _ := tree(text) // it was read before
		if prune("", root, fault.path); faults == mostFaults {
			root, n.closed = map[string]any{"metadata": map[string]any{"name": name}}, fault.path
		}
		text, _ = json.Marshal(root)
	}
}

// prune takes away the value at a path.
func prune(at string, v any, path string) bool {
	for i, c := range children(at, v) {
		switch v := v.(type) {
		case map[string]any:
			if c.path == path {
				delete(v, c.key)
				return true
			}
		case []any:
			if c.path == path {
				v[i] = nil
				return true
			}
		}
		if strings.HasPrefix(path, c.path) && prune(c.path, c.value, path) {
			return true
		}
	}
	return false
}

// checkAmounts leaves out amounts that no node can have: negative ones, and those beyond
// what is computed with.
func (o *objects) checkAmounts(n *node) {
	check := func(list corev1.ResourceList) error {
		bare := &corev1.Node{Status: corev1.NodeStatus{Allocatable: list}}
		m, err := placement.NewMap([]*corev1.Node{bare}, nil)
		if err == nil {
			_, err = m.NodeAllocatable(nil, bare, nil)
		}
		return err
	}
	for i, list := range []corev1.ResourceList{n.Status.Allocatable, n.Status.Capacity} {
		if check(list) == nil {
			continue
		}
		field := []string{"allocatable", "capacity"}[i]
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if err := check(corev1.ResourceList{name: list[name]}); err != nil {
				delete(list, name)
				o.problems = append(o.problems, fmt.Sprintf("%s: status.%s: %v", n.from, field, err))
			}
		}
	}
}

// A fieldFault is a value that an object can't have.
type fieldFault struct {
	path  string
	cause error
}

func (f *fieldFault) Error() string { return f.path + ": " + f.cause.Error() }
func (f *fieldFault) Unwrap() error { return f.cause }

// decode decodes an object. Fields that it does not know are counted, repeated
// ones are an error.
func (o *objects) decode(text json.RawMessage, into any, another func() any) error {
	if longExponent.Match(text) {
		if path := farAmount(text); path != "" {
			return &fieldFault{path, errors.New("an amount with an exponent of four digits or more, want a quantity such as 2, 500m or 8Gi")}
		}
	}
	remarks, err := kjson.UnmarshalStrict(text, into)
	if err != nil {
		if path, cause := blame(text, another); cause != nil {
			return &fieldFault{path, cause}
		}
		return err
	}
	for _, remark := range remarks {
		path, isUnknown := strings.CutPrefix(remark.Error(), `unknown field `)
		if !isUnknown {
			return remark
		}
		if path = withoutIndices(strings.Trim(path, `"`)); strings.HasPrefix(path, "spec.schedulingGroup") {
			continue // see groupOf
		}
		if o.unknown == nil {
			o.unknown = make(map[string]int)
		}
		o.unknown[path]++
		o.unknownFields++
	}
	return nil
}

// longExponent matches a number with an exponent that may take minutes to parse as
// a quantity.
var longExponent = regexp.MustCompile(`[0-9.][eE][+-]?[0-9]{4,}`)

// farAmount returns the path of the first such number where an object has amounts.
// Elsewhere, as a label for instance, it is a text like any other.
func farAmount(text json.RawMessage) string {
	root, err := tree(text)
	if err != nil {
		return "" // said where it is decoded
	}
	var look func(path string, v any, amounts bool, depth int) string
	look = func(path string, v any, amounts bool, depth int) string {
		switch v.(type) {
		case string, json.Number:
			if amounts && longExponent.MatchString(fmt.Sprint(v)) {
				return path
			}
		}
		if depth == deepest {
			return ""
		}
		for _, c := range children(path, v) {
			if found := look(c.path, c.value, amounts || amountFields[c.key], depth+1); found != "" {
				return found
			}
		}
		return ""
	}
	return look("", root, false, 0)
}

// deepest is deeper than the fields of nodes and pods nest in one another. To look
// further down would only take time.
const deepest = 100

// amountFields are the fields of nodes and pods that hold quantities.
var amountFields = map[string]bool{
	"allocatable": true, "allocatedResources": true, "capacity": true, "divisor": true,
	"limits": true, "overhead": true, "requests": true, "sizeLimit": true,
}

// withoutIndices turns spec.containers[3].x into spec.containers[].x.
func withoutIndices(path string) string {
	var b strings.Builder
	for head, rest := "", path; rest != ""; {
		var found bool
		head, rest, found = strings.Cut(rest, "[")
		b.WriteString(head)
		if found {
			_, rest, _ = strings.Cut(rest, "]")
			b.WriteString("[]")
		}
	}
	return b.String()
}

// tree decodes text with its numbers as they are written.
func tree(text json.RawMessage) (root any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&root)
	return root, err
}

// blame returns the path and the cause of the first fault of an object that can't
// be decoded. Types that decode themselves, quantities for one, don't show their
// path. So it decodes the object with one of its members at a time, and then that
// member likewise.
func blame(text json.RawMessage, another func() any) (path string, cause error) {
	root, err := tree(text)
	if err != nil {
		return "", nil
	}
	fault := func(v any) error {
		text, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		return kjson.UnmarshalCaseSensitivePreserveInts(text, another())
	}
	return narrow("", root, fault, deepest)
}

// narrow returns the path and the cause of the first fault below v, given what is
// wrong with a value in its place. It looks so many levels down.
func narrow(path string, v any, fault func(any) error, levels int) (string, error) {
	cause := fault(v)
	if cause == nil {
		return "", nil
	}
	for i, c := range children(path, v) {
		if levels == 0 || i == 0 && fault(c.without) != nil {
			break // an object or a list, whichever v is, is not wanted here at all
		}
		if at, cause := narrow(c.path, c.value, func(x any) error { return fault(c.with(x)) }, levels-1); cause != nil {
			return at, cause
		}
	}
	if _, want, ok := wanted(cause); ok {
		return path, fmt.Errorf("got %s, want %s", excerpt(v), want)
	}
	for _, bad := range []error{resource.ErrFormatWrong, resource.ErrNumeric, resource.ErrSuffix} {
		if errors.Is(cause, bad) || strings.Contains(cause.Error(), bad.Error()) {
			return path, fmt.Errorf("got %s, want a quantity such as 2, 500m or 8Gi", excerpt(v))
		}
	}
	var moment *time.ParseError
	if errors.As(cause, &moment) {
		return path, fmt.Errorf("got %s, want a time such as 2026-01-02T15:04:05Z", excerpt(v))
	}
	return path, fmt.Errorf("got %s: %w", excerpt(v), cause)
}

// child is a value in an object or in a list.
type child struct {
	path, key string // no key in a list
	value     any
	without   any             // an empty object or list
	with      func(x any) any // one that has x in the value's place, and nothing else
}

// children returns what is in an object, by key, or in a list. Others have none.
func children(path string, v any) (list []child) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+key, ".")
			if strings.ContainsAny(key, "./") {
				at = path + "[" + key + "]"
			}
			with := func(x any) any { return map[string]any{key: x} }
			list = append(list, child{at, key, v[key], map[string]any{}, with})
		}
	case []any:
		for i, item := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			list = append(list, child{path: at, value: item, without: []any{}, with: func(x any) any { return []any{x} }})
		}
	}
	return list
}

// excerpt returns a value as JSON, of a long one the beginning.
func excerpt(v any) string {
	text, _ := json.Marshal(v) // v was read as JSON
	return document.Cut(string(text))
}

// wanted returns, in words of JSON and not of Go, of which type the value should be
// that an error is about, and its path; ok is false for another error.
func wanted(err error) (path, want string, ok bool) {
	var other *json.UnmarshalTypeError
	if !errors.As(err, &other) {
		return "", "", false
	}
	switch kind := other.Type.Kind(); {
	case kind == reflect.Struct || kind == reflect.Map:
		want = "an object"
	case kind == reflect.Slice:
		want = "a list"
	case kind == reflect.Bool:
		want = "true or false"
	case kind >= reflect.Int && kind <= reflect.Uint64:
		want = "a whole number"
	default:
		want = "a string"
	}
	return other.Field, want, true
}

// headError is an error in the first fields of an object, or in what should be one.
func headError(err error) error {
	switch path, want, ok := wanted(err); {
	case !ok:
		return err
	case path != "":
		return fmt.Errorf("%s: want %s", path, want)
	}
	return errors.New("want an object; several are one of kind List, or documents of their own")
}
