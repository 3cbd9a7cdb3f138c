package main

func Example() {
	main()
	// Output:
	// notebook goes to gpu-1, then in use: 0.259
	// training goes to gpu-1, then in use: 1.768
	// giant stays pending: 0/4 nodes are available: 4 Insufficient nvidia.com/gpu, 1 Insufficient cpu.
}
