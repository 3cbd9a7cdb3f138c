module github.com/resvec/resvec

go 1.25.0

require (
	github.com/google/go-cmp v0.7.0
	golang.org/x/sys v0.47.0
	gonum.org/v1/gonum v0.17.0
	k8s.io/api v0.35.3
	k8s.io/apimachinery v0.35.3
	k8s.io/component-helpers v0.35.3
)
