package quota

import (
	"fmt"
	"testing"
)

// TestIgnoredAnnotations: a key that is mistyped, or that no version has, is noted where its
// sibling is read; what is of others is not.
func TestIgnoredAnnotations(t *testing.T) {
	own := Config{QuotaKey: "example.com/cards", DeservedKey: "example.com/deserved", GuaranteeKey: "x.io/share.guaranteed", RequestKey: "example.com/wants", NameKey: "models"}
	const quota, request, name = "quotas are read from " + QuotaAnnotation, "requests are read from " + RequestAnnotation, "names of cards are read from " + NameAnnotation
	for _, c := range []struct {
		cfg              Config
		key              string
		queue, job, pods string // what is read instead; empty: no note
	}{
		{Config{}, "volcano.sh/card.quota", "", "", ""},
		{Config{}, "volcano.sh/card.request", quota, "", ""},
		{Config{}, "volcano.sh/card.name", quota, "", ""},
		{Config{}, "volcano.sh/card.qouta", quota, request, name},
		{Config{}, "volcano.sh/card.quotas", quota, request, name},
		{Config{}, "volcano.sh/card.limit", quota, request, name},
		{Config{}, "volcano.sh/card.", quota, request, name},
		{Config{}, "volcano.sh/card-quota", quota, request, name},
		{Config{}, "volcano.sh/cards.quota", quota, request, name},
		{Config{}, "volcano.sh/cardquota", quota, request, name},
		{Config{}, "volcano.com/card.quota", quota, request, name},
		{Config{}, "vulcano.sh/card.reqest", quota, request, name},
		{Config{}, "Volcano.sh/Card.Name", quota, request, name},
		{Config{}, "volcano.sh/crad.nmae", quota, request, name},
		{Config{}, "volcano.sh/queue-name", "", "", ""},
		{Config{}, "volcano.sh/task-spec", "", "", ""},
		{Config{}, "scheduling.volcano.sh/group-name", "", "", ""},
		{Config{}, "example.com/cards", "", "", ""},
		{Config{}, "kubectl.kubernetes.io/last-applied-configuration", "", "", ""},
		{Config{}, "", "", "", ""},

		{own, "example.com/cards", "", "", ""},
		{own, "example.com/card", "quotas are read from example.com/cards", "requests are read from example.com/wants", "names of cards are read from models"},
		{own, "example.com/desserved", "quotas are read from example.com/deserved", "requests are read from example.com/wants", "names of cards are read from models"},
		{own, "x.io/share.guarantee", "quotas are read from x.io/share.guaranteed", "requests are read from example.com/wants", "names of cards are read from models"},
		{own, "x.io/share.most", "quotas are read from example.com/cards", "requests are read from example.com/wants", "names of cards are read from models"},
		{own, "modles", "quotas are read from example.com/cards", "requests are read from example.com/wants", "names of cards are read from models"},
		{own, "example.com/team", "", "", ""},
		{own, "x.io/other", "", "", ""},
		{own, "volcano.sh/card.quota", "quotas are read from example.com/cards", "", ""},
		{own, "volcano.sh/card.qouta", "quotas are read from example.com/cards", "requests are read from example.com/wants", "names of cards are read from models"},
	} {
		annotations := map[string]string{c.key: `{"A": 1}`}
		_, warnings := c.cfg.Validate([]Queue{{Name: "q", Annotations: annotations}}, nil)
		w := worldFrom(t, c.cfg, cluster(map[string]string{"n": "A:4"}), Queue{Name: "q", Cards: map[string]int64{"A": 4}})
		_, ofJob, err := w.ResolveJob(Job{ID: "j", Queue: "q", Annotations: annotations})
		if err != nil {
			t.Fatal(err)
		}
		pod := podOf("", "gpu:1")
		pod.Annotations = map[string]string{c.key: "A"}
		_, ofPod, err := w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod})
		if err != nil {
			t.Fatal(err)
		}
		place := fmt.Sprintf("annotations[%s]: Invalid value: ", c.key)
		for _, of := range []struct{ got, place, want string }{
			{fmt.Sprint(warnings), `queues[0].` + place + `queue "q": `, c.queue}, {fmt.Sprint(ofJob), place, c.job}, {fmt.Sprint(ofPod), place, c.pods},
		} {
			want := "[]"
			if of.want != "" {
				want = "[" + of.place + "the annotation counts for nothing: " + of.want + "]"
			}
			if of.got != want {
				t.Errorf("%s\nwant %s", of.got, want)
			}
		}
	}

	// By key, each; of one without a text nothing was meant.
	cfg := new(Config)
	notes := ignored(map[string]string{"volcano.sh/card.b": "1", "volcano.sh/card.a": "1", "volcano.sh/card.c": " \n"}, cfg.keys(), "quotas", cfg.queueKeys(), nil)
	if len(notes) != 2 || notes[0].Field != "volcano.sh/card.a" || notes[1].Field != "volcano.sh/card.b" {
		t.Error(notes)
	}
	// Cards that claims give make the pod's annotation needless, and so those like it.
	w := worldFrom(t, Config{}, cluster(map[string]string{"n": "A:4"}), Queue{Name: "q", Cards: map[string]int64{"A": 4}})
	pod := podOf("", "")
	pod.Annotations = map[string]string{"volcano.sh/card.nmae": "A"}
	if _, notes, err := w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod, Cards: []Item{{Alternatives: []string{"A"}, Milli: 1000}}}); err != nil || len(notes) > 0 {
		t.Error(notes, err)
	}
}
