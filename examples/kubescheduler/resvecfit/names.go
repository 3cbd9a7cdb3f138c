package resvecfit

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// isNative reports whether a name is of Kubernetes itself: one without a prefix,
// or with one of kubernetes.io.
func isNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || isPrefixedNative(name)
}

func isPrefixedNative(name corev1.ResourceName) bool {
	return strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// isExtended reports whether a name names an extended resource, as the API
// server defines it: not native, and a qualified name with the prefix that
// quotas give it.
func isExtended(name corev1.ResourceName) bool {
	return !isNative(name) &&
		!strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// isScalar reports whether kube-scheduler counts a resource, beyond cpu, memory,
// ephemeral-storage and pods.
func isScalar(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(string(name), corev1.ResourceAttachableVolumesPrefix) ||
		isPrefixedNative(name) || isExtended(name)
}
