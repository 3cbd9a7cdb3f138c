package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota"
)

// TestRequests: each request, in order, with its status and a part of its answer.
func TestRequests(t *testing.T) {
	s := openSample(t, t.TempDir(), 1000)
	defer s.close()
	server := httptest.NewServer(newHandler(s))
	defer server.Close()
	const h100, a100 = "NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB"
	for _, c := range []struct {
		request, body string
		status        int
		want          string
	}{
		{"PUT /jobs/train", `{"queue": "vision", "cards": {"` + h100 + `": 3}, "resources": {"cpu": "8", "memory": "64Gi"}}`, 201, `{"ok":true,"seq":2}`},
		{"PUT /jobs/train", `{"queue": "vision", "cards": {"` + h100 + `": 3}, "resources": {"memory": "64Gi", "cpu": 8}}`, 200, `{"ok":true,"repeat":true,"seq":2}`},
		{"PUT /jobs/train", `{"queue": "vision", "cards": {"` + h100 + `": 2}}`, 409, `{"error":"quota: id is in use with other content: reserved with another min: job \"train\": reserved is 8 cores and 64 Gi and 3 cards of ` + h100 + `, requested 2 cards of ` + h100 + `: release it first"}`},
		{"PUT /jobs/train", `{"queue": "speech", "cards": {"` + h100 + `": 3}}`, 409, `it is in queue \"vision\", not in \"speech\"`},
		{"PUT /jobs/more", `{"queue": "vision", "cards": {"` + h100 + `": 2}}`, 403, `"reason":"InsufficientScalarQuota","queue":"vision","resource":"` + h100 + `","why":"Promised","room":1000,"level":"vision","limit":4000,"requested":2000,"message":"queue \"vision\": insufficient quota of card ` + h100 + `: requested 2 cards, room for 1 card of 4 cards, the total would be 5 cards`},
		{"PUT /jobs/more", `{"queue": "research", "cards": {"` + h100 + `": 1}}`, 403, `"reason":"QueueNotLeaf"`},
		{"PUT /jobs/more", `{"queue": "nobody", "cards": {"` + h100 + `": 2}}`, 404, `there is no queue \"nobody\"`},
		{"PUT /jobs/more", `{"queue": "visoin", "cards": {"` + h100 + `": 2}}`, 404, `{"ok":false,"seq":2,"refusal":{"reason":"UnknownQueue","queue":"visoin","why":"UnknownQueue","room":0,"limit":0,"requested":0,"detail":"is \"vision\" meant?","message":"there is no queue \"visoin\": is \"vision\" meant?"}}`},
		{"PUT /jobs/more", `{"queue": "visoin", "cards": {"T4": 2}}`, 404, `known are ` + a100 + `, ` + h100},
		{"PUT /jobs/more", `{"queue": "vision", "cards": {"T4": 2}}`, 400, `no card of \"T4\" is known: known are ` + a100},
		{"PUT /jobs/more", `{"queue": "vision", "cards": {"` + h100 + `": -1}}`, 400, `entry \"` + h100 + `\": the count is -1`},
		{"PUT /jobs/more", `{"queue": "vision", "cards": {"` + h100 + `": 1.5}, "resources": {"gpu": 1, "cpu": "x"}, "Queue": 1}`, 400, ``},
		{"PUT /jobs/more", `{"queue": "vision", "cards": {"` + h100 + `": 1, "` + h100 + `": 2}}`, 400, `Duplicate value`},
		{"PUT /jobs/more", `{"queue": 5}`, 400, `queue: Invalid value: 5: must be a string, not a number`},
		{"PUT /jobs/more", `{"cards": {}}`, 400, `queue: Required value`},
		{"PUT /jobs/more", `{"queue": "vision"`, 400, `request: line 1`},
		{"PUT /jobs/more", ``, 400, `the document is empty`},
		{"PUT /jobs/more", `{"queue": "` + strings.Repeat("x", 70_000) + `"}`, 413, `more than 65536 bytes`},
		{"PUT /jobs/a%2Fb", `{"queue": "vision"}`, 400, `no slash`},
		{"PUT /jobs/%ff", `{"queue": "vision"}`, 400, `not UTF-8`},
		{"PUT /jobs/" + strings.Repeat("x", 254), `{"queue": "vision"}`, 400, `at most 253 bytes`},
		{"POST /why", `{"queue": "vision", "cards": {"` + h100 + `": 2}}`, 200, `"ok":false`},
		{"POST /why", `{"queue": "vision", "cards": {"` + h100 + `": 1}}`, 200, `{"ok":true,"seq":2}`},
		{"POST /why", `{"queue": "nobody"}`, 404, `UnknownQueue`},
		{"POST /why", `{"queue": "reserach", "cards": {"` + h100 + `": 2}}`, 404, `there is no queue \"reserach\": is \"research\" meant?`},
		{"POST /fits", `{"queue": "Speech", "cards": {"` + h100 + `": 2}}`, 404, `there is no queue \"Speech\": is \"speech\" meant?`},
		{"POST /fits", `{"queue": "vision", "cards": {"` + a100 + `|` + h100 + `": 3}}`, 200, `{"copies":2,"room":[`},
		{"POST /fits", `{"queue": "vision", "cards": {"T4": 3}}`, 400, `no card of`},
		{"GET /jobs/train", ``, 200, `{"id":"train","queue":"vision","reserved":true,"min":{"cpu":8000,"memory":68719476736,"items":[{"alternatives":["` + h100 + `"],"milli":3000,"unit":1000}]},"held":{"cpu":8000,"memory":68719476736,"cards":{"` + h100 + `":3000}}}`},
		{"GET /jobs/nobody", ``, 404, `there is no job`},
		{"GET /queues", ``, 200, `[{"name":"research"`},
		{"GET /queues/vision", ``, 200, `"rejections":{"GetTaskRequestResourceFailed":2,"InsufficientScalarQuota":1}`},
		{"GET /queues/speech", ``, 200, `"memory":{"resource":"memory","capability":"unlimited",`},
		{"GET /queues/nobody", ``, 404, `{"error":"there is no queue \"nobody\""}`},
		{"GET /queues/vison", ``, 404, `{"error":"there is no queue \"vison\": is \"vision\" meant?"}`},
		{"GET /queues/vision%ff", ``, 400, `not UTF-8`},
		{"GET /queues/research/jobs", ``, 200, `[{"id":"train"`},
		{"GET /queues/speech/jobs", ``, 200, `[]`},
		{"GET /queues/vision%20/jobs", ``, 404, `{"error":"there is no queue \"vision \": is \"vision\" meant?"}`},
		{"GET /metrics", ``, 200, `volcano_queue_card_inqueue{card="` + h100 + `",queue_name="vision"} 3`},
		{"GET /healthz", ``, 200, `{"synced":2}`},
		{"DELETE /jobs/train", ``, 200, `{"seq":3,"released":true}`},
		{"DELETE /jobs/train", ``, 200, `{"seq":3,"released":false}`},
		{"POST /jobs/train", ``, 405, ``},
		{"GET /", ``, 404, ``},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		request := testkit.Must(http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(c.body)))
		response := testkit.Must(http.DefaultClient.Do(request))
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != c.status || !strings.Contains(string(text), c.want) {
			t.Errorf("%s %.200s: %d %s%v, want %d %s", c.request, c.body, response.StatusCode, text, err, c.status, c.want)
		}
		if strings.Contains(c.body, "gpu") { // all faults at once, each with its field
			for _, want := range []string{`cards[\"` + h100 + `\"]: Invalid value: 1.5`, `resources.gpu`, `resources[\"cpu\"]: Invalid value: \"x\"`, `Queue: Unsupported value`} {
				if !strings.Contains(string(text), want) {
					t.Errorf("%s lacks %s", text, want)
				}
			}
		}
	}
}

// TestReadme runs the curl lines of README.md against a service with the sample queues, and
// compares what they print.
func TestReadme(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	s := openSample(t, t.TempDir(), 1000)
	defer s.close()
	server := httptest.NewServer(newHandler(s))
	defer server.Close()
	text := testkit.Must(os.ReadFile("README.md"))
	lines := 0
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		for _, command := range regexp.MustCompile(`(?m)^\$ (.*)\n((?:[^$].*\n)*)`).FindAllStringSubmatch(block[1], -1) {
			lines++
			out, err := exec.Command("sh", "-ec", strings.ReplaceAll(command[1], "localhost:8080", strings.TrimPrefix(server.URL, "http://"))).Output()
			if got, want := indented(out), indented([]byte(command[2])); err != nil || got != want {
				t.Errorf("%s\nprints %s%v\nnot %s", command[1], out, err, want)
			}
		}
	}
	if lines < 6 {
		t.Errorf("only %d commands", lines)
	}
}

// indented returns JSON in one form, and other text as it is.
func indented(text []byte) string {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	text, err := json.MarshalIndent(v, "", "  ")
	return fmt.Sprint(string(text), err)
}

// TestRetry: a client that lost an answer asks again, also of the process after a kill, and
// is told what it was told; a refusal is decided anew.
func TestRetry(t *testing.T) {
	dir := t.TempDir()
	const body = `{"queue": "vision", "cards": {"NVIDIA-A100-SXM4-80GB|NVIDIA-H100-80GB-HBM3": 2}}`
	send := func(s *store, method, path string) (status int, a quota.Answer) {
		w := httptest.NewRecorder()
		newHandler(s).ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		testkit.Check(json.Unmarshal(w.Body.Bytes(), &a))
		return w.Code, a
	}
	s := openSample(t, dir, 2)
	_, first := send(s, "PUT", "/jobs/train")
	for range 3 {
		s.kill(t)
		s = openSample(t, dir, 2)
		if status, again := send(s, "PUT", "/jobs/train"); status != 200 || !again.OK || !again.Repeat || !first.OK {
			t.Errorf("%d %+v, first %+v", status, again, first)
		}
	}
	if status, _ := s.ledger.Queue("vision"); status.Usage("NVIDIA-A100-SXM4-80GB").Inqueue != 2000 {
		t.Errorf("%+v", status)
	}
	for i, want := range []string{"released", "nothing to release"} {
		if status, _ := send(s, "DELETE", "/jobs/train"); status != 200 {
			t.Errorf("delete %d: %d", i, status)
		}
		s.kill(t)
		s = openSample(t, dir, 2)
		if _, known := s.ledger.Job("train"); known {
			t.Errorf("%s, and it is there", want)
		}
	}
	testkit.Check(s.close())
}
