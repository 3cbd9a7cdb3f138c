package quota

import "testing"

func TestMessage(t *testing.T) {
	for _, c := range []struct {
		r    Refusal
		want string
	}{
		{Refusal{}, ""},
		{Refusal{Reason: ReasonUnknownQueue, Queue: "q"}, `there is no queue "q"`},
		{Refusal{Reason: ReasonQueueNotLeaf, Queue: "q"}, `queue "q" has queues below it and takes no jobs: use one of those`},
		{Refusal{Reason: ReasonQueueNotOpen, Queue: "q"}, `queue "q" or a queue above it is not open`},
		{Refusal{Reason: ReasonQueueNotOpen, Queue: "q", Detail: queueRemoved, Headroom: Headroom{Level: "q"}}, `queue "q" is not open: it is removed`},
		{Refusal{Reason: ReasonQueueNotOpen, Queue: "q", Detail: "Closing", Headroom: Headroom{Level: "q"}}, `queue "q" is not open: it is Closing`},
		{Refusal{Reason: ReasonQueueNotOpen, Queue: "q", Detail: "Closed", Headroom: Headroom{Level: "org"}}, `queue "q" is not open: queue "org" above it is Closed`},
		{Refusal{Reason: ReasonGetTaskRequestResourceFailed, Queue: "q", Detail: noneOnNode, Headroom: Headroom{Resource: "A|B"}},
			`queue "q": the node has none of the cards A|B`},
		{Refusal{Reason: ReasonGetTaskRequestResourceFailed, Queue: "q", Detail: noneOnNode, Headroom: Headroom{Resource: "A|B"}, facts: facts{node: "n"}},
			`queue "q": node "n" has none of the cards A|B`},
		{Refusal{Reason: ReasonGetTaskRequestResourceFailed, Queue: "q", Detail: "no card\nis known"},
			`queue "q": the request is invalid: no card is known`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Best: "B", Requested: 2000, Headroom: Headroom{Level: "q", Resource: "A|B", Room: 1000, Limit: 5000}},
			`queue "q": insufficient quota of card A|B: requested 2 cards, room on B for 1 card of 5 cards, the total would be 6 cards`},
		{Refusal{Reason: ReasonInsufficientCPUQuota, Queue: "q", Requested: 500, Headroom: Headroom{Level: "org", Room: -250, Limit: 4000}},
			`queue "q": insufficient quota of cpu: requested 0.5 cores, 0.25 cores over the limit of 4 cores at queue "org", the total would be 4.75 cores`},
		{Refusal{Reason: ReasonInsufficientMemoryQuota, Queue: "q", Requested: 3 << 29, Headroom: Headroom{Level: "q", Room: 1 << 20, Limit: 1 << 30}},
			`queue "q": insufficient quota of memory: requested 1536 Mi, room for 1 Mi of 1 Gi, the total would be 2559 Mi`},
		{Refusal{Reason: ReasonInsufficientMemoryQuota, Queue: "q", Requested: 100 << 40, Headroom: Headroom{Level: "q", Room: 80 << 40, Limit: 1<<53 - 1, Why: ReasonTooLarge}},
			`queue "q": insufficient quota of memory: requested 100 Ti, room for 80 Ti of 9007199254740991 bytes, the total would be 9029189487296511 bytes; there is no limit, but more can't be counted`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Requested: 3 << 40, Headroom: Headroom{Level: "q", Resource: "ephemeral-storage", Room: 1 << 40, Limit: 2 << 40}, output: true},
			`queue "q": insufficient quota of ephemeral-storage: requested 3 Ti, room for 1 Ti of 2 Ti, the total would be 4 Ti`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Requested: 2 << 30, Headroom: Headroom{Level: "q", Resource: "hugepages-2Mi", Room: -(512 << 20), Limit: 1 << 30}, output: true},
			`queue "q": insufficient quota of hugepages-2Mi: requested 2 Gi, 512 Mi over the limit of 1 Gi, the total would be 3584 Mi`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Requested: 4096, Headroom: Headroom{Level: "q", Resource: "example.com/credits", Room: 1024, Limit: 2048}, output: true},
			`queue "q": insufficient quota of example.com/credits: requested 4096, room for 1024 of 2048, the total would be 5120`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Requested: 1000, Headroom: Headroom{Level: "q", Resource: "A", Room: -1000, Limit: 2000}},
			`queue "q": insufficient quota of card A: requested 1 card, 1 card over the limit of 2 cards, the total would be 4 cards`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q", Requested: 1000, Best: "B", Headroom: Headroom{Level: "q", Resource: "A|B", Room: -1000, Limit: 2000}},
			`queue "q": insufficient quota of card A|B: requested 1 card, on B 1 card over the limit of 2 cards, the total would be 4 cards`},
		{Refusal{Reason: ReasonInsufficientScalarQuota, Queue: "q\n", Requested: 1000, Headroom: Headroom{Level: "q\n", Resource: "A\x1b", Room: 0, Limit: Unlimited}},
			`queue "q\n": insufficient quota of card A : requested 1 card, room for 0 cards`},
	} {
		if got := c.r.Message(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}
