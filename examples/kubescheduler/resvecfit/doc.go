// Package resvecfit is a kube-scheduler plugin that does the work of
// NodeResourcesFit and, where wanted, of NodeResourcesBalancedAllocation with
// package resvec: the cluster is a table with a row per node, a pod is compared
// with all rows at once, and the framework only looks the answers up. It needs
// nothing of k8s.io/kubernetes.
//
// A scheduler registers it and disables what it replaces:
//
//	app.NewSchedulerCommand(
//		app.WithPlugin(resvecfit.Name, resvecfit.New),
//		app.WithPlugin(resvecfit.BalancedName, resvecfit.NewBalanced),
//		app.WithPlugin(resvecfit.TopologySpreadName, resvecfit.NewTopologySpread),
//		app.WithPlugin(resvecfit.InterPodAffinityName, resvecfit.NewInterPodAffinity))
//
//	plugins:
//	  multiPoint:
//	    enabled: [{name: ResvecFit, weight: 1}, {name: ResvecBalancedAllocation, weight: 1}]
//	    disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]
//	  filter: # first, since it is the cheapest
//	    enabled: [{name: ResvecFit}]
//	  postFilter: # before the others, which keep their order
//	    enabled: [{name: ResvecFit}, {name: DynamicResources}, {name: DefaultPreemption}]
//
// The order at postFilter matters, see below; at preFilter the plugin should come
// behind Kubernetes' plugins, where multiPoint puts it. [Args] says what can be
// configured.
//
// # Verdicts and scores
//
// Filter says what NodeResourcesFit of Kubernetes v1.36 and v1.37 says about every node,
// with the same code and the same reasons, and the scoring strategies
// LeastAllocated, MostAllocated and RequestedToCapacityRatio, as well as
// BalancedAllocation, give the same numbers. There are two limits: devices of
// ResourceSlices are not counted by scores, and amounts of 2^53 units and more
// are compared exactly but scored as the nearest float64.
//
// A plugin more that scores costs the framework about as much for every node as one
// that filters. With [BalancedArgs].AddToFit there is one less: the scores of
// [Balanced] are added to the scores of [Plugin]. A score is then no longer the built-in
// plugins' sum, but any two nodes differ by as much as they do by that.
//
// Filter is also called with copies of a node that hold other pods than the node
// does, for nominated pods and by preemption. Such a copy is another object, or
// has another generation, than what the row was made from, and is compared by
// itself, in int64.
//
// # Spreading and pod affinity
//
// [TopologySpread] and [InterPodAffinity] take the places of PodTopologySpread and
// InterPodAffinity, with the same verdicts, codes, reasons and scores. They ask package
// scoring/profile, which keeps counts of pods on the table of [Plugin] and writes the rows of
// nodes that have changed. So PreFilter of [Plugin], which comes before them, brings
// all rows in step. Their queueing hints have a pod tried again after each event after
// which the built-in plugins do, and after some more: a hint can't know which pods default
// constraints count.
//
// Where pods of more than one node are moved on trial, as v1.37 does for pod groups, the
// least count that PodTopologySpread goes by may be too high; here it is exact.
//
// # Which nodes are visited
//
// Visiting a node costs the framework more than any comparison, so PreFilter names
// the nodes to visit where that pays. A node that is not named counts as one that
// preemption can't help, so this is the rule:
//
//  1. Only nodes that Filter would reject are left out.
//  2. Nodes that have too little even when empty, which Filter calls
//     unresolvable, may be left out at any time, as long as another node is left.
//  3. The other nodes that Filter rejects may be left out when there are nodes
//     that it accepts, and when no earlier attempt for this pod left such nodes
//     out and failed.
//  4. When a cycle that left nodes out finds no node, PostFilter runs the filters
//     on the nodes left out and completes the statuses, so that preemption, which
//     comes next, looks at the nodes that it would have looked at, in the same
//     cycle.
//
// The framework scores only a part of the nodes that it may visit, half of them or less by
// default. So nodes that Filter rejects are named with the others, as many as it takes
// to have no fewer scored than if none were named; see [Args].VisitPercent.
//
// While the rows as they stand have room for the pod on more nodes than are ever named,
// nothing is going to be left out. PreFilter then looks at no node, not even for what has
// changed, which would cost more than the comparison. Filter compares a node that is
// newer than its row by itself, and rows are written as their nodes are visited. When
// few nodes fit, every node is looked at for changes and the few are named.
//
// Where PostFilter is not enabled, or comes after DefaultPreemption, rule 3 alone
// holds: preemption then waits for the pod's next attempt. Nothing is left out
// for pods of a pod group.
//
// [Args].TopK departs from rule 1: nodes that could hold the pod are left out, too.
// When none of the named ones is accepted by the other plugins, PostFilter has the
// pod tried again at once, with all nodes, and preempts nothing. Where PostFilter isn't
// the first that is asked, TopK does not act; see [Plugin.CheckProfile].
//
// # The one best node
//
// With [Args].Exact PreFilter names one node: a best one of all that are feasible, each of
// them as likely as another, by what package scoring/profile keeps of nodes, pods, services
// and owners. It is one and never all of equal totals, since kube-scheduler normalizes scores
// over the nodes that it visits; with one node it scores none. It departs from rule 1, as TopK
// does, with the same conditions and the same second attempt.
//
// These pods are left to the other plugins: with volumes other than configMap, secret,
// emptyDir, projected, downwardAPI and hostPath; with claims, or resources of a DeviceClass;
// of a pod group; that need features which nodes declare, or have terms that can't be parsed;
// that are nominated, or while another pod of equal or higher priority is; in which an
// extender is interested; that no node is feasible for; whose last attempt failed. So are all
// pods while a [Ledger] is given, a node has an amount of 2^53 units or more, or a plugin
// filters or scores by rules that aren't known.
//
// What other plugins are configured with is repeated in [ExactArgs]. One decision of
// ExactArgs.CheckOneIn is checked: all plugins look at all nodes. A difference is logged
// with both explanations, and turns Exact off until restart.
//
// # What is counted
//
// In the registry that kube-scheduler serves at /metrics, for all profiles together:
//
//	resvecfit_cycles_total{mode}      scheduling cycles by the nodes visited: all; fits, those
//	                                  that can hold the pod (rule 3); possible, those that
//	                                  could when empty (rule 2); top_k; exact
//	resvecfit_fallbacks_total{reason} cycles of mode all: plenty, more can hold the pod than are
//	                                  ever named; unschedulable, none can, and too many could
//	                                  when empty; retry, an earlier attempt left nodes out;
//	                                  pod_group; profile, TopK or Exact does not act
//	resvecfit_named_nodes_total       nodes named, in the cycles of other modes than all
//	resvecfit_retries_total           pods tried again, as none of the named was accepted
//
// And of Exact:
//
//	resvecfit_exact_fallbacks_total{reason} cycles that it left to the other plugins: off,
//	                                        retry, infeasible, nominated, own_nominee, volumes,
//	                                        claims, features, extender, ledger, unparsable, large,
//	                                        pod_group
//	resvecfit_exact_checks_total            decisions that were checked
//	resvecfit_exact_differences_total       checked decisions that differ
//	resvecfit_exact_kept_shapes             shapes of pods of which counts are kept
//	resvecfit_exact_kept_bytes              about how much memory these take
//
// When the scheduler starts, it logs likely mistakes in its profile as warnings, such as
// NodeResourcesFit left enabled beside the plugin.
//
// # Gangs
//
// With [Args].GangScheduling the first member of a gang has the whole gang looked at:
// the pods that it needs besides its placed ones, against the nodes as they are. A
// gang that fits nowhere is refused with its numbers, and no node is looked at for any of
// its members. Only what is proved is refused (see docs/gangs.md). Where preemption may
// follow for one of the pods, all pods of less priority count as gone. Workload-aware
// preemption, of which Kubernetes v1.37 has no other for gangs, comes after the cycle and
// tries the gang again: then the nodes count as they are, and in its trials as it has
// changed them. Where a gang has more pods than it needs, each counts as the least of
// them.
package resvecfit
