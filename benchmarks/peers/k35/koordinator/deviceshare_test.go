// Package koordinator compares package device/share with the scheduler plugin DeviceShare
// of Koordinator.
package koordinator

import (
	"errors"
	"fmt"
	"testing"

	apiext "github.com/koordinator-sh/koordinator/apis/extension"
	"github.com/koordinator-sh/koordinator/apis/scheduling/v1alpha1"
	"github.com/koordinator-sh/koordinator/pkg/scheduler/plugins/deviceshare"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/vectormap"
)

// kinds are the types of devices that both sides know.
var kinds = map[v1alpha1.DeviceType]string{v1alpha1.GPU: device.KindGPU, v1alpha1.RDMA: device.KindRDMA, v1alpha1.FPGA: device.KindFPGA}

// resources are the amounts of a device that both sides count.
var resources = []share.Resource{share.GPUCore, share.GPUMemory, share.GPUMemoryRatio, share.NPUCore, share.NPUCPU, share.NPUDVPP, share.RDMA, share.FPGA}

// sets are sets of names that are valid, and some that aren't.
var sets = [][]corev1.ResourceName{
	{apiext.ResourceNvidiaGPU}, {apiext.ResourceAMDGPU}, {apiext.ResourceHygonDCU}, {apiext.ResourceGPU},
	{apiext.ResourceGPUMemory}, {apiext.ResourceGPUMemoryRatio},
	{apiext.ResourceGPUCore, apiext.ResourceGPUMemory}, {apiext.ResourceGPUCore, apiext.ResourceGPUMemoryRatio},
	{apiext.ResourceHuaweiNPUCore, apiext.ResourceGPUMemoryRatio},
	{apiext.ResourceGPUShared, apiext.ResourceGPUMemory}, {apiext.ResourceGPUShared, apiext.ResourceGPUMemoryRatio},
	{apiext.ResourceGPUShared, apiext.ResourceGPUCore, apiext.ResourceGPUMemory},
	{apiext.ResourceGPUShared, apiext.ResourceGPUCore, apiext.ResourceGPUMemoryRatio},
	{apiext.ResourceGPUShared, apiext.ResourceHuaweiNPUCore, apiext.ResourceHuaweiNPUCPU, apiext.ResourceGPUMemory},
	{apiext.ResourceGPUShared, apiext.ResourceHuaweiNPUCore, apiext.ResourceHuaweiNPUCPU, apiext.ResourceHuaweiNPUDVPP, apiext.ResourceGPUMemory},
	{apiext.ResourceGPUCore}, {apiext.ResourceGPUShared}, {apiext.ResourceGPUShared, apiext.ResourceGPU},
}

// amount returns what people ask for: percents, counts and bytes, and 0.
func amount(r peer.Random, name corev1.ResourceName) resource.Quantity {
	var n int64
	switch r.IntN(6) {
	case 0:
		n = r.Int64N(3)
	case 1:
		n = 100 * r.Int64N(9)
	case 2:
		n = r.Int64N(101)
	case 3:
		n = r.Int64N(900)
	default:
		n = 25 * (1 + r.Int64N(8))
	}
	if name == apiext.ResourceGPUMemory {
		n <<= 10 * r.IntN(4)
	}
	return *resource.NewQuantity(n, resource.DecimalSI)
}

// draw returns what a container asks for: one of the sets, rdma and fpga at times, and
// now and then a name too many or an amount that no device has.
func draw(r peer.Random, set []corev1.ResourceName) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	for _, name := range set {
		list[name] = amount(r, name)
	}
	if r.Chance(30) {
		list[apiext.ResourceRDMA] = amount(r, apiext.ResourceRDMA)
	}
	if r.Chance(15) {
		list[apiext.ResourceFPGA] = amount(r, apiext.ResourceFPGA)
	}
	if r.Chance(10) {
		more := sets[r.IntN(len(sets))]
		name := more[r.IntN(len(more))]
		list[name] = amount(r, name)
	}
	return list
}

// TestRequests: GetPodDeviceRequests accepts the pods that Normalize accepts, and finds
// the same amounts of each kind of devices.
func TestRequests(t *testing.T) {
	verdicts := map[bool]int{}
	peer.Cases(t, func(r peer.Random) error {
		set := sets[r.IntN(len(sets))]
		pod := r.Pod("pod", func() corev1.ResourceList { return draw(r, set) })
		their, theirErr := deviceshare.GetPodDeviceRequests(pod)
		our, ourErr := share.Normalize(vectormap.PodRequests(pod, vectormap.PodOptions{}))
		verdicts[ourErr == nil]++
		if (theirErr == nil) != (ourErr == nil) {
			return fmt.Errorf("%v: %v there, %v here", vectormap.PodRequests(pod, vectormap.PodOptions{}), theirErr, ourErr)
		}
		if theirErr != nil {
			return nil
		}
		return same(their, our)
	})
	t.Logf("%d pods accepted, %d refused", verdicts[true], verdicts[false])
}

// same compares the amounts of each kind. Theirs are amounts of the pod, ours amounts of
// each of Count instances.
func same(their map[v1alpha1.DeviceType]corev1.ResourceList, our []share.Requirement) error {
	if len(their) != len(our) {
		return fmt.Errorf("%v there, %v here", their, our)
	}
	for deviceType, total := range their {
		kind, found := kinds[deviceType], false
		for _, need := range our {
			if need.Kind != kind {
				continue
			}
			found = true
			if count := countOf(total); count != need.Count {
				return fmt.Errorf("%s: %d instances there, %d here", kind, count, need.Count)
			}
			for _, name := range resources {
				q := total[corev1.ResourceName(name.String())]
				if each := q.Value() / need.Count; each != need.PerInstance[name] {
					return fmt.Errorf("%s: %v of %s each there, %v here", kind, each, name, need.PerInstance[name])
				}
			}
		}
		if !found {
			return fmt.Errorf("%s there only", kind)
		}
	}
	return nil
}

// countOf is how many devices a request is for, by its names: as many as share it, or
// one for each whole hundred percent.
func countOf(total corev1.ResourceList) int64 {
	if shared, ok := total[apiext.ResourceGPUShared]; ok {
		return shared.Value()
	}
	for _, name := range []corev1.ResourceName{apiext.ResourceGPUMemoryRatio, apiext.ResourceRDMA, apiext.ResourceFPGA} {
		if q := total[name]; q.Value() > 100 && q.Value()%100 == 0 {
			return q.Value() / 100
		}
	}
	return 1
}

// TestStricter: amounts that no pod can mean are refused here only.
func TestStricter(t *testing.T) {
	for _, c := range []struct {
		name corev1.ResourceName
		text string
	}{
		{apiext.ResourceNvidiaGPU, "-1"},                      // no device has less than nothing
		{apiext.ResourceGPU, "99500m"},                        // 100 there
		{apiext.ResourceGPUMemory, "1500m"},                   // 2 bytes there
		{apiext.ResourceNvidiaGPU, "184467440737095517"},      // wraps around to 84 there
		{apiext.ResourceGPUMemoryRatio, "18446744073709551k"}, // the greatest int64 there
	} {
		list := corev1.ResourceList{c.name: resource.MustParse(c.text)}
		if _, err := deviceshare.ValidateDeviceRequest(list); err != nil {
			t.Errorf("%s: %s: refused there, too: %v", c.name, c.text, err)
		}
		if got, err := share.Normalize(list); !errors.Is(err, share.ErrInvalidUnit) {
			t.Errorf("%s: %s: %v, %v here", c.name, c.text, got, err)
		}
	}
}

// BenchmarkRequests: what a pod asks for, as a whole, in its one form.
func BenchmarkRequests(b *testing.B) {
	const questions = 64
	r := peer.NewRandom(1)
	var pods []*corev1.Pod
	var lists, masked []corev1.ResourceList
	for len(pods) < questions {
		set := sets[r.IntN(len(sets))]
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: draw(r, set)}}}}}
		list := vectormap.PodRequests(pod, vectormap.PodOptions{})
		if needs, err := share.Normalize(list); err != nil || len(needs) != 1 {
			continue
		}
		pods, lists = append(pods, pod), append(lists, list)
		devices := corev1.ResourceList{}
		for name, q := range list {
			if _, known := deviceshare.DeviceResourceFlags[name]; known && !q.IsZero() {
				devices[name] = q
			}
		}
		masked = append(masked, devices)
	}
	koordinator := peer.Row{Peer: "Koordinator", Module: "github.com/koordinator-sh/koordinator", Questions: questions, Goal: 3, Allocates: 2}

	var their map[v1alpha1.DeviceType]corev1.ResourceList
	var our []share.Requirement
	row := koordinator
	row.Function, row.Ours, row.Work = "GetPodDeviceRequests", "PodRequests, Normalize", "a pod of one container"
	row.Remark = "both total the pod by component-helpers"
	row.Allocates = 8
	row.Their = func(k int) { their, _ = deviceshare.GetPodDeviceRequests(pods[k]) }
	scratch := corev1.ResourceList{}
	row.Our = func(k int) {
		our, _ = share.Normalize(vectormap.PodRequests(pods[k], vectormap.PodOptions{Scratch: scratch}))
	}
	row.Same = func(int) error { return same(their, our) }
	b.Run("GetPodDeviceRequests", row.Bench)

	var converted corev1.ResourceList
	row = koordinator
	row.Function, row.Ours, row.Work = "ValidateDeviceRequest, ConvertDeviceRequest", "Normalize", "the devices of one pod, one kind"
	row.Remark = "here more checks; both allocate"
	row.Their = func(k int) {
		combination, err := deviceshare.ValidateDeviceRequest(masked[k])
		if err != nil {
			panic(err)
		}
		converted = deviceshare.ConvertDeviceRequest(masked[k], combination)
	}
	row.Our = func(k int) { our, _ = share.Normalize(lists[k]) }
	row.Same = func(int) error {
		for deviceType, kind := range kinds {
			if our[0].Kind == kind {
				return same(map[v1alpha1.DeviceType]corev1.ResourceList{deviceType: converted}, our)
			}
		}
		return fmt.Errorf("no kind %s", our[0].Kind)
	}
	b.Run("ConvertDeviceRequest", row.Bench)
}
