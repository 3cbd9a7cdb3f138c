// Package transform charges quota for other resources than pods request, such as 10
// credits for a MIG instance. It implements Kueue's configurable resource transformations:
// both options of KEP-2937, and the list that Kueue ships.
//
// # One request
//
// [Parse] reads a [Config], a set of rules, from any of the three shapes. [Compile] turns
// it into a [Transformation]:
//
//	config, _, err := transform.Parse([]byte(`
//	transformations:
//	- input: nvidia.com/mig-1g.5gb
//	  strategy: Replace
//	  outputs: {example.com/accelerator-memory: 5G}
//	`), transform.ShapeAuto)
//	t, err := transform.Compile(config, transform.Options{})
//
//	charged := t.Apply(request)     // a corev1.ResourceList, in unlimited precision
//	fmt.Println(t.Explain(request)) // where each amount comes from
//
// The request q is the total of one pod. The rules are
//
//	generated(o) = max(0, sum over rules i of factor(o,i) * q(i) * multiplier(i))
//	result(o)    = q(o), unless a rule replaces it, + generated(o)
//
// in one pass: what a rule generates feeds no rule.
//
// # Thousands of requests
//
// [Transformation.Bind] compiles the rules for two maps of package vectormap into a
// [Linear]. It transforms a matrix of requests at once and allocates nothing:
//
//	out, err := t.OutMap(in)
//	linear, err := t.Bind(in, out, transform.BindOptions{})
//	linear.ChargeBatch(charges, workloads, pods) // whole units per pod, times the pods
//	vector.LessEqual(&fits, charges, quota)      // which workloads fit, each by itself
//
// Both ways give the same amounts wherever float64 can hold them. Quota is charged whole
// units per pod; [Charge] does so for a list.
//
// # More
//
// [Transformation.MaxUnits] says how many units of an input fit under quotas, and
// [Transformation.Lint] what looks like a mistake. [PerCard], [PercentOfDevice] and
// [RoundUp] cover how device vendors request parts of a card.
//
// Functions report all faults of a configuration at once: the error is the Aggregate of a
// field.ErrorList with the path of each, and [vectormap.Faults] lists them. Everything
// compiled is immutable and safe for concurrent use. Inputs are never changed, and results
// share nothing with them. Wrong operands of the batch methods panic with a constant
// string.
package transform
