package resvecfit

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// How the nodes to visit were chosen, the values of the label mode.
const (
	modeAll      = "all"      // by the framework
	modeFits     = "fits"     // all that can hold the pod
	modePossible = "possible" // all that could hold it when empty
	modeTopK     = "top_k"    // the best of those that can hold it
	modeExact    = "exact"    // the best of all
)

// Why all nodes were visited, the values of the label reason.
const (
	reasonPlenty        = "plenty"        // more can hold the pod than are ever named
	reasonUnschedulable = "unschedulable" // none can, and too many could when empty
	reasonRetry         = "retry"         // an earlier attempt left nodes out and failed
	reasonPodGroup      = "pod_group"     // never for pod groups
	reasonProfile       = "profile"       // arguments that the profile keeps from acting
)

// What the plugins of all profiles count, in the registry that kube-scheduler serves at
// /metrics.
var (
	cycles = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: "resvecfit", Name: "cycles_total", StabilityLevel: metrics.ALPHA,
		Help: "Scheduling cycles by how the nodes to visit were chosen: all, fits, possible, top_k or exact.",
	}, []string{"mode"})
	fallbacks = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: "resvecfit", Name: "fallbacks_total", StabilityLevel: metrics.ALPHA,
		Help: "Scheduling cycles of mode all by reason: plenty, unschedulable, retry, pod_group or profile.",
	}, []string{"reason"})
	namedNodes = metrics.NewCounter(&metrics.CounterOpts{
		Subsystem: "resvecfit", Name: "named_nodes_total", StabilityLevel: metrics.ALPHA,
		Help: "Nodes that were named to the framework, in all cycles of other modes than all.",
	})
	retries = metrics.NewCounter(&metrics.CounterOpts{
		Subsystem: "resvecfit", Name: "retries_total", StabilityLevel: metrics.ALPHA,
		Help: "Pods that were tried again with all nodes, as other plugins accepted none of those named.",
	})
)

// What exact counts.
var (
	exactFallbacks = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: "resvecfit", Name: "exact_fallbacks_total", StabilityLevel: metrics.ALPHA,
		Help: "Scheduling cycles that exact left to the other plugins, by reason.",
	}, []string{"reason"})
	checks = metrics.NewCounter(&metrics.CounterOpts{
		Subsystem: "resvecfit", Name: "exact_checks_total", StabilityLevel: metrics.ALPHA,
		Help: "Decisions of exact that the other plugins have checked.",
	})
	differences = metrics.NewCounter(&metrics.CounterOpts{
		Subsystem: "resvecfit", Name: "exact_differences_total", StabilityLevel: metrics.ALPHA,
		Help: "Checked decisions that differ from the other plugins'. The first turns exact off.",
	})
	keptShapes = metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem: "resvecfit", Name: "exact_kept_shapes", StabilityLevel: metrics.ALPHA,
		Help: "Shapes of pods of which exact keeps counts.",
	})
	keptBytes = metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem: "resvecfit", Name: "exact_kept_bytes", StabilityLevel: metrics.ALPHA,
		Help: "About how much memory these counts take.",
	})
)

// registerMetrics registers the counters, which count nothing before.
var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(cycles, fallbacks, namedNodes, retries, exactFallbacks, checks, differences, keptShapes, keptBytes)
})

// fallBack counts a reason and returns [modeAll].
func fallBack(reason string) string {
	fallbacks.WithLabelValues(reason).Inc()
	return modeAll
}
