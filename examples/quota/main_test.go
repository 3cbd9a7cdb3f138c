package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/examples/internal/command"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota"
)

var update = flag.Bool("update", false, "rewrite testdata/want.txt")

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-wrong"}} {
		if status := help.Status(program(args, io.Discard), io.Discard); status != command.Usage {
			t.Errorf("%q: status %d", args, status)
		}
	}
}

// The stories come out the same every time, also of many goroutines.
func TestStories(t *testing.T) {
	const golden = "testdata/want.txt"
	for range 5 {
		var out bytes.Buffer
		testkit.Check(run(&out))
		if *update {
			testkit.Check(os.WriteFile(golden, out.Bytes(), 0o644))
		}
		want := testkit.Must(os.ReadFile(golden))
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Fatalf("the stories differ from %s (-want +got):\n%s", golden, diff)
		}
	}
}

// A story that goes wrong stops and says why.
func TestBrokenStory(t *testing.T) {
	for name, play := range map[string]func(*story){
		"a card that no quota can be of": func(s *story) {
			s.begin(quota.Config{}, nil, team("team-a", "", `{"": 1}`))
		},
		"a parent that isn't there": func(s *story) {
			s.begin(quota.Config{}, nil, team("team-a", "nobody", ""))
		},
		"an empty id": func(s *story) {
			s.begin(quota.Config{}, nil, team("team-a", "", ""))
			s.reserve("team-a", "", "")
		},
	} {
		var out bytes.Buffer
		s := &story{out: &out}
		play(s)
		if s.err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		failed := s.err
		s.begin(quota.Config{}, nil)
		s.reserve("team-a", "train", "")
		s.commit("team-a", "train", 0, 1, pod(a100, gpu, 1))
		s.releaseJobs("job")
		s.books()
		s.fits("team-a", "")
		yes := s.count(func(int) (bool, error) { return true, nil })
		if !errors.Is(s.err, failed) || yes != 0 || out.Len() != 0 {
			t.Errorf("%s: went on after %v: %v, %q", name, failed, s.err, out.String())
		}
	}
	s := &story{out: new(bytes.Buffer)}
	s.count(func(i int) (bool, error) { return false, quota.ErrConflict })
	if !errors.Is(s.err, quota.ErrConflict) {
		t.Errorf("an error of a goroutine came out as %v", s.err)
	}
}
