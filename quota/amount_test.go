package quota

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// TestUnlimitedJSON: no limit is a word in JSON, which is read like the number.
func TestUnlimitedJSON(t *testing.T) {
	h := Headroom{Item: 1, Resource: "A100", Why: ReasonPromised, Room: Unlimited, Level: "top", Limit: Unlimited}
	for _, c := range []struct {
		value any
		want  []string
	}{
		{h, []string{`"room":"unlimited"`, `"limit":"unlimited"`}},
		{Headroom{Room: -5, Limit: 3}, []string{`"room":-5`, `"limit":3`}},
		{Refusal{Reason: ReasonTooLarge, Queue: "q", Headroom: h, Best: "A100", Requested: 2, Detail: "d"}, []string{`"limit":"unlimited"`, `"message":"`}},
		{Fits{Copies: Unlimited, Room: []Headroom{h}, Next: Answer{OK: true}}, []string{`{"copies":"unlimited"`, `"room":[{`, `"limit":"unlimited"`}},
		{Usage{Resource: "cpu", Capability: Unlimited, RealCapability: Unlimited, Guarantee: 1, Deserved: 2, Allocated: 3, Inqueue: 4, Elastic: 5, Request: 6},
			[]string{`"capability":"unlimited"`, `"realCapability":"unlimited"`, `"allocated":3`}},
	} {
		text := testkit.Must(json.Marshal(c.value))
		for _, want := range c.want {
			if strings.Count(string(text), want) != 1 {
				t.Errorf("%s: want %s once", text, want)
			}
		}
		number := strings.ReplaceAll(string(text), `"unlimited"`, "9223372036854775807")
		for _, text := range []string{string(text), number} {
			back := reflect.New(reflect.TypeOf(c.value))
			if err := json.Unmarshal([]byte(text), back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), c.value) {
				t.Errorf("%s comes back as %+v, %v", text, back.Elem(), err)
			}
		}
	}
	var u Usage
	if err := json.Unmarshal([]byte(`{"capability": "much"}`), &u); err == nil {
		t.Error("a text that is none")
	}
}
