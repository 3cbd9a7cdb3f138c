package benchmarks

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain says before benchmarks which model of CPU they run on, in their format:
// virtual machines call CPUs of several generations by one name.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" {
		printCPUModel()
	}
	os.Exit(m.Run())
}

// printCPUModel prints family and model of the first CPU where Linux tells them.
func printCPUModel() {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan() && lines.Text() != ""; {
		key, value, _ := strings.Cut(lines.Text(), ":")
		switch strings.TrimSpace(key) {
		case "cpu family":
			fmt.Println("cpu-family:", strings.TrimSpace(value))
		case "model":
			fmt.Println("cpu-model:", strings.TrimSpace(value))
		}
	}
}
