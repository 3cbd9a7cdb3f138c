// Package book is the account of a tree of queues in numbers: what each queue may use,
// what its tasks use, and what is held for its jobs.
//
// It knows dimensions, whole amounts, queues, jobs, tasks and their charges. It has no
// names, no texts and no lock: package quota has those, and finds the records by name. A
// Tag is what quota calls a record; the book doesn't read it.
//
// # What always holds
//
// These are the invariants. Each is a [Rule], and [Book.Check] tests them.
//
//  1. A queue's Allocated is the sum of the charges of its tasks, its Held the sum of the
//     holds of its jobs, its Elastic what tasks of reserved jobs use beyond the min. A
//     queue with children has the sums of its children, too.
//  2. No amount is negative, and no charge covers more than itself. What a tree uses and
//     holds comes to less than 2^53, where integers stop being exact in a float64, unless
//     that would let one queue stop another (Option.count). It is always an int64.
//  3. The min of an item is what its charges cover, and what is held for it.
//  4. Charges and hold of an item are on its cards: on one, unless the item spreads.
//  5. Every charge has its job, every job its queue, and nothing else is counted. An orphan
//     has jobs, and only orphans below it.
//
// Two amounts should be within the limit: Allocated, and the floor, Allocated - Elastic +
// Held. Decisions keep them there, and raise none that isn't. A lowered limit, or a pod that
// runs already, may be in the way: the queue is over then ([Cell.Over]).
//
// Why is a pod refused although its queue has a card free? The answer is at the top of
// maycharge.go. For a job it is at the top of mayreserve.go.
//
// # The files, in reading order
//
//	what is counted  queue.go, records.go, requests.go, limits.go
//	may it           maycharge.go (a task, and what an answer is), mayreserve.go (a job)
//	                 with plan.go, maytogether.go (a gang), copies.go (copies)
//	do it            reserve.go, charge.go (and take it back)
//	undo it          giveback.go
//	follow           force.go (what runs already), tree.go (queues change)
//	other            check.go
//
// # To decide without a change
//
// Three mechanisms say what would be. Each is for something else:
//
//   - A [Plan] adds up what one job's min comes to. It changes no cell, so
//     questions may share the lock.
//   - A [Journal] lets a gang's tasks be charged for real, and takes the charges back. It
//     needs the exclusive lock. It keeps what charges change, and so can't undo anything else.
//   - Queue.aside and Job.clone copy a queue and those above it, and a job, for the charges
//     and holds of ReserveCopies, ChargeCopies and Together.
//
// # To add to it
//
//   - A new question is a may... file here, a method of the ledger in quota/operate.go, and
//     a fill... method in quota/explain.go.
//   - A new reason is a [Reason] here. In quota it is a Reason in answer.go, and a row of
//     the table in message.go, with its number here and its text.
//   - A new limit is a new dimension, and no code here. Outputs came like that: each is a
//     list of alternatives with one dimension, that is allowed Anywhere.
package book
