// Package book is the account of a tree of queues in numbers: what each queue may use,
// what its tasks use, and what is held for its jobs.
//
// It knows dimensions, whole amounts, queues, jobs, tasks and their charges. It has no
// names, no texts and no lock: package quota has those, and finds the records by name.
//
// What always holds, and [Book.Check] tests:
//
//  1. In every queue and dimension, Allocated is the sum of the charges of its tasks,
//     Held the sum of the holds of its jobs, and Elastic the sum of what tasks of
//     reserved jobs use beyond the min. A queue above has the sums of its children.
//  2. No amount is negative, and no charge covers more than itself.
//  3. Allocated is within the limit, and so is the floor: Allocated - Elastic + Held.
//     Where it isn't, the queue is marked as over, and nothing else is marked.
//  4. What the charges of an item cover, and what is held for it, is its min.
//  5. The charges and the hold of an item are on its cards: on one, unless it spreads.
//  6. Every charge has its job, every job its queue, and nothing else is counted.
//
// A question is answered in three steps, and the files stand in that order:
//
//	may it   mayreserve.go (a job), maycharge.go (a task), maytogether.go (a gang),
//	         howmany.go (copies)
//	do it    reserve.go, charge.go, force.go (what runs already)
//	undo it  giveback.go, journal.go
//
// queue.go and records.go say what is counted, limits.go what limits follow from quotas
// and guarantees. fast.go has what is there for speed alone.
package book
