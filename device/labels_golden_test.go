package device_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/quantity"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labelModel is the golden model of [device.FromNodes] under the default
// rules: the text of the rules, one resource and one condition at a time, with
// regular expressions. It gives cards as "name resource count", the number of
// rows, and problems as "code key".
type labelModel struct {
	labels      map[string]string
	allocatable map[string]string

	cards    []string
	rows     int64
	problems map[string]bool
	claimed  map[string]bool
	names    map[string]string // of cards: the resource
}

var (
	modelNumber  = regexp.MustCompile(`^[0-9]{1,9}$`)
	modelGeneric = regexp.MustCompile(`^([^/]+/[A-Za-z0-9_]+)\.product$`)
	modelCut     = regexp.MustCompile(`^(.+?)-MIG-`)
	modelProfile = regexp.MustCompile(`^(([1-9][0-9]{0,3})c\.)?([1-9][0-9]{0,3})g\.[1-9][0-9]{0,3}gb([+.]me(\.all)?|[+.]gfx|-me)?(\.shared)?$`)
)

func newLabelModel(labels, allocatable map[string]string) *labelModel {
	g := &labelModel{
		labels: labels, allocatable: allocatable,
		problems: map[string]bool{}, claimed: map[string]bool{}, names: map[string]string{},
	}
	g.nvidia()
	if product := labels["amd.com/gpu.product-name"]; product != "" {
		if labels["amd.com/gpu.vram"] != "" {
			g.quantity("amd.com/gpu.vram")
		}
		g.whole("amd.com/gpu", product, -1)
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		found := modelGeneric.FindStringSubmatch(key)
		if found == nil || key == "nvidia.com/gpu.product" || labels[key] == "" {
			continue
		}
		if g.has(found[1]+".count", found[1]+".memory") {
			g.mebibytes(found[1] + ".memory")
			g.whole(found[1], labels[key], g.number("bad-count", found[1]+".count"))
		}
	}
	for name, text := range allocatable {
		if n, err := strconv.ParseInt(text, 10, 64); g.claimed[name] || err != nil || n <= 0 {
			continue
		}
		if name == "nvidia.com/gpu" || name == "nvidia.com/gpu.shared" || strings.HasPrefix(name, "nvidia.com/mig-") {
			g.unlabelled("nvidia.com/gpu.product")
		}
		if name == "amd.com/gpu" {
			g.unlabelled("amd.com/gpu.product-name")
		}
	}
	slices.Sort(g.cards)
	return g
}

func (g *labelModel) problem(code, key string) { g.problems[code+" "+key] = true }

// unlabelled is about a label that a resource needs.
func (g *labelModel) unlabelled(key string) {
	if g.labels[key] == "" {
		g.problem("missing-label", key)
	}
}

// has demands labels.
func (g *labelModel) has(keys ...string) bool {
	ok := true
	for _, key := range keys {
		if g.labels[key] == "" {
			g.problem("missing-label", key)
			ok = false
		}
	}
	return ok
}

// number reads a label; -1 is none.
func (g *labelModel) number(code, key string) int64 {
	if !modelNumber.MatchString(g.labels[key]) {
		g.problem(code, key)
		return -1
	}
	n, _ := strconv.ParseInt(g.labels[key], 10, 64)
	return n
}

// mebibytes reads a label; 0 is unknown.
func (g *labelModel) mebibytes(key string) int64 {
	n := g.number("bad-memory", key)
	if n < 64 || n > 4*1024*1024 {
		g.problem("bad-memory", key)
		return 0
	}
	return n
}

func (g *labelModel) quantity(key string) {
	q, err := quantity.Parse(g.labels[key])
	if err != nil || q.Cmp(resource.MustParse("64Mi")) < 0 || q.Cmp(resource.MustParse("4Ti")) > 0 {
		g.problem("bad-memory", key)
	}
}

// count returns how much of a resource is allocatable.
func (g *labelModel) count(name string) int64 {
	text, ok := g.allocatable[name]
	if !ok || g.claimed[name] {
		return 0
	}
	g.claimed[name] = true
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		g.problem("bad-count", name)
		return 0
	}
	return n
}

// positive reports whether some of a resource is allocatable.
func (g *labelModel) positive(name string) bool {
	text := g.allocatable[name]
	return text != "" && text != "0" && text[0] != '-'
}

func (g *labelModel) card(name, resource string, count int64) {
	if g.names[name] != "" {
		g.problem("ambiguous-card", name)
	}
	g.names[name] = resource
	g.cards = append(g.cards, fmt.Sprint(name, " ", resource, " ", count))
}

func (g *labelModel) devices(resource string, count, each int64) {
	if count%each != 0 || count/each > 1024 {
		g.problem("count-mismatch", resource)
	}
	if count/each <= 1024 {
		g.rows += count / each
	}
}

func (g *labelModel) whole(resource, product string, labeled int64) {
	count := g.count(resource)
	if count == 0 {
		return
	}
	g.card(product, resource, count)
	if labeled >= 0 && labeled != count {
		g.problem("count-mismatch", resource)
	}
	g.devices(resource, count, 1)
}

func (g *labelModel) nvidia() {
	product := g.labels["nvidia.com/gpu.product"]
	if strings.HasSuffix(product, "-MIG-INVALID") {
		g.problem("bad-strategy", "nvidia.com/mig.strategy")
		return
	}
	if product == "" || !g.has("nvidia.com/gpu.count") {
		return
	}
	labeled := g.number("bad-count", "nvidia.com/gpu.count")
	memory := int64(0)
	if g.labels["nvidia.com/gpu.memory"] != "" {
		memory = g.mebibytes("nvidia.com/gpu.memory")
	}
	replicas := int64(0)
	if g.labels["nvidia.com/gpu.replicas"] != "" {
		replicas = max(g.number("bad-replicas", "nvidia.com/gpu.replicas"), 0)
	}
	if name, profile, cut := strings.Cut(product, "-MIG-"); cut && name != "" && g.labels["nvidia.com/mig.strategy"] == "single" {
		if !modelIsProfile(strings.TrimSuffix(profile, "-SHARED")) {
			g.problem("unparsed-profile", "nvidia.com/gpu.product")
		}
	}

	hasShared := g.positive("nvidia.com/gpu.shared")
	cut := g.cut(memory)
	if count := g.count("nvidia.com/gpu"); count > 0 {
		g.nvidiaWhole(product, count, labeled, replicas, cut, hasShared)
	}
	g.nvidiaParts(product, memory, labeled, replicas, cut)
}

// cut is the number of GPUs that instances need under strategy mixed.
func (g *labelModel) cut(memory int64) int64 {
	if g.labels["nvidia.com/mig.strategy"] != "mixed" {
		return 0
	}
	counts := map[string]int64{}
	for name, text := range g.allocatable {
		rest, isMIG := strings.CutPrefix(name, "nvidia.com/mig-")
		n, err := strconv.ParseInt(text, 10, 64)
		if !isMIG || err != nil || n <= 0 || !modelIsProfile(rest) || g.stale(name) {
			continue
		}
		plain, isShared := strings.CutSuffix(name, ".shared")
		replicas, each := int64(0), int64(1)
		if modelNumber.MatchString(g.labels[plain+".replicas"]) {
			replicas, _ = strconv.ParseInt(g.labels[plain+".replicas"], 10, 64)
		}
		labeled := int64(-1)
		if modelNumber.MatchString(g.labels[plain+".count"]) {
			labeled, _ = strconv.ParseInt(g.labels[plain+".count"], 10, 64)
		}
		both := g.positive(plain) && g.positive(plain+".shared")
		inPlace := strings.HasSuffix(g.labels[plain+".product"], "-SHARED") || replicas > 1 && labeled >= 0 && n == labeled*replicas
		if isShared || inPlace && !both {
			each = max(replicas, 1)
		}
		counts[rest] += n / each
	}
	return device.FewestGPUs(counts, memory<<20)
}

// stale reports whether instances have no label.
func (g *labelModel) stale(name string) bool {
	plain := strings.TrimSuffix(name, ".shared")
	for _, label := range []string{".count", ".memory", ".product", ".replicas", ".multiprocessors", ".slices.gi", ".slices.ci", ".sharing-strategy"} {
		if g.labels[plain+label] != "" {
			return false
		}
	}
	return true
}

// left is how many GPUs are whole, apart from the cut ones.
func (g *labelModel) left(labeled, cut int64) int64 {
	if text := g.labels["nvidia.com/gpu.replicas"]; modelNumber.MatchString(text) && strings.Trim(text, "0") == "" {
		return 0
	}
	return max(labeled-cut, 0)
}

func (g *labelModel) nvidiaWhole(product string, count, labeled, replicas, cut int64, hasShared bool) {
	each := int64(1)
	isCut := cut > 0 && labeled >= 0
	if replicas > 1 && !hasShared && (strings.HasSuffix(product, "-SHARED") || labeled >= 0 && count == labeled*replicas ||
		isCut && count == g.left(labeled, cut)*replicas) {
		each = replicas
	}
	if most := g.left(labeled, cut) * each; isCut && count > most {
		g.problem("count-mismatch", "nvidia.com/gpu")
		if count = most; count == 0 {
			return
		}
	}
	g.card(product, "nvidia.com/gpu", count)
	if replicas == 0 && strings.HasSuffix(product, "-SHARED") {
		g.problem("bad-replicas", "nvidia.com/gpu.replicas")
	} else {
		if labeled >= 0 && count != labeled*each && cut == 0 {
			g.problem("count-mismatch", "nvidia.com/gpu")
		}
		g.devices("nvidia.com/gpu", count, each)
	}
}

func (g *labelModel) nvidiaParts(product string, memory, labeled, replicas, cut int64) {
	if count := g.count("nvidia.com/gpu.shared"); count > 0 {
		switch {
		case replicas == 0:
			g.problem("bad-replicas", "nvidia.com/gpu.replicas")
		case memory == 0:
			g.problem("bad-memory", "nvidia.com/gpu.memory")
		case cut > 0 && labeled >= 0 && g.left(labeled, cut) == 0:
			g.problem("count-mismatch", "nvidia.com/gpu.shared")
		default:
			if most := g.left(labeled, cut) * replicas; cut > 0 && labeled >= 0 && count > most {
				g.problem("count-mismatch", "nvidia.com/gpu.shared")
				count = most
			}
			g.card(fmt.Sprintf("%s/mps-%.0fg*1/%d", product, float64(memory)/1024+1e-9, replicas), "nvidia.com/gpu.shared", count)
			if labeled >= 0 && count > labeled*replicas {
				g.problem("count-mismatch", "nvidia.com/gpu.shared")
				count = labeled * replicas
			}
			g.devices("nvidia.com/gpu.shared", count, replicas)
		}
	}
	for name := range g.allocatable {
		rest, isMIG := strings.CutPrefix(name, "nvidia.com/mig-")
		if !isMIG {
			continue
		}
		count := g.count(name)
		if count == 0 {
			continue
		}
		if g.labels["nvidia.com/mig.strategy"] == "mixed" && g.stale(name) {
			g.problem("count-mismatch", name)
			continue
		}
		plain, isShared := strings.CutSuffix(name, ".shared")
		own := strings.TrimSuffix(product, "-SHARED")
		if found := modelCut.FindStringSubmatch(g.labels[plain+".product"]); found != nil {
			own = found[1]
		}
		g.card(own+"/mig-"+rest+"-mixed", name, count)
		if !modelIsProfile(rest) {
			g.problem("unparsed-profile", name)
		}
		if g.labels[plain+".memory"] != "" {
			g.mebibytes(plain + ".memory")
		}
		labeled := int64(-1)
		if g.labels[plain+".count"] != "" {
			labeled = g.number("bad-count", plain+".count")
		}
		replicas := int64(0)
		if g.labels[plain+".replicas"] != "" {
			replicas = max(g.number("bad-replicas", plain+".replicas"), 0)
		}
		each := int64(1)
		both := g.positive(plain) && g.positive(plain+".shared")
		inPlace := strings.HasSuffix(g.labels[plain+".product"], "-SHARED") || replicas > 1 && labeled >= 0 && count == labeled*replicas
		if isShared || inPlace && !both {
			if each = replicas; each <= 0 {
				g.problem("bad-replicas", plain+".replicas")
				continue
			}
		}
		if labeled >= 0 && count != labeled*each && !both {
			g.problem("count-mismatch", name)
		}
		g.devices(name, count, each)
	}
}

func modelIsProfile(text string) bool {
	found := modelProfile.FindStringSubmatch(text)
	if found == nil {
		return false
	}
	c, _ := strconv.Atoi(found[2])
	g, _ := strconv.Atoi(found[3])
	return c <= g
}

// checkLabelModel compares a node with the golden model, and checks what is
// true of every node.
func checkLabelModel(t *testing.T, labels, allocatable map[string]string) {
	t.Helper()
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}}
	node.Status.Allocatable = corev1.ResourceList{}
	for name, text := range allocatable {
		node.Status.Allocatable[corev1.ResourceName(name)] = resource.MustParse(text)
	}
	n := readLabels(t, nil, device.Names{}, node)
	if again := readLabels(t, device.DefaultRules(), device.Names{}, node); !reflect.DeepEqual(n, again) {
		t.Errorf("two answers\n%s", cmp.Diff(n, again))
	}
	want := newLabelModel(labels, allocatable)

	cards := []string{}
	for _, c := range n.Cards {
		cards = append(cards, fmt.Sprint(c.Name, " ", c.Resource, " ", c.Count))
	}
	slices.Sort(cards)
	if diff := cmp.Diff(notNil(want.cards), cards); diff != "" {
		t.Errorf("cards of %v %v (-want +got)\n%s", labels, allocatable, diff)
	}
	problems := labelProblems(n.Problems)
	slices.Sort(problems)
	if diff := cmp.Diff(notNil(slices.Sorted(maps.Keys(want.problems))), problems); diff != "" {
		t.Errorf("problems of %v %v (-want +got)\n%s", labels, allocatable, diff)
	}
	if int64(len(n.Devices)) != want.rows {
		t.Errorf("%d rows of %v %v, not %d", len(n.Devices), labels, allocatable, want.rows)
	}
	for i, d := range n.Devices {
		if d.Minor != int32(i) || !d.Synthetic || d.Product == "" || d.Replicas < 1 {
			t.Fatalf("row %d of %v %v: %+v", i, labels, allocatable, d)
		}
	}
	if len(device.Agree(*n, *n)) > 0 {
		t.Errorf("%v %v: the node differs from itself", labels, allocatable)
	}
}

// TestLabelsGolden compares random nodes with the golden model.
func TestLabelsGolden(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	numbers := []string{"0", "1", "2", "4", "7", "8", "64", "512", "4864", "32768", "81920", "8388608", "99999999999", "-1", "a", ""}
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	for range testkit.Amount(t, 200, 700, 2000) {
		labels, allocatable := map[string]string{}, map[string]string{}
		for _, key := range []string{
			"nvidia.com/gpu.count", "nvidia.com/gpu.memory", "nvidia.com/gpu.replicas", "nvidia.com/mig-1g.5gb.memory", "nvidia.com/mig-1g.5gb.replicas", "nvidia.com/mig-1g.5gb.count",
			"x.com/gpu.count", "x.com/gpu.memory", "x.com/npu.count", "x.com/npu.memory",
		} {
			if r.IntN(8) > 0 {
				labels[key] = pick(numbers)
			}
		}
		for _, key := range []string{
			"nvidia.com/gpu.product", "amd.com/gpu.product-name", "x.com/gpu.product", "x.com/npu.product", "x.com/a-b.product", "nvidia.com/mig-1g.5gb.product",
		} {
			if r.IntN(4) > 0 {
				labels[key] = pick([]string{"A", "A", "B", "B-SHARED", "C-MIG-1g.5gb", "C-MIG-1g.5gb-SHARED", "C-MIG-INVALID", ""})
			}
		}
		labels["nvidia.com/mig.strategy"] = pick([]string{"single", "mixed", ""})
		labels["amd.com/gpu.vram"] = pick([]string{"192G", "64Gi", "1", "5Ti", "x", "", "65536Mi", "100000000k", "1.5Gi", "12e9"})
		for _, name := range []string{
			"nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb", "nvidia.com/mig-1g.5gb.shared", "nvidia.com/mig-x", "nvidia.com/other",
			"amd.com/gpu", "x.com/gpu", "x.com/npu", "x.com/npu-memory",
		} {
			if r.IntN(3) > 0 {
				allocatable[name] = pick([]string{"0", "1", "2", "4", "8", "16", "64", "1024", "1025", "9223372036854775807"})
			}
		}
		if checkLabelModel(t, labels, allocatable); t.Failed() {
			return
		}
	}
}

// FuzzLabels does so for hostile texts: a line per label and per resource, its
// name and value apart by a space.
func FuzzLabels(f *testing.F) {
	add := func(labels, allocatable map[string]string) {
		var a, b string
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			a += key + " " + labels[key] + "\n"
		}
		for _, key := range slices.Sorted(maps.Keys(allocatable)) {
			b += key + " " + allocatable[key] + "\n"
		}
		f.Add(a, b)
	}
	add(
		map[string]string{"nvidia.com/gpu.product": "V100-SHARED", "nvidia.com/gpu.count": "2", "nvidia.com/gpu.memory": "32768", "nvidia.com/gpu.replicas": "4"},
		map[string]string{"nvidia.com/gpu": "8", "nvidia.com/gpu.shared": "8", "nvidia.com/mig-1g.5gb.me": "1"},
	)
	add(
		map[string]string{"nvidia.com/gpu.product": "A100-MIG-1g.5gb", "nvidia.com/gpu.count": "99", "nvidia.com/gpu.memory": "1", "nvidia.com/mig.strategy": "single"},
		map[string]string{"nvidia.com/gpu": "1025", "nvidia.com/mig-1g.5gb.shared": "7"},
	)
	add(
		map[string]string{"amd.com/gpu.product-name": "MI300X", "amd.com/gpu.vram": "192G", "x.com/npu.product": "N", "x.com/npu.count": "-1", "x.com/npu.memory": "1e9"},
		map[string]string{"amd.com/gpu": "8", "x.com/npu": "-3", "x.com/npu-memory": "5"},
	)
	f.Fuzz(func(t *testing.T, labelText, allocatableText string) {
		if len(labelText)+len(allocatableText) > 1<<12 {
			t.Skip("long")
		}
		labels, allocatable := map[string]string{}, map[string]string{}
		for line := range strings.Lines(labelText) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if value = strings.ReplaceAll(value, " ", ""); strings.Count(key, "/") == 1 { // as in every label of a vendor
				labels[key] = value
			}
		}
		if value := labels["amd.com/gpu.vram"]; strings.ContainsAny(value, "eE") {
			t.Skip("exponents take long in the golden model")
		}
		for line := range strings.Lines(allocatableText) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && strings.Count(key, "/") == 1 {
				allocatable[key] = strconv.FormatInt(n, 10)
			}
		}
		checkLabelModel(t, labels, allocatable)
	})
}

// TestHugeExponents: a quantity that takes long to compute with is none.
func TestHugeExponents(t *testing.T) {
	for vram, want := range map[string]string{
		"64e9":           "[]",
		"64E9":           "[]",
		"6.4e+10":        "[]",
		"1e999999999":    "[bad-memory amd.com/gpu.vram]",
		"1E-999999999":   "[bad-memory amd.com/gpu.vram]",
		"1e9999999999":   "[bad-memory amd.com/gpu.vram]",
		"9999999999999P": "[bad-memory amd.com/gpu.vram]",
		"20E":            "[bad-memory amd.com/gpu.vram]",
		"-64Gi":          "[bad-memory amd.com/gpu.vram]",
		"64GiB":          "[bad-memory amd.com/gpu.vram]",
		"64000000000":    "[]",
		"0.064T":         "[]",
	} {
		n := readLabels(t, nil, device.Names{}, labelNode("n", "amd.com/gpu.product-name=A amd.com/gpu.vram="+vram, ""))
		if got := fmt.Sprint(labelProblems(n.Problems)); got != want {
			t.Errorf("%s: %s", vram, got)
		}
	}
}
