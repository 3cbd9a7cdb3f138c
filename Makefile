# Every target is one line.
.PHONY: test check long release generate lint fuzz replay model mutants equivalence e2e playground peers bench bench-kubescheduler bench-peers

test: ## the tests, as in the README
	go test ./... ./examples/...

check: ## what every change has to pass, and continuous integration runs
	bash .ci/run

long: ## the rest: all cases, growth, fuzzing, kube-scheduler in real processes, other projects' code
	bash .ci/long

release: ## prepares a release and says what is left to do: make release VERSION=v0.2.0
	GOWORK=off go -C internal/release run . prepare "$(VERSION)"

generate: ## the assembly, from its generators
	go generate ./internal/kernel ./benchmarks/internal/roof

lint:
	test -z "$$(gofmt -l . | tee /dev/stderr)" && go vet ./... ./examples/... && go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./... ./examples/...

fuzz: ## one target for as long as you like: make fuzz PKG=./vector TARGET=FuzzMatrixOps TIME=1m
	go test -run '^$$' -fuzz '^$(TARGET)$$' -fuzztime $(or $(TIME),1m) -fuzzminimizetime 1x $(or $(PKG),./vector)

replay: ## the five traces of the paper, from the folder RESVEC_OPENB, against the published results
	for trace in default cpu100 gpushare60 gpuspec20 multigpu40; do go run ./examples/replay -check -nodes "$$RESVEC_OPENB/openb_node_list_gpu_node.csv" -pods "$$RESVEC_OPENB/openb_pod_list_$$trace.csv" || exit; done

model: ## the quota ledger against its golden model, ten million random operations: make model N=100000000 for more
	GOGC=800 QUOTA_MODEL_OPERATIONS=$(or $(N),10000000) go test -run '^TestModel$$' -timeout 0 -v ./quota

mutants: ## small faults of the quota's book that its tests would miss; other files: make mutants FILES=vector/mask.go TESTS=./vector RUN=.
	go run ./internal/mutants -test '$(if $(TESTS),$(TESTS),./quota/internal/book,./quota)' -run '$(if $(RUN),$(RUN),^Test(Answers|Match|TooLarge|Agrees|FillAll|RollBack|CheckFinds|NotTogether|ManyAtATime) TestModel .)' $(or $(FILES),$(filter-out %_test.go,$(wildcard quota/internal/book/*.go)))

equivalence: ## the plugin against kube-scheduler's own, a million pairs of pod and node: make equivalence SEED=7001 for others
	GOWORK=off RESVEC_PAIRS=1000000 RESVEC_SEED=$(SEED) go -C examples/kubescheduler test -count 1 -timeout 30m -run 'Equivalence|Sum' .

e2e: ## kube-scheduler with the plugin, in real processes
	GOWORK=off go -C examples/kubescheduler test -count 1 -timeout 30m -v ./e2e

playground: ## a control plane on this machine with the plugin, until Ctrl-C
	GOWORK=off go -C examples/kubescheduler run ./cmd/playground -pods 50

peers: ## this library against other projects' code, 100,000 random cases for each function: make peers SEED=7 for others
	for module in benchmarks/peers/*/; do GOTOOLCHAIN=auto GOWORK=off RESVEC_SEED=$(SEED) go -C $$module test -count 1 -timeout 1h -p 1 ./... || exit; done

bench: ## measures, and rewrites this CPU's sections of docs/benchmarks.md and docs/performance.md
	{ go test -run '^$$' -bench '^Benchmark(Scoring|Transform|DeviceScore)?Ratio$$' -benchtime 20x -timeout 1h ./benchmarks && go test -run '^$$' -bench '^Benchmark(Scenario|ScoreCache)Ratio$$' -benchtime 8x ./benchmarks && go test -run '^$$' -bench '^Benchmark(IsTaskAllocatable|Clone|Nodes|Overlay)$$' -benchtime 50ms -count 3 ./benchmarks || echo FAIL; } | go run ./examples/internal/benchreport -tables docs/benchmarks.md -summary docs/performance.md

bench-kubescheduler: ## the tables of docs/performance.md about kube-scheduler
	GOWORK=off go -C examples/kubescheduler test -modfile=kube-1.37.mod -run '^$$' -bench 'Profile' -benchtime 40x -cpu 1 -timeout 1h .
	GOWORK=off go -C examples/kubescheduler test -run '^$$' -bench 'SchedulePod' -benchtime 40x -count 5 -timeout 2h .
	GOWORK=off go -C examples/kubescheduler test -run '^$$' -bench 'Bound' -benchtime 40x -count 5 -timeout 1h .
	GOWORK=off go -C examples/kubescheduler test -run '^$$' -bench 'VisitPercent' -benchtime 30x -count 3 -timeout 2h .
	GOWORK=off go -C examples/kubescheduler test -run '^$$' -bench 'Placement' -benchtime 3x -timeout 1h .
	GOWORK=off go -C examples/kubescheduler test -run '^$$' -bench 'TopK' -benchtime 300x -timeout 1h .

bench-peers: ## measures other projects' code, and writes docs/peers.md
	for module in benchmarks/peers/*/; do { GOTOOLCHAIN=auto GOWORK=off go -C $$module test -run '^$$' -bench . -benchtime 20x -timeout 2h -p 1 ./... || echo FAIL; } | go run ./benchmarks/internal/peer/page "$$(basename $$module)" docs/peers.md || exit; done
