package main

import (
	"strconv"
	"strings"
)

// generations are server CPUs by vendor, family and model: what /proc/cpuinfo says. Many
// virtual machines show no more of a CPU's name than its vendor.
var generations = []struct {
	vendor              string
	family, first, last int
	name                string
}{
	{"AMD", 23, 0x00, 0x2f, "Zen"},
	{"AMD", 23, 0x30, 0xff, "Zen 2"},
	{"AMD", 25, 0x10, 0x1f, "Zen 4"},
	{"AMD", 25, 0x60, 0x7f, "Zen 4"},
	{"AMD", 25, 0xa0, 0xaf, "Zen 4"},
	{"AMD", 25, 0x00, 0xff, "Zen 3"},
	{"AMD", 26, 0x00, 0xff, "Zen 5"},
	{"Intel", 6, 0x55, 0x55, "Skylake or Cascade Lake"},
	{"Intel", 6, 0x6a, 0x6c, "Ice Lake"},
	{"Intel", 6, 0x8f, 0x8f, "Sapphire Rapids"},
	{"Intel", 6, 0xcf, 0xcf, "Emerald Rapids"},
	{"Intel", 6, 0xad, 0xae, "Granite Rapids"},
}

// cpuName returns the name of a model of CPU: AMD EPYC (Zen 4).
func (all *results) cpuName() string {
	name := strings.Join(strings.Fields(strings.NewReplacer("(R)", "", "(TM)", "", "Processor", "").Replace(all.cpu)), " ")
	if name == "" {
		name = "unknown CPU"
	}
	family, err := strconv.Atoi(all.family)
	model, err2 := strconv.Atoi(all.model)
	if err != nil || err2 != nil {
		return name
	}
	for _, g := range generations {
		if strings.HasPrefix(name, g.vendor) && family == g.family && g.first <= model && model <= g.last {
			return name + " (" + g.name + ")"
		}
	}
	return name + " (family " + all.family + ", model " + all.model + ")"
}
