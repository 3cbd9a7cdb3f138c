# Every target is one line; .ci/run is the whole of what must pass.
.PHONY: test check generate lint fuzz replay model bench

test: ## the tests, as in the README
	go test ./... ./examples/...

check: ## everything that continuous integration runs
	bash .ci/run

generate: ## the assembly, from its generators
	go generate ./internal/kernel

lint:
	test -z "$$(gofmt -l . | tee /dev/stderr)" && go vet ./... ./examples/... && go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./... ./examples/...

fuzz: ## one target for as long as you like: make fuzz PKG=./vector TARGET=FuzzFit TIME=1m
	go test -run '^$$' -fuzz '^$(TARGET)$$' -fuzztime $(or $(TIME),1m) $(or $(PKG),./vector)

replay: ## the five traces of the paper, from the folder RESVEC_OPENB, against the published results
	for trace in default cpu100 gpushare60 gpuspec20 multigpu40; do go run ./examples/replay -check -nodes "$$RESVEC_OPENB/openb_node_list_gpu_node.csv" -pods "$$RESVEC_OPENB/openb_pod_list_$$trace.csv" || exit; done

model: ## the quota ledger against its golden model, ten million random operations: make model N=100000000 for more
	QUOTA_MODEL_OPERATIONS=$(or $(N),10000000) go test -run '^TestModel$$' -timeout 0 -v ./quota

bench: ## measures, and writes docs/performance.md and its picture
	{ go test -run '^$$' -bench '^Benchmark(Scoring|Transform|DeviceScore)?Ratio$$' -benchtime 20x ./benchmarks && go test -run '^$$' -bench '^Benchmark(Scenario|ScoreCache)Ratio$$' -benchtime 8x ./benchmarks && go test -run '^$$' -bench '^Benchmark(IsTaskAllocatable|Clone|Table|Overlay)$$' -benchtime 50ms -count 3 ./benchmarks || echo FAIL; } | go run ./examples/internal/benchreport -md docs/performance.md -svg docs/performance.svg
