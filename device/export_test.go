package device

import "github.com/resvec/resvec/vectormap"

// FewestGPUs returns how many GPUs of some memory the instances of profiles need.
func FewestGPUs(counts map[string]int64, bytes int64) int64 {
	var sizes []cutInstances
	for name, count := range counts {
		p, _, err := vectormap.ParseMIG(name)
		if err != nil {
			panic(err)
		}
		sizes = append(sizes, newCutInstances(p, bytes, count))
	}
	return fewestGPUs(sizes)
}
