package fairshare_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/quota/fairshare"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Shares of a ledger's queues: two teams may have 4 cpu each, and team-a holds 6.
func Example_ledger() {
	m, err := quota.NewMap(nil)
	if err != nil {
		panic(err)
	}
	var config quota.Config
	build := func(name, parent, capability, deserved string) quota.Queue {
		list := func(cpu string) corev1.ResourceList {
			return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("1Gi")}
		}
		q, _, err := config.BuildQueue(m, quota.QueueSpec{Name: name, Parent: parent, Capability: list(capability), Deserved: list(deserved)})
		if err != nil {
			panic(err)
		}
		return q
	}
	queues := []quota.Queue{build("research", "", "8", "8"), build("team-a", "research", "8", "4"), build("team-b", "research", "8", "4")}
	ledger, err := quota.New(config, m, nil, queues)
	if err != nil {
		panic(err)
	}
	for _, job := range []quota.Job{
		{ID: "train", Queue: "team-a", MinResources: corev1.ResourceList{"cpu": resource.MustParse("6")}},
		{ID: "serve", Queue: "team-b", MinResources: corev1.ResourceList{"cpu": resource.MustParse("1")}},
	} {
		request, _, err := ledger.ResolveJob(job)
		if err != nil {
			panic(err)
		}
		if answer, err := ledger.Reserve(request); err != nil || !answer.OK {
			panic(fmt.Sprint(answer, err))
		}
	}
	tree, err := fairshare.NewTree(m.Schema(), m.Len(), fairshare.Options{Rules: fairshare.Volcano})
	if err != nil {
		panic(err)
	}
	if err := fill(tree, m, ledger, queues); err != nil {
		panic(err)
	}
	total := m.NewVector()
	total[vectormap.CPU] = 8000
	if err := tree.SetTotal(total); err != nil {
		panic(err)
	}
	tree.Divide()
	for name, row := range tree.All() {
		fmt.Println(name, tree.Allocated(nil, row)[vectormap.CPU], tree.Share(nil, row)[vectormap.CPU])
	}
	// Output:
	// research 7000 7000
	// team-a 6000 6000
	// team-b 1000 1000
}

// fill writes the queues of a ledger, parents first, and what each has into a tree of fair
// shares over the ledger's map.
func fill(tree *fairshare.Tree, m *vectormap.ResourceVectorMap, ledger *quota.Ledger, queues []quota.Queue) error {
	isParent := map[string]bool{}
	for _, q := range queues {
		isParent[q.Parent] = true
	}
	for _, q := range queues {
		status, ok := ledger.Queue(q.Name)
		if !ok {
			continue // it went meanwhile
		}
		is := fairshare.Queue{Parent: q.Parent, Priority: int64(q.Priority), Deserved: m.NewVector(), Guarantee: m.NewVector(),
			Limit: slices.Repeat(vector.ResourceVector{math.Inf(1)}, m.Len())}
		has := fairshare.Usage{Allocated: m.NewVector(), Wanted: m.NewVector()}
		for _, u := range slices.Concat([]quota.Usage{status.CPU, status.Memory}, status.Cards, status.Outputs) {
			if i, ok := m.Index(u.Resource); ok {
				is.Deserved[i], is.Guarantee[i], is.Limit[i] = amount(u.Deserved), amount(u.Guarantee), amount(u.Capability)
				has.Allocated[i], has.Wanted[i] = amount(u.Allocated+u.Inqueue), amount(u.Request)
			}
		}
		row, _, err := tree.Set(q.Name, is)
		if err == nil && !isParent[q.Name] { // parents have the sums
			err = tree.SetUsage(row, has)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// amount returns an amount of the ledger as trees have it.
func amount(x int64) float64 {
	if x == quota.Unlimited {
		return math.Inf(1)
	}
	return float64(x)
}
