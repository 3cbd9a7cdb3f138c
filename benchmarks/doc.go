// Package benchmarks measures this library against plain Go code and against
// the memory of the machine. It holds benchmarks only.
//
// Every kernel has a benchmark of its name with sub-benchmarks
//
//	BenchmarkFit/impl=avx512/nodes=5000/cols=8
//	BenchmarkFit/impl=avx512/nodes=5000/cols=8/requested=3
//
// where impl is one of
//
//	rowloop    one node on the heap with a slice per vector, and a plain loop
//	structmap  one struct per node: fields, and a map of the other resources; for
//	           ArgMax and TopK a list of the feasible nodes, with name and score
//	generic    this library in pure Go
//	avx2       this library with AVX2
//	avx512     this library with AVX-512
//	roof       load and sum the same numbers, 8 bytes each, with the best
//	           instructions there are; Fit reads half the bytes and can be faster
//
// so that benchstat can pivot:
//
//	go test -run '^$' -bench '^BenchmarkFit$' -count 10 ./benchmarks > fit.txt
//	benchstat -col /impl -row '/nodes /cols /requested' fit.txt
//
// Buffers are filled before they are timed, and each benchmark compares its
// answers with the row loop's. Seven of eight nodes fit, scattered, and the
// others fail in one column: the plain loops, which stop there, still read most
// of the data, and the kernels can skip nothing. Every call asks for another
// one of 16 pods, so that the CPU can't learn the answers by heart.
//
// Scorers have a benchmark of their name too. There the row loop has vectors of
// what a node has and uses, structmap is the form of the scheduler that the
// scorer comes from, with maps by name, and nodes use some of all that they have.
// Decision is filter, score and pick; in Fragmentation the columns are devices.
// BenchmarkScoreCache compares kept scores with scoring all nodes anew,
// on pods of a production trace.
//
// Devices have benchmarks of their own. In BenchmarkDeviceScore the row is a
// device and the baseline keeps a resource list per device in maps, as the plugin
// does that the scorer comes from. BenchmarkInventoryLabels compares with a
// regular expression per label, BenchmarkInventorySlices with maps of the
// attributes; both loops make the same cards. BenchmarkMIGPlace asks every
// question there is about a GPU, and times the worst one by itself.
//
// Timings of different runs are not comparable on a shared machine. The figures
// of docs/benchmarks.md come from BenchmarkRatio, BenchmarkScoringRatio and
// BenchmarkTransformRatio, which alternate the baselines, the roof and the kernel
// within one loop and report the ratios of the fastest samples.
package benchmarks
