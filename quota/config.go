package quota

import (
	"github.com/resvec/resvec/transform"
	corev1 "k8s.io/api/core/v1"
)

// Config is how a [Ledger] decides. The zero value is the default. Its methods only read
// it, but for ParseArguments and ParseSchedulerConf; a ledger keeps a copy.
type Config struct {
	Keys    Keys          // the annotations
	Unnamed UnnamedPolicy // card-carrying resources of a pod whose cards are not named

	// AnyMix fills an item with any of its alternatives, in whole units from left to right.
	// Without it an item, and the tasks that count against it, are on one card, and a job has
	// at most 128 lists of cards that bind its tasks. [Job.AnyMix] takes its place for a job.
	AnyMix bool

	MissingUnlimited   bool // no limit of cpu and memory in a leaf queue whose capability doesn't mention them; else none may be used
	FailToZero         bool // annotations as Go decodes a map[string]int, or nothing, as Volcano's plugin; else only bad entries drop, and make a request invalid
	UnlimitedCPUMemory bool // what has cards counts without cpu and memory, as by the plugin's cardUnlimitedCpuMemory
	EnforceGuarantee   bool // limits are what the guarantees of siblings leave, see [Usage.RealCapability]
	SpecOnly           bool // a pod counts with what its spec requests; else, while it is resized in place, with the greatest of wanted, allocated and actual, as the scheduler counts nodes
	CountReleasing     bool // tasks that are being deleted, or wait for the resources of these, count as allocated

	// Outputs are further resources that queues are limited in, in whole units: what
	// Transformation makes of the requests of pods; nil: what pods request under these names.
	// Both are fixed for a ledger's life. To change them, make a new ledger and call
	// [Ledger.Reconcile].
	Outputs        []corev1.ResourceName
	Transformation *transform.Transformation

	// OnEvent, if not nil, gets an event for each job or task that an operation changes, and
	// one per refused operation, but none of SetQueues and SetCatalog. It is called without
	// a lock, in the goroutine of the operation. So events of concurrent operations may
	// come out of order; Event.Seq orders them.
	OnEvent func(Event)
}

// UnnamedPolicy says what is done with a resource of a pod that carries cards when the
// pod names none of them. Empty: as if all known cards of the resource were named, sorted.
type UnnamedPolicy string

const (
	UnnamedRefuse UnnamedPolicy = "Refuse" // the request is invalid
	UnnamedIgnore UnnamedPolicy = "Ignore" // it is not counted
)

// Keys are the annotations that are read.
type Keys struct {
	Quota   string // on a queue; empty: [QuotaAnnotation]
	Request string // on a job or PodGroup; empty: [RequestAnnotation]
	Name    string // on a pod; empty: [NameAnnotation]

	Deserved, Guarantee string // on a queue, in the place of Quota for those two; empty: Quota
}

// Unlimited is a limit, or the room, where there is none. The others are the annotations
// of Volcano's capacity-card plugin.
const (
	Unlimited = int64(1<<63 - 1)

	QuotaAnnotation   = "volcano.sh/card.quota"   // JSON object: card to count
	RequestAnnotation = "volcano.sh/card.request" // JSON object: card or alternatives to count
	NameAnnotation    = "volcano.sh/card.name"    // card or alternatives, as text
)
