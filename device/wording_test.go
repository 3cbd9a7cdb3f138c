package device_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vectormap"
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
		{v100("nvidia.com/gpu.replicas=4"), "nvidia.com/gpu=2 nvidia.com/gpu.shared=7", []string{
			`count-mismatch nvidia.com/gpu: 2 allocatable, and shares of 2 more, but 2 devices by label`,
			`count-mismatch nvidia.com/gpu.shared: 7 allocatable: must be a multiple of 4 replicas`}},
		{mixed("nvidia.com/mig-1g.5gb.count=14"), "nvidia.com/gpu=6 nvidia.com/gpu.shared=24 nvidia.com/mig-1g.5gb=14", []string{
			`count-mismatch nvidia.com/gpu: 6 allocatable, and shares of 6 more, but of 8 devices by label the MIG instances leave 6`}},
		{mixed("nvidia.com/mig-1g.5gb.count=14 nvidia.com/mig-1g.5gb.replicas=2"), "nvidia.com/mig-1g.5gb=8 nvidia.com/mig-1g.5gb.shared=14", []string{
			`count-mismatch nvidia.com/mig-1g.5gb: 8 allocatable, and shares of 7 more, but 14 instances by label`}},
		{mixed("nvidia.com/mig-1g.5gb.count=57"), "nvidia.com/mig-1g.5gb=57", []string{
			`count-mismatch nvidia.com/mig-1g.5gb: 57 allocatable: the MIG instances need 9 GPUs, but 8 devices by label`}},
		{v100(""), "nvidia.com/mig-1g.5=1", []string{
			`unparsed-profile nvidia.com/mig-1g.5: "1g.5": must be a MIG profile such as 1g.5gb: ` + parseReason("1g.5")}},
		{"nvidia.com/gpu.product=V100", "nvidia.com/gpu=2", []string{
			`missing-label nvidia.com/gpu.count: missing or empty, though the product has a label`,
		}},
		{"nvidia.com/gpu.product=A100-MIG-INVALID nvidia.com/gpu.count=0 nvidia.com/mig.strategy=single", "nvidia.com/gpu=0", []string{
			`bad-strategy nvidia.com/mig.strategy: "single": product A100-MIG-INVALID: the strategy single needs all GPUs cut in the same way; they are in no card`}},
	} {
		node := readLabels(t, nil, device.Names{}, labelNode("n", c.labels, c.allocatable))
		if diff := cmp.Diff(c.want, problemTexts(node.Problems)); diff != "" {
			t.Errorf("%s, %s (-want +got)\n%s", c.labels, c.allocatable, diff)
		}
	}
}

// mixed is the labels of a node of which some GPUs are cut and others shared, and others.
func mixed(others string) string {
	return v100("nvidia.com/gpu.product=A100 nvidia.com/gpu.count=8 nvidia.com/gpu.memory=40960 nvidia.com/gpu.replicas=4 nvidia.com/mig.strategy=mixed " + others)
}

// parseReason says why a name is no MIG profile.
func parseReason(name string) string {
	_, _, err := vectormap.ParseMIG(name)
	return err.(*vectormap.MIGError).Reason
}

func TestSliceProblemTexts(t *testing.T) {
	for _, c := range []struct {
		device resourcev1.Device
		want   []string
	}{
		{sliceDevice("nic-0", "nic", "80Gi"), []string{`unknown-type nic-0: attribute type: "nic": must be "gpu" or "mig"`}},
		{sliceDevice("vfio-0", "vfio", "80Gi"), nil}, // for virtual machines
		{resourcev1.Device{Name: "x"}, []string{`unknown-type x: attribute type is missing: must be "gpu" or "mig"`}},
		{sliceGPU(0, number("uuid", 7)), []string{`missing-label uuid: device gpu-0: 7: must be a text`}},
		{sliceGPU(0, text(slicePrefix+"numaNode", "one")), []string{`missing-label resource.kubernetes.io/numaNode: device gpu-0: "one": must be the number of a NUMA node, from -1 on`}},
		{sliceGPU(0, number(slicePrefix+"numaNode", -2)), []string{`missing-label resource.kubernetes.io/numaNode: device gpu-0: -2: must be the number of a NUMA node, from -1 on`}},
		{sliceGPU(0, capacity("memory", "8Ti")), []string{`bad-memory gpu-0: capacity memory: 8Ti: must be from 64 MiB to 4 TiB`}},
		{sliceGPU(0, capacity("memory", "1e99999999")), []string{`bad-memory gpu-0: capacity memory: 1e99999999: must be from 64 MiB to 4 TiB`}},
		{sliceMIG("m", "1g.5"), []string{`unparsed-profile m: attribute profile: "1g.5": must be a MIG profile such as 1g.5gb: ` + parseReason("1g.5")}},
	} {
		inv := fromSlices(device.Options{}, sliceOf("n", 0, 1, 1, c.device))
		wantEqual(t, c.device.Name, c.want, problemTexts(inv.Nodes[0].Problems))
	}
}

// TestSliceVersion: slices of another version are one error, not a problem for each
// device.
func TestSliceVersion(t *testing.T) {
	slice := sliceOf("n", 0, 1, 1, sliceGPU(0))
	for version, want := range map[string]string{
		"": "", "resource.k8s.io/v1": "",
		"resource.k8s.io/v1beta1": `device: ResourceSlice "` + slice.Name + `": apiVersion: "resource.k8s.io/v1beta1": must be resource.k8s.io/v1, as which it was read`,
	} {
		slice.APIVersion = version
		_, err := device.FromResourceSlices([]*resourcev1.ResourceSlice{slice}, nil, device.Options{})
		if got := fmt.Sprint(err); (err != nil || want != "") && got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
}

// TestErrorTexts: an error names what is wrong, and what would be right.
func TestErrorTexts(t *testing.T) {
	want := `device: unknown card: "A100": no node has a card`
	if _, err := (&device.Inventory{}).Catalog().Resource("A100"); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
