// Package quota accounts for the accelerator cards that queues may use. It says whether a
// job may start, before its pods exist, and then whether each pod may be placed. It
// implements Volcano's capacity-card design, and differs from Volcano's code where that
// would let a queue use more than its quota.
//
// A [Ledger] is the account. It needs a catalog of the cluster, and the queues:
//
//	cfg := quota.Config{MissingUnlimited: true} // no limit of cpu and memory where a queue has none
//	ledger, err := quota.New(cfg, catalog, []quota.Queue{{
//		Name:        "team-a",
//		Annotations: map[string]string{quota.QuotaAnnotation: `{"NVIDIA-A100-SXM4-80GB": 4}`},
//	}})
//
// A job and a task are resolved once: that parses their objects, and decisions don't. A job
// is promised its min, what it needs before it may start: its hold. A task is charged for
// what it uses, and takes its part out of the hold. What goes beyond the min is elastic.
//
//	job, faults, err := ledger.ResolveJob(quota.Job{ID: "train", Queue: "team-a", Annotations: annotations})
//	answer, err := ledger.Reserve(job)
//	log.Print(answer.OK, answer.Refusal.Message()) // which limit of which queue, and how much room there is
//	task, faults, err := ledger.ResolveTask(quota.Task{ID: "train-0", Job: "train", Queue: "team-a", Pod: pod})
//	answer, err = ledger.CommitOn(task, "node-1") // the card is one of the node's
//	ledger.Release("train-0")                     // the task has ended
//
// It has to know of changes in the cluster, and goes on after a restart:
//
//	_, err = ledger.SetCatalog(catalog)
//	orphans, _, err := ledger.SetQueues(queues)
//	report, err := ledger.Reconcile(quota.View{Jobs: jobs}) // the pods that run, and those that have gone
//	ledger, err = quota.Restore(cfg, catalog, ledger.Snapshot())
//
// # What holds
//
//   - Amounts are whole, see [Amount]; a card is 1000 milli-cards.
//   - What a queue uses counts in every queue above it. What is charged stays within each
//     limit, and so do holds and what jobs use of their mins. A limit is exceeded only where
//     it was lowered, or a pod runs already: [Ledger.Over].
//   - A quota is not the capacity: whether a card is free is not looked at.
//   - A [Ledger] and its requests may be used from several goroutines; it starts none and
//     logs nothing. Questions change nothing. Changes are all or nothing, and have a number,
//     Seq: a method returns that of its change or, without one, of the state.
//   - An error changes nothing and names what it is about; a bad name is an [ErrBadName].
//     What is wrong in an object, such as a pod, is no error: it comes as a *field.Error, or
//     the request is refused.
//   - What a method returns belongs to the caller, and has a form in JSON. A sequence shows
//     one state, and holds no lock.
package quota
