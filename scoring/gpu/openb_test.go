package gpu_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
)

// The tests of this file use a production cluster and its pods; see
// ../../examples/replay/data/README.md for the source and the citation.

// openbVariable names the variable with the folder of the published lists.
const openbVariable = "RESVEC_OPENB"

// openbFile returns the path of a published list or, for one of the tables that
// were made from them, of the copy in this repository.
func openbFile(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "examples", "replay", "data", name)
	if strings.HasPrefix(name, "openb_") {
		folder := os.Getenv(openbVariable)
		if folder == "" {
			t.Skipf("%s is not set; it names a folder with the lists of data/csv of github.com/hkust-adsl/kubernetes-scheduler-simulator", openbVariable)
		}
		path = filepath.Join(folder, name)
	} else if _, err := os.Stat(path); err != nil {
		t.Skipf("only part of the repository is here: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is set, but: %v", openbVariable, err)
	}
	return path
}

// records returns the rows of a file by column name.
func openbRecords(t testing.TB, name string) []map[string]string {
	t.Helper()
	file := testkit.Must(os.Open(openbFile(t, name)))
	defer file.Close()
	rows := testkit.Must(csv.NewReader(file).ReadAll())
	var list []map[string]string
	for _, row := range rows[1:] {
		record := map[string]string{"count": "1"}
		for i, column := range rows[0] {
			record[column] = row[i]
		}
		list = append(list, record)
	}
	return list
}

func openbNumber(text string) float64 {
	return testkit.Must(strconv.ParseFloat(text, 64))
}

var openbModels = []string{"A10", "G2", "G3", "P100", "T4", "V100M16", "V100M32"}

// openbPods returns the pods of a list.
func openbPods(t testing.TB, name string) []gpu.TypicalPod {
	t.Helper()
	var list []gpu.TypicalPod
	for _, r := range openbRecords(t, name) {
		p := gpu.TypicalPod{
			CPU:   openbNumber(r["cpu_milli"]),
			Count: int(openbNumber(r["num_gpu"])),
			Milli: openbNumber(r["gpu_milli"]),
			Spec:  r["gpu_spec"],
			Pods:  int64(openbNumber(r["count"])),
		}
		for model := range strings.SplitSeq(p.Spec, "|") {
			if model != "" {
				p.Models = append(p.Models, int32(slices.Index(openbModels, model)))
			}
		}
		list = append(list, p)
	}
	return list
}

// openbCluster returns the empty cluster, several times over.
func openbCluster(t testing.TB, times int) (gpus *gpu.State, cpuLeft []float64) {
	t.Helper()
	var nodes []gpu.Node
	for _, r := range openbRecords(t, "derived_node_shapes.csv") {
		for range times * int(openbNumber(r["count"])) {
			nodes = append(nodes, gpu.Node{
				Model: int32(slices.Index(openbModels, r["model"])),
				Left:  gpuDevices(int(openbNumber(r["gpu"])), 1000),
			})
			cpuLeft = append(cpuLeft, openbNumber(r["cpu_milli"]))
		}
	}
	return gpu.NewState(nodes), cpuLeft
}

func openbTypical(t testing.TB, name string) *gpu.Typical {
	t.Helper()
	return testkit.Must(gpu.TypicalPods(openbPods(t, name), 0.95))
}

// TestTypicalOpenb checks the typical pods of the published lists, and the
// fragmentation of the empty cluster that the study's simulator logs, in GPUs.
func TestTypicalOpenb(t *testing.T) {
	for _, test := range []struct {
		file     string
		pods     int
		n        float64
		fragment string
	}{
		{"derived_pod_shapes.csv", 35, 7766, "866.2326"},
		{"openb_pod_list_default.csv", 35, 7766, "866.2326"},
		{"openb_pod_list_cpu100.csv", 35, 7474, "657.3800"},
		{"openb_pod_list_gpushare60.csv", 33, 7753, "858.3759"},
		{"openb_pod_list_gpuspec20.csv", 102, 7745, "1605.5099"},
		{"openb_pod_list_multigpu40.csv", 42, 8320, "879.8834"},
	} {
		t.Run(test.file, func(t *testing.T) {
			typical := openbTypical(t, test.file)
			if len(typical.Pods()) != test.pods || typical.N() != test.n {
				t.Errorf("%d kinds, %v pods, want %d, %v", len(typical.Pods()), typical.N(), test.pods, test.n)
			}
			gpus, cpuLeft := openbCluster(t, 1)
			testkit.EachImpl(t, func(t *testing.T) {
				phi := make([]float64, gpus.Rows())
				for row := range phi {
					phi[row] = typical.Phi(row, cpuLeft, gpus)
				}
				sum := 0.0
				for _, x := range phi {
					sum += x
				}
				if got := fmt.Sprintf("%.4f", sum/typical.N()/1000); got != test.fragment {
					t.Errorf("fragmentation of the empty cluster: %s, want %s", got, test.fragment)
				}
				if test.n == 7766 && sum != 6_727_162_000 {
					t.Errorf("sum of Phi: %v", sum)
				}
			})
		})
	}
}

// TestOneNode scores one node of the cluster for five pods, by every policy.
func TestOneNode(t *testing.T) {
	typical := openbTypical(t, "derived_pod_shapes.csv")
	fgd := gpuCompile(t, gpu.CompileFGD, gpu.FGDConfig{Typical: typical})
	fit := gpuCompile(t, gpu.CompileBestFit, gpu.BestFitConfig{Raw: true})
	dot := gpuCompile(t, gpu.CompileDotProduct, gpu.DotProductConfig{})
	packing := gpu.NewPacking(gpuMap())
	clustering := gpuCompile(t, gpu.CompileClustering, gpu.ClusteringConfig{})
	left := []float64{1000, 1000, 700, 300, 0, 0, 0, 0}
	cpu, node := []float64{60000}, gpu.Node{Model: int32(slices.Index(openbModels, "G2")), Left: left}
	if phi := typical.Phi(0, cpu, gpu.NewState([]gpu.Node{node})); phi != 8_538_300 {
		t.Errorf("Phi: got %v", phi)
	}
	for _, test := range []struct {
		req           gpu.Request
		fit, dot, gpu float64
		clustering    [4]float64 // share only, share and 1-gpu, nothing, 4-gpu only
		fgd, phi      float64
		devices       []int32
	}{
		{gpu.Request{CPU: 11900, Count: 1, Milli: 500}, 65, 96, 93, [4]float64{90, 65, 40, 15}, 58, 5_918_500, []int32{2}},
		{gpu.Request{CPU: 11900, Count: 1, Milli: 1000}, 68, 95, 49, [4]float64{15, 65, 40, 15}, 53, 7_482_300, []int32{0}},
		{gpu.Request{CPU: 23800, Count: 2, Milli: 1000}, 79, 90, 48, [4]float64{15, 15, 40, 15}, 56, 6_426_300, []int32{0, 1}},
		{gpu.Request{CPU: 12500}, 62, 97, 0, [4]float64{}, 50, 8_538_300, nil},
		{gpu.Request{CPU: 57000}, 80, 89, 0, [4]float64{}, 13, 23_298_000, nil},
	} {
		score := func(name string, s *gpu.Scorer, want float64) {
			if got, err := s.Score(&test.req, cpu[0], node); err != nil || got != want {
				t.Errorf("%s of %+v: got %v, %v, want %v", name, test.req, got, err, want)
			}
		}
		node.Pods = nil
		score("BestFit", fit, test.fit)
		score("DotProduct", dot, test.dot)
		score("Packing", packing, test.gpu)
		score("FGD", fgd, test.fgd)
		for k, pods := range [][]int32{{1}, {1, 1}, nil, {0, 0, 0, 0, 1}} {
			node.Pods = pods
			score("Clustering", clustering, test.clustering[k])
		}
		gpus := gpu.NewState([]gpu.Node{node})
		chosen := gpu.Bind(fgd, nodesOf(cpu), gpus).ChooseDevices(nil, &test.req, 0)
		if !slices.Equal(chosen, test.devices) {
			t.Errorf("FGD of %+v: devices %v, want %v", test.req, chosen, test.devices)
		}
		testkit.Check(gpus.Place(0, &test.req, chosen))
		if phi := typical.Phi(0, []float64{cpu[0] - test.req.CPU}, gpus); phi != test.phi {
			t.Errorf("%+v: Phi after: got %v, want %v", test.req, phi, test.phi)
		}
	}
	// The other devices for the first pod.
	gpus := gpu.NewState([]gpu.Node{node})
	req := gpu.Request{CPU: 11900, Count: 1, Milli: 500}
	testkit.Check(gpus.Place(0, &req, []int32{1}))
	if phi := typical.Phi(0, []float64{60000 - 11900}, gpus); phi != 10_647_300 {
		t.Errorf("Phi on device 1: got %v", phi)
	}
}
