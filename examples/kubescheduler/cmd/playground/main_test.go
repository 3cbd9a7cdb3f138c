package main

import (
	"strings"
	"testing"
)

// TestValidate: what is wrong with a command line.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		options   options
		arguments []string
		want      string
	}{
		{options{nodes: 20, kubernetes: "1.36"}, nil, ""},
		{options{kubernetes: "1.37"}, nil, ""},
		{options{nodes: -1}, nil, "-nodes: got -1"},
		{options{pods: -2}, nil, "-pods: got -2"},
		{options{kubernetes: "1.35"}, nil, `-kubernetes: got "1.35", want 1.36 or 1.37`},
		{options{}, []string{"50"}, `unexpected argument "50"`},
	} {
		err := c.options.validate(c.arguments)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v %q: %v", c.options, c.arguments, err)
		}
	}
}
