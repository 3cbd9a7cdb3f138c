package main

func Example() {
	main()
	// Output:
	// notebook fits on 3 of 4 nodes and goes to gpu-1, in use: 0.000
	// training fits on 3 of 4 nodes and goes to gpu-1, in use: 0.259
	// giant stays pending: 0/4 nodes are available: 4 Insufficient nvidia.com/gpu, 1 Insufficient cpu.
}
