package resvecfit_test

import (
	"context"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
	"github.com/resvec/resvec/examples/kubescheduler/resvecfit/cardquota"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
)

// All profiles of a scheduler charge one ledger. It needs the scheduler's informers,
// so it is made with the first profile; kube-scheduler makes one after the other.
func ExampleFactory() {
	cfg := &cardquota.Config{Queues: []cardquota.Queue{{Name: "lab", Cards: map[string]int64{"NVIDIA-L40S": 8}}}}
	var shared *cardquota.Ledger
	newPlugin := func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		if shared == nil {
			if faults := cfg.Validate(nil); len(faults) > 0 {
				return nil, faults.ToAggregate()
			}
			var err error
			if shared, err = cardquota.New(cfg, handle.SharedInformerFactory()); err != nil {
				return nil, err
			}
		}
		return resvecfit.Factory(shared)(ctx, args, handle)
	}
	_ = newPlugin // for app.WithPlugin(resvecfit.Name, newPlugin)
}
