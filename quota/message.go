package quota

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Message says in one line why something was refused, with amounts in cards,
// cores and MiB. It is built on every call; empty if nothing was refused, as in the
// answer of an operation that returns an error.
func (r Refusal) Message() string {
	switch r.Reason {
	case None:
		return ""
	case UnknownQueue:
		return fmt.Sprintf("there is no queue %q", brief(r.Queue))
	case QueueNotLeaf:
		return fmt.Sprintf("queue %q has queues below it and takes no jobs", brief(r.Queue))
	case QueueNotOpen:
		if r.Detail != "" {
			return fmt.Sprintf("queue %q is not open: %s", brief(r.Queue), oneLine(r.Detail))
		}
		return fmt.Sprintf("queue %q or a queue above it is not open", brief(r.Queue))
	case GetTaskRequestResourceFailed:
		if r.Card != "" {
			return fmt.Sprintf("queue %q: %s %s", brief(r.Queue), oneLine(r.Detail), oneLine(brief(r.Card)))
		}
		return fmt.Sprintf("queue %q: what is requested can't be told: %s", brief(r.Queue), oneLine(r.Detail))
	case EmptyQueueCapability:
		return fmt.Sprintf("queue %q has no capability", brief(r.Queue))
	}
	u := r.unit()
	text := fmt.Sprintf("queue %q: insufficient quota of %s: requested %s, room%s for %s",
		brief(r.Queue), oneLine(u.what), u.text(r.Requested), r.on(), u.text(r.Room))
	if r.Limit == Unlimited {
		return text
	}
	text += " of " + u.text(r.Limit)
	if r.Level != r.Queue {
		text += fmt.Sprintf(" at queue %q", brief(r.Level))
	}
	return fmt.Sprintf("%s, the total would be %s", text, u.text(r.Limit-r.Room+r.Requested))
}

// on names the alternative that the amounts are of.
func (r Refusal) on() string {
	if r.Best == "" {
		return ""
	}
	return " on " + oneLine(brief(r.Best))
}

// amountUnit is how the amounts of a dimension are written.
type amountUnit struct {
	what, suffix string
	divisor      float64
}

func (r Refusal) unit() amountUnit {
	switch r.Reason {
	case InsufficientCPUQuota:
		return amountUnit{"cpu", " cores", 1000}
	case InsufficientMemoryQuota:
		return amountUnit{"memory", " MiB", 1 << 20}
	}
	return amountUnit{"card " + brief(r.Card), " cards", 1000}
}

// text writes an amount with as many digits as it takes.
func (u amountUnit) text(amount int64) string {
	if amount == Unlimited {
		return "unlimited" + u.suffix
	}
	n := strconv.FormatFloat(float64(amount)/u.divisor, 'f', -1, 64)
	if math.Abs(float64(amount)) == u.divisor {
		return n + strings.TrimSuffix(u.suffix, "s")
	}
	return n + u.suffix
}

// oneLine replaces what would end a line or steer a terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}
