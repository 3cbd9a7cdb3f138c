package profile_test

import "testing"

// FuzzStory has a story whose dice are bytes.
func FuzzStory(f *testing.F) {
	for seed := range uint64(8) {
		data := make([]byte, 6000)
		d := seeded(seed)
		for i := range data {
			data[i] = byte(d(256))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		i := 0
		d := dice(func(n int) int {
			if n < 2 {
				return 0
			}
			x := 0
			for size := n - 1; size > 0; size >>= 8 {
				x <<= 8
				if i < len(data) {
					x += int(data[i])
				}
				i++
			}
			return x % n
		})
		s := newStory(t, "story", 6, d)
		for range 60 {
			if s.step(); i > len(data) {
				break
			}
		}
	})
}
