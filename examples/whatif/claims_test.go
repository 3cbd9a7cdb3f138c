package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// sliceYAML returns a ResourceSlice of a node with devices.
func sliceYAML(node string, devices ...string) string {
	return fmt.Sprintf("- {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: %[1]s}, spec: {driver: gpu.nvidia.com, nodeName: %[1]s, "+
		"pool: {name: %[1]s, generation: 1, resourceSliceCount: 1}, devices: [%s]}}\n", node, strings.Join(devices, ", "))
}

func gpuYAML(name, product string) string {
	return fmt.Sprintf("{name: %s, attributes: {type: {string: gpu}, productName: {string: %s}, uuid: {string: %s-%[1]s}}, capacity: {memory: {value: 80Gi}}}", name, product, strings.ReplaceAll(product, " ", ""))
}

func migYAML(name, product, profile string) string {
	return fmt.Sprintf("{name: %s, attributes: {type: {string: mig}, productName: {string: %s}, profile: {string: %s}, uuid: {string: MIG-%[1]s}, parentUUID: {string: GPU-x}}, capacity: {memory: {value: 4864Mi}, memorySlice0: {value: 1}}}", name, product, profile)
}

// templateYAML returns a claim template, a pod's claim of which is claimOf.
func templateYAML(name, request string) string {
	return fmt.Sprintf("- {apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: %s}, spec: {spec: {devices: {requests: [{name: r, exactly: {%s}}]}}}}\n", name, request)
}

func claimOf(template string) string {
	return "resourceClaims: [{name: c, resourceClaimTemplateName: " + template + "}]"
}

// Claims count as what nodes have by their ResourceSlices, by class, product and profile.
func TestClaims(t *testing.T) {
	c := mustAsk(both +
		nodeYAML("a", "", "cpu: 64, pods: 99", "") + nodeYAML("h", "", "cpu: 64, pods: 99", "") + nodeYAML("m", "", "cpu: 64, pods: 99", "") +
		sliceYAML("a", gpuYAML("gpu-0", "NVIDIA A100"), gpuYAML("gpu-1", "NVIDIA A100")) +
		sliceYAML("h", gpuYAML("gpu-0", "NVIDIA H100"), gpuYAML("gpu-1", "NVIDIA H100")) +
		sliceYAML("m", migYAML("mig-0", "NVIDIA A100", "1g.5gb"), migYAML("mig-1", "NVIDIA A100", "1g.5gb")) +
		`- {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: h100}, spec: {selectors: [{cel: {expression: 'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].productName == "NVIDIA H100"'}}]}}` + "\n" +
		templateYAML("h100", "deviceClassName: h100") +
		templateYAML("any2", "deviceClassName: gpu.nvidia.com, count: 2") +
		templateYAML("slice", `deviceClassName: mig.nvidia.com, selectors: [{cel: {expression: "device.attributes['gpu.nvidia.com'].profile == '1g.5gb'"}}]`) +
		templateYAML("odd", `deviceClassName: gpu.nvidia.com, selectors: [{cel: {expression: "device.attributes['gpu.nvidia.com'].productName.startsWith('NVIDIA')"}}]`) +
		"- {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: own}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: h100}}]}}}\n" +
		podYAML("runs", "cpu: 1", "nodeName: h, "+claimOf("h100")) +
		podYAML("h-1", "cpu: 1", "resourceClaims: [{name: c, resourceClaimName: own}]") +
		podYAML("h-2", "cpu: 1", claimOf("h100")) +
		podYAML("two", "cpu: 1", claimOf("any2")) +
		podYAML("two-more", "cpu: 1", claimOf("any2")) +
		podYAML("s-1", "cpu: 1", claimOf("slice")) + podYAML("s-2", "cpu: 1", claimOf("slice")) + podYAML("s-3", "cpu: 1", claimOf("slice")) +
		podYAML("odd", "cpu: 1", claimOf("odd")) + podYAML("missing", "cpu: 1", claimOf("nothing")))
	o := testkit.Must(c.simulate(nil, vector.TieLowest()))
	var got []string
	for i, row := range o.rows {
		on := "-"
		if row >= 0 {
			on = c.nodes[row].Name
		}
		got = append(got, c.queue[i].Name+" "+on)
	}
	if got, want := strings.Join(got[:7], ", "), "h-1 h, h-2 -, two a, two-more -, s-1 m, s-2 m, s-3 -"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := c.explain(o, 1); !strings.Contains(got, "3 Insufficient gpu.nvidia.com/NVIDIA-H100") {
		t.Errorf("why h-2 fits nowhere: %s", got)
	}
	r := c.remarks()
	if len(r) != 1 || r[0].constraint != "resourceClaims" || strings.Join(r[0].pods, " ") != "default/odd default/missing" {
		t.Errorf("not looked at: %v", r)
	}
}

// What claims have by their status nobody else gets, whatever they ask for; a pod that has a
// claim with devices waits for that node; and where nothing says what a pod that runs has, that
// is said.
func TestAllocatedClaims(t *testing.T) {
	claim := func(name, device string) string {
		return fmt.Sprintf("- {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %s}, spec: {devices: {requests: [{name: r, firstAvailable: [{name: f, deviceClassName: gpu.nvidia.com}]}]}}, "+
			"status: {allocation: {devices: {results: [{request: r, driver: gpu.nvidia.com, pool: a, device: %s}]}}}}\n", name, device)
	}
	c := mustAsk(both + nodeYAML("a", "", "cpu: 64, pods: 99", "") +
		sliceYAML("a", gpuYAML("gpu-0", "NVIDIA A100"), gpuYAML("gpu-1", "NVIDIA A100"), gpuYAML("gpu-2", "NVIDIA A100")) +
		templateYAML("gpu", "deviceClassName: gpu.nvidia.com") +
		claim("made", "gpu-0") + claim("own", "gpu-2") +
		"- {apiVersion: v1, kind: Pod, metadata: {name: runs}, spec: {nodeName: a, resourceClaims: [{name: c, resourceClaimTemplateName: gone}]}, status: {resourceClaimStatuses: [{name: c, resourceClaimName: made}]}}\n" +
		podYAML("unknown", "cpu: 1", "nodeName: a, "+claimOf("gone")) +
		podYAML("waits", "cpu: 1", "resourceClaims: [{name: c, resourceClaimName: own}]") +
		podYAML("p-1", "cpu: 1", claimOf("gpu")) + podYAML("p-2", "cpu: 1", claimOf("gpu")))
	o := testkit.Must(c.simulate(nil, vector.TieLowest()))
	if got, want := fmt.Sprint(o.rows), "[0 0 -1]"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(c.remarks()), "[{resourceClaims [default/waits]} {resourceClaims of pods that run, in no status [default/unknown]}]"; got != want {
		t.Errorf("not looked at: %s, want %s", got, want)
	}
}

// Of random claims that overlap in any way, what a node gets are devices for all of them at
// once, and a pod that is left out finds no device that others leave: by trying all.
func TestClaimsTogether(t *testing.T) {
	products, profiles := []string{"NVIDIA A", "NVIDIA B"}, []string{"1g.5gb", "2g.10gb"}
	placed, left := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		type made struct{ kind, product, profile string }
		var devices []made
		var list []string
		for i := range 1 + r.IntN(5) {
			d := made{"gpu", products[r.IntN(2)], ""}
			text := gpuYAML(fmt.Sprint("d", i), d.product)
			if r.IntN(3) > 0 {
				d.kind, d.profile = "mig", profiles[r.IntN(2)]
				text = migYAML(fmt.Sprint("d", i), d.product, d.profile)
			}
			devices, list = append(devices, d), append(list, text)
		}
		text := both + nodeYAML("n1", "", "cpu: 64, pods: 99", "") + sliceYAML("n1", list...) +
			"- {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: any}, spec: {selectors: [{cel: {expression: 'device.driver == \"gpu.nvidia.com\"'}}]}}\n"
		var wants []made
		for i := range 1 + r.IntN(6) {
			w := made{}
			var selectors []string
			add := func(attribute, value string) {
				selectors = append(selectors, fmt.Sprintf(`{cel: {expression: "device.attributes['gpu.nvidia.com'].%s == '%s'"}}`, attribute, value))
			}
			if r.IntN(2) == 0 {
				w.product = products[r.IntN(2)]
				add("productName", w.product)
			}
			switch r.IntN(4) {
			case 0:
				w.kind = "gpu"
				add("type", "gpu")
			case 1:
				w.profile = profiles[r.IntN(2)]
				add("profile", w.profile)
			}
			wants = append(wants, w)
			name := fmt.Sprint("p", i)
			text += templateYAML(name, "deviceClassName: any, selectors: ["+strings.Join(selectors, ", ")+"]") + podYAML(name, "cpu: 1", claimOf(name))
		}
		// together reports whether pods have a device each.
		var together func(pods []int, used int) bool
		together = func(pods []int, used int) bool {
			if len(pods) == 0 {
				return true
			}
			w := wants[pods[0]]
			for i, d := range devices {
				if used>>i&1 == 0 && (w.kind == "" || w.kind == d.kind) && (w.product == "" || w.product == d.product) && (w.profile == "" || w.profile == d.profile) &&
					together(pods[1:], used|1<<i) {
					return true
				}
			}
			return false
		}
		c := mustAsk(text)
		o := testkit.Must(c.simulate(nil, vector.TieLowest()))
		var got, want []int
		for i, row := range o.rows {
			if row >= 0 {
				got = append(got, i)
				placed++
			}
			if together(append(slices.Clone(want), i), 0) {
				want = append(want, i)
			} else {
				left++
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: pods %v are placed, want %v, of %v on %v", seed, got, want, wants, devices)
		}
	}
	if placed < 300 || left < 300 {
		t.Errorf("a dull test: %d placed, %d left out", placed, left)
	}
}

// What a selector means, as far as it is understood.
func TestRestrict(t *testing.T) {
	for _, c := range []struct {
		expression, want string
		ok               bool
	}{
		{`device.driver == "gpu.nvidia.com"`, "{  } true", true},
		{`device.driver == 'other.example.com'`, "", false},
		{`device.attributes["gpu.nvidia.com"].type == "mig"`, "{mig  } true", true},
		{`device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].type == "gpu"`, "{gpu  } true", true},
		{`device.attributes['gpu.nvidia.com'].productName=='NVIDIA H100 80GB HBM3'`, "{ NVIDIA-H100-80GB-HBM3 } true", true},
		{`device.attributes["gpu.nvidia.com"].type == "mig" && device.attributes["gpu.nvidia.com"].profile == "1g.5gb"`, "{mig  1g.5gb} true", true},
		{`device.attributes["gpu.nvidia.com"].type == "mig" && device.attributes["gpu.nvidia.com"].type == "gpu"`, "", false},
		{`device.attributes["gpu.nvidia.com"].type == "mig" || true`, "", false},
		{`device.attributes["other.com"].type == "mig"`, "", false},
		{`device.attributes["gpu.nvidia.com"].type != "mig"`, "", false},
		{"", "", false},
	} {
		var k criterion
		isNVIDIA := false
		ok := k.restrict(c.expression, &isNVIDIA)
		if got := fmt.Sprint(k, isNVIDIA); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: got %s, %v; want %s, %v", c.expression, got, ok, c.want, c.ok)
		}
	}
}

// A claim that several pods share, and a request that is not exact, are not looked at.
func TestClaimsNotCounted(t *testing.T) {
	c := mustAsk(both + nodeYAML("a", "", "cpu: 64, pods: 99", "") +
		"- {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: shared}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.nvidia.com}}]}}}\n" +
		templateYAML("all", "deviceClassName: gpu.nvidia.com, allocationMode: All") +
		podYAML("p", "cpu: 1", "resourceClaims: [{name: c, resourceClaimName: shared}]") + podYAML("q", "cpu: 1", "resourceClaims: [{name: c, resourceClaimName: shared}]") +
		podYAML("r", "cpu: 1", claimOf("all")))
	if r := c.remarks(); len(r) != 1 || len(r[0].pods) != 3 {
		t.Errorf("got %v, want three pods with claims", r)
	}
	for _, text := range []string{
		both + "- {apiVersion: resource.k8s.io/v1, kind: DeviceTaintRule, metadata: {name: x}}",
		both + "- {apiVersion: resource.k8s.io/v1beta1, kind: DeviceClass, metadata: {name: x}}",
		both + "- {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: x}, spec: {selectors: 5}}",
	} {
		if _, err := question(text); err == nil || !strings.HasPrefix(err.Error(), "f: items[0]") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
