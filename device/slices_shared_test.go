package device_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/api/resource"
)

// policy gives a capacity a policy for requests, as drivers do.
func policy(name, value, least string) sliceEdit {
	return func(d *resourcev1.Device) {
		q := resource.MustParse(least)
		d.Capacity[resourcev1.QualifiedName(name)] = resourcev1.DeviceCapacity{
			Value:         resource.MustParse(value),
			RequestPolicy: &resourcev1.CapacityRequestPolicy{Default: &q, ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: &q}},
		}
	}
}

// hami is a GPU of HAMi's driver.
func hami(minor int) resourcev1.Device {
	return sliceDevice(fmt.Sprintf("hami-gpu-%d", minor), "hami-gpu", "81559Mi", shareable, policy("cores", "100", "0"))
}

// amdDevice is a device of AMD's driver.
func amdDevice(name, kind, memory string, edits ...sliceEdit) resourcev1.Device {
	return sliceDevice(name, kind, memory, append([]sliceEdit{text("productName", "AMD_Instinct_MI355X_OAM"), capacity("computeUnits", "128")}, edits...)...)
}

// Devices that pods allocate together, and partitions.
func TestSharedSlices(t *testing.T) {
	const mps4, amd = sliceCard + "/mps-80g*1/4", "AMD_Instinct_MI355X_OAM"
	ofAMD, ofHAMi := driver("gpu.amd.com"), driver("hami-core-gpu.project-hami.io")
	for _, c := range []struct {
		name  string
		slice *resourcev1.ResourceSlice
		want  string
	}{
		{"shares, as NVIDIA's driver has them", sliceOf("a", 0, 1, 1, sliceGPU(0, shareable, policy("shares", "4", "1"), policy("memory", "81559Mi", "0"))),
			facts("node a", "row gpu-0 consumable/4", "capacity {gpu-0 memory 85520809984}", "capacity {gpu-0 shares 4}", "card "+mps4+" 4")},
		{"shares without a policy, by their full name", sliceOf("a", 0, 1, 1, sliceGPU(0, shareable, capacity("gpu.nvidia.com/shares", "4"))),
			facts("node a", "row gpu-0 consumable/4", "capacity {gpu-0 memory 85520809984}", "capacity {gpu-0 shares 4}", "card "+mps4+" 4")},
		{"one share is exclusive", sliceOf("a", 0, 1, 1, sliceGPU(0, shareable, capacity("shares", "1"))),
			facts("node a", "row gpu-0", "card "+sliceCard+" 1")},
		{"shares of a device that is allocated once", sliceOf("a", 0, 1, 1, sliceGPU(0, capacity("shares", "4"))),
			facts("node a", "row gpu-0", "card "+sliceCard+" 1")},
		{"memory alone", sliceOf("a", 0, 1, 1, sliceGPU(0, shareable)),
			facts("node a", "row gpu-0 consumable/1", "capacity {gpu-0 memory 85520809984}", "card "+sliceCard+" 1")},
		{"shares of unknown memory", sliceOf("a", 0, 1, 1, sliceGPU(0, shareable, capacity("shares", "4"), without("memory"))),
			facts("node a", "row gpu-0 consumable/4", "capacity {gpu-0 shares 4}", "bad-memory gpu-0")},
		{"HAMi", changed(sliceOf("a", 0, 1, 1, hami(0)), ofHAMi),
			facts("node a", "row hami-gpu-0 consumable/1", "capacity {hami-gpu-0 cores 100}", "capacity {hami-gpu-0 memory 85520809984}", "card "+sliceCard+" 1")},
		{"HAMi's type by another driver", sliceOf("a", 0, 1, 1, hami(0)), facts("node a", "unknown-type hami-gpu-0")},
		{"a capacity of any name", sliceOf("a", 0, 1, 1, sliceGPU(0, shareable, policy("bandwidth", "1500m", "1")), sliceGPU(1, shareable, capacity("bandwidth", "3"))),
			facts("node a", "row gpu-0 consumable/1", "row gpu-1 consumable/1",
				"capacity {gpu-0 bandwidth 2}", "capacity {gpu-0 memory 85520809984}", "capacity {gpu-1 bandwidth 3}", "capacity {gpu-1 memory 85520809984}",
				"card "+sliceCard+" 2", "bad-capacity bandwidth")},
		{"amounts that are none", sliceOf("a", 0, 1, 1, sliceGPU(0, shareable, capacity("multiprocessors", "-1"), capacity("decoders", "9223372036854775808"), capacity("", "1"))),
			facts("node a", "row gpu-0 consumable/1", "capacity {gpu-0 memory 85520809984}", "card "+sliceCard+" 1",
				"bad-capacity ", "bad-capacity decoders", "bad-capacity multiprocessors")},
		{"a shared MIG instance", sliceOf("a", 0, 1, 1, sliceMIG("m", "1g.10gb", shareable, capacity("shares", "3"), capacity("copyEngines", "1"), capacity("memorySlice0", "1"))),
			facts("node a", `row m 1g.10gb@0 of "" mig/3`, "capacity {m copyEngines 1}", "capacity {m memory 10334765056}", "capacity {m shares 3}",
				"card "+sliceCard+"/mig-1g.10gb.shared-mixed 3")},

		{"DPX", changed(sliceOf("a", 0, 1, 1,
			amdDevice("gpu-0-128", "amdgpu-partition", "144Gi", text("partitionProfile", "dpx_nps2")),
			amdDevice("gpu-1-129", "amdgpu-partition", "144Gi", text("partitionProfile", "DPX_NPS2")),
			amdDevice("gpu-2-130", "amdgpu", "288Gi", text("partitionProfile", "spx_nps1"))), ofAMD),
			facts("node a", "row gpu-0-128 dpx_nps2", "row gpu-1-129 dpx_nps2", "row gpu-2-130", "card "+amd+" 1", "card "+amd+"/dpx_nps2 2")},
		{"a partition of unknown kind", changed(sliceOf("a", 0, 1, 1, amdDevice("gpu-0-128", "amdgpu-partition", "144Gi")), ofAMD),
			facts("node a", "row gpu-0-128 partition", "card "+amd+"/partition 1", "missing-label gpu-0-128")},
		{"partitions that could be made", changed(sliceOf("a", 0, 1, 1,
			amdDevice("gpu-0-spx-nps1", "amdgpu", "288Gi", shareable, capacity("partitions", "1"), text("computePartition", "spx"), text("memoryPartition", "nps1"), consumes("gpu-0-mutex", "partition-mode", "1")),
			amdDevice("gpu-0-cpx-nps4", "amdgpu-partition", "36Gi", shareable, capacity("partitions", "8"), text("computePartition", "cpx"), text("memoryPartition", "nps4"), consumes("gpu-0-mutex", "partition-mode", "1"))), ofAMD),
			facts("node a", "row gpu-0-spx-nps1", "potential gpu-0-cpx-nps4 [{gpu-0-mutex partition-mode 1}]", "card "+amd+" 1")},
		{"passed through to virtual machines", changed(sliceOf("a", 0, 1, 1, amdDevice("gpu-vfio-0", "vfio", "288Gi")), ofAMD), "node a"},

		{"A30 in MIG mode with partitions only", sliceOf("a", 0, 1, 1,
			sliceMIG("gpu-0-mig-1g6gb-14-0", "1g.6gb", text("productName", "NVIDIA A30"), text("parentUUID", "GPU-0"), consumes("gpu-0-counter-set", "memory-slice-0", "1")),
			sliceMIG("gpu-0-mig-4g24gb-0-0", "4g.24gb", text("productName", "NVIDIA A30"), text("parentUUID", "GPU-0"), consumes("gpu-0-counter-set", "memory-slice-0", "1"))),
			facts("node a", "potential gpu-0-mig-1g6gb-14-0 [{gpu-0-counter-set memory-slice-0 1}]", "potential gpu-0-mig-4g24gb-0-0 [{gpu-0-counter-set memory-slice-0 1}]", "only-partitions NVIDIA-A30")},
		{"partitions of a GPU that is listed, by its counters", sliceOf("a", 0, 1, 1,
			sliceGPU(0, consumes("gpu-0-counter-set", "memory", "80Gi")), sliceMIG("gpu-0-mig", "1g.10gb", consumes("gpu-0-counter-set", "memory", "10Gi"))),
			facts("node a", "row gpu-0", "potential gpu-0-mig [{gpu-0-counter-set memory 10737418240}]", "card "+sliceCard+" 1")},
		{"partitions of a GPU that is cut", sliceOf("a", 0, 1, 1,
			sliceMIG("m", "1g.10gb", text("parentUUID", "GPU-0")), sliceMIG("gpu-0-mig", "1g.10gb", text("parentUUID", "GPU-0"), consumes("c", "memory", "10Gi"))),
			facts("node a", `row m 1g.10gb@-1 of "GPU-0"`, "potential gpu-0-mig [{c memory 10737418240}]", "card "+sliceCard+"/mig-1g.10gb-mixed 1")},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantEqual(t, "", c.want, listing(fromSlices(device.Options{}, c.slice)))
		})
	}
}

// Shares that are no number of pods leave the device shared by its amounts.
func TestSharesFaults(t *testing.T) {
	for _, shares := range []string{"0", "-4", "1500m", "1e9", "9223372036854775808", "1e300"} {
		n := fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, sliceGPU(0, shareable, capacity("shares", shares)))).Nodes[0]
		if d := n.Devices[0]; d.Sharing != device.SharingConsumable || d.Replicas != 1 || n.Problems[0].Code != "bad-replicas" || n.Problems[0].Key != "gpu-0" {
			t.Errorf("%s: %v/%d, %v", shares, d.Sharing, d.Replicas, n.Problems)
		}
	}
	most := sliceGPU(0, shareable, capacity("shares", "999999999"))
	if n := fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, most)).Nodes[0]; n.Cards[0].Count != 999999999 || len(n.Problems) > 0 {
		t.Errorf("%v, %v", n.Cards, n.Problems)
	}
	many := sliceGPU(0, shareable)
	for i := range 100_000 {
		many.Capacity[resourcev1.QualifiedName(fmt.Sprint("c", i))] = resourcev1.DeviceCapacity{Value: *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)}
	}
	if n := fromSlices(device.Options{}, sliceOf("a", 0, 1, 1, many)).Nodes[0]; len(n.Consumable) != 100_001 || len(n.Problems) != 100_000 {
		t.Errorf("%d capacities, %d problems", len(n.Consumable), len(n.Problems))
	}
}

// A slice in another version of the API says the same in its own fields.
func TestSliceVersions(t *testing.T) {
	v1 := sliceOf("a", 0, 1, 1, sliceGPU(0, taint("NoSchedule"), shareable, capacity("shares", "2")), sliceGPU(1, number(slicePrefix+"numaNode", 1)),
		sliceMIG("m", "1g.10gb", consumes("gpu-0", "memory", "9856Mi")))
	remote := changed(sliceOf("pool", 0, 1, 1, sliceGPU(2, deviceOnNode("b")), sliceGPU(3)), perDevice)
	var beta1 []resourcev1beta1.ResourceSlice
	var beta2 []*resourcev1beta2.ResourceSlice
	for _, s := range []*resourcev1.ResourceSlice{v1, remote} {
		data := testkit.Must(json.Marshal(s))
		var b2 resourcev1beta2.ResourceSlice
		var b1 resourcev1beta1.ResourceSlice
		var devices struct {
			Spec struct{ Devices []resourcev1beta1.BasicDevice }
		}
		for _, target := range []any{&b2, &b1, &devices} {
			testkit.Check(json.Unmarshal(data, target))
		}
		for i := range devices.Spec.Devices {
			b1.Spec.Devices[i].Basic = &devices.Spec.Devices[i]
		}
		b1.APIVersion = "resource.k8s.io/v1beta1"
		beta1, beta2 = append(beta1, b1), append(beta2, &b2)
	}
	want := fromSlices(device.Options{}, v1, remote)
	got1, err1 := device.FromResourceSlices(beta1, nil, device.Options{})
	got2, err2 := device.FromResourceSlices(beta2, nil, device.Options{})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	wantEqual(t, "v1beta1", want, got1)
	wantEqual(t, "v1beta2", want, got2)
	beta1[0].Spec.Devices[0].Basic = nil
	if inv, err := device.FromResourceSlices(beta1, nil, device.Options{}); err != nil || !strings.Contains(listing(inv), "unknown-type gpu-0") {
		t.Errorf("without basic: %v, %v", inv, err)
	}
	beta2[0].APIVersion = "resource.k8s.io/v1beta1"
	if _, err := device.FromResourceSlices(beta2, nil, device.Options{}); err == nil || !strings.Contains(err.Error(), `apiVersion: "resource.k8s.io/v1beta1": must be resource.k8s.io/v1beta2, as which it was read`) {
		t.Errorf("v1beta1 read as v1beta2: %v", err)
	}
}
