// Package karpenter compares this library with released code of Karpenter; see package k37
// for how to run it. It is a module of its own since Karpenter requires a newer
// Go than the others.
package karpenter
