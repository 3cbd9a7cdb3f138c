package main

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/resvec/resvec/examples/internal/command"
)

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-wrong"}} {
		if status := help.Status(program(args, io.Discard), io.Discard); status != command.Usage {
			t.Errorf("%q: status %d", args, status)
		}
	}
}

func Example() {
	if err := program(nil, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// web goes to cpu-1
	// notebook-1 goes to gpu-2, gpu [0]
	// notebook-2 goes to gpu-2, gpu [0]
	// notebook-3 goes to gpu-2, gpu [1]
	// cheap goes to shared-1
	// unlucky waits: the API server said no
	// unlucky goes to gpu-1, gpu [0]
	// pair goes to gpu-1, gpu [1 2]
	// three is not admitted: InsufficientScalarQuota: queue "research": insufficient quota of card NVIDIA-A100-SXM4-80GB: requested 3 cards, room for 2 cards of 5 cards, the total would be 6 cards
	// broad waits: 0/1 nodes fit: 1 gpu exhausted
	// many is not admitted: InsufficientScalarQuota: queue "research": insufficient quota of example.com/credits: requested 300, room for 50 of 800, the total would be 1050
	// huge waits: 0/4 nodes are available: 4 Insufficient cpu.
	// booked:
	//   cpu-1: cpu 8, left of GPUs []
	//   gpu-1: cpu 16, left of GPUs [0 0 0 1000]
	//   gpu-2: cpu 12, left of GPUs [0 500]
	//   shared-1: cpu 2, left of GPUs []
	//   research: NVIDIA-A100-SXM4-80GB 3000
	//   research: Tesla-T4-SHARED 1000
	//   research: example.com/credits 550
	// the same after a restart: true
	// when all have ended:
	//   cpu-1: cpu 0, left of GPUs []
	//   gpu-1: cpu 0, left of GPUs [1000 1000 1000 1000]
	//   gpu-2: cpu 0, left of GPUs [1000 1000]
	//   shared-1: cpu 0, left of GPUs []
	//   research: NVIDIA-A100-SXM4-80GB 0
	//   research: Tesla-T4-SHARED 0
	//   research: example.com/credits 0
	// morning: vision-1 runs
	// morning: vision-2 runs
	// morning: vision-3 runs
	// morning: vision-4 runs
	// noon: speech-1 waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
	// noon: speech-2 waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
	// noon: speech-3 waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
	// noon: speech-4 waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
	// noon: vision-1 has to go, and waits again
	// noon: vision-2 has to go, and waits again
	// a minute later: speech-1 runs
	// a minute later: speech-2 runs
	// a minute later: speech-3 waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
	// a minute later: speech-4 waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
	// a minute later: vision-1 waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
	// a minute later: vision-2 waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
}
