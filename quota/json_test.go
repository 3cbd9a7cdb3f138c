package quota

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
)

var updateJSON = flag.Bool("update-json", false, "rewrite testdata/answers.txt")

// TestJSON compares what a ledger returns, one of each type, with testdata/answers.txt: a
// service sends it as it is.
func TestJSON(t *testing.T) {
	cfg := Config{MissingUnlimited: true}
	var events []Event
	cfg.OnEvent = func(e Event) { events = append(events, e) }
	specs := []Queue{
		{Name: "research", Annotations: map[string]string{QuotaAnnotation: `{"A100": 6}`}},
		{Name: "vision", Parent: "research", Annotations: map[string]string{QuotaAnnotation: `{"A100": 4, "H100": 2}`}, Capability: resourceList("cpu:8 mem:80Gi credits:9")},
	}
	cfg.Outputs = []corev1.ResourceName{"nvidia.com/credits"}
	l := testkit.Must(New(cfg, nil, specs))
	resolve := func(id, queue, cards, min string) *JobRequest {
		return resolved(l.ResolveJob(Job{ID: id, Queue: queue, Annotations: map[string]string{RequestAnnotation: cards}, MinResources: resourceList(min)}))
	}
	reserve := func(job *JobRequest) Answer {
		return testkit.Must(l.Reserve(job))
	}
	question := func(job *JobRequest) (a Answer) {
		l.Enqueueable(&a, job)
		return a
	}
	var all bytes.Buffer
	write := func(what string, v any) {
		text := testkit.Must(json.MarshalIndent(v, "", "  "))
		all.WriteString("# " + what + "\n" + string(text) + "\n")
		// A client in Go reads it into the same types.
		back := reflect.New(reflect.TypeOf(v))
		if err := json.Unmarshal(text, back.Interface()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		again, err := json.MarshalIndent(back.Interface(), "", "  ")
		if err != nil || !bytes.Equal(again, text) {
			t.Errorf("%s comes back as %s%v", what, again, err)
		}
	}

	train := resolve("train", "vision", `{"A100|H100": 2}`, "cpu:4 mem:8Gi")
	write("Answer to Reserve", reserve(train))
	write("Answer to Reserve again", reserve(train))
	write("Min", train.Need())
	write("Answer that there is no room", question(resolve("more", "vision", `{"A100|H100": 3, "H100": 1}`, "cpu:1")))
	write("Answer that there is no cpu", reserve(resolve("more", "vision", `{"A100": 1}`, "cpu:4500m")))
	write("Answer that there is no queue", reserve(resolve("more", "nobody", `{"A100": 1}`, "")))
	write("Fits", testkit.Must(l.JobCopies(resolve("copy", "vision", `{"A100": 1}`, ""))))
	testkit.Must(l.Declare([]device.Card{{Name: "A100"}}))
	write("Answer to Commit", testkit.Must(l.Commit(resolved(l.ResolveTask(Task{ID: "train-0", Job: "train", Queue: "vision", Cards: []Item{{Alternatives: []string{"A100"}, Milli: 1000}}, Request: resourceList("cpu:2")})))))
	vision, _ := l.Queue("vision")
	write("QueueStatus", vision)
	status, _ := l.Job("train")
	write("JobStatus", status)
	specs[1].Cards = map[string]int64{"A100": 1}
	if _, _, err := l.SetQueues(specs); err != nil {
		t.Fatal(err)
	}
	write("Report", testkit.Must(l.Reconcile(View{Jobs: []Job{{ID: "train", Queue: "vision", Phase: PhaseInqueue, MinUnknown: true}}})))
	write("Event", events[1:])

	const golden = "testdata/answers.txt"
	if *updateJSON {
		testkit.Check(os.WriteFile(golden, all.Bytes(), 0o644))
	}
	want := testkit.Must(os.ReadFile(golden))
	if !bytes.Equal(want, all.Bytes()) {
		t.Errorf("go test ./quota -run TestJSON -update-json would change %s:\n%s", golden, &all)
	}
}
