package device_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

func problemTexts(list []device.Problem) (texts []string) {
	for _, p := range list {
		texts = append(texts, p.String())
	}
	return texts
}

// TestLabelProblemTexts: a problem has the value as it was written, and what would
// be right.
func TestLabelProblemTexts(t *testing.T) {
	for _, c := range []struct {
		labels, allocatable string
		want                []string
	}{
		{v100("nvidia.com/gpu.count=a"), "nvidia.com/gpu=2", []string{
			`bad-count nvidia.com/gpu.count: "a": must be a whole number of devices below 10^9`}},
		{v100("nvidia.com/gpu.count=-2"), "nvidia.com/gpu=2", []string{
			`bad-count nvidia.com/gpu.count: "-2": must be a whole number of devices below 10^9`}},
		{v100("nvidia.com/gpu.memory=32Gi"), "nvidia.com/gpu=2", []string{
			`bad-memory nvidia.com/gpu.memory: "32Gi": must be a whole number of MiB below 10^9`}},
		{v100("nvidia.com/gpu.memory=8388608"), "nvidia.com/gpu=2", []string{
			`bad-memory nvidia.com/gpu.memory: "8388608" (MiB): must be from 64 MiB to 4 TiB`}},
		{"amd.com/gpu.product-name=MI300X amd.com/gpu.vram=many", "amd.com/gpu=2", []string{
			`bad-memory amd.com/gpu.vram: "many": must be an amount of bytes, such as 192G`}},
		{"amd.com/gpu.product-name=MI300X amd.com/gpu.vram=8Ti", "amd.com/gpu=2", []string{
			`bad-memory amd.com/gpu.vram: "8Ti" (Quantity): must be from 64 MiB to 4 TiB`}},
		{v100(""), "nvidia.com/gpu=2500m", []string{
			`bad-count nvidia.com/gpu: 2500m allocatable: must be a whole number of devices; taken as 3`,
			`count-mismatch nvidia.com/gpu: 3 allocatable, but 2 devices by label`}},
		{v100(""), "nvidia.com/gpu=1e99999999", []string{
			`bad-count nvidia.com/gpu: 1e99999999 allocatable: must be a number of devices, from 0 to 9223372036854775807`}},
		{v100(""), "nvidia.com/gpu=2 cpu=1e99999999 memory=-1Gi", []string{
			`bad-count cpu: 1e99999999: must be an amount of cores, from 0 to 9223372036854775`,
			`bad-memory memory: -1Gi: must be an amount of bytes, from 0 to 9223372036854775807`}},
		{v100("nvidia.com/gpu.replicas=x"), "nvidia.com/gpu.shared=8", []string{
			`bad-replicas nvidia.com/gpu.replicas: "x": must be how many pods share a device, a whole number above 0 and below 10^9`}},
		{v100(""), "nvidia.com/gpu.shared=8", []string{
			`bad-replicas nvidia.com/gpu.replicas: "": must be how many pods share a device, a whole number above 0 and below 10^9; nvidia.com/gpu.shared is left out`}},
		{v100("nvidia.com/gpu.replicas=4"), "nvidia.com/gpu.shared=7", []string{
			`count-mismatch nvidia.com/gpu.shared: 7 allocatable: must be a multiple of 4 replicas`}},
		{v100("nvidia.com/gpu.replicas=4 nvidia.com/gpu.product=V100-SHARED"), "nvidia.com/gpu=12", []string{
			`count-mismatch nvidia.com/gpu: 12 allocatable, but 2 devices with 4 replicas each by label`}},
		{v100(""), "nvidia.com/mig-1g.5=1", []string{
			`unparsed-profile nvidia.com/mig-1g.5: "1g.5": must be a MIG profile such as 1g.5gb: ` + parseReason("1g.5")}},
		{"nvidia.com/gpu.product=V100", "nvidia.com/gpu=2", []string{
			`missing-label nvidia.com/gpu.count: missing or empty, beside the label of the product`,
			`missing-label nvidia.com/gpu.memory: missing or empty, beside the label of the product`}},
	} {
		node := readLabels(t, nil, device.Names{}, labelNode("n", c.labels, c.allocatable))
		if diff := cmp.Diff(c.want, problemTexts(node.Problems)); diff != "" {
			t.Errorf("%s, %s (-want +got)\n%s", c.labels, c.allocatable, diff)
		}
	}
}

// parseReason says why a name is no MIG profile.
func parseReason(name string) string {
	_, _, err := device.ParseProfile(name)
	return err.(*device.ProfileError).Reason
}

func TestSliceProblemTexts(t *testing.T) {
	for _, c := range []struct {
		device resourcev1.Device
		want   []string
	}{
		{sliceDevice("nic-0", "nic", "80Gi"), []string{`unknown-type nic-0: attribute type: "nic": must be "gpu" or "mig"`}},
		{resourcev1.Device{Name: "x"}, []string{`unknown-type x: attribute type is missing: must be "gpu" or "mig"`}},
		{sliceGPU(0, number("uuid", 7)), []string{`missing-label uuid: device gpu-0: 7: must be a text`}},
		{sliceGPU(0, text(slicePrefix+"numaNode", "one")), []string{`missing-label resource.kubernetes.io/numaNode: device gpu-0: "one": must be the number of a NUMA node, from -1 on`}},
		{sliceGPU(0, number(slicePrefix+"numaNode", -2)), []string{`missing-label resource.kubernetes.io/numaNode: device gpu-0: -2: must be the number of a NUMA node, from -1 on`}},
		{sliceGPU(0, capacity("memory", "8Ti")), []string{`bad-memory gpu-0: capacity memory: 8Ti: must be from 64 MiB to 4 TiB`}},
		{sliceGPU(0, capacity("memory", "1e99999999")), []string{`bad-memory gpu-0: capacity memory: 1e99999999: must be from 64 MiB to 4 TiB`}},
		{sliceMIG("m", "1g.5"), []string{`unparsed-profile m: attribute profile: "1g.5": must be a MIG profile such as 1g.5gb: ` + parseReason("1g.5")}},
	} {
		inv := fromSlices(t, device.SliceOptions{}, sliceOf("n", 0, 1, 1, c.device))
		if diff := cmp.Diff(c.want, problemTexts(inv.Nodes[0].Problems)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.device.Name, diff)
		}
	}
}

// TestErrorTexts: an error names the field, the value, its unit, and what would be
// right.
func TestErrorTexts(t *testing.T) {
	scorer := must(device.NewScorer(device.Config{}))
	gpu := []device.State{{Kind: device.KindGPU, Total: device.Total{device.GPUMemoryRatio: 100}, Free: device.Free{device.GPUMemoryRatio: 100}}}
	batch := must(scorer.NewBatch(device.KindGPU, [][]device.State{gpu}))
	list := func(amounts string) corev1.ResourceList { return needList(amounts) }
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(device.RatioToBytes(-1, 1)), "device: invalid amount: koordinator.sh/gpu-memory-ratio: -1: must be 0 percent of a device or more"},
		{second(device.BytesToRatio(-1, 1)), "device: invalid amount: koordinator.sh/gpu-memory: -1: must be 0 bytes or more"},
		{second(device.RatioToBytes(50, 0)), "device: total memory unknown: koordinator.sh/gpu-memory-ratio: 50, of a device with 0 bytes: must have 1 byte or more"},
		{second(device.Normalize(list("FPGA 201"))), "device: invalid amount: koordinator.sh/fpga: 201: must be at most 100 percent of a device, or a multiple of 100"},
		{second(scorer.Allocate(device.AllocRequest{Count: -1}, gpu)), "device: invalid amount: count: -1: must be 0 instances or more"},
		{second(scorer.Allocate(device.AllocRequest{Count: 1, Policy: device.LeastFragmentation, Mix: []device.Share{{Ratio: 0, Weight: 1}}}, gpu)),
			"device: invalid amount: mix[0].ratio: 0: must be above 0 percent of a device"},
		{second(device.GeometryNamed("A10")), "device: unknown MIG geometry: \"A10\": must be one of A100-40, A100-80, A30-24, B200-180, H100-80, H100-94, H100-96, H200-141"},
		{second(device.GeometryFor("NVIDIA-H100", 60<<30)), "device: unknown MIG geometry: product \"NVIDIA-H100\" with 64424509440 bytes: must say by its memory, within 10%, or in its name which of H100-80, H100-94, H100-96 it is"},
		{second(device.NewGeometry("x", 9, 0, nil)), "[slots: Invalid value: 9: must be 1 to 8 memory slots, slices: Invalid value: 0: must be 1 to 8 compute slices]"},
		{scorer.ScoreNodes(nil, batch, device.Requirement{Kind: device.KindGPU}, nil), "device: dst: 0 elements: must be 1, one for each node: vector: shapes differ"},
		{scorer.ScoreNodes(make([]int64, 1), batch, device.Requirement{Kind: device.KindRDMA}, nil), `device: invalid combination of resources: kind: "rdma": must be "gpu", which the batch is of`},
		{second((&device.Inventory{}).Catalogue().Resource("A100")), `device: unknown card: "A100": no node has a card`},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", c.err, c.want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
