package resvecfit

import (
	"context"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestArgs: faults are named with the path of the field.
func TestArgs(t *testing.T) {
	for _, c := range []struct {
		arguments string
		want      []string // parts of the error; none for no error
	}{
		{``, nil},
		{`{}`, nil},
		{`{"proportional":null,"scoring":[]}`, nil},
		{`{"scoring":[{"kube":{"type":"MostAllocated","resources":[{"name":"nvidia.com/gpu"}]}}]}`, nil},
		{`{"scoring":[{"strategy":{"resources":{"nvidia.com/*":{"type":"MostAllocated","weight":2}},"sra":{"enable":true,"resources":"nvidia.com/gpu","weight":3}}}]}`, nil},
		{`{"scoring":[{"load":{"metric":"DominantResource","direction":"Pack"},"weight":3}]}`, nil},

		{`{"ignored":[]}`, []string{`unknown field "ignored"`}},
		{`{"topK":1,"topK":2}`, []string{`duplicate field "topK"`}},
		{`{"scoring":[{"kub":{}}]}`, []string{`unknown field "scoring[0].kub"`}},
		{`{"topK":"1"}`, []string{`topK`}},
		{`{"topK":-1,"visitPercent":101}`, []string{`topK: Invalid value: -1`, `visitPercent: Invalid value: 101`}},
		{`{"ignoredResources":["a b"],"ignoredResourceGroups":["x","nvidia.com/gpu"]}`,
			[]string{`ignoredResources[0]: Invalid value: "a b"`, `ignoredResourceGroups[1]: Invalid value: "nvidia.com/gpu"`}},
		{`{"scoring":[{}]}`, []string{`scoring[0]: Required value: exactly one of kube, strategy and load`}},
		{`{"scoring":[{"weight":101,"load":{}},{"kube":{"type":"Least","resources":[{"name":"cpu","weight":0}]}}]}`,
			[]string{`scoring[0].weight: Invalid value: 101`, `scoring[1].kube.type: Unsupported value: "Least"`, `scoring[1].kube.resources[0].weight: Invalid value: 0`}},
		{`{"scoring":[{"kube":{"type":"LeastAllocated","resources":[{"name":"pods"}]}}]}`, []string{`scoring[0].kube.resources[0].name: Invalid value: "pods"`}},
		{`{"scoring":[{"normalize":"Min","load":{"metric":"x","direction":"y","weights":{"cpu":-1}}}]}`,
			[]string{`scoring[0].load.metric: Unsupported value: "x"`, `scoring[0].load.direction: Unsupported value: "y"`, `scoring[0].normalize: Unsupported value: "Min"`}},
		{`{"scoring":[{"load":{},"normalize":"Reverse"}]}`, nil},
		{`{"scoring":[{"load":{"direction":"Raw"}}]}`, []string{`scoring[0].load.direction: Unsupported value: "Raw": supported values: "Spread", "Pack"`}},
		{`{"scoring":[{"load":{"weight":{"cpu":1}}}]}`, []string{`scoring[0].load.weight: Unsupported value: "weight": supported values: "metric"`}},
		{`{"scoring":[{"load":{"weights":{"cpu":-1}}}]}`, []string{`scoring[0].load.weights["cpu"]: Invalid value: -1`}},
		{`{"scoring":[{"normalize":"None","strategy":{}}]}`, []string{`scoring[0].normalize: Invalid value: "None"`}},
		{`{"scoring":[{"strategy":{"proportional":{"enable":true,"resources":"nvidia.com/gpu"}}}]}`, []string{`scoring[0].strategy.proportional: Forbidden`}},
		{`{"scoring":[{"strategy":{"resources":{"cpu":{"type":"Most"}}}}]}`, []string{`scoring[0].strategy.resources["cpu"].type: Unsupported value: "Most"`}},
		{`{"cardQuota":{"queues":[{"name":"a","card":{"H100":1}}]}}`, []string{`unknown field "cardQuota.queues[0].card"`}},
		{`{"cardQuota":{"queues":[{"name":"a","parent":"b"}],"missing":"x"}}`,
			[]string{`cardQuota.queues[0].parent: Not found: "b"`, `cardQuota.missing: Unsupported value: "x"`}},
		{`{"cardQuota":{"queues":[{"name":"a"}]}}`, []string{`cardQuota: Invalid value: the scheduler has no informers`}},
		{`{"proportional":{"enable":true,"resources":"nvidia.com/gpu","ratio":1}}`, []string{`proportional.ratio: Unsupported value: "ratio": supported values: "enable"`}},
		{`{"proportional":{"enable":true,"resources":"nvidia.com/gpu","resourceProportion":{"nvidia.com/gpu.cpu":1e308}}}`,
			[]string{`proportional.resourceProportion["nvidia.com/gpu.cpu"]: Invalid value: 1e+308: is too large`}},
		{`{"scoring":[{"kube":[]},{"strategy":"x"}],"proportional":7}`,
			[]string{`scoring[0].kube: Invalid value: must be a mapping`, `scoring[1].strategy: Invalid value: "x": must be a mapping`, `proportional: Invalid value: 7: must be a mapping`}},
	} {
		_, err := New(context.Background(), &runtime.Unknown{Raw: []byte(c.arguments)}, &fakeHandle{dra: fakeClasses{}})
		if (err != nil) != (len(c.want) > 0) {
			t.Errorf("%s: %v", c.arguments, err)
		}
		for _, want := range c.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nlacks %s", c.arguments, err, want)
			}
		}
	}
	testkit.Must(New(context.Background(), nil, &fakeHandle{dra: fakeClasses{}}))
	if _, err := New(context.Background(), &corev1.Pod{}, &fakeHandle{dra: fakeClasses{}}); err == nil {
		t.Error("args of another type are accepted")
	}
}

// TestNoDRAManager: without a DRA manager the plugin can't know what a DeviceClass
// provides; it says so at start-up, unless its arguments say that nothing is.
func TestNoDRAManager(t *testing.T) {
	_, err := New(context.Background(), nil, &fakeHandle{})
	if err == nil || !strings.Contains(err.Error(), "draExtendedResource: Invalid value: true: this scheduler has no DRA manager") {
		t.Error(err)
	}
	testkit.Must(New(context.Background(), &runtime.Unknown{Raw: []byte(`{"draExtendedResource":false}`)}, &fakeHandle{}))
}

func TestBalancedArgs(t *testing.T) {
	for arguments, want := range map[string]string{
		`{}`: "",
		`{"resources":[{"name":"nvidia.com/gpu"}],"podLevelResources":false}`: "",
		`{"resources":[{"name":"cpu","weight":2}]}`:                           `args.resources[0].weight: Invalid value: 2`,
		`{"resources":[]}`: `args.resources: Required value`,
		`{"x":1}`:          `unknown field "x"`,
	} {
		_, err := NewBalanced(context.Background(), &runtime.Unknown{Raw: []byte(arguments)}, &fakeHandle{})
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name             string
		extended, scalar bool
	}{
		{"cpu", false, false},
		{"unqualified", false, false},
		{"hugepages-2Mi", false, true},
		{"attachable-volumes-csi-x", false, true},
		{"nvidia.com/gpu", true, true},
		{"kubernetes.io/x", false, true},
		{"batch.kubernetes.io/cpu", false, true},
		{"requests.nvidia.com/gpu", false, false},
		{"Example.com/UPPER", false, false},
		{"a b/c", false, false},
	} {
		if got := isExtended(corev1.ResourceName(c.name)); got != c.extended {
			t.Errorf("isExtended(%s) = %v", c.name, got)
		}
		if got := isScalar(corev1.ResourceName(c.name)); got != c.scalar {
			t.Errorf("isScalar(%s) = %v", c.name, got)
		}
	}
}
