// Package fairshare says what each queue should have now, which queue is served next, and
// from whom a job may take. Package quota says what a queue may have at all.
//
// A [Tree] has the queues with what they have and want:
//
//	tree, err := fairshare.NewTree(vector.Schema{}, 1, fairshare.Options{})
//	err = tree.SetTotal(vector.ResourceVector{10})
//	a, _, err := tree.Set("team-a", fairshare.Queue{Deserved: vector.ResourceVector{2}})
//	b, _, err := tree.Set("team-b", fairshare.Queue{Deserved: vector.ResourceVector{2}, Weight: []float64{3}})
//	err = tree.SetUsage(a, fairshare.Usage{Allocated: vector.ResourceVector{8}})
//	id, err := tree.Wait(b, fairshare.Job{Request: vector.ResourceVector{4}})
//	tree.Divide() // after changes, before questions
//	fmt.Println(tree.Share(nil, b)[0]) // 4, all that it wants
//
// [ReadQueues] reads queues from objects of KAI, Volcano and Kueue.
//
// What should they have? [Tree.Divide] divides the total, exactly and in whole units, and
// [Tree.Explain] says what bounds each share.
//
// Who is next? [Tree.Next] gives the leaf and the job. [Tree.Admit] it, or [Tree.Skip] it.
//
// From whom may it take? A [Claim] takes victims in the order of the rules, until the caller
// has room, and gives those back that are not needed. [Claim.Limits] says before that how much
// each queue can lose at most.
//
// # Rules
//
// The order and the claims follow KAI, Volcano, Kueue, or Leximin, which is this package's
// own. It compares what part of its share each queue has of each column, sorted: those who have
// least must end with more. So reclaim ends. Shares are KAI's, or with [Options.ByWeight] those
// of Volcano's proportion plugin.
//
// # Numbers
//
// Amounts are whole numbers below 2^53, and so is every sum. +Inf is unlimited. Shares are
// whole, too: the units that rounding leaves go to the greatest fractional parts. Measures
// are compared as fractions. So answers depend neither on the order of rows nor on the CPU.
//
// Bad data is an error that names the queue, the column and the value, and changes nothing.
// Wrong calls panic, with a constant string that begins with "fairshare: ": a row of no
// queue, a column that isn't there, a vector that is longer than the tree has columns, a mark
// or a job that is gone.
//
// # Trials
//
// [Tree.Mark] and [Tree.Rollback] try what happens. A tree is for one goroutine. Nothing
// allocates once it has grown.
package fairshare
