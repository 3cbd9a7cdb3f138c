// Command kubescheduler is kube-scheduler with the plugins of package resvecfit. It
// takes the flags of kube-scheduler; scheduler.yaml is a configuration that
// enables the plugins.
package main

import (
	"context"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(plugins()...)))
}

func plugins() []app.Option {
	return []app.Option{
		app.WithPlugin(resvecfit.Name, newStrict),
		app.WithPlugin(resvecfit.BalancedName, resvecfit.NewBalanced),
		app.WithPlugin(resvecfit.TopologySpreadName, resvecfit.NewTopologySpread),
		app.WithPlugin(resvecfit.InterPodAffinityName, resvecfit.NewInterPodAffinity),
	}
}

// strict is the plugin of a scheduler that does not start where the profile keeps arguments
// from acting.
type strict struct{ *resvecfit.Plugin }

func newStrict(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	plugin, err := resvecfit.New(ctx, args, handle)
	if err != nil {
		return nil, err
	}
	return strict{plugin.(*resvecfit.Plugin)}, nil
}

// EventsToRegister is called when all plugins have been made, before the first pod.
func (s strict) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	if err := s.CheckProfile(); err != nil {
		return nil, err
	}
	return s.Plugin.EventsToRegister(ctx)
}
