package profile

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"runtime"
	"testing"
)

// TestLogOf compares logOf with what it stands for, and its bits with those of amd64.
func TestLogOf(t *testing.T) {
	h := fnv.New64a()
	for n := 1; n <= 100_002; n++ {
		got := logOf(n)
		if runtime.GOARCH == "amd64" && got != math.Log(float64(n)) {
			t.Fatalf("log %d is %v, want %v", n, got, math.Log(float64(n)))
		}
		if err := binary.Write(h, binary.LittleEndian, got); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := h.Sum64(), uint64(0x1542126e6a652f0d); got != want {
		t.Errorf("the bits have the hash %#x, want %#x", got, want)
	}
}
