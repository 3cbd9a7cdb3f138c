// Package k37 compares this library with released code of other projects that build
// together on Kubernetes 1.37: kube-scheduler, Kueue, YuniKorn, and the kernels of gonum and
// vek.
// There is a package for each of them, with tests and benchmarks only.
//
//	go test ./...                        # 100,000 random cases for each function
//	go test -short ./...                 # 3,000
//	RESVEC_SEED=7 RESVEC_CASES=1000000 go test -timeout 0 ./...
//	go test -run '^$' -bench . ./...     # the rows of docs/peers.md
//
// It is a module of its own outside of the workspace, so that nobody downloads all this
// who doesn't ask for it. An answer that differs is a fault here, or a line of
// docs/upstreams.md.
package k37
