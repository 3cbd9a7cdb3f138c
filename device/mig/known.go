package mig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/resvec/resvec/vectormap"
)

// ErrUnknownGeometry says that no geometry is known for a product or a name.
var ErrUnknownGeometry = errors.New("mig: unknown geometry")

// knownGPU is a GPU whose geometry is known.
type knownGPU struct {
	families []string // parts of a product's name, any of them
	except   string   // what follows a family in the name of another GPU; empty: nothing
	nominal  int      // memory in GB as its name has it
	*Geometry
}

// Where the tables are published. H100-94, H100-96, H200-141, those of RTX PRO and what
// isn't of the guide were not compared with hardware.
const (
	userGuide   = "NVIDIA Multi-Instance GPU User Guide, Supported MIG Profiles: "
	gpuOperator = "NVIDIA GPU Operator, profiles of "
	migParted   = "NVIDIA mig-parted, profiles of "

	parted = " (config-default.yaml)"
)

// knownGPUs are the known GPUs, sorted by name. GPUs of eight slots and seven slices are
// all cut in the same way; the vendor publishes the profiles of each, by name and number.
var knownGPUs = sync.OnceValue(func() []knownGPU {
	return []knownGPU{
		sevenSlices("A100", [4]int{5, 10, 20, 40}, [4]int64{4864, 9856, 19968, 40192}, userGuide+"A100; "+migParted+"A800"+parted, "A800"),
		sevenSlices("A100", [4]int{10, 20, 40, 80}, [4]int64{9856, 19968, 40192, 80384}, userGuide+"A100; "+migParted+"A800"+parted, "A800"),
		a30(),
		sevenSlices("B200", [4]int{23, 45, 90, 180}, [4]int64{}, userGuide+"B200"),
		sevenSlices("B300", [4]int{34, 67, 135, 269}, [4]int64{}, gpuOperator+"HGX B300 (release notes 25.10.0), cut as B200"),
		sevenSlices("GB200", [4]int{23, 47, 93, 186}, [4]int64{}, gpuOperator+"GB200 (default MIG configuration), cut as B200"),
		sevenSlices("GB300", [4]int{35, 70, 139, 278}, [4]int64{}, gpuOperator+"GB300 (default MIG configuration 26.3.3), cut as B200"),
		sevenSlices("GH200", [4]int{18, 36, 72, 144}, [4]int64{}, migParted+"GH200 144G HBM3e"+parted+", cut as H100"),
		sevenSlices("H100", [4]int{10, 20, 40, 80}, [4]int64{}, userGuide+"H100; "+migParted+"H800"+parted, "GH200", "H800"),
		sevenSlices("H100", [4]int{12, 24, 47, 94}, [4]int64{}, userGuide+"H100; "+migParted+"H800 NVL"+parted, "GH200", "H800"),
		sevenSlices("H100", [4]int{12, 24, 48, 96}, [4]int64{}, userGuide+"H100 on GH200", "GH200"),
		// The profiles of an H20-3e, of 141 GB, aren't published.
		sevenSlices("H20", [4]int{12, 24, 48, 96}, [4]int64{}, migParted+"H20"+parted+", cut as H100").excluding("3e"),
		sevenSlices("H200", [4]int{18, 35, 71, 141}, [4]int64{}, userGuide+"H200"),
		// The guide has fractions of the memory and how many instances there are. It has no
		// starts of these two, so that a slot is half of the memory.
		rtxPro("RTX PRO 4500", 32, 2, 1, 3, userGuide+"RTX PRO 4500 Blackwell", "", "+gfx", "+me.all", "-me"),
		rtxPro("RTX PRO 5000", 48, 2, 1, 3, userGuide+"RTX PRO 5000 Blackwell", "", "+me", "+gfx", "+me.all", "-me").excluding("72GB"),
		rtxPro("RTX PRO 6000", 96, 4, 3, 4, userGuide+"RTX PRO 6000 Blackwell; starts as nvidia-smi mig -lgipp lists them",
			"", "+me", "+gfx", "+me.all", "-me"),
	}
})

// excluding leaves out GPUs whose names have text behind the family.
func (p knownGPU) excluding(text string) knownGPU {
	p.except = text
	return p
}

// sevenSlices returns a GPU of eight slots and seven slices. Its profiles have an
// eighth, a quarter, a half or all of the memory, which is gb in their names and
// mib in truth. Its decoders exclude nothing: there is one for each slice.
func sevenSlices(family string, gb [4]int, mib [4]int64, source string, alike ...string) knownGPU {
	profile := func(g, size int, suffix string, most int, media bool, starts ...int8) GeometryProfile {
		return GeometryProfile{
			Profile: vectormap.MIGProfile{G: g, MemGB: gb[size], Suffix: suffix},
			Slots:   1 << size, Starts: starts, Max: most, Media: media, MemoryBytes: mib[size] << 20,
		}
	}
	return known(append(alike, family), family, gb[3], 8, 7, source,
		profile(1, 0, "", 7, false, 0, 1, 2, 3, 4, 5, 6),
		profile(1, 0, "+me", 1, true, 0, 1, 2, 3, 4, 5, 6),
		profile(1, 1, "", 4, false, 0, 2, 4, 6),
		profile(2, 1, "", 3, false, 0, 2, 4),
		profile(3, 2, "", 2, false, 0, 4),
		profile(4, 2, "", 1, false, 0),
		profile(7, 3, "", 1, true, 0))
}

// a30 returns the A30, which has four slots and four slices.
func a30() knownGPU {
	profile := func(g, gb int, suffix string, most int, media bool, mib int64, starts ...int8) GeometryProfile {
		return GeometryProfile{
			Profile: vectormap.MIGProfile{G: g, MemGB: gb, Suffix: suffix},
			Slots:   g, Starts: starts, Max: most, Media: media, MemoryBytes: mib << 20,
		}
	}
	return known([]string{"A30"}, "A30", 24, 4, 4, userGuide+"A30",
		profile(1, 6, "", 4, false, 5836, 0, 1, 2, 3),
		profile(1, 6, "+me", 1, true, 5836, 0, 1, 2, 3),
		profile(2, 12, "", 2, false, 11672, 0, 2),
		profile(2, 12, "+me", 1, true, 11672, 0, 2),
		profile(4, 24, "", 1, true, 23344, 0))
}

// rtxPro returns an RTX PRO Blackwell of any edition, which has so many compute slices,
// slots for each of them, and decoders. An instance of one slice can have the suffixes, one
// of two has them without +me, and all GPUs are full with or without +gfx. An instance of
// +me.all has all media engines, one of -me none, and +gfx excludes nothing.
func rtxPro(family string, nominal, slices, slots, decoders int, source string, suffixes ...string) knownGPU {
	var profiles []GeometryProfile
	add := func(g int, suffix string) {
		full := g == slices
		p := GeometryProfile{
			Profile: vectormap.MIGProfile{G: g, MemGB: nominal / slices * g, Suffix: suffix},
			Slots:   slots * g, Max: slices / g, Decoders: g, Media: full || suffix == "+me" || suffix == "+me.all",
		}
		for i := range p.Max {
			p.Starts = append(p.Starts, int8(i*p.Slots))
		}
		if p.Media {
			p.Max = 1
		}
		switch {
		case full || suffix == "+me.all":
			p.Decoders = decoders
		case suffix == "-me":
			p.Decoders = 0
		}
		profiles = append(profiles, p)
	}
	for g := 1; g < slices; g *= 2 {
		for _, suffix := range suffixes {
			if g == 1 || suffix != "+me" {
				add(g, suffix)
			}
		}
	}
	add(slices, "")
	add(slices, "+gfx")
	return known([]string{family}, strings.ReplaceAll(family, " ", "-"), nominal, slots*slices, slices, source, profiles...)
}

func known(families []string, name string, nominal, slots, slices int, source string, profiles ...GeometryProfile) knownGPU {
	g := compile(name+"-"+strconv.Itoa(nominal), slots, slices, profiles)
	g.source = source
	return knownGPU{families: families, nominal: nominal, Geometry: g}
}

// GeometryNamed returns the known geometry of a name: A100-40, A100-80, A30-24, B200-180,
// B300-269, GB200-186, GB300-278, GH200-144, H100-80, H100-94, H100-96, H20-96, H200-141,
// RTX-PRO-4500-32, RTX-PRO-5000-48 or RTX-PRO-6000-96. Any other name gives an error that
// wraps [ErrUnknownGeometry].
func GeometryNamed(name string) (*Geometry, error) {
	for _, p := range knownGPUs() {
		if p.name == name {
			return p.Geometry, nil
		}
	}
	return nil, fmt.Errorf("%w: %q: must be one of %s", ErrUnknownGeometry, name, namesOf(knownGPUs()))
}

// GeometryFor returns the geometry of a GPU by its product name, as the driver or
// a node label has it, and by its memory; memoryBytes <= 0 is unknown.
//
// The family is the first part of the name that is A100 or A800, A30, B200, B300, GB200,
// GB300, GH200 (an H100, or of 144 GB), H100 or H800, H20, H200, RTX PRO 4500, 5000 or 6000,
// where anything but letters and digits separates the parts. Its variant is the one whose
// size the name says (80GB), else the one that is nearest to the memory and at most 10% off,
// else, if the memory is unknown, the only one of the family. What follows -MIG- in the name
// describes an instance; it is ignored, and so is the memory. Everything else, such as H20-3e
// and the RTX PRO 5000 of 72 GB, gives an error that wraps [ErrUnknownGeometry]: placements
// differ between GPUs of one name, so none is guessed.
func GeometryFor(product string, memoryBytes int64) (*Geometry, error) {
	name, _, instance := strings.Cut(strings.ReplaceAll(product, " ", "-"), "-MIG-")
	ofGPU := memoryBytes
	if instance {
		ofGPU = 0
	}
	tokens := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	variants := variantsOf(tokens)
	for _, token := range tokens {
		for _, v := range variants {
			if size := strconv.Itoa(v.nominal) + "G"; token == size || token == size+"B" {
				return v.Geometry, nil
			}
		}
	}
	if len(variants) == 1 && ofGPU <= 0 {
		return variants[0].Geometry, nil
	}
	if v, ok := nearestOf(variants, ofGPU); ok {
		return v.Geometry, nil
	}
	if len(variants) > 0 {
		return nil, fmt.Errorf("%w: product %q with %d bytes: must say by its memory, within 10%%, or in its name which of %s it is",
			ErrUnknownGeometry, product, memoryBytes, namesOf(variants))
	}
	return nil, fmt.Errorf("%w: product %q with %d bytes: must name one of %s", ErrUnknownGeometry, product, memoryBytes, namesOf(knownGPUs()))
}

// namesOf lists the names of some geometries.
func namesOf(products []knownGPU) string {
	names := make([]string, len(products))
	for i, p := range products {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
}

// variantsOf returns the GPUs of the first family that tokens name.
func variantsOf(tokens []string) (variants []knownGPU) {
	name := " " + strings.Join(tokens, " ") + " "
	first := len(name)
	for _, p := range knownGPUs() {
		for _, family := range p.families {
			at := strings.Index(name, " "+family+" ")
			if at < 0 || at > first || p.except != "" && strings.HasPrefix(name[at+1:], family+" "+p.except+" ") {
				continue
			}
			if at < first {
				first, variants = at, nil
			}
			variants = append(variants, p)
		}
	}
	return variants
}

// nearestOf returns the variant whose nominal size is nearest to the memory,
// the smaller of two, if it is at most 10% off.
func nearestOf(variants []knownGPU, memoryBytes int64) (nearest knownGPU, ok bool) {
	if memoryBytes <= 0 {
		return knownGPU{}, false
	}
	var off int64
	for _, v := range variants {
		nominal := int64(v.nominal) << 30
		o := max(memoryBytes-nominal, nominal-memoryBytes)
		if o <= nominal/10 && (!ok || o < off) {
			nearest, off, ok = v, o, true
		}
	}
	return nearest, ok
}
