package resvecfit

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/resvec/resvec/internal/testkit"
)

// oddHandle has a method of the name, for another purpose.
type oddHandle struct{ fwk.Handle }

func (oddHandle) ListPlugins(int) []string { return nil }

// TestCheckProfile: topK acts only where the plugin comes before all that may evict pods.
func TestCheckProfile(t *testing.T) {
	const order, unknown = "topK: Forbidden: ResvecFit has to come before DefaultPreemption at postFilter", "topK: Forbidden: the scheduler's handle lists no plugins"
	enabled := func(names ...string) fwk.Handle { return &fakeHandle{dra: fakeClasses{}, postFilter: names} }
	for _, c := range []struct {
		handle fwk.Handle
		want   string
	}{
		{enabled(Name), ""},
		{enabled(Name, "DefaultPreemption"), ""},
		{enabled("DynamicResources", Name, "DefaultPreemption"), ""},
		{enabled(), order},
		{enabled("DefaultPreemption"), order},
		{enabled("DefaultPreemption", Name), order},
		{enabled("DynamicResources", "DefaultPreemption", Name), order},
		{enabled("AnotherPreemption", Name, "DefaultPreemption"), order},
		{struct{ fwk.Handle }{enabled(Name)}, unknown},
		{oddHandle{enabled(Name)}, unknown},
	} {
		for arguments, want := range map[string]string{`{"topK":5}`: c.want, `{"visitPercent":5}`: ""} {
			plugin := testkit.Must(New(context.Background(), &runtime.Unknown{Raw: []byte(arguments)}, c.handle)).(*Plugin)
			got := ""
			if err := plugin.CheckProfile(); err != nil {
				got = err.Error()
			}
			if got == "" != (want == "") || !strings.HasPrefix(got, want) {
				t.Errorf("%v, %s: %q, want %q", c.handle, arguments, got, want)
			}
			if may := plugin.topK(context.Background()) > 0; may != (want == "" && strings.Contains(arguments, "topK")) {
				t.Errorf("%v, %s: it acts: %v", c.handle, arguments, may)
			}
		}
	}
}

// noStatuses are statuses that can't be completed.
type noStatuses struct{ fwk.NodeToStatusReader }

// TestIncomplete: where it can't be known whether a node that was left out has room, and it
// was left out though it fits, the pod is tried again, and the cycle ends without preemption.
func TestIncomplete(t *testing.T) {
	var nodes []fwk.NodeInfo
	for i := range 10 {
		node := newNode(fmt.Sprint(i), amounts("cpu", "4"), amounts("cpu", "4"))
		if i < 2 {
			node = newNode(fmt.Sprint(i), amounts("cpu", "4"), nil)
		}
		nodes = append(nodes, node)
	}
	for arguments, again := range map[string]bool{`{"topK":1}`: true, `{"topK":2}`: false, `{}`: false} {
		ctx, cycle, pod := context.Background(), newCycle(), newPod("pod", amounts("cpu", "2"))
		p := newPlugin(t, arguments, nodes...)
		if result := success(p.PreFilter(ctx, cycle, pod, nodes)); result.AllNodes() {
			t.Errorf("%s: no nodes are named", arguments)
		}
		_, status := p.PostFilter(ctx, cycle, pod, noStatuses{})
		if activated := p.handle.(*fakeHandle).activated == 1; status.IsSuccess() != again || activated != again {
			t.Errorf("%s: %v, activated: %v", arguments, status, activated)
		}
	}
}
