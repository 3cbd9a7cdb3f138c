package kai

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestPartOfGPUs(t *testing.T) {
	for _, test := range []struct {
		annotations string // NAME=VALUE, separated by spaces
		gpus        string // what a container asks for
		want        string // an amount, "" for none, or what the error has
	}{
		{"", "", ""},
		{"other=0.5", "1", ""},
		{"gpu-fraction=0.5", "", "500m"},
		{"gpu-fraction=1", "", "1"},
		{"gpu-fraction=.25", "", "250m"},
		{"gpu-fraction=25e-2", "", "250e-3"},
		{"gpu-fraction=0.3333", "", "333300u"},
		{"gpu-fraction=0.5 gpu-fraction-num-devices=3", "", "1500m"},
		{"gpu-fraction=0", "", `annotation gpu-fraction: "0": want a number`},
		{"gpu-fraction=-0.5", "", `annotation gpu-fraction: "-0.5": want a number`},
		{"gpu-fraction=1.5", "", `annotation gpu-fraction: "1.5": want a number`},
		{"gpu-fraction=half", "", `annotation gpu-fraction: "half": want a number`},
		{"gpu-fraction=", "", `annotation gpu-fraction: "": want a number`},
		{"gpu-fraction=NaN", "", `annotation gpu-fraction: "NaN": want a number`},
		{"gpu-fraction=0.5", "1", "annotation gpu-fraction: container c asks for nvidia.com/gpu, too"},
		{"gpu-fraction=0.5 gpu-fraction-num-devices=0", "", `annotation gpu-fraction-num-devices: "0"`},
		{"gpu-fraction=0.5 gpu-fraction-num-devices=1.5", "", `annotation gpu-fraction-num-devices: "1.5"`},
		{"gpu-fraction=0.5 gpu-fraction-num-devices=9223372036854775807", "", `annotation gpu-fraction-num-devices: "9223372036854775807"`},
		{"gpu-fraction-num-devices=2", "", "there is no gpu-fraction"},
		{"gpu-memory=2000", "", `annotation gpu-memory: "2000": how much of a GPU that is depends on the node`},
		{"gpu-memory=2000 gpu-fraction=0.5", "", "annotation gpu-memory"},
		{"nvidia.com/mig-1g.5gb=1", "", `annotation nvidia.com/mig-1g.5gb: "1"`},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
		pod.Annotations = map[string]string{}
		for part := range strings.FieldsSeq(test.annotations) {
			name, value, _ := strings.Cut(part, "=")
			pod.Annotations[name] = value
		}
		if test.gpus != "" {
			pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{GPU: resource.MustParse(test.gpus)}
		}
		q, ok, err := PartOfGPUs(pod)
		got := ""
		switch {
		case err != nil && ok:
			got = err.Error()
		case ok:
			got = q.String()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want) || test.want == "") {
			t.Errorf("%s: %q, want %q", test.annotations, got, test.want)
		}
	}
}
