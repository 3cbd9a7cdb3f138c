// Package resvec is the front door of a library of vectorized resource math for
// schedulers. It exports nothing itself; its packages do the work:
//
//   - [github.com/resvec/resvec/vector] is the linear algebra: resource vectors,
//     column-major matrices with a change log, row masks, what-if overlays, the nodes of
//     a cluster, batch operations over all nodes, choosing with explicit ties. It knows
//     numbers and indices only.
//     [github.com/resvec/resvec/vector/gang] places many pods at once, proves that they
//     fit nowhere, and keeps them within racks and blocks.
//     [github.com/resvec/resvec/vector/gang/provision] says which new nodes hold them.
//   - [github.com/resvec/resvec/vector/vectormat] shows a matrix to gonum, and
//     [github.com/resvec/resvec/transform/transformmat] a transformation.
//   - [github.com/resvec/resvec/vectormap] is the schema: names, indices, units and MIG
//     profiles. It converts from and to Kubernetes types and struct-based resources.
//   - [github.com/resvec/resvec/scoring] says how good each node is: Volcano's strategy
//     fit, SRA and proportional, kube-scheduler's resource scores, load and DRF. Scorers
//     are bound to the nodes, combined and explained.
//     [github.com/resvec/resvec/scoring/gpu] scores nodes for pods that share GPUs, and
//     chooses the devices. [github.com/resvec/resvec/scoring/profile] is the decision of
//     kube-scheduler's default profile, spread and pod affinity included.
//   - [github.com/resvec/resvec/transform] charges quota for other resources than
//     pods request: Kueue's configurable resource transformations, exact on
//     resource lists and vectorized on matrices of workloads.
//   - [github.com/resvec/resvec/device] knows the accelerators: an inventory from
//     node labels, ResourceSlices or the driver, and the names of cards.
//     [github.com/resvec/resvec/device/mig] says how MIG cuts a GPU;
//     [github.com/resvec/resvec/device/share] scores and allocates devices and parts
//     of them, as Koordinator's DeviceShare does, all devices of all nodes at once.
//   - [github.com/resvec/resvec/quota] says whether a queue may have the card. It is
//     Volcano's capacity-card quotas as a ledger of holds and charges that never
//     over-commits. quota/quotametrics, a module of its own, makes Prometheus metrics
//     of it. [github.com/resvec/resvec/quota/fairshare] says what each queue should have,
//     which is served next, and from whom a job may take.
//
// A scheduler keeps its nodes as [vector.Nodes] and binds a scorer to them. It turns a pod
// into a vector once, and then asks questions of all rows at a time:
//
//	cluster objects → vectormap → Nodes.Set      (only rows that moved)
//	pod → request vector → Bound.Best            (microseconds for 5,000 nodes)
//	                     → Nodes.Assume          (less is free for the next pod)
//
// The package's example is a complete program. The library is pure computation: it starts
// no goroutine, keeps no global state and logs nothing. Results are the same bits on every
// CPU, with assembly and without it (build tag purego).
//
// The guides are files of the repository; docs/README.md says which one answers a question:
//
//   - docs/embedding.md: a whole scheduler, and where each call belongs
//   - docs/migration.md: from struct-based resources to vectors
//   - docs/scoring.md, docs/device.md, docs/transform.md, docs/quota.md,
//     docs/fairshare.md: a package each
//   - docs/profile.md: kube-scheduler's own decision, of all nodes at once
//   - docs/gangs.md, docs/topology.md: gangs, and racks to place them in
//   - docs/semantics.md: rounding, NaN, ties and units
//   - docs/glossary.md: what words mean
//   - docs/proofs.md: why answers are exact
//   - docs/upstreams.md: what differs from other projects, and why
//   - docs/performance.md, docs/benchmarks.md, docs/peers.md: how fast it is
//
// [vector.Nodes]: https://pkg.go.dev/github.com/resvec/resvec/vector#Nodes
package resvec
