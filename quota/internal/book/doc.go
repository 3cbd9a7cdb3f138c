// Package book is the account of a tree of queues in numbers: what each queue may use,
// what its tasks use, and what is held for its jobs.
//
// It knows dimensions, whole amounts, queues, jobs, tasks and their charges. It has no
// names, no texts and no lock: package quota has those, and finds the records by name. A
// Tag is what quota calls a record; the book doesn't read it.
//
// What always holds, and [Book.Check] tests:
//
//  1. A queue's Allocated is the sum of the charges of its tasks, its Held the sum of the
//     holds of its jobs, its Elastic what tasks of reserved jobs use beyond the min. A
//     queue with children has the sums of its children, too.
//  2. No amount is negative, and no charge covers more than itself.
//  3. Allocated is within the limit, and so is the floor, Allocated - Elastic + Held.
//     A queue is marked as over where this isn't so, and only there.
//  4. The min of an item is what its charges cover, and what is held for it.
//  5. Charges and hold of an item are on its cards: on one, unless the item spreads.
//  6. Every charge has its job, every job its queue, and nothing else is counted.
//
// Why is a pod refused although its queue has a card free? The answer is at the top of
// maycharge.go. For a job it is at the top of mayreserve.go.
//
// The files, in reading order:
//
//	what is counted  queue.go, records.go, requests.go, limits.go
//	may it           mayreserve.go (a job), maycharge.go (a task), maytogether.go (a gang),
//	                 howmany.go (copies), with answer.go and plan.go
//	do it            reserve.go, charge.go; force.go and recharge.go (what runs already)
//	undo it          giveback.go, journal.go
//	beside that      tree.go (queues change), check.go, fast.go (what is there for speed)
package book
