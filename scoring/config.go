package scoring

// ScoringType names a formula, as Kubernetes and Volcano configurations do.
type ScoringType string

const (
	MostAllocated            ScoringType = "MostAllocated"
	LeastAllocated           ScoringType = "LeastAllocated"
	RequestedToCapacityRatio ScoringType = "RequestedToCapacityRatio"
	BalancedAllocation       ScoringType = "BalancedAllocation"
)

// FitRule says how one resource, or one family of resources, is scored.
type FitRule struct {
	Type   ScoringType // MostAllocated or LeastAllocated
	Weight int64       // 0 or less: 1
}

// StrategyFitConfig configures [CompileStrategyFit].
type StrategyFitConfig struct {
	// Weight is the plugin's weight, resourceStrategyFitWeight: nil or a
	// negative one means 10, and 0 turns the scorer off.
	Weight *int64

	// Resources are the rules by resource name or pattern. nil means cpu and
	// memory, both LeastAllocated with weight 1; a map that is empty but not
	// nil has no rules, and every score is 0.
	Resources map[string]FitRule
}

// SRAConfig configures [CompileSRA], the avoidance of nodes that have scarce
// resources.
type SRAConfig struct {
	Weight         int64            // 0 or less: off
	Resources      []string         // the scarce resources, exact names
	ResourceWeight map[string]int64 // by name; missing or negative: 1
}

// ProportionalConfig configures [CompileProportional], the reservation of cpu
// and memory for idle devices.
type ProportionalConfig struct {
	Resources []string // the primaries, exact names

	// Proportion is what to keep for one idle device, by "<primary>.cpu" in CPUs
	// and "<primary>.memory" in units of MemoryUnit; missing or negative: 1.
	Proportion map[string]float64

	// Secondaries are further rules, for secondaries other than cpu and memory.
	Secondaries []ProportionalRule

	// MemoryUnit is how many bytes a proportion of memory of 1 means; 0 is 1e9,
	// as in Volcano.
	MemoryUnit float64
}

// ProportionalRule reserves Ratio of a secondary, in units of the map, for every
// idle device of a primary.
type ProportionalRule struct {
	Primary, Secondary string
	Ratio              float64
}

// StrategyConfig configures [CompileStrategy]: Volcano's plugin
// resource-strategy-fit as a whole.
type StrategyConfig struct {
	Fit          StrategyFitConfig
	SRA          *SRAConfig          // nil: off
	Proportional *ProportionalConfig // nil: off
}
