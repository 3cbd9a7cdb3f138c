package vectormap_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"github.com/resvec/resvec/vectormap"
)

func labelled(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func TestNewTopology(t *testing.T) {
	nodes := []*corev1.Node{
		labelled("a", map[string]string{"block": "b1", "rack": "r1"}),
		labelled("b", map[string]string{"block": "b2", "rack": "r1"}),
		labelled("c", map[string]string{"rack": "r1"}),
		labelled("d", map[string]string{"block": "b1", "rack": ""}),
		labelled("e", nil),
		labelled("f", map[string]string{"block": "b1"}),
	}
	top, notes, err := vectormap.NewTopology([]string{"block", "rack"}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	want := []vectormap.Note{
		vectormap.Remark{Name: "c", Text: "no label block, in no domain"}, vectormap.Remark{Name: "e", Text: "no label block, in no domain"},
		vectormap.Remark{Name: "f", Text: "no label rack, in no domain"},
	}
	if !slices.Equal(notes, want) {
		t.Errorf("notes %v", notes)
	}
	domains := func() string {
		var d gang.Domains
		testkit.Check(top.Domains(&d, "rack"))
		return fmt.Sprint(d.Rows, d.Offsets)
	}
	if got := domains(); got != "[3 0 1] [0 1 2 3]" { // b1 and the empty rack, b1/r1, b2/r1
		t.Error(got)
	}
	// A label comes, another changes, a node goes.
	nodes[5].Labels["rack"], nodes[1].Labels["block"] = "r1", "b1"
	for _, row := range []int{5, 1} {
		if missing := vectormap.SetTopology(top, row, nodes[row]); missing != "" {
			t.Error(missing)
		}
	}
	if got := domains(); got != "[3 0 1 5] [0 1 4]" {
		t.Error(got)
	}
	delete(nodes[0].Labels, "rack")
	if missing := vectormap.SetTopology(top, 0, nodes[0]); missing != "rack" {
		t.Error(missing)
	}
	if moved := top.RemoveRow(1); moved != 5 {
		t.Error(moved)
	}
	if got := domains(); got != "[3 1] [0 1 2]" {
		t.Error(got)
	}

	if _, _, err := vectormap.NewTopology([]string{"rack", "rack"}, nodes); !errors.Is(err, vector.ErrShape) {
		t.Error(err)
	}
}
