package device

import (
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/resvec/resvec/vectormap"
)

// Names says how cards are named and which resource carries them. The zero
// value names as Volcano's capacity-card design does.
type Names struct {
	// SeparateTimeSlicing names the shares of a time-sliced GPU
	// <product>/ts-1/<replicas>. Without it they have the name of MPS shares: the
	// resource is the same, and Device.Sharing distinguishes them.
	SeparateTimeSlicing bool

	// Resources maps the names of cards to the resources that carry them, for
	// sources that know none: ResourceSlices and NVML. It is only read.
	Resources map[string]corev1.ResourceName
}

// card returns the name of the card that d is one of, or of the shares of it,
// and how many; empty if a part of the name is unknown.
func (o Names) card(d *Device) (name string, count int64) {
	switch {
	case d.Product == "":
		return "", 0
	case d.Profile != vectormap.MIGProfile{}:
		rest, count := strings.TrimPrefix(string(d.Profile.ResourceName()), migPrefix), int64(1)
		if d.Replicas > 1 {
			rest, count = rest+".shared", int64(d.Replicas)
		}
		return migCard(d.Product, rest), count
	case d.Partition != "":
		return partitionCard(d.Product, d.Partition), int64(d.Replicas)
	case d.Sharing == SharingNone || d.Sharing == SharingMIG || d.Sharing == SharingConsumable && d.Replicas <= 1:
		return d.Product, 1
	case d.MemoryBytes == 0:
		return "", 0
	}
	return o.shared(d.Product, d.MemoryBytes, int64(d.Replicas), d.Sharing), int64(d.Replicas)
}

// migPrefix begins the names of resources that carry MIG instances.
const migPrefix = "nvidia.com/mig-"

// migCard names the instances of a profile, which is spelled as in the name of
// its resource.
func migCard(product, rest string) string { return product + "/mig-" + rest + "-mixed" }

// partitionCard names a partition of a GPU without MIG.
func partitionCard(product, partition string) string { return product + "/" + partition }

// partitionName joins what says which partition of a GPU a device is, each text once, in
// the spelling of resources. It is empty for a whole GPU.
func partitionName(texts ...string) string {
	var known []string
	for _, text := range texts {
		if text = strings.ToLower(text); text != "" && !slices.Contains(known, text) {
			known = append(known, text)
		}
	}
	switch name := strings.Join(known, "_"); name {
	case "spx", "spx_nps1":
		return ""
	default:
		return name
	}
}

// shared names a share of a GPU.
func (o Names) shared(product string, bytes, replicas int64, how Sharing) string {
	text := append(make([]byte, 0, len(product)+24), product...)
	if how == SharingTimeSlicing && o.SeparateTimeSlicing {
		text = append(text, "/ts-1/"...)
	} else {
		text = append(text, "/mps-"...)
		text = strconv.AppendInt(text, gibibytes(bytes), 10)
		text = append(text, "g*1/"...)
	}
	return string(strconv.AppendInt(text, replicas, 10))
}

// gibibytes rounds half away from zero. A driver keeps a part of the memory for itself, and
// the name of the card has the size that people know.
func gibibytes(bytes int64) int64 { return (bytes + 1<<29) >> 30 }

// addCapped adds b, up to the largest int64. A sum that wrapped around would be negative,
// and less than any of its parts.
func addCapped(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
