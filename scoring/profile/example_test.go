package profile_test

import (
	"fmt"

	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Three pods of one service are placed one after another: kube-scheduler's default
// constraints spread them over zones and nodes.
func Example() {
	resources, err := vectormap.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	nodes := resources.NewNodes(vector.WithScored())
	cluster := profile.NewCluster(nodes)
	for i, zone := range []string{"a", "a", "b"} {
		name := fmt.Sprint("node-", i)
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelTopologyZone: zone,
			}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"),
				corev1.ResourcePods: resource.MustParse("110"),
			}},
		}
		allocatable, err := resources.NodeAllocatable(nil, node, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, _, err := nodes.Set(name, 1, vector.NodeAmounts{Allocatable: allocatable}); err != nil {
			fmt.Println(err)
			return
		}
		if err := cluster.Set(node); err != nil {
			fmt.Println(err)
			return
		}
	}
	labels := map[string]string{"app": "web"}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       corev1.ServiceSpec{Selector: labels},
	}
	if err := cluster.Set(service); err != nil {
		fmt.Println(err)
		return
	}
	terms, err := profile.DefaultTerms(resources, nodes)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := profile.Bind(profile.Config{}, cluster, terms...)
	if err != nil {
		fmt.Println(err)
		return
	}
	amounts := vector.PodAmounts{Requested: vector.ResourceVector{1_000, 4 << 30, 0, 1}}
	for i := range 3 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("web-", i), Labels: labels}}
		row, ok, err := p.Best(profile.Question{Pod: pod, Amounts: amounts}, vector.TieLowest())
		if err != nil || !ok {
			fmt.Println("no node", err)
			return
		}
		if err := cluster.Assume(row, pod, amounts); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(pod.Name, "goes to", nodes.Name(row))
	}

	// Output:
	// web-0 goes to node-0
	// web-1 goes to node-2
	// web-2 goes to node-1
}
