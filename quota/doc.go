// Package quota accounts for the accelerator cards that queues may use: how many
// of which kind, decided before a job's pods exist and again before each pod is
// placed. It implements Volcano's capacity-card design and goes beyond it where
// that would over-commit.
//
//   - A [Queue] says what may be used: a capability, a guarantee, and the deserved
//     amounts that its share is measured by. [Config.BuildQueue] makes one from
//     resource lists and annotations, [Validate] looks at a tree of them.
//   - A [Ledger] is the account. [Ledger.ResolveJob] and [Ledger.ResolveTask] turn
//     jobs and pods into requests, once; decisions on requests parse and look up
//     nothing. A request belongs to the ledger that made it.
//   - A job is admitted by [Ledger.Reserve], which promises it its min; the promise
//     is held on concrete cards and can move until it is used. A pod is charged by
//     [Ledger.Commit], gangs by [Ledger.CommitAll], all or nothing, and the charge
//     is taken back by [Ledger.Rollback] or ended by [Ledger.Release].
//   - [Ledger.Enqueueable], [Ledger.Allocatable] and their batches ask
//     without changing anything. A refusal is a value with numbers: the level that
//     has the least room, and how much.
//   - [Ledger.Reconcile] brings the account in line with what runs, [Ledger.Check]
//     recomputes it from its records, and [Ledger.Snapshot] and [Restore] carry it
//     across restarts. What was decided and never carried out is reported as
//     [Unseen], and [Ledger.Expire] and [Ledger.Rollback] take it back.
//   - [Ledger.Queue], [Ledger.Job] and [Ledger.Jobs] show what queues and jobs have,
//     [Ledger.WhatFits] what there is room for, [Ledger.Samples] what to monitor.
//
// Amounts are integers: milli-cores, bytes, and milli-cards (a card is 1000). In
// every queue and in those above it, what is allocated stays within the limit, and
// so does what is promised together with what is used up to the mins of jobs; only
// a lowered limit or reality, when it is imported, may exceed one, and that is
// marked ([Ledger.Over]). A quota is not the capacity: that the cluster has the
// cards, and that they are free, is not looked at.
//
// A Ledger is safe for concurrent use. Questions share it and changes exclude each
// other; each change has a number, and every answer the number of the state that
// it was decided on. The package starts no goroutine and logs nothing;
// quota/quotametrics makes Prometheus metrics of it.
package quota
