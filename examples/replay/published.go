package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// The numbers of a run that are reported and were published.
var headline = [...]struct {
	title   string
	percent int64
	metric  func(reading) float64
}{
	{"alloc@130", 130, metrics[0]},
	{"alloc@100", 100, metrics[0]},
	{"frag@80", 80, metrics[1]},
	{"frag@90", 90, metrics[1]},
}

// A publication is what the paper's authors published of one of their traces
// (data/README.md): ten runs of every policy.
type publication struct {
	trace  string
	digest string // of the requests
	cells  map[string][len(headline)]spread
}

// publishedInflation is how much demand the published runs had, in capacities.
const publishedInflation = 1.3

// openbNodes is the digest of the cluster of all publications.
const openbNodes = "3b8f1ac850ef381c3c75037bc7f911e1c3d9303367343ec35f63c913f8d11f9d"

var publications = []publication{
	{
		trace:  "default",
		digest: "1fb88fa2a7c1bcff95f16234a95e7de2c11a7a235a2c77abb531488247c67e82",
		cells: map[string][len(headline)]spread{
			"Random":        {{10, 87.470, 0.319}, {10, 86.303, 0.332}, {10, 15.920, 0.299}, {10, 14.482, 0.274}},
			"DotProd":       {{10, 90.849, 0.202}, {10, 90.622, 0.186}, {10, 10.088, 0.182}, {10, 9.433, 0.167}},
			"GpuClustering": {{10, 91.878, 0.625}, {10, 91.650, 0.610}, {10, 9.362, 0.551}, {10, 8.445, 0.557}},
			"GpuPacking":    {{10, 92.002, 0.545}, {10, 91.779, 0.532}, {10, 9.276, 0.458}, {10, 8.370, 0.477}},
			"BestFit":       {{10, 93.076, 0.134}, {10, 92.862, 0.144}, {10, 8.290, 0.178}, {10, 7.408, 0.133}},
			"FGD":           {{10, 95.391, 0.082}, {10, 95.227, 0.106}, {10, 5.967, 0.041}, {10, 5.003, 0.043}},
		},
	},
	{
		trace:  "cpu100",
		digest: "3aa81d72d476732e3b659073cbb6b91cfc41e65a6ce61ae2cfb0d6ef4028b146",
		cells: map[string][len(headline)]spread{
			"Random":        {{10, 89.113, 0.292}, {10, 87.435, 0.280}, {10, 14.473, 0.285}, {10, 13.277, 0.262}},
			"DotProd":       {{10, 91.955, 0.271}, {10, 91.731, 0.270}, {10, 8.761, 0.265}, {10, 8.374, 0.266}},
			"GpuClustering": {{10, 92.643, 0.436}, {10, 92.415, 0.402}, {10, 8.191, 0.334}, {10, 7.665, 0.339}},
			"GpuPacking":    {{10, 92.715, 0.456}, {10, 92.495, 0.415}, {10, 8.200, 0.400}, {10, 7.671, 0.389}},
			"BestFit":       {{10, 93.443, 0.128}, {10, 93.263, 0.131}, {10, 7.477, 0.115}, {10, 6.964, 0.139}},
			"FGD":           {{10, 95.354, 0.139}, {10, 95.208, 0.136}, {10, 5.447, 0.054}, {10, 4.821, 0.052}},
		},
	},
	{
		trace:  "gpushare60",
		digest: "32fa1c99bb796c1a67c01b10132867c53fb22f1e11bf11cd072dc6297a311698",
		cells: map[string][len(headline)]spread{
			"Random":        {{10, 83.653, 0.290}, {10, 82.808, 0.350}, {10, 19.277, 0.254}, {10, 17.724, 0.278}},
			"DotProd":       {{10, 87.115, 0.282}, {10, 86.816, 0.281}, {10, 13.452, 0.200}, {10, 13.202, 0.252}},
			"GpuClustering": {{10, 87.203, 0.420}, {10, 86.901, 0.410}, {10, 13.396, 0.371}, {10, 13.045, 0.398}},
			"GpuPacking":    {{10, 87.447, 0.379}, {10, 87.147, 0.373}, {10, 13.254, 0.361}, {10, 12.859, 0.377}},
			"BestFit":       {{10, 89.359, 0.193}, {10, 89.060, 0.184}, {10, 11.486, 0.174}, {10, 10.978, 0.186}},
			"FGD":           {{10, 91.401, 0.119}, {10, 91.255, 0.127}, {10, 9.203, 0.033}, {10, 8.641, 0.062}},
		},
	},
	{
		trace:  "gpuspec20",
		digest: "0e0906bf29facf63aaaded08f74c5f6f89140a81c3e5ad5e593ce4d197fa503d",
		cells: map[string][len(headline)]spread{
			"Random":        {{10, 87.240, 0.324}, {10, 85.902, 0.350}, {10, 16.678, 0.308}, {10, 15.292, 0.285}},
			"DotProd":       {{10, 89.967, 0.403}, {10, 88.292, 0.166}, {10, 13.815, 0.284}, {10, 12.119, 0.316}},
			"GpuClustering": {{10, 92.245, 0.613}, {10, 89.110, 0.211}, {10, 12.206, 0.478}, {10, 10.327, 0.469}},
			"GpuPacking":    {{10, 92.936, 0.644}, {10, 89.283, 0.251}, {10, 11.667, 0.499}, {10, 9.799, 0.502}},
			"BestFit":       {{10, 93.297, 0.086}, {10, 88.463, 0.124}, {10, 11.527, 0.144}, {10, 9.669, 0.122}},
			"FGD":           {{10, 94.837, 0.121}, {10, 94.662, 0.135}, {10, 8.870, 0.097}, {10, 6.834, 0.107}},
		},
	},
	{
		trace:  "multigpu40",
		digest: "0d4321b5d8aa71818b6d5803be9780130e2e53fcea28da0625a9afd187f15411",
		cells: map[string][len(headline)]spread{
			"Random":        {{10, 90.091, 0.435}, {10, 85.375, 0.764}, {10, 13.168, 0.446}, {10, 12.808, 0.422}},
			"DotProd":       {{10, 94.194, 0.207}, {10, 94.041, 0.216}, {10, 7.070, 0.156}, {10, 6.236, 0.181}},
			"GpuClustering": {{10, 95.504, 0.313}, {10, 95.346, 0.305}, {10, 5.843, 0.264}, {10, 4.912, 0.269}},
			"GpuPacking":    {{10, 95.741, 0.301}, {10, 95.592, 0.312}, {10, 5.806, 0.305}, {10, 4.854, 0.307}},
			"BestFit":       {{10, 95.235, 0.237}, {10, 95.099, 0.235}, {10, 6.244, 0.220}, {10, 5.302, 0.235}},
			"FGD":           {{10, 96.990, 0.093}, {10, 96.906, 0.101}, {10, 4.738, 0.085}, {10, 3.752, 0.083}},
		},
	},
}

// publicationOf returns what was published of a trace, nil when nothing was: a
// trace on the nodes of openb whose requests, or else whose file name, are those
// of a published one.
func publicationOf(t *trace, podFile string) *publication {
	nodes, pods := t.digests()
	if nodes != openbNodes {
		return nil
	}
	i := slices.IndexFunc(publications, func(p publication) bool { return p.digest == pods })
	if i < 0 {
		i = slices.IndexFunc(publications, func(p publication) bool {
			return filepath.Base(podFile) == "openb_pod_list_"+p.trace+".csv"
		})
	}
	if i < 0 {
		return nil
	}
	return &publications[i]
}

// digests returns the SHA-256 of the tables of shapes and counts of a trace.
func (t *trace) digests() (nodes, pods string) {
	var b strings.Builder
	for run := t.nodes; len(run) > 0; {
		n := 1
		for n < len(run) && run[n] == run[0] {
			n++
		}
		fmt.Fprintf(&b, "%d,%d,%d,%s,%d\n", run[0].cpuMilli, run[0].memoryMiB, run[0].gpus, run[0].model, n)
		run = run[n:]
	}
	nodes = digest(b.String())
	b.Reset()
	counts := make([]int, len(t.requests))
	for _, id := range t.pods {
		counts[id]++
	}
	for id, r := range t.requests {
		fmt.Fprintf(&b, "%d,%d,%d,%d,%s,%d\n", r.cpuMilli, r.memoryMiB, r.gpus, r.gpuMilli, r.spec, counts[id])
	}
	return nodes, digest(b.String())
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// z returns how many standard errors of their difference own lies above pub.
func z(own, pub spread) float64 {
	variance := func(s spread) float64 { return float64(s.sd*s.sd) / float64(s.n) }
	if own.mean == pub.mean {
		return 0
	}
	return (own.mean - pub.mean) / math.Sqrt(variance(own)+variance(pub))
}

// agrees says whether a cell lies within two standard errors of the published.
func agrees(z float64) bool { return math.Abs(z) <= 2 }

// A comparison is how the results of a trace stand to the published ones.
type comparison struct {
	cells, agree int
	largest      float64 // greatest |z|
}

// compare compares results with what was published of their trace.
func (p *publication) compare(results []*result) comparison {
	var c comparison
	for _, r := range results {
		for i, pub := range p.cells[r.policy.name] {
			distance := z(r.headline(i), pub)
			c.cells++
			if agrees(distance) {
				c.agree++
			}
			c.largest = max(c.largest, math.Abs(distance))
		}
	}
	return c
}

// gate returns an error when results differ from what was published by more
// than chance: on the default trace every cell must agree, on the others all but
// six, none beyond 3.5 standard errors; and FGD must have placed the most and
// fragmented the least.
func (p *publication) gate(results []*result) error {
	c := p.compare(results)
	allowed, limit := 6, 3.5
	if p.trace == "default" {
		allowed, limit = 0, 2
	}
	if c.cells-c.agree > allowed || !(c.largest <= limit) {
		return fmt.Errorf("check failed: %d of %d cells agree with the published ones of %s, largest distance %.2f standard errors",
			c.agree, c.cells, p.trace, c.largest)
	}
	i := slices.IndexFunc(results, func(r *result) bool { return r.policy.name == "FGD" })
	if i < 0 {
		return nil
	}
	for _, r := range results {
		if r != results[i] && (r.headline(0).mean >= results[i].headline(0).mean || r.headline(2).mean <= results[i].headline(2).mean) {
			return fmt.Errorf("check failed: %s is ahead of FGD on %s", r.policy.name, p.trace)
		}
	}
	return nil
}
