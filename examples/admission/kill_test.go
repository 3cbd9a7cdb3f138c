package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota"
)

// TestKill loads the real process, kills it at random moments, and starts it again. Clients
// that get no answer ask again, and in the end what they were told is what the service has: no
// reservation is lost, none came back, and no limit is exceeded, also right after each start.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a command")
	}
	requests, kills := testkit.Amount(t, 600, 600, 20_000), testkit.Amount(t, 1, 1, 2)
	seed := testkit.Environment(t, "RESVEC_SEED", 1)
	const clients = 16

	program, data := build(t), t.TempDir()
	flags := []string{"-snapshot-every", "97", "-queues", filepath.Join(data, "queues.json")}
	testkit.Check(os.WriteFile(flags[3], []byte(killQueues), 0o666))
	service := start(t, program, data, flags...)
	var url atomic.Pointer[string]
	url.Store(&service.url)

	var answered, told, refused atomic.Int64
	moments := make(chan struct{}, clients*requests)
	world := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}, Timeout: 10 * time.Second}
	send := func(method, path, body string) (status int, answer []byte) {
		request, err := http.NewRequest(method, *url.Load()+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0, nil
		}
		response, err := world.Do(request)
		if err != nil {
			return 0, nil
		}
		defer response.Body.Close()
		if answer, err = io.ReadAll(response.Body); err != nil {
			return 0, nil // the process ended within its answer
		}
		return response.StatusCode, answer
	}

	var clientsLeft sync.WaitGroup
	live := make([]map[string]bool, clients) // the jobs that each client was told it has
	for c := range clients {
		live[c] = map[string]bool{}
		clientsLeft.Go(func() {
			random := rand.New(rand.NewPCG(uint64(seed), uint64(c)))
			var mine []string
			for i := range requests / clients {
				method, path, body := http.MethodPut, fmt.Sprintf("/jobs/client-%d-job-%d", c, i), killJobs[random.IntN(len(killJobs))]
				job := strings.TrimPrefix(path, "/jobs/")
				if len(mine) > 0 && random.IntN(3) == 0 {
					at := random.IntN(len(mine))
					job, mine[at] = mine[at], mine[len(mine)-1]
					mine = mine[:len(mine)-1]
					method, path, body = http.MethodDelete, "/jobs/"+job, ""
				}
				status, answer := send(method, path, body)
				for range 2000 { // until there is an answer
					if status != 0 && status != http.StatusServiceUnavailable {
						break
					}
					time.Sleep(5 * time.Millisecond)
					status, answer = send(method, path, body)
				}
				switch {
				case method == http.MethodDelete && status == http.StatusOK:
					delete(live[c], job)
				case status == http.StatusCreated || status == http.StatusOK:
					told.Add(1)
					live[c][job], mine = true, append(mine, job)
				case status == http.StatusForbidden:
					refused.Add(1)
				default:
					t.Errorf("%s %s: %d %s", method, path, status, answer)
				}
				answered.Add(1)
				moments <- struct{}{}
			}
		})
	}

	// limits checks that the queues are within their limits.
	limits := func() {
		var queues []quota.QueueStatus
		status, text := send(http.MethodGet, "/queues", "")
		if err := json.Unmarshal(text, &queues); err != nil || status != http.StatusOK || len(queues) < 3 {
			t.Errorf("/queues: %d %v %s", status, err, text)
		}
		for _, q := range queues {
			for _, u := range append(q.Cards, q.CPU) {
				if u.Allocated+u.Inqueue > u.Capability {
					t.Errorf("queue %s: %+v", q.Name, u)
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(uint64(seed), clients))
	for k := range kills {
		// Not at the beginning, and not at the end: so many more answers, and some microseconds.
		part := requests / clients * clients / (kills + 1)
		for range part/2 + random.IntN(part/2) + k {
			<-moments
		}
		time.Sleep(time.Duration(random.IntN(3000)) * time.Microsecond)
		testkit.Check(service.Process.Kill())
		_ = service.Wait() // it was killed
		service = start(t, program, data, flags...)
		url.Store(&service.url)
		limits()
	}
	clientsLeft.Wait()
	limits()

	// All that clients were told, and nothing else, once.
	var jobs []quota.JobStatus
	status, text := send(http.MethodGet, "/queues/all/jobs", "")
	if err := json.Unmarshal(text, &jobs); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v", status, err)
	}
	held := map[string]int64{}
	for _, job := range jobs {
		if client := clientOf(job.ID); !live[client][job.ID] {
			t.Errorf("job %s was released, or is there twice", job.ID)
		} else {
			delete(live[client], job.ID)
		}
		for card, milli := range job.Held.Cards {
			held[card] += milli
		}
	}
	for _, jobs := range live {
		for job := range jobs {
			t.Errorf("job %s was acknowledged, and is lost", job)
		}
	}
	var all quota.QueueStatus
	if _, text := send(http.MethodGet, "/queues/all", ""); json.Unmarshal(text, &all) != nil {
		t.Errorf("%s", text)
	}
	for card, milli := range held {
		if u := all.Usage(card); int64(u.Inqueue) != milli {
			t.Errorf("%s: the jobs hold %d, and the queue says %d", card, milli, u.Inqueue)
		}
	}
	t.Logf("%d requests, %d reserved, %d refused, %d jobs are left, %d kills", answered.Load(), told.Load(), refused.Load(), len(jobs), kills)
	if told.Load() == 0 || refused.Load() == 0 {
		t.Error("the limits are not tried")
	}

	// A graceful end, and what is on disk.
	testkit.Check(service.Process.Signal(os.Interrupt))
	if err := service.Wait(); err != nil {
		t.Errorf("after an interrupt: %v", err)
	}
	specs := testkit.Must(quota.ReadQueues([]byte(killQueues)))
	s, notes, err := open(data, specs, 1, false)
	if err != nil || len(notes) > 0 {
		t.Fatalf("%v, %v", notes, err)
	}
	testkit.Check(s.ledger.Check())
	left := 0
	for range s.ledger.Jobs("all") {
		left++
	}
	if left != len(jobs) {
		t.Errorf("%d jobs on disk, %d before the end", left, len(jobs))
	}
	testkit.Check(s.close())
}

// clientOf returns the number of the client that a job is of.
func clientOf(job string) (client int) {
	_, _ = fmt.Sscanf(job, "client-%d-", &client)
	return client
}

const killQueues = `
{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "all", "annotations": {"volcano.sh/card.quota": "{\"A100\": 150, \"H100\": 60}"}}, "spec": {"capability": {"cpu": "900"}}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "a", "annotations": {"volcano.sh/card.quota": "{\"A100\": 100, \"H100\": 40}"}}, "spec": {"parent": "all"}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "b", "annotations": {"volcano.sh/card.quota": "{\"A100\": 100, \"H100\": 40}"}}, "spec": {"parent": "all", "capability": {"cpu": "500"}}}]}
`

var killJobs = []string{
	`{"queue": "a", "cards": {"A100": 1}, "resources": {"cpu": "4"}}`,
	`{"queue": "a", "cards": {"A100|H100": 3}, "resources": {"cpu": "6500m", "memory": "1Gi"}}`,
	`{"queue": "b", "cards": {"H100|A100": 2}}`,
	`{"queue": "b", "cards": {"A100": 2, "H100": 1}, "resources": {"cpu": 8}}`,
}
