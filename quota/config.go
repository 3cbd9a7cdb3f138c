package quota

import (
	"github.com/resvec/resvec/transform"
	corev1 "k8s.io/api/core/v1"
)

// Config is how a [Ledger] decides, for its life: to change it make a new ledger and call
// [Ledger.Reconcile]. The zero value is the default.
type Config struct {
	QuotaKey           string                    // the annotation of a queue; empty: [QuotaAnnotation], which with a key of your own counts no more
	DeservedKey        string                    // of a queue, in the place of QuotaKey for what it deserves; empty: QuotaKey
	GuaranteeKey       string                    // of a queue, as DeservedKey
	RequestKey         string                    // of a job or PodGroup; empty: [RequestAnnotation]
	NameKey            string                    // of a pod; empty: [NameAnnotation]
	Unnamed            UnnamedPolicy             // card-carrying resources of a pod whose cards are not named
	AnyMix             bool                      // an item is filled from left to right with whole units of any alternative; else it, and its tasks, are on one card
	MissingUnlimited   bool                      // a leaf queue that doesn't mention cpu or memory isn't limited in it; else it may use none
	FailToZero         bool                      // annotations as Volcano's plugin: what decodes into a map[string]int, or nothing; else only bad entries drop, and make a request invalid
	UnlimitedCPUMemory bool                      // what has cards counts without cpu and memory: the plugin's cardUnlimitedCpuMemory
	EnforceGuarantee   bool                      // limits are what guarantees of siblings leave, see [Usage.RealCapability]
	SpecOnly           bool                      // a pod that is resized counts with its spec; else with the greatest of wanted, allocated and actual
	CountReleasing     bool                      // tasks that are being deleted, or wait for such, count as allocated
	Outputs            []corev1.ResourceName     // further resources that queues are limited in, in whole units
	Transformation     *transform.Transformation // makes outputs of what pods request; nil: they request them by name
	OnEvent            func(Event)               // if not nil, gets an event for each changed job or task, and each refused operation, in the goroutine of that, without a lock: Event.Seq orders them; SetQueues and SetCatalog have none
}

// UnnamedPolicy says what counts of a resource that carries cards when its pod names none.
// Empty: as if all known cards of the resource were named, sorted.
type UnnamedPolicy string

const (
	UnnamedRefuse UnnamedPolicy = "Refuse" // the request is invalid
	UnnamedIgnore UnnamedPolicy = "Ignore" // it is not counted
)

// The annotations are those of Volcano's capacity-card plugin.
const (
	Unlimited         = 1<<63 - 1                 // a limit, or the room, where there is none
	QuotaAnnotation   = "volcano.sh/card.quota"   // JSON object: card to count
	RequestAnnotation = "volcano.sh/card.request" // JSON object: card or alternatives to count
	NameAnnotation    = "volcano.sh/card.name"    // card or alternatives, as text
)
