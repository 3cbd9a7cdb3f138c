package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/resvec/resvec/quota"
)

// rushers is how many goroutines want cards at the same time.
const rushers = 100

// rush is a hundred goroutines that try to get more than a queue may use.
func rush(s *story) {
	s.say("A rush: team-a may use 10, and %d goroutines want some of it at once", rushers)
	queue := team("team-a", "", `{"NVIDIA-A100-80GB": 10}`)
	s.ledger, s.err = newLedger(quota.Config{}, gpus(a100, 4, "node-1", "node-2", "node-3"), []quota.Queue{queue})
	jobs := make([]*quota.JobRequest, rushers)
	for i := range jobs {
		jobs[i] = s.job("team-a", fmt.Sprintf("job-%02d", i), `{"NVIDIA-A100-80GB": 1}`)
	}
	s.say("      Enqueueable  %3d of them may start: a question promises nothing", s.count(func(i int) (bool, error) {
		return s.ledger.Enqueueable(nil, jobs[i]), nil
	}))
	s.say("      Reserve      %3d of them do start", s.count(func(i int) (bool, error) {
		a, err := s.ledger.Reserve(jobs[i])
		return a.OK, err
	}))
	s.books()
	s.releaseJobs("job")

	gangs := make([][]*quota.TaskRequest, rushers)
	for i := range gangs {
		for k := range 3 {
			gangs[i] = append(gangs[i], s.task("team-a", fmt.Sprintf("gang-%02d", i), k, pod(a100, gpu, 1)))
		}
	}
	s.say("      CommitAll    %3d gangs of three get all they need, the others nothing", s.count(func(i int) (bool, error) {
		a, err := s.ledger.CommitAll(gangs[i])
		return a.OK, err
	}))
	s.books()
	s.releaseJobs("gang")

	s.say("      Commit       never more than 10 at work while %d tasks start and end: %t", rushers*rounds, s.churn(10))
	if s.err == nil {
		s.say("      Check        the books contradict themselves: %t", s.ledger.Check() != nil)
	}
	s.books()
}

// releaseJobs takes everything back from the jobs of all goroutines.
func (s *story) releaseJobs(name string) {
	for i := range rushers {
		if s.err == nil {
			s.ledger.ReleaseJob(fmt.Sprintf("%s-%02d", name, i))
		}
	}
}

// rounds is how many tasks each goroutine of a churn starts and ends.
const rounds = 20

// churn starts and ends tasks all at once, and reports whether never more than
// limit were at work at the same time.
func (s *story) churn(limit int64) bool {
	tasks := make([]*quota.TaskRequest, rushers)
	for i := range tasks {
		tasks[i] = s.task("team-a", "churn", i, pod(a100, gpu, 1))
	}
	var working atomic.Int64
	var tooMany atomic.Bool
	s.count(func(i int) (bool, error) {
		for done := 0; done < rounds; {
			a, err := s.ledger.Commit(tasks[i])
			if err != nil {
				return false, err
			}
			if !a.OK {
				runtime.Gosched() // another one has to end first
				continue
			}
			if working.Add(1) > limit {
				tooMany.Store(true)
			}
			working.Add(-1)
			s.ledger.Release(fmt.Sprintf("churn-%d", i))
			done++
		}
		return true, nil
	})
	return !tooMany.Load()
}

// count calls do for every goroutine's number, all at once, and returns how many
// were successful.
func (s *story) count(do func(i int) (bool, error)) int {
	if s.err != nil {
		return 0
	}
	var group sync.WaitGroup
	var yes atomic.Int64
	errs := make([]error, rushers)
	for i := range rushers {
		group.Go(func() {
			ok, err := do(i)
			if ok {
				yes.Add(1)
			}
			errs[i] = err
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil && s.err == nil {
			s.err = err
		}
	}
	return int(yes.Load())
}
