//go:build amd64 && !purego

package kernel

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestLayout pins what the assembly knows of entries: where their fields are.
func TestLayout(t *testing.T) {
	for _, c := range []struct {
		entry any
		want  string
	}{
		{DeviceEntry{}, "Total 0, Free 24, Other 48, Request 72, Weight 80, size 88"},
		{KubeEntry{}, "Used 0, Allocatable 24, Reciprocals 48, Request 72, Weight 80, Scale 88, Lane 96, Lane100 104, Lane52 112, Whole 120, size 128"},
	} {
		typ := reflect.TypeOf(c.entry)
		var fields []string
		for i := range typ.NumField() {
			fields = append(fields, fmt.Sprint(typ.Field(i).Name, " ", typ.Field(i).Offset))
		}
		if got := strings.Join(append(fields, fmt.Sprint("size ", typ.Size())), ", "); got != c.want {
			t.Errorf("%v: %s, want %s", typ, got, c.want)
		}
	}
}
