// Package profile answers for all nodes at once what the default profile of kube-scheduler
// says of a pod: which nodes are feasible, the total of each, which is the best, and why.
// The answers are those of kube-scheduler v1.36 and v1.37, bit for bit.
//
// kube-scheduler asks each plugin for each node. For a pod of a Deployment behind a Service
// nearly all of that time goes into counting the pods of the same service by node and zone. A
// [Cluster] keeps what the plugins look at. A [Profile] keeps counts by row and by domain for
// each shape of pod: all that plugins read of it. A change costs its row.
//
//	cluster := profile.NewCluster(nodes) // of vector.Nodes, which have the amounts
//	terms, err := profile.DefaultTerms(resources, nodes)
//	p, err := profile.Bind(profile.Config{}, cluster, terms...)
//	nodes.Set(node.Name, generation, amountsOfNode)
//	err = cluster.Set(node) // and pods, services, replica sets, namespaces
//	row, ok, err := p.Best(profile.Question{Pod: pod, Amounts: amounts}, vector.TieSeeded(42))
//	err = cluster.Assume(row, pod, amounts)
//
// It answers for NodeUnschedulable, NodeName, TaintToleration, NodeAffinity,
// NodePorts, NodeResourcesFit and NodeResourcesBalancedAllocation (by [vector.Fit] and
// package scoring), PodTopologySpread, InterPodAffinity, ImageLocality. It knows no volumes, no
// claims of devices and no features that nodes declare.
//
// Experimental: a minor version may change it, as Kubernetes changes what its plugins decide.
package profile
