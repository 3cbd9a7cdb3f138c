package scoring

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
)

func TestKeyFault(t *testing.T) {
	for _, c := range []struct {
		key             string
		family, literal bool // valid
	}{
		{"cpu", true, true},
		{"nvidia.com/gpu", true, true},
		{"nvidia.com/gpu-v100", true, true},
		{"nvidia.com/mig-1g.5gb", true, true},
		{"1", true, true},
		{"nvidia.com/*", true, true},
		{"nvidia.com/gpu/*", true, true},
		{"nvidia.com/gpu*", true, true},
		{"nvidia.com/gpu-*", true, true},
		{"c*", true, true},
		{"a.*", true, true},
		{"a_/*", true, true},
		{"gpu-[a-z]+", false, true},
		{"nvidia.com/gpu-[1-9]*", false, true},
		{"*", false, false},
		{"*/gpu", false, false},
		{"vendor.*/gpu", false, false},
		{"vendor.com/**", false, false},
		{"cloudml.gpu**", false, false},
		{"*gpu", false, false},
		{"g*u*", false, false},
		{"", false, true},
		{"/*", false, true},
		{"-gpu", false, true},
		{".a*", false, true},
		{"nvidia.com//gpu", false, true},
		{"nvidia.com//*", false, true},
		{"nvidia.com/", false, true},
		{"gpu-", false, true},
		{"a b", false, true},
		{"a\x00b", false, true},
		{"gpü", false, true},
		{"a\xffb*", false, true},
	} {
		for o, valid := range map[Option]bool{0: c.family, WildcardLiteral: c.literal, Lenient: c.family} {
			if fault := keyFault(c.key, o); (fault == "") != valid {
				t.Errorf("%q, options %b: %q", c.key, o, fault)
			}
		}
	}
}

// seedKeys are the keys of the seed's example.
var seedKeys = []string{"nvidia.com/gpu-v100", "nvidia.com/gpu/*", "amd.com/gpu/*", "cpu"}

func TestKeyOfName(t *testing.T) {
	gpu, cards := "nvidia.com/gpu", "nvidia.com/gpu/*"
	for _, c := range []struct {
		keys            []string
		name            string
		family, literal string // the key; empty: none
	}{
		{seedKeys, "nvidia.com/gpu-v100", "nvidia.com/gpu-v100", "nvidia.com/gpu-v100"},
		{seedKeys, "nvidia.com/gpu-a100", cards, ""},
		{seedKeys, "amd.com/gpu-mi100", "amd.com/gpu/*", ""},
		{seedKeys, "nvidia.com/gpu/v100", cards, cards},
		{seedKeys, "cpu", "cpu", "cpu"},
		{seedKeys, "memory", "", ""},
		{seedKeys, gpu, "", ""},
		{[]string{gpu, "nvidia.com/*"}, gpu, gpu, gpu},
		{[]string{cards, "nvidia.com/*"}, "nvidia.com/gpu/v100", cards, cards},
		{[]string{cards}, "example.com/foo", "", ""},
		{[]string{cards}, "nvidia.com/gpumem", "", ""},
		{[]string{cards}, "nvidia.com/gpu.shared", cards, ""},
		{[]string{cards}, "nvidia.com/gpu_x", cards, ""},
		{[]string{cards}, "nvidia.com/gpu/a", cards, cards},
		{[]string{"nvidia.com/*", "c*"}, "nvidia.com/mig-1g.5gb", "nvidia.com/*", "nvidia.com/*"},
		{[]string{"nvidia.com/*", "c*"}, "nvidia.com-x/a", "", ""},
		{[]string{"nvidia.com/*", "c*"}, "cpu", "c*", "c*"},
		{[]string{"p*"}, "pods", "p*", "p*"},
		{[]string{cards, "nvidia.com/gpu*"}, gpu, "nvidia.com/gpu*", "nvidia.com/gpu*"},
		{[]string{cards, "nvidia.com/gpu*"}, "nvidia.com/gpu-a100", cards, "nvidia.com/gpu*"},
		{[]string{cards, "nvidia.com/gpu-*"}, "nvidia.com/gpu-a100", "nvidia.com/gpu-*", "nvidia.com/gpu-*"},
		{[]string{cards, "nvidia.com/gpu-*"}, "nvidia.com/gpu_a100", cards, ""},
		{[]string{"nvidia.com/*", "nvidia.com*"}, "nvidia.com/x", "nvidia.com/*", "nvidia.com/*"},
		{[]string{"memory*"}, "memory", "memory*", "memory*"},
		{[]string{"n*", "nvidia*", "nvidia.com/gpu-a1*"}, "nvidia.com/gpu-a100", "nvidia.com/gpu-a1*", "nvidia.com/gpu-a1*"},
		{[]string{"n*", "nvidia*", "nvidia.com/gpu-a1*"}, "nvidia.com/gpu-b100", "nvidia*", "nvidia*"},
	} {
		m := testkit.Must(vectormap.New([]string{c.name}, vectormap.NoFold()))
		i, _ := m.Index(c.name)
		for o, want := range map[Option]string{AllowUnknown: c.family, AllowUnknown | WildcardLiteral: c.literal} {
			var r report
			rules, _ := resolveFit(rulesOf(c.keys...), m, o, &r)
			testkit.Check(r.err())
			if got := keyAt(rules, i); got != want {
				t.Errorf("%q, options %b: %s -> %q, want %q", c.keys, o, c.name, got, want)
			}
		}
	}
}

// rulesOf returns a configuration in which every key has the same rule.
func rulesOf(keys ...string) *StrategyFitConfig {
	cfg := &StrategyFitConfig{Resources: map[string]FitRule{}}
	for _, key := range keys {
		cfg.Resources[key] = FitRule{Type: MostAllocated, Weight: 1}
	}
	return cfg
}

// keyAt returns the key that decides for an index.
func keyAt(rules []fitRule, index int) string {
	for _, rule := range rules {
		if rule.index == index {
			return rule.key
		}
	}
	return ""
}

// goldenKey is the definition of the patterns, one at a time.
func goldenKey(keys []string, name string, literal bool) string {
	best, bestLength := "", -1
	for _, key := range keys {
		rest, isPattern := strings.CutSuffix(key, "*")
		switch {
		case key == name:
			return key
		case !isPattern:
			continue
		}
		length := len(rest)
		family, isFamily := strings.CutSuffix(rest, "/")
		matches := strings.HasPrefix(name, rest)
		separated := !literal && isFamily && strings.Contains(family, "/")
		if separated {
			matches = len(name) > len(family) && name[:len(family)] == family && strings.ContainsAny(name[len(family):len(family)+1], "/-._")
		}
		if matches && (length > bestLength || length == bestLength && !separated) {
			best, bestLength = key, length
		}
	}
	return best
}

func FuzzPatterns(f *testing.F) {
	f.Add(strings.Join(seedKeys, " "), "nvidia.com/gpu-v100 nvidia.com/gpu-a100 amd.com/gpu-mi100 cpu", false)
	f.Add("a/b/* a/b* a/b-* a/* a* a/b", "a/b a/b-c a/b/c a/bc a/ aa a a/b_", false)
	f.Add("a/b/* a/b* a/b-* a/* a* a/b", "a/b a/b-c a/b/c a/bc a/ aa a a/b_", true)
	f.Add("n* nv* nvi* nx* o*", "m n nu nv nvh nvi nvj nx nxx ny o p", true)
	f.Fuzz(func(t *testing.T, keyText, nameText string, literal bool) {
		var o Option
		if literal {
			o = WildcardLiteral
		}
		sortedFields := func(text string) []string { return slices.Compact(slices.Sorted(strings.FieldsSeq(text))) }
		keys := slices.DeleteFunc(sortedFields(keyText), func(key string) bool { return keyFault(key, o) != "" })
		names := sortedFields(nameText)
		wildcards := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !isPattern(key) })
		p := newPatterns(wildcards, o)
		matched := map[string]bool{}
		for i, prefix := range p.longest(names) {
			want := goldenKey(wildcards, names[i], literal)
			if got := p.keys[prefix]; got != want {
				t.Errorf("%q: %q -> %q, want %q", keys, names[i], got, want)
			}
			for _, key := range wildcards {
				matched[key] = matched[key] || goldenKey([]string{key}, names[i], literal) != ""
			}
		}
		for _, key := range wildcards {
			if got := matchesAny(key, o, names); got != matched[key] {
				t.Errorf("%q matches any of %q: %v", key, names, got)
			}
		}
	})
}

// TestManyPatterns is about time: no pattern is compared with every name.
func TestManyPatterns(t *testing.T) {
	var names []string
	for i := range 20_000 {
		names = append(names, fmt.Sprintf("vendor.com/card-%05d", i))
	}
	m := testkit.Must(vectormap.New(names))
	cfg := &StrategyFitConfig{Resources: map[string]FitRule{}}
	for i := range 100_000 {
		cfg.Resources[fmt.Sprintf("vendor.com/card-%05d*", i)] = FitRule{Type: MostAllocated, Weight: int64(i%1000 + 1)}
	}
	// Prefixes of one another, as deep as names are long.
	for n := range 300 {
		cfg.Resources["vendor.com/"+strings.Repeat("a", n)+"*"] = FitRule{Type: LeastAllocated, Weight: 1}
	}
	var r report
	rules, _ := resolveFit(cfg, m, 0, &r)
	if len(r.Faults()) > 0 || len(rules) != len(names) {
		t.Fatalf("%d errors, %d rules", len(r.Faults()), len(rules))
	}
	for _, rule := range rules {
		if rule.key != m.Name(rule.index)+"*" {
			t.Fatalf("%s -> %s", m.Name(rule.index), rule.key)
		}
	}
	if got, want := len(r.Warnings()), 80_000+299; got != want {
		t.Errorf("%d patterns match nothing, want %d", got, want)
	}
}

// TestDeepPatterns has long names that begin alike, and every prefix of them as
// a pattern.
func TestDeepPatterns(t *testing.T) {
	long := strings.Repeat("a", 50_000)
	cfg := &StrategyFitConfig{Resources: map[string]FitRule{}}
	for n := 1; n < len(long); n += 100 {
		cfg.Resources[long[:n]+"*"] = FitRule{Type: MostAllocated, Weight: 1}
	}
	m := testkit.Must(vectormap.New(nil, vectormap.Literal(vectormap.UnitWhole, long, long[:200])))
	var r report
	rules, _ := resolveFit(cfg, m, 0, &r)
	got := map[string]int{}
	for _, rule := range rules {
		got[m.Name(rule.index)] = len(rule.key) - 1
	}
	if want := map[string]int{long: 49_901, long[:200]: 101}; !maps.Equal(got, want) || len(r.Faults()) > 0 {
		t.Error(len(got), r.Faults())
	}
}
