package progress

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/resvec/resvec/internal/testkit"
)

func TestLine(t *testing.T) {
	var terminal bytes.Buffer
	now := time.Unix(1e9, 0)
	l := On(&terminal, func() time.Time { return now })
	l.Clear() // nothing is there yet
	l.Printf("%d of 3", 1)
	l.Printf("too soon")
	now = now.Add(time.Second)
	l.Printf("%s", strings.Repeat("ä", 100))
	l.Clear()
	l.Clear() // nothing is there any more
	want := "\r" + "1 of 3" + strings.Repeat(" ", width-6) + "\r\r" + strings.Repeat("ä", width) + "\r\r" + strings.Repeat(" ", width) + "\r"
	if terminal.String() != want {
		t.Errorf("wrote %q", terminal.String())
	}
}

func TestNoTerminal(t *testing.T) {
	file := testkit.Must(os.Create(filepath.Join(t.TempDir(), "stderr")))
	defer file.Close()
	for _, l := range []*Line{New(file), New(&bytes.Buffer{}), nil} {
		if l != nil {
			t.Error("a terminal")
		}
		l.Printf("nothing")
		l.Clear()
	}
}
