package gang

// groups are indices by their keys, those of one key in order: rows by their domain, victims by
// their row. Counting sort needs two passes and no comparison, and its lists are reused.
type groups struct {
	starts []int32 // per key, and one more: where its indices begin in list
	list   []int32
}

// take groups the indices of keys, which are below n.
func (g *groups) take(keys []int32, n int) {
	g.starts, g.list = resized(g.starts, n+1), resized(g.list, len(keys))
	clear(g.starts)
	for _, k := range keys {
		g.starts[k]++
	}
	end := int32(0)
	for k, count := range g.starts {
		end += count
		g.starts[k] = end
	}
	for i := len(keys) - 1; i >= 0; i-- { // fills each group from its end, so that its indices ascend
		k := keys[i]
		g.starts[k]--
		g.list[g.starts[k]] = int32(i)
	}
}

// of returns the indices of a key.
func (g *groups) of(key int32) []int32 { return g.list[g.starts[key]:g.starts[key+1]] }
