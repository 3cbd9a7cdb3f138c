package quota

import (
	"testing"
	"unsafe"
)

// What decisions read of a job and of a request is in one cache line: it is the first,
// and the whole is of a size that the allocator keeps at multiples of lines.
func TestLayout(t *testing.T) {
	const line = 64
	var j job
	var r TaskRequest
	for _, c := range []struct {
		name      string
		hot, size uintptr
	}{
		{"job", unsafe.Offsetof(j.one) + unsafe.Offsetof(j.one.spread), unsafe.Sizeof(j)},
		{"TaskRequest", unsafe.Offsetof(r.buf) + unsafe.Offsetof(r.buf[0].resource), unsafe.Sizeof(r)},
	} {
		if c.hot > line || c.size != 3*line {
			t.Errorf("%s: decisions read %d bytes of %d", c.name, c.hot, c.size)
		}
	}
}
