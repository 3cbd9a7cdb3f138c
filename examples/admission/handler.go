package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/quota/quotametrics"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// newHandler answers the requests to a store. Bodies are what package quota returns, as JSON.
func newHandler(s *store) http.Handler {
	h := &handler{s, s.ledger}
	mux := http.NewServeMux()
	mux.Handle("PUT /jobs/{id}", reply(h.reserve))
	mux.Handle("DELETE /jobs/{id}", reply(h.release))
	mux.Handle("GET /jobs/{id}", reply(h.job))
	mux.Handle("POST /why", reply(h.why))
	mux.Handle("POST /fits", reply(h.fits))
	mux.Handle("GET /queues", reply(h.queues))
	mux.Handle("GET /queues/{name}", reply(h.queue))
	mux.Handle("GET /queues/{name}/jobs", reply(h.jobs))
	mux.Handle("GET /healthz", reply(h.health))
	registry := prometheus.NewRegistry()
	registry.MustRegister(quotametrics.NewCollector(s.ledger))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return mux
}

type handler struct {
	store  *store
	ledger *quota.Ledger
}

// A reply answers a request with a status and what becomes JSON.
type reply func(*http.Request) (status int, body any)

// maxBody is how many bytes the body of a request may have.
const maxBody = 64 << 10

func (f reply) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	status, body := f(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who doesn't read it asks again
}

// fault is the body of what is no answer of the ledger.
func fault(status int, err error) (int, any) {
	return status, struct {
		Error string `json:"error"`
	}{err.Error()}
}

// answer is an answer with notes on what counts otherwise than written.
type answer struct {
	quota.Answer
	Notes []string `json:"notes,omitempty"`
}

// status says what an answer is in HTTP. As where Kubernetes has quotas, a refusal is
// Forbidden.
func (a *answer) status() int {
	switch {
	case a.OK:
		return http.StatusOK
	case a.Refusal.Reason == quota.ReasonUnknownQueue:
		return http.StatusNotFound
	case a.Refusal.Reason == quota.ReasonGetTaskRequestResourceFailed:
		return http.StatusBadRequest
	}
	return http.StatusForbidden
}

// reserve promises a job what it needs. The same request again gets the same answer.
func (h *handler) reserve(r *http.Request) (int, any) {
	job, notes, status, err := h.resolve(r, r.PathValue("id"))
	if err != nil {
		return fault(status, err)
	}
	a := answer{Notes: notes}
	unsaved := h.store.do(r.Context(), func() (record, bool) {
		a.Answer, err = h.ledger.Reserve(job.request)
		need := job.request.Need()
		return record{a.Seq, job.ID, job.Queue, &need}, err == nil && a.OK && !a.Repeat
	})
	switch {
	case unsaved != nil:
		return fault(http.StatusServiceUnavailable, unsaved)
	case err != nil:
		return fault(http.StatusConflict, errors.New(strings.Replace(err.Error(), "Resize changes it", "release it first", 1)))
	case a.OK && !a.Repeat:
		return http.StatusCreated, &a
	}
	return a.status(), &a
}

// release takes back what a job has.
func (h *handler) release(r *http.Request) (int, any) {
	id := r.PathValue("id")
	var a struct {
		Seq      uint64 `json:"seq"`
		Released bool   `json:"released"` // false: there is no such job, or no more
	}
	err := h.store.do(r.Context(), func() (record, bool) {
		a.Seq, a.Released = h.ledger.ReleaseJob(id)
		return record{Seq: a.Seq, Job: id}, a.Released
	})
	if err != nil {
		return fault(http.StatusServiceUnavailable, err)
	}
	return http.StatusOK, &a
}

// job says what a job has. It waits its turn, so what it says is on disk.
func (h *handler) job(r *http.Request) (int, any) {
	var status quota.JobStatus
	var known bool
	err := h.store.do(r.Context(), func() (record, bool) {
		status, known = h.ledger.Job(r.PathValue("id"))
		return record{}, false
	})
	switch {
	case err != nil:
		return fault(http.StatusServiceUnavailable, err)
	case !known:
		return fault(http.StatusNotFound, fmt.Errorf("there is no job %q", r.PathValue("id")))
	}
	return http.StatusOK, status
}

// question is the id of the job in a question. No job has it: it has a slash.
const question = "/"

// why says whether a job would be reserved, and if not, why.
func (h *handler) why(r *http.Request) (int, any) {
	job, notes, status, err := h.resolve(r, question)
	if err != nil {
		return fault(status, err)
	}
	a := answer{Notes: notes}
	h.ledger.Enqueueable(&a.Answer, job.request)
	if status := a.status(); status != http.StatusForbidden {
		return status, &a
	}
	return http.StatusOK, &a // that there is no room is what was asked for
}

// fits says how many such jobs would be reserved, and what stops the next one.
func (h *handler) fits(r *http.Request) (int, any) {
	job, _, status, err := h.resolve(r, question)
	if err != nil {
		return fault(status, err)
	}
	fits, err := h.ledger.JobCopies(job.request)
	if err != nil {
		return fault(http.StatusConflict, err)
	}
	if next := (answer{Answer: fits.Next}); next.status() != http.StatusForbidden {
		return next.status(), fits
	}
	return http.StatusOK, fits
}

func (h *handler) queues(*http.Request) (int, any) {
	// One without a name counts requests that name no queue, for metrics.
	samples := slices.Collect(h.ledger.Samples())
	return http.StatusOK, slices.DeleteFunc(samples, func(q quota.QueueStatus) bool { return q.Name == "" })
}

func (h *handler) queue(r *http.Request) (int, any) {
	status, known := h.ledger.Queue(r.PathValue("name"))
	if !known {
		return h.noQueue(r.PathValue("name"))
	}
	return http.StatusOK, status
}

// noQueue says that there is no queue of a name, as a refusal says it: with those that may be meant.
func (h *handler) noQueue(name string) (int, any) {
	job, _, err := h.ledger.ResolveJob(quota.Job{ID: question, Queue: name})
	if err != nil {
		return fault(http.StatusBadRequest, err)
	}
	var a quota.Answer
	h.ledger.Enqueueable(&a, job)
	return fault(http.StatusNotFound, errors.New(a.Refusal.Message()))
}

func (h *handler) jobs(r *http.Request) (int, any) {
	if status, body := h.queue(r); status != http.StatusOK {
		return status, body
	}
	return http.StatusOK, append([]quota.JobStatus{}, slices.Collect(h.ledger.Jobs(r.PathValue("name")))...)
}

// health says which change is the last on disk, and whether more can get there.
func (h *handler) health(*http.Request) (int, any) {
	select {
	case <-h.store.done:
		return fault(http.StatusServiceUnavailable, errEnding)
	default:
	}
	return http.StatusOK, map[string]uint64{"synced": h.store.synced.Load()}
}

// resolved is a job of a request.
type resolved struct {
	quota.Job
	request *quota.JobRequest
}

// resolve reads the job that a request describes. What is wrong is told with its field and
// value; the status is what that is in HTTP.
func (h *handler) resolve(r *http.Request, id string) (job resolved, notes []string, status int, err error) {
	status = http.StatusBadRequest
	if id != question && (len(id) > 253 || strings.Contains(id, "/")) {
		return job, nil, status, errors.New("the id of the job must have at most 253 bytes, and no slash")
	}
	data, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return job, nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the request has more than %d bytes", large.Limit)
	}
	if err != nil {
		return job, nil, status, err
	}
	if job.Job, err = readJob(data); err != nil {
		return job, nil, status, err
	}
	job.ID = id
	var entries field.ErrorList
	if job.request, entries, err = h.ledger.ResolveJob(job.Job); err != nil {
		return job, nil, status, err
	}
	for _, entry := range entries {
		notes = append(notes, entry.Error())
	}
	return job, notes, status, nil
}

// readJob reads a job, such as
//
//	{"queue": "vision", "cards": {"A100|H100": 2}, "resources": {"cpu": "8", "memory": "64Gi"}}
func readJob(data []byte) (quota.Job, error) {
	var report document.Report
	x := document.Read(data, document.Options{}, &report).Fields()
	x.Known("queue", "cards", "resources")
	var job quota.Job
	queue := x.Get("queue")
	job.Queue, _ = queue.Text()
	if job.Queue == "" {
		report.Fail(field.Required(field.NewPath(queue.Path()), "the queue of the job"))
	}
	cards := map[string]int64{}
	for name, count := range x.Get("cards").Names().All() {
		cards[name], _ = count.Integer()
	}
	if len(cards) > 0 {
		text, err := json.Marshal(cards)
		if err != nil {
			return job, err
		}
		job.Annotations = map[string]string{config.RequestKey: string(text)}
	}
	resources := x.Get("resources")
	resources.Fields().Known("cpu", "memory")
	for _, amount := range resources.Amounts() {
		if job.MinResources == nil {
			job.MinResources = corev1.ResourceList{}
		}
		job.MinResources[corev1.ResourceName(amount.Name)] = amount.Quantity
	}
	return job, report.Err("request")
}
