// Package quota accounts for the accelerator cards that queues may use. It says
// whether a job may start, before its pods exist, and then whether each pod may be
// placed. It implements Volcano's capacity-card design. It differs from Volcano's code
// where that would let a queue use more than its quota.
//
// # A ledger
//
// A [Ledger] is the account. It needs a catalog of what the cluster has, and the queues:
//
//	cfg := quota.Config{MissingUnlimited: true} // no limit of cpu and memory where a queue has none
//	ledger, err := quota.New(cfg, catalog, []quota.Queue{{
//		Name:        "team-a",
//		Annotations: map[string]string{quota.QuotaAnnotation: `{"NVIDIA-A100-SXM4-80GB": 4}`},
//	}})
//
// # Decisions
//
// A job and a task are resolved once. This parses their objects and looks up their
// cards; decisions do neither. A job is promised its min, what it needs before it may
// start: that is its hold. A task is charged for what it uses, and takes its part out of
// the hold. What a job is charged beyond its min is elastic.
//
//	job, faults, err := ledger.ResolveJob(quota.Job{ID: "train", Queue: "team-a", Annotations: annotations})
//	answer, err := ledger.Reserve(job)
//	if err == nil && !answer.OK {
//		log.Print(answer.Refusal.Message()) // which limit of which queue, and how much room there is
//	}
//	task, faults, err := ledger.ResolveTask(quota.Task{ID: "train-0", Job: "train", Queue: "team-a", Pod: pod})
//	answer, err = ledger.CommitOn(task, "node-1") // the card is one of the node's
//	ledger.Release("train-0")                     // the task has ended
//
// [Ledger.Enqueueable] and [Ledger.Allocatable] answer the same questions and change
// nothing. [Ledger.CommitAll] charges a gang or nothing. [Ledger.Rollback] takes a
// commit back. What it covered is held again, on the card where it was charged.
//
// # Following the cluster
//
// Cards, queues and pods change. The ledger has to know of each:
//
//	_, err = ledger.SetCatalog(catalog)
//	orphans, _, err := ledger.SetQueues(queues)
//	report, err := ledger.Reconcile(quota.View{Jobs: jobs}) // the pods that run, and those that have gone
//
// It goes on after a restart:
//
//	data := ledger.Snapshot()
//	ledger, err := quota.Restore(cfg, catalog, data)
//
// And it can be looked at. quota/quotametrics makes Prometheus metrics of
// [Ledger.Samples]:
//
//	status, ok := ledger.Queue("team-a")
//	used := status.Usage("NVIDIA-A100-SXM4-80GB").Allocated // milli-cards
//	fits, err := ledger.JobCopies(job)                      // how many more such jobs
//
// What is left is more than a subtraction. It is without the holds of other jobs, and
// every queue above has a limit, too. So ask [Ledger.JobCopies] or [Ledger.Enqueueable].
//
// # What holds
//
//   - Amounts are whole: milli-cores, bytes, and milli-cards. A card is 1000. Outputs of a
//     transformation, see [Config], are in units.
//   - What a queue uses counts in every queue above it, and each has to have room.
//   - What is charged stays within the limit.
//   - Promises stay within the limit, too: a job's hold and what it uses of its min, added
//     over all jobs.
//   - A limit is exceeded only where it was lowered, or where a pod runs already. That is
//     marked, see [Ledger.Over], and nothing is admitted that would raise it.
//   - A quota is not the capacity. Whether the cluster has a free card is not looked at.
//
// # What every method keeps to
//
//   - A [Ledger] and its requests may be used from several goroutines. Questions share the
//     ledger and change nothing; changes exclude each other, and are all or nothing. The
//     package starts no goroutine and logs nothing.
//   - Each change has a number, Seq. A method returns that of its change or, if nothing
//     changed, of the state; an answer has that of the state it was decided on.
//   - An error changes nothing and names what it is about. A name that a caller gives is
//     an [ErrBadName] where it is bad. What is wrong in an object, such as a pod, is no
//     error: it comes as an [EntryError], or the request is refused.
//   - What a method returns belongs to the caller. A sequence shows the one state of the
//     moment when the walk over it begins, and holds no lock.
//
// The decisions are in quota/internal/book, in numbers. Its package comment has the
// invariants, and the order in which to read it.
package quota
