// Package k36 holds this library against released code of Kueue and kube-scheduler,
// with the modules of Kubernetes 1.36: both get the same random work in one process,
// every answer is compared, and both are timed in turn. There is nothing in it to
// import; its module is apart so that nobody else gets these dependencies.
package k36
