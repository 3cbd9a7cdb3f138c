// Package k35 compares this library with released code of Koordinator and
// scheduler-plugins, which build together on Kubernetes 1.35; see package k37 for
// how to run it.
package k35
