// Package scoring says how good each node is for a pod: one number per row of a
// batch, for one pod at a time, and the reasons for one row.
//
// A scorer is compiled once from a configuration against a map, and is then
// immutable and safe for concurrent use:
//
//	StrategyFit   packs some resources and spreads others, a rule for each
//	SRA           avoids nodes with scarce resources that a pod does not need
//	Proportional  keeps cpu and memory for idle devices; a filter
//	Strategy      these three, from a configuration of Volcano
//	Kube          kube-scheduler's integers: least, most, ratio, balanced
//	Load, DRF     how full a node or a queue is, summed or dominant
//	Combination   several of them, weighted and normalized; see [Combine]
//
// A decision is which rows can hold the pod, how good those are, and the best of
// them by an explicit rule for ties:
//
//	vector.Fit(&fits, free, request)
//	err := predicate.FilterBatch(&fits, request, used, allocatable, &fits) // a Proportional, if any
//	err = scorer.ScoreBatch(scores, request, used, allocatable, &fits)
//	node := vector.ArgMax(scores, &fits, vector.TieSeeded(seed))
//
// A [Cache] makes whole decisions for requests that come again and again, and scores
// only rows that have changed. For pods that share GPUs, package scoring/gpu knows
// every device, and chooses the devices too.
//
// # Shapes and units
//
// used and allocatable, always in this order, have a row per node and a column
// per resource of the map, in its units: thousandths of a CPU, bytes, whole
// devices, or thousandths of what was declared Milli. request is the total of the
// incoming pod, and used is everything assigned to a node. Vectors shorter than
// the map are padded with zeros. A nil mask selects all rows; rows outside the
// mask are not read, and their elements of dst not touched.
//
// # Numbers
//
// Score and ScoreBatch return the same bits, on every CPU: binary64, each
// operation rounded once in the order of the formula, resources in the order of
// the map. A NaN is only a NaN. Nothing is allocated but for errors, in Explain,
// and by a cache that meets new requests.
//
// # Errors
//
// Compiling reports all faults of a configuration at once, as a list of
// [field.Error] sorted by path, and unknown names as a
// [vectormap.UnknownResourcesError]; errors.As finds both, and [vectormap.Faults]
// lists them, below a path of the caller's. [Lenient] and
// [AllowUnknown] make warnings of what has a defined meaning. A compiled scorer
// fails on shapes, schemas and bad requests only, and before it writes anything;
// bad amounts of a node give that node a defined score, see [ValidateBatch].
package scoring
