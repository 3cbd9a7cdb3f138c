package quota

import "github.com/resvec/resvec/transform"

// Config is how a [Ledger] decides. The zero value is the default: a queue may use what
// its capability mentions, annotations are read strictly, a pod that names no card may
// run on any, and all tasks of an item use one card. Its methods only read it, but for
// ParseArguments and ParseSchedulerConf; a ledger keeps a copy.
type Config struct {
	Keys    Keys          // the annotations
	Unnamed UnnamedPolicy // card-carrying resources of a pod whose cards are not named

	// AnyMix fills an item with alternatives with any of its cards, in whole units from
	// left to right. Without it the whole item is on one card, and so are the tasks that
	// count against it; a job then has at most 128 lists of cards that bind its tasks.
	// [Job.AnyMix] takes its place for one job.
	AnyMix bool

	// MissingUnlimited leaves cpu and memory unlimited in a leaf queue whose capability
	// doesn't mention them. Without it such a queue may use none. A card that isn't
	// mentioned is denied in any case, and at a parent whatever isn't mentioned is
	// unlimited.
	MissingUnlimited bool

	// FailToZero reads annotations by the rule of Volcano's plugin: what Go decodes into
	// a map[string]int is taken verbatim, and anything else drops the whole object.
	// Without it a bad entry of a queue drops itself, and in a request it makes the
	// request invalid.
	FailToZero bool

	// UnlimitedCPUMemory leaves whatever has cards out of the accounting of cpu
	// and memory, as cardUnlimitedCpuMemory of Volcano's capacity-card plugin.
	UnlimitedCPUMemory bool

	// EnforceGuarantee limits each queue by what the guarantees of its siblings
	// leave, not by its capability alone; see [Usage].
	EnforceGuarantee bool

	// CountReleasing counts as allocated also tasks that are being deleted, and tasks
	// that wait for the resources of these.
	CountReleasing bool

	// Transformation makes the outputs that queues are limited in of what pods request,
	// see [NewMap]; nil: outputs are what pods request under their names. It is fixed for a
	// ledger's life. To change it, make a new ledger and call [Ledger.Reconcile].
	Transformation *transform.Transformation

	// OnEvent, if not nil, gets an event for each job or task that an operation changes,
	// and one per refused operation, after the ledger was unlocked, in the goroutine of
	// the operation. SetQueues and SetCatalog make none. Events of concurrent operations
	// may come out of order; Event.Seq orders them.
	OnEvent func(Event)
}

// UnnamedPolicy says what is done with a resource of a pod that carries cards when the
// pod names none of them.
type UnnamedPolicy string

const (
	UnnamedAsAny  UnnamedPolicy = ""       // as if all known cards of the resource were named, sorted by name
	UnnamedRefuse UnnamedPolicy = "Refuse" // the request is invalid
	UnnamedIgnore UnnamedPolicy = "Ignore" // it is not counted
)

// Keys are the annotations that are read. Empty fields of the first three stand
// for the defaults.
type Keys struct {
	Quota   string // on a queue; default [QuotaAnnotation]
	Request string // on a job or PodGroup; default [RequestAnnotation]
	Name    string // on a pod; default [NameAnnotation]

	// Deserved and Guarantee replace Quota for those two, if not empty.
	Deserved, Guarantee string
}

// Unlimited is a limit, or the room, where there is none. The others are the annotations
// of Volcano's capacity-card plugin.
const (
	Unlimited = int64(1<<63 - 1)

	QuotaAnnotation   = "volcano.sh/card.quota"   // JSON object: card to count
	RequestAnnotation = "volcano.sh/card.request" // JSON object: card or alternatives to count
	NameAnnotation    = "volcano.sh/card.name"    // card or alternatives, as text
)
