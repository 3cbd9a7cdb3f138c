package e2e

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/resvec/resvec/examples/kubescheduler/internal/controlplane"
	"github.com/resvec/resvec/examples/kubescheduler/internal/sample"
	"github.com/resvec/resvec/internal/testkit"
)

// gangAPI is what gangs need in a minor version of Kubernetes.
var gangAPI = map[string]struct {
	version string // of the API of pod groups
	gates   []string
}{
	"1.36": {"v1alpha2", []string{"GenericWorkload", "GangScheduling"}},
	"1.37": {"v1beta1", []string{"GenericWorkload"}},
}

// TestGang: a gang that has room for three of four is refused as a whole with its numbers,
// and bound as a whole when another node comes.
func TestGang(t *testing.T) { eachMinor(t, testGang) }

func testGang(t *testing.T, ctx context.Context, binaries string) {
	_, minor, _ := strings.Cut(t.Name(), "/")
	api, folder := gangAPI[minor], t.TempDir()
	arguments := []byte("    args:\n")
	c := start(t, ctx, binaries, folder, controlplane.Options{
		Gates:         api.gates,
		Configuration: bytes.Replace(controlplane.Configuration, arguments, append(arguments, "      gangScheduling: true\n"...), 1),
	})
	nodes := sample.Nodes(20)
	for _, node := range nodes[8:11] { // of 32 cpus, without devices
		c.createNode(t, node)
	}
	name := "four"
	testkit.Check(c.client.Discovery().RESTClient().Post().AbsPath("/apis/scheduling.k8s.io", api.version, "namespaces/default/podgroups").
		Body(fmt.Appendf(nil, `{"apiVersion": "scheduling.k8s.io/%s", "kind": "PodGroup", "metadata": {"name": %q},
			"spec": {"schedulingPolicy": {"gang": {"minCount": 4}}}}`, api.version, name)).Do(ctx).Error())
	var members []*corev1.Pod
	for i := range 4 {
		pod := sample.Pod(fmt.Sprint(name, "-", i), "cpu=20 memory=1Gi")
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
		members = append(members, pod)
	}
	c.create(t, members...)
	const why = "pod group default/four needs 4 more pods: of 4 pods there is room for 3"
	c.eventually(t, "there is a pod with the message: "+why, func() bool {
		for _, pod := range c.pods(t) {
			for _, condition := range pod.Status.Conditions {
				if strings.Contains(condition.Message, why) {
					return true
				}
			}
		}
		return false
	})
	for _, pod := range members {
		if node := c.nodeOf(t, pod.Name); node != "" {
			t.Errorf("%s is on %s", pod.Name, node)
		}
	}
	c.createNode(t, nodes[11])
	for _, pod := range members {
		c.eventually(t, pod.Name+" is bound", func() bool { return c.nodeOf(t, pod.Name) != "" })
	}
	stop(t, c.plane, folder)
}
