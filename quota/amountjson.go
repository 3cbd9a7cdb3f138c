package quota

import (
	"encoding/json"
	"strconv"
)

// jsonAmount is an amount in JSON: [Unlimited] is a text there, since few readers keep 2^63-1.
// Both are read.
type jsonAmount int64

func (a jsonAmount) MarshalJSON() ([]byte, error) { return snapshotLimit(a).MarshalJSON() }

func (a *jsonAmount) UnmarshalJSON(text []byte) error {
	if string(text) == strconv.Quote(unlimitedText) {
		*a = jsonAmount(Unlimited)
		return nil
	}
	return json.Unmarshal(text, (*int64)(a))
}

func (h Headroom) MarshalJSON() ([]byte, error)     { return json.Marshal(h.json()) }
func (h *Headroom) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, h.json()) }

// headroomFields is Headroom without its methods. With them encoding/json would call
// MarshalJSON again, without end.
type headroomFields Headroom

// json returns what json reads from h, and writes to it.
func (h *Headroom) json() any {
	// Of two fields with one key encoding/json takes the outer one.
	return &struct {
		*headroomFields
		Room  *jsonAmount `json:"room"`
		Limit *jsonAmount `json:"limit"`
	}{(*headroomFields)(h), (*jsonAmount)(&h.Room), (*jsonAmount)(&h.Limit)}
}

// refusalJSON is a Refusal in JSON.
type refusalJSON struct {
	Reason Reason `json:"reason"`
	Queue  string `json:"queue"`
	headroomFields
	Room      jsonAmount `json:"room"`
	Limit     jsonAmount `json:"limit"`
	Best      string     `json:"best,omitempty"`
	Requested int64      `json:"requested"`
	Detail    string     `json:"detail,omitempty"`
	Message   string     `json:"message"`
}

// MarshalJSON adds to the fields what Message says, as message.
func (r Refusal) MarshalJSON() ([]byte, error) {
	return json.Marshal(refusalJSON{r.Reason, r.Queue, headroomFields(r.Headroom), jsonAmount(r.Room), jsonAmount(r.Limit),
		r.Best, r.Requested, r.Detail, r.Message()})
}

// UnmarshalJSON reads the fields, not the message.
func (r *Refusal) UnmarshalJSON(text []byte) error {
	// From what is there: a key that is missing leaves its field, as in any struct.
	x := refusalJSON{Reason: r.Reason, Queue: r.Queue, headroomFields: headroomFields(r.Headroom), Room: jsonAmount(r.Room), Limit: jsonAmount(r.Limit), Best: r.Best, Requested: r.Requested, Detail: r.Detail}
	if err := json.Unmarshal(text, &x); err != nil {
		return err
	}
	r.Reason, r.Queue, r.Headroom, r.Best, r.Requested, r.Detail = x.Reason, x.Queue, Headroom(x.headroomFields), x.Best, x.Requested, x.Detail
	r.Room, r.Limit = int64(x.Room), int64(x.Limit)
	return nil
}

func (f Fits) MarshalJSON() ([]byte, error)     { return json.Marshal(f.json()) }
func (f *Fits) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, f.json()) }

func (f *Fits) json() any {
	type fields Fits
	return &struct {
		Copies *jsonAmount `json:"copies"`
		*fields
	}{(*jsonAmount)(&f.Copies), (*fields)(f)}
}

func (u Usage) MarshalJSON() ([]byte, error)     { return json.Marshal(u.json()) }
func (u *Usage) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, u.json()) }

func (u *Usage) json() any {
	type fields Usage
	return &struct {
		*fields
		Capability     *jsonAmount `json:"capability"`
		RealCapability *jsonAmount `json:"realCapability"`
	}{(*fields)(u), (*jsonAmount)(&u.Capability), (*jsonAmount)(&u.RealCapability)}
}
