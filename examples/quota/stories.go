package main

import (
	"slices"

	"github.com/resvec/resvec/quota"
	corev1 "k8s.io/api/core/v1"
)

const (
	a100 = "NVIDIA-A100-80GB"
	h100 = "NVIDIA-H100-80GB"
	gpu  = "nvidia.com/gpu"
)

// oneCard is Example 1 of the design: a queue is kept to its quota, whatever the
// cluster has.
func oneCard(s *story) {
	s.say("Example 1: the cluster has 8 cards, team-a may use 5")
	s.begin(quota.Config{}, gpus(a100, 4, "node-1", "node-2"), team("team-a", "", `{"NVIDIA-A100-80GB": 5}`))
	one := pod(a100, gpu, 1)
	s.reserve("team-a", "train", `{"NVIDIA-A100-80GB": 4}`)
	s.books()
	s.commit("team-a", "train", 0, 4, one)
	s.books()
	s.reserve("team-a", "eval", `{"NVIDIA-A100-80GB": 2}`)
	s.commit("team-a", "notebook", 0, 2, one) // without a reservation
}

// eitherCard is Example 2: a job takes A100 or H100, and the policy says whether
// it may take both.
func eitherCard(s *story) {
	cards := slices.Concat(gpus(a100, 4, "node-1", "node-2"), gpus(h100, 4, "node-3"))
	either := pod(a100+"|"+h100, gpu, 1)
	for _, anyMix := range []bool{false, true} {
		if !anyMix {
			s.say("Example 2: two kinds of card, and a job that takes either: all of one kind")
		} else {
			s.say("The same with AnyMix: each of its pods may have another kind")
		}
		s.begin(quota.Config{AnyMix: anyMix}, cards, team("team-a", "", `{"NVIDIA-A100-80GB": 5, "NVIDIA-H100-80GB": 4}`))
		s.commit("team-a", "old", 0, 1, pod(a100, gpu, 3))
		s.reserve("team-a", "train", `{"NVIDIA-A100-80GB|NVIDIA-H100-80GB": 4}`)
		s.commit("team-a", "train", 0, 4, either)
		s.books()
	}
}

// sharedCard is Example 3: a share of a GPU is a card of its own.
func sharedCard(s *story) {
	s.say("Example 3: 4 GPUs, each shared by 8 pods")
	const share, shared = a100 + "/mps-80g*1/8", "nvidia.com/gpu.shared"
	node := gpuNode("node-1", a100, shared, 32)
	node.Labels["nvidia.com/gpu.replicas"] = "8"
	s.begin(quota.Config{}, []corev1.Node{node}, team("team-a", "", `{"NVIDIA-A100-80GB/mps-80g*1/8": 32}`))
	s.reserve("team-a", "serve", `{"NVIDIA-A100-80GB/mps-80g*1/8": 16}`)
	s.commit("team-a", "serve", 0, 2, pod(share, shared, 1))
	s.commit("team-a", "serve", 2, 4, pod(share, shared, 7))
	s.books()
	s.fits("team-a", `{"NVIDIA-A100-80GB/mps-80g*1/8": 16}`)
}

// tree is two teams that together may use less than each alone.
func tree(s *story) {
	s.say("A tree: research may use 6, and its teams vision and speech 4 each")
	s.begin(quota.Config{}, gpus(a100, 4, "node-1", "node-2"),
		team("research", "", `{"NVIDIA-A100-80GB": 6}`),
		team("vision", "research", `{"NVIDIA-A100-80GB": 4}`),
		team("speech", "research", `{"NVIDIA-A100-80GB": 4}`))
	s.reserve("vision", "train", `{"NVIDIA-A100-80GB": 4}`)
	s.reserve("speech", "tune", `{"NVIDIA-A100-80GB": 3}`)
	s.reserve("speech", "tune", `{"NVIDIA-A100-80GB": 2}`)
	s.reserve("research", "survey", `{"NVIDIA-A100-80GB": 1}`)
	s.books()
}
