package mig

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/resvec/resvec/device"
)

// ErrUnknownGeometry says that no geometry is known for a product or a name.
var ErrUnknownGeometry = errors.New("mig: unknown geometry")

// knownGPU is a GPU whose geometry is known.
type knownGPU struct {
	family  string
	nominal int // memory in GB as its name has it
	*Geometry
}

// knownGPUs are the known GPUs, sorted by name. The placements are from
// the tables of NVIDIA's MIG user guide; so are the sizes, but for H100-94,
// H100-96 and H200-141 they were not compared with hardware.
var knownGPUs = sync.OnceValue(func() []knownGPU {
	return []knownGPU{
		sevenSlices("A100", [4]int{5, 10, 20, 40}, [4]int64{4864, 9856, 19968, 40192}),
		sevenSlices("A100", [4]int{10, 20, 40, 80}, [4]int64{9856, 19968, 40192, 80384}),
		a30(),
		sevenSlices("B200", [4]int{23, 45, 90, 180}, [4]int64{}),
		sevenSlices("H100", [4]int{10, 20, 40, 80}, [4]int64{}),
		sevenSlices("H100", [4]int{12, 24, 47, 94}, [4]int64{}),
		sevenSlices("H100", [4]int{12, 24, 48, 96}, [4]int64{}),
		sevenSlices("H200", [4]int{18, 35, 71, 141}, [4]int64{}),
	}
})

// sevenSlices returns a GPU of eight slots and seven slices. Its profiles have an
// eighth, a quarter, a half or all of the memory, which is gb in their names and
// mib in truth.
func sevenSlices(family string, gb [4]int, mib [4]int64) knownGPU {
	profile := func(g, size int, suffix string, most int, media bool, starts ...int8) GeometryProfile {
		return GeometryProfile{device.Profile{G: g, MemGB: gb[size], Suffix: suffix}, 1 << size, starts, most, media, mib[size] << 20}
	}
	return known(family, gb[3], 8, 7,
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
	return known("A30", 24, 4, 4,
		GeometryProfile{device.Profile{G: 1, MemGB: 6}, 1, []int8{0, 1, 2, 3}, 4, false, 5836 << 20},
		GeometryProfile{device.Profile{G: 1, MemGB: 6, Suffix: "+me"}, 1, []int8{0, 1, 2, 3}, 1, true, 5836 << 20},
		GeometryProfile{device.Profile{G: 2, MemGB: 12}, 2, []int8{0, 2}, 2, false, 11672 << 20},
		GeometryProfile{device.Profile{G: 2, MemGB: 12, Suffix: "+me"}, 2, []int8{0, 2}, 1, true, 11672 << 20},
		GeometryProfile{device.Profile{G: 4, MemGB: 24}, 4, []int8{0}, 1, true, 23344 << 20})
}

func known(family string, nominal, slots, slices int, profiles ...GeometryProfile) knownGPU {
	return knownGPU{family, nominal, compile(family+"-"+strconv.Itoa(nominal), slots, slices, profiles)}
}

// GeometryNamed returns the known geometry of a name: A100-40, A100-80, A30-24, B200-180,
// H100-80, H100-94, H100-96 or H200-141. Any other name gives an error that wraps
// [ErrUnknownGeometry].
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
// The family is the first part of the name that is A100, A30, B200, H100, GH200 (an H100)
// or H200, where anything but letters and digits separates the parts. Its variant is the
// one whose size the name says (80GB), else the only one of the family, else the one that
// is nearest to the memory and at most 10% off. What follows -MIG- in the name describes
// an instance; it is ignored, and so is the memory. Everything else gives an error that
// wraps [ErrUnknownGeometry]: placements differ between GPUs of one name, so none is
// guessed.
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
			if token == strconv.Itoa(v.nominal)+"GB" {
				return v.Geometry, nil
			}
		}
	}
	if len(variants) == 1 {
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
func variantsOf(tokens []string) []knownGPU {
	products := knownGPUs()
	for _, token := range tokens {
		if token == "GH200" {
			token = "H100"
		}
		begin := slices.IndexFunc(products, func(p knownGPU) bool { return p.family == token })
		if begin < 0 {
			continue
		}
		end := begin
		for end < len(products) && products[end].family == token {
			end++
		}
		return products[begin:end]
	}
	return nil
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
