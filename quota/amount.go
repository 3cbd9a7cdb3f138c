package quota

import (
	"encoding/json"
	"strconv"
)

// Amount is in milli-cores, bytes, milli-cards, units of an output or copies. In JSON
// Unlimited is "unlimited", since few readers keep 2^63-1; both read.
type Amount int64

// unlimitedText is Unlimited in JSON.
const unlimitedText = "unlimited"

func (a Amount) MarshalJSON() ([]byte, error) {
	if a == Unlimited {
		return json.Marshal(unlimitedText)
	}
	return json.Marshal(int64(a))
}

func (a *Amount) UnmarshalJSON(text []byte) error {
	if string(text) == strconv.Quote(unlimitedText) {
		*a = Unlimited
		return nil
	}
	return json.Unmarshal(text, (*int64)(a))
}
