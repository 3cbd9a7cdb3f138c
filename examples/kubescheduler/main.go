// Command kubescheduler is kube-scheduler with the plugins of package resvecfit. It
// takes the flags of kube-scheduler; scheduler.yaml is a configuration that
// enables the plugins.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(
		app.WithPlugin(resvecfit.Name, resvecfit.New),
		app.WithPlugin(resvecfit.BalancedName, resvecfit.NewBalanced),
	)))
}
