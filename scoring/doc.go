// Package scoring says how good each node is for a pod: one number per row of a
// batch, for one pod at a time, and the reasons for one row.
//
// A scorer is compiled once from a configuration against a map, and is then
// immutable and safe for concurrent use:
//
//	Strategy      Volcano's resource-strategy-fit, of one part or of all three:
//	  Fit           packs some resources and spreads others, a rule for each
//	  SRA           avoids nodes with scarce resources that a pod does not need
//	  Proportional  keeps cpu and memory for idle devices; a filter
//	Kube          kube-scheduler's integers: least, most, ratio, balanced
//	Load, DRF     how full a node or a queue is, summed or dominant
//	Combine       several of them, weighted and normalized
//
// A scorer is bound to nodes once, and then asked about pods: it filters, scores and
// chooses, by an explicit rule for ties.
//
//	cfg, warnings, err := scoring.ParseArguments(document) // or a StrategyConfig in Go
//	strategy, err := scoring.CompileStrategy(*cfg, m)
//	scores := scoring.Bind(strategy, nodes)
//
//	row, ok := scores.Best(pod, nil, vector.TieSeeded(seed)) // of all nodes that can hold the pod
//	reasons, err := scores.Explain(pod, row, nil)            // how the score came about
//	err = nodes.Assume(row, pod)                             // the next pod finds it there
//
// Several scorers are one:
//
//	sum, err := scoring.Combine([]scoring.Term{
//		{Scorer: strategy, Weight: 1},
//		{Scorer: load, Weight: 0.5, Normalize: scoring.NormalizeMinMax},
//	})
//
// The amounts of one node are scored without nodes, by the scorer itself:
//
//	score, err := strategy.Score(request, requested, allocatable)
//
// A [Bound] brings what it keeps of the nodes up to date by itself. For pods that share
// GPUs, package scoring/gpu knows every device, and chooses the devices too.
//
// # Shapes and units
//
// [vector.Nodes] have a row per node and a column per resource of the map, in its units:
// thousandths of a CPU, bytes, whole devices, or thousandths of what was declared Milli.
// What a pod requests is its total, and what is requested of a node everything assigned
// to it. Vectors shorter than the map are padded with zeros. A nil mask selects all rows;
// rows outside the mask are not read, and their elements of dst are not touched.
//
// # Numbers
//
// A scorer of one node and a Bound return the same bits, on every CPU: binary64, each
// operation rounded once in the order of the formula, resources in the order of
// the map. Only sign and payload of a NaN may differ. Nothing is allocated, except for
// errors, in Explain, and when there are more nodes than before or a request is new.
//
// # Errors
//
// Compiling reports all faults of a configuration at once, as a list of
// [field.Error] sorted by path, and unknown names as a
// [vectormap.UnknownResourcesError]; errors.As finds both, and [vectormap.Faults]
// lists them, below a path of the caller's. [Lenient] and
// [AllowUnknown] make warnings of what has a defined meaning. A compiled scorer
// fails on shapes, schemas and bad requests only, and before it writes anything;
// bad amounts of a node give that node a defined score.
package scoring
