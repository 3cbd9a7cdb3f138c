package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

const (
	nodeHeader = "sn,cpu_milli,memory_mib,gpu,model\n"
	podHeader  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
	specHeader = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
)

func TestReadNodes(t *testing.T) {
	for _, test := range []struct {
		about, text string
		want        map[nodeShape]int
	}{
		{"equal nodes add up", nodeHeader + "a,64000,1024,2,P100\nb,64000,1024,2,P100\nc,82000,2048,8,G2\n",
			map[nodeShape]int{{64000, 1024, 2, "P100"}: 2, {82000, 2048, 8, "G2"}: 1}},
		{"columns by name", "model,x,gpu,memory_mib,cpu_milli\nT4,?,4,3,5\n",
			map[nodeShape]int{{5, 3, 4, "T4"}: 1}},
		{"counts", "cpu_milli,memory_mib,gpu,model,count\n1,2,3,A,40\n1,2,3,A,2\n",
			map[nodeShape]int{{1, 2, 3, "A"}: 42}},
		{"without GPU or model", nodeHeader + "a,1,2,0,\nb,1,2,1,\n",
			map[nodeShape]int{{1, 2, 0, ""}: 1, {1, 2, 1, ""}: 1}},
		{"byte order mark, CRLF, blank line", "\ufeffcpu_milli,memory_mib,gpu,model\r\n1,2,3,A\r\n\r\n",
			map[nodeShape]int{{1, 2, 3, "A"}: 1}},
		{"byte order mark before a quote", "\ufeff\"cpu_milli\",memory_mib,gpu,model\n1,2,3,A\n",
			map[nodeShape]int{{1, 2, 3, "A"}: 1}},
	} {
		got, err := readNodes("nodes.csv", strings.NewReader(test.text))
		if err != nil || !maps.Equal(got, test.want) {
			t.Errorf("%s: got %v, %v, want %v", test.about, got, err, test.want)
		}
	}
}

func TestReadPods(t *testing.T) {
	for _, test := range []struct {
		about, text string
		want        map[podShape]int
	}{
		{"five columns", podHeader + "a,100,0,0,0\nb,100,5,1,460\nc,100,5,8,1000\n",
			map[podShape]int{{100, 0, 0, 0, ""}: 1, {100, 5, 1, 460, ""}: 1, {100, 5, 8, 1000, ""}: 1}},
		{"eleven columns",
			"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n" +
				"a,1,2,1,1,,LS,Failed,0,9,\nb,1,2,1,1,,BE,Pending,0,9,\n",
			map[podShape]int{{1, 2, 1, 1, ""}: 2}},
		{"a spec is its text", specHeader + "a,1,2,1,9,A|B\nb,1,2,1,9,B|A\nc,1,2,1,9,A|B|B\n",
			map[podShape]int{{1, 2, 1, 9, "A|B"}: 1, {1, 2, 1, 9, "B|A"}: 1, {1, 2, 1, 9, "A|B|B"}: 1}},
		{"without a GPU no spec", specHeader + "a,1,2,0,0,A\nb,1,2,0,0,\nc,1,2,1,9,A\n",
			map[podShape]int{{1, 2, 0, 0, ""}: 2, {1, 2, 1, 9, "A"}: 1}},
	} {
		got, err := readPods("pods.csv", strings.NewReader(test.text))
		if err != nil || !maps.Equal(got, test.want) {
			t.Errorf("%s: got %v, %v, want %v", test.about, got, err, test.want)
		}
	}
}

// A list that cannot be used is an error of one line: file, row, column, value
// and what is allowed.
func TestReadBadLists(t *testing.T) {
	counted := "cpu_milli,memory_mib,gpu,model,count\n"
	for _, test := range []struct{ kind, text, want string }{
		{"node", "", "list.csv: row 1: no header, want cpu_milli,memory_mib,gpu,model"},
		{"node", "cpu_milli,gpu,model\n", "list.csv: row 1: column memory_mib is missing, want cpu_milli,memory_mib,gpu,model"},
		{"node", "gpu,cpu_milli,memory_mib,gpu,model\n", "list.csv: row 1: column gpu stands there twice"},
		{"node", nodeHeader, "list.csv: no nodes"},
		{"node", nodeHeader + "a,1,2,0,A\n", "list.csv: no node has a GPU"},
		{"node", nodeHeader + "a,1,2,3\n", "list.csv: row 2: another number of columns than the 5 of the header"},
		{"node", nodeHeader + "a,1,\"2,3,A\n", "list.csv: row 2: extraneous or missing \" in quoted-field"},
		{"node", nodeHeader + "a,1,2,1,A\nb,x,2,1,A\n", `list.csv: row 3: column cpu_milli: got "x", want a whole number from 0 to 2147483647`},
		{"node", nodeHeader + "a,,2,1,A\n", `list.csv: row 2: column cpu_milli: got "", want a whole number from 0 to 2147483647`},
		{"node", nodeHeader + "a,1,-2,1,A\n", `list.csv: row 2: column memory_mib: got "-2", want a whole number from 0 to 2147483647`},
		{"node", nodeHeader + "a,1,2147483648,1,A\n", `list.csv: row 2: column memory_mib: got "2147483648", want a whole number from 0 to 2147483647`},
		{"node", nodeHeader + "a,1,2,1.5,A\n", `list.csv: row 2: column gpu: got "1.5", want a whole number from 0 to 256`},
		{"node", counted + "1,2,3,A,0\n", `list.csv: row 2: column count: got "0", want a whole number from 1 to 16777216`},
		{"node", counted + "1,2,3,A,9999999999999999999999\n", `list.csv: row 2: column count: got "9999999999999999999999", want a whole number from 1 to 16777216`},
		{"node", counted + "1,2,3,A,16777216\n1,2,3,B,1\n", `list.csv: row 3: column count: got "1", want at most 16777216 in the whole file`},
		{"node", nodeHeader + "a," + strings.Repeat("9", 60) + ",2,1,A\n", `list.csv: row 2: column cpu_milli: got "` + strings.Repeat("9", 40) + `...", want a whole number from 0 to 2147483647`},
		{"pod", podHeader, "list.csv: no pods"},
		{"pod", podHeader + "a,1,2,0,0\n", "list.csv: no pod asks for a GPU, so there is no demand to scale"},
		{"pod", nodeHeader, "list.csv: row 1: column num_gpu is missing, want cpu_milli,memory_mib,num_gpu,gpu_milli"},
		{"pod", podHeader + "a,1,2,1,0\n", `list.csv: row 2: column gpu_milli: got "0", want a whole number from 1 to 1000`},
		{"pod", podHeader + "a,1,2,1,1001\n", `list.csv: row 2: column gpu_milli: got "1001", want a whole number from 1 to 1000`},
		{"pod", podHeader + "a,1,2,2,500\n", `list.csv: row 2: column gpu_milli: got "500", want 1000`},
		{"pod", podHeader + "a,1,2,0,500\n", `list.csv: row 2: column gpu_milli: got "500", want 0`},
		{"pod", podHeader + "a,1,2,-1,500\n", `list.csv: row 2: column num_gpu: got "-1", want a whole number from 0 to 65536`},
	} {
		var err error
		if test.kind == "node" {
			_, err = readNodes("list.csv", strings.NewReader(test.text))
		} else {
			_, err = readPods("list.csv", strings.NewReader(test.text))
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("%s list %.60q:\ngot  %v\nwant %s", test.kind, test.text, err, test.want)
		}
	}
}

func FuzzReadNodes(f *testing.F) {
	f.Add(nodeHeader + "a,64000,1024,2,P100\nb,64000,1024,2,P100\n")
	f.Add("cpu_milli,memory_mib,gpu,model,count\n1,2,3,\"A,\"\"B\",16777216\n")
	f.Add("\ufeffgpu,model,memory_mib,cpu_milli\r\n1,,0,0\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		fuzzList(t, text, readNodes, "cpu_milli,memory_mib,gpu,model,count", func(s nodeShape) []string {
			if s.cpuMilli < 0 || s.memoryMiB < 0 || s.gpus < 0 || s.gpus > maxDevices {
				t.Errorf("read %+v", s)
			}
			return []string{number(s.cpuMilli), number(s.memoryMiB), number(s.gpus), s.model}
		})
	})
}

func FuzzReadPods(f *testing.F) {
	f.Add(podHeader + "a,100,0,0,0\nb,100,5,1,460\nc,100,5,8,1000\n")
	f.Add(specHeader + "a,1,2,1,9,A|B\nb,1,2,1,9,|\n")
	f.Fuzz(func(t *testing.T, text string) {
		fuzzList(t, text, readPods, "cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,count", func(s podShape) []string {
			whole, part := s.gpuMilli == wholeGPU, s.gpus == 1 && 0 < s.gpuMilli && s.gpuMilli < wholeGPU
			if s.cpuMilli < 0 || s.memoryMiB < 0 || s.gpus < 0 || s.gpus == 0 && s.gpuMilli != 0 || s.gpus > 0 && !whole && !part {
				t.Errorf("read %+v", s)
			}
			return []string{number(s.cpuMilli), number(s.memoryMiB), number(s.gpus), number(s.gpuMilli), s.spec}
		})
	})
}

func number(x int64) string { return strconv.FormatInt(x, 10) }

// fuzzList checks that a text is refused in one line that names the list, or
// gives counted shapes that read the same when they are written as a table.
func fuzzList[T comparable](
	t *testing.T, text string,
	read func(string, io.Reader) (map[T]int, error),
	header string, fields func(T) []string,
) {
	counts, err := read("list.csv", strings.NewReader(text))
	if err != nil {
		if !strings.HasPrefix(err.Error(), "list.csv: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("error is not one line about the list: %q", err)
		}
		return
	}
	if strings.Contains(text, "\r") {
		return // reading a CSV file turns line ends within fields into \n
	}
	var table strings.Builder
	w := csv.NewWriter(&table)
	fmt.Fprintln(&table, header)
	for shape, count := range counts {
		testkit.Check(w.Write(append(fields(shape), strconv.Itoa(count))))
	}
	w.Flush()
	again, err := read("table.csv", strings.NewReader(table.String()))
	if err != nil || !maps.Equal(again, counts) {
		t.Errorf("got %v, %v when read again, want %v", again, err, counts)
	}
}
