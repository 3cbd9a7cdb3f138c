package quota

import (
	"testing"
	"unsafe"
)

// What decisions read of a job, a queue and a request is in one cache line: it is the
// first, and the whole is of a size that the allocator keeps at multiples of lines.
func TestLayout(test *testing.T) {
	const line = 64
	var j job
	var q queue
	var t TaskRequest
	var r JobRequest
	for _, c := range []struct {
		name            string
		hot, size, want uintptr
	}{
		{"job", unsafe.Offsetof(j.one) + unsafe.Offsetof(j.one.spread), unsafe.Sizeof(j), 3 * line},
		{"queue", unsafe.Offsetof(q.spec) + unsafe.Offsetof(q.spec.Parent), unsafe.Sizeof(q), 6 * line},
		{"TaskRequest", unsafe.Offsetof(t.buf) + unsafe.Offsetof(t.buf[0].resource), unsafe.Sizeof(t), 3 * line},
		{"JobRequest", unsafe.Offsetof(r.buf) + unsafe.Offsetof(r.buf[0].unit), unsafe.Sizeof(r), 3 * line},
	} {
		if c.hot > line || c.size != c.want {
			test.Errorf("%s: decisions read %d bytes of %d", c.name, c.hot, c.size)
		}
	}
}
