// Package transform charges quota for other resources than pods request: so many
// credits for a MIG instance, memory per card times the cards. It implements
// Kueue's configurable resource transformations: both options of KEP-2937 and the
// list that Kueue ships.
//
// A [Config] is a set of rules, read by [Parse] from any of the three shapes, or
// written in Go. [Compile] turns it into one [Transformation]:
//
//	generated(o) = max(0, sum over rules i of factor(o,i) * q(i) * multiplier(i))
//	result(o)    = q(o), unless a rule replaces it, + generated(o)
//
// in one pass: what a rule generates feeds no rule. The request q is the total of
// one pod.
//
// There are two ways to apply it. [Transformation.Apply] works on a
// corev1.ResourceList in unlimited precision. [Transformation.Bind] compiles it
// for two maps of package vectormap into a [Linear], whose ApplyBatch and
// ChargeBatch transform a matrix of thousands of requests at once without
// allocating. Both give the same amounts wherever float64 can hold them. Quota is
// charged whole units per pod: [Charge], or [Linear.ChargeBatch] and then one
// vector.LessEqual, which says which workloads fit the quota, each by itself.
//
// [Transformation.Explain] says where an amount comes from,
// [Transformation.MaxUnits] how many units of an input fit under quotas,
// [Transformation.Lint] what looks like a mistake. [PerCard], [PercentOfDevice] and
// [RoundUp] cover how device vendors request parts of a card.
//
// Faults of a configuration are a field.ErrorList with the path of each, all at
// once, as the Aggregate of it where a function returns an error;
// [vectormap.Faults] lists them whatever they are joined or wrapped in. Everything
// compiled is immutable and safe for concurrent use. Inputs are never changed, and
// results share nothing with them. Wrong operands of the batch methods panic with
// a constant string.
package transform
