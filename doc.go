// Package resvec is the front door of a library of vectorized resource math for
// schedulers. It exports nothing itself; its packages do the work:
//
//   - [github.com/resvec/resvec/vector] is the linear algebra: resource vectors,
//     column-major matrices with a change log, row masks, what-if overlays,
//     the nodes of a cluster, the batch kernels over all nodes, choosing with explicit
//     ties, and gang packing. It knows numbers and indices only.
//   - [github.com/resvec/resvec/vector/vectormat] shows a matrix to gonum, and
//     [github.com/resvec/resvec/transform/transformmat] a transformation.
//   - [github.com/resvec/resvec/vectormap] is the schema: names and indices,
//     units, normalization, MIG profiles; and the border to the Kubernetes types
//     and to struct-based resources, in both directions.
//   - [github.com/resvec/resvec/scoring] says how good each node is: Volcano's
//     strategy fit, SRA and proportional, kube-scheduler's resource scores, load
//     and DRF; bound to the nodes, combined, explained.
//     [github.com/resvec/resvec/scoring/gpu] does so for pods that share GPUs, and
//     chooses the devices.
//   - [github.com/resvec/resvec/transform] charges quota for other resources than
//     pods request: Kueue's configurable resource transformations, exact on
//     resource lists and vectorized on matrices of workloads.
//   - [github.com/resvec/resvec/device] knows the accelerators: an inventory from
//     node labels, ResourceSlices or the driver, and the names of cards.
//     [github.com/resvec/resvec/device/mig] says how MIG cuts a GPU;
//     [github.com/resvec/resvec/device/share] scores and allocates devices and parts
//     of them, as Koordinator's DeviceShare does, all devices of all nodes at once.
//   - [github.com/resvec/resvec/quota] says whether a queue may have the card:
//     Volcano's capacity-card quotas as a ledger of promises and charges that never
//     over-commits. quota/quotametrics, a module of its own, makes Prometheus
//     metrics of it.
//
// A scheduler keeps its nodes as [vector.Nodes], binds a scorer to them, turns a pod into
// a vector once, and then asks questions of all rows at a time:
//
//	cluster objects → vectormap → Nodes.Set      (only rows that moved)
//	pod → request vector → Bound.Best            (microseconds for 5,000 nodes)
//	                     → Nodes.Assume          (less is free for the next pod)
//
// The package's example is the whole of it. docs/README.md says which guide answers a
// question: scoring, transform, device, quota, gangs and topology each have one.
// docs/embedding.md shows a whole scheduler, docs/migration.md leads from struct-based
// resources here, docs/semantics.md defines rounding, NaN, ties and units, docs/proofs.md
// says why answers are exact, docs/glossary.md what words mean, and docs/performance.md
// what to expect.
//
// The library is pure computation: it starts no goroutine, keeps no global
// state and logs nothing. Results are the same bits on every CPU, with the
// assembly and without it (build tag purego).
//
// [vector.Nodes]: https://pkg.go.dev/github.com/resvec/resvec/vector#Nodes
package resvec
