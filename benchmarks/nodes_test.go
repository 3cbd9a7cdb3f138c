package benchmarks

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/vector"
)

// BenchmarkNodes keeps the rows of nodes up to date, once as Nodes and once as a Table
// of allocatable, used and free amounts, with the subtraction left to the caller. Pods
// come and go on the rows; what the nodes have stays.
func BenchmarkNodes(b *testing.B) {
	const cols, n = 8, 5000
	const used, allocatable, free = 0, 1, 2
	total, pods := amounts(31, shape{n, cols, cols}), amounts(32, shape{2, cols, 4})
	names := make([]string, n)
	nodes := vector.NewNodes(wholeNumbers(cols), cols)
	table := vector.NewTable(wholeNumbers(cols), cols, 3)
	for i := range names {
		names[i] = fmt.Sprintf("node-%05d", i)
	}
	generation := int64(0)
	setNode := func(i int) {
		if _, _, err := nodes.Set(names[i], generation, vector.NodeAmounts{Allocatable: total[i], Requested: pods[generation%2]}); err != nil {
			b.Fatal(err)
		}
	}
	left := make(vector.ResourceVector, cols)
	upsert := func(i int) {
		copy(left, total[i])
		left.Sub(pods[generation%2])
		table.Upsert(names[i], generation, pods[generation%2], total[i], left)
	}
	for i := range names {
		setNode(i)
		upsert(i)
	}
	pod := vector.PodAmounts{Requested: pods[0]}
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	var view vector.Nodes
	var snapshot vector.Snapshot
	nodes.Snapshot(&view)
	table.Snapshot(&snapshot)
	for _, op := range []struct {
		name         string
		nodes, table func(i int)
	}{
		{"unchanged", setNode, upsert},
		{"changed", func(i int) { generation++; setNode(i) }, func(i int) { generation++; upsert(i) }},
		{"assume-forget", func(i int) { must(nodes.Assume(i, pod)); must(nodes.Forget(i, pod)) },
			func(i int) {
				must(table.Move(free, used, i, pod.Requested))
				must(table.Move(used, free, i, pod.Requested))
			}},
		{"snapshot", func(i int) { must(nodes.Assume(i, pod)); nodes.Snapshot(&view) },
			func(i int) { must(table.Move(free, used, i, pod.Requested)); table.Snapshot(&snapshot) }},
	} {
		for name, f := range map[string]func(i int){"nodes": op.nodes, "table": op.table} {
			b.Run(fmt.Sprintf("op=%s/impl=%s/nodes=%d/cols=%d", op.name, name, n, cols), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i = (i + 7) % n {
					f(i)
				}
			})
		}
	}
	if row := nodes.Free().Row(nil, 3); row[0] != total[3][0]-nodes.Requested().At(3, 0) {
		b.Fatal(row)
	}
	if table.Matrix(allocatable).At(3, 0) != total[3][0] {
		b.Fatal("another row")
	}
}
