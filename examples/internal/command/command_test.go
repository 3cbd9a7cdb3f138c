package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
)

func TestStatus(t *testing.T) {
	h := Help{Name: "try", About: "Tries.", Groups: []Group{{"Colours", "-red", []string{"red", "blue"}}}}
	for _, c := range []struct {
		args   []string
		err    error // of the command itself
		status int
		stderr string
	}{
		{[]string{"-red"}, nil, 0, ""},
		{[]string{"-help"}, nil, 0, ""},
		{[]string{"-h"}, nil, 0, ""},
		{[]string{"-green"}, nil, 2, "try: flag provided but not defined: -green (-help lists the flags)\n"},
		{[]string{"-bleu"}, nil, 2, "try: flag provided but not defined: -bleu; the nearest is -blue (-help lists the flags)\n"},
		{[]string{"-size", "x"}, nil, 2, `try: invalid value "x" for flag -size: parse error (-help lists the flags)` + "\n"},
		{[]string{"more"}, nil, 2, `try: unexpected argument "more" (-help lists the flags)` + "\n"},
		{nil, errors.New("no file"), 1, "try: no file\n"},
		{nil, fmt.Errorf("reading: %w", context.Canceled), 130, "try: interrupted\n"},
	} {
		flags := flag.NewFlagSet("try", flag.ContinueOnError)
		flags.Bool("red", false, "paint red")
		flags.Bool("blue", false, "paint blue")
		flags.Int("size", 3, "how `large`")
		var out, errs bytes.Buffer
		err := h.Parse(flags, c.args, &out)
		if err == nil {
			err = c.err
		}
		if status := h.Status(err, &errs); status != c.status || errs.String() != c.stderr {
			t.Errorf("%q: status %d, %q", c.args, status, errs.String())
		}
		if want := c.status == 0 && strings.HasPrefix(strings.Join(c.args, ""), "-h"); want != (out.Len() > 0) {
			t.Errorf("%q: wrote %q", c.args, out.String())
		}
		if want := "Tries.\n\nColours. Example:\n\n    go run ./examples/try -red\n\n  -blue\n    \tpaint blue\n  -red\n    \tpaint red\n\n" +
			"Other flags\n\n  -size large\n    \thow large (default 3)\n\n"; out.Len() > 0 && !strings.Contains(out.String(), want) {
			t.Errorf("%s\nwant\n%s", out.String(), want)
		}
	}
}

// TestArguments: other arguments stand before flags, between and behind them.
func TestArguments(t *testing.T) {
	h := Help{Name: "try", Arguments: "[file ...]"}
	for _, c := range []struct{ args, want string }{
		{"", "[] false"}, {"a", "[a] false"}, {"a -red b", "[a b] true"}, {"-red a", "[a] true"}, {"- -red", "[-] true"}, {"a -- -red", "[a -red] false"},
	} {
		flags := flag.NewFlagSet("try", flag.ContinueOnError)
		red := flags.Bool("red", false, "")
		if err := h.Parse(flags, strings.Fields(c.args), nil); err != nil || fmt.Sprint(flags.Args(), *red) != c.want {
			t.Errorf("%s: got %v %v, %v; want %s", c.args, flags.Args(), *red, err, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"topolgy", "; the nearest is topology"},
		{"topologyy", "; the nearest is topology"},
		{"example.com/rak", "; the nearest are example.com/rack, example.com/block"},
		{"rack", "; the nearest is example.com/rack"},
		{"zzzzz", ""},
		{"", ""},
	} {
		if got := Nearest(c.name, []string{"topology", "example.com/rack", "example.com/block", "topology", "kubernetes.io/hostname"}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
