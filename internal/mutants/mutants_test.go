package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReport tries the faults of a package whose tests miss some.
func TestReport(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.25\n",
		"a/a.go": `package a

const most = 1 << 4 // nothing that is made when it runs

type count int64

// Clamp is tested everywhere but at its limit.
func Clamp(n count) count {
	if n > most {
		return most
	}
	return n
}

// Sum is tested wholly.
func Sum(list []count) (sum count) {
	for i := 0; i < len(list); i++ {
		sum += list[i]
	}
	return sum
}

// All is the greatest number, and there is none above it.
func All() uint8 { return ^uint8(0) }

// Odd is tested for odd numbers.
func Odd(n count) bool { return n%2 == 1 || n < 0 }

// Twice has a number without a type.
func Twice(n count) count { return n << 1 }
`,
		"a/a_test.go": `package a

import "testing"

func Test(t *testing.T) {
	if Clamp(40) != 16 || Clamp(-3) != -3 || Sum([]count{1, 2, 4}) != 7 || !Odd(3) || All() != 255 || Twice(3) != 6 {
		t.Error()
	}
}
`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := (&options{limit: 10 * time.Second, parallel: 2}).report(&out, []string{"a/a.go"}); err != nil {
		t.Fatal(err)
	}
	const want = "| where | is | instead of |\n|---|---|---|\n" +
		"| a.go:9 | `n >= most` | `n > most` |\n" +
		"| a.go:27 | `n <= 0` | `n < 0` |\n" +
		"| a.go:27 | `n >= 0` | `n < 0` |\n" +
		"| a.go:27 | `1` | `0` |\n" +
		"| a.go:27 | `-1` | `0` |\n" +
		"\n20 faults, 5 missed\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if err := (&options{}).report(&out, []string{"a/b.go"}); err == nil || !strings.Contains(err.Error(), "a/b.go is no file of the package in a") {
		t.Error(err)
	}
	if err := (&options{}).report(&out, nil); err == nil || err.Error() != "no files" {
		t.Error(err)
	}
}
