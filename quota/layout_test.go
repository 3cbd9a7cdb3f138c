package quota

import (
	"testing"
	"unsafe"

	"github.com/resvec/resvec/quota/internal/book"
)

// What decisions read of a job and a queue is in one cache line, and what they read of
// a request in one or two: the first ones, and the whole is of a size that the allocator keeps at multiples of lines.
func TestLayout(test *testing.T) {
	const line, word = 64, unsafe.Sizeof(uintptr(0))
	var j job
	var q queue
	var t TaskRequest
	var r JobRequest
	for _, c := range []struct {
		name            string
		hot, size, want uintptr
	}{
		{"job", book.HotJob, unsafe.Sizeof(j), 3 * line},
		{"queue", book.HotQueue, unsafe.Sizeof(q), 5 * line},
		{"TaskRequest: where", unsafe.Offsetof(t.owner), unsafe.Sizeof(t), 4 * line},
		{"TaskRequest: what for", unsafe.Offsetof(t.use) + unsafe.Offsetof(t.use.Items) + 2*word - line, unsafe.Sizeof(t), 4 * line},
		{"JobRequest", unsafe.Offsetof(r.invalid) - line, unsafe.Sizeof(r), 3 * line},
	} {
		if c.hot > line || c.size != c.want {
			test.Errorf("%s: decisions read %d bytes of %d", c.name, c.hot, c.size)
		}
	}
}
