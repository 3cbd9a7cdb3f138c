package kueue

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/workload"
)

// quotaNames are the resources that quotas are of: cpu, memory and cards.
var quotaNames = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, "A100", "H100", "T4"}

const firstCard = 2 // of quotaNames

// unlimited stands for a nominal quota or a borrowing limit that is none.
const unlimited = math.MaxInt64

// quotaNode is a ClusterQueue or a cohort.
type quotaNode struct {
	name      string
	parent    int // -1: none
	cohort    bool
	nominal   []int64 // by name
	borrowing []int64 // unlimited: no limit
	guarantee []int64 // what is not lent; nil: nothing
}

// quotaTree are queues and cohorts in both forms. A parent comes before its children.
type quotaTree struct {
	nodes    []quotaNode
	queues   []int // the indices of the queues
	snapshot *scheduler.Snapshot
	ledger   *quota.Ledger
}

// amount returns an amount of a resource as a quantity.
func amount(name corev1.ResourceName, n int64) resource.Quantity {
	switch {
	case n == unlimited:
		return resource.MustParse("100E") // 100 times 2^63 thousandths
	case name == corev1.ResourceCPU:
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	}
	return *resource.NewQuantity(n, resource.DecimalSI)
}

// quotas returns the quotas of a node as Kueue has them.
func (n *quotaNode) quotas() []kueue.ResourceQuota {
	var quotas []kueue.ResourceQuota
	for i, name := range quotaNames {
		q := kueue.ResourceQuota{Name: name, NominalQuota: amount(name, n.nominal[i])}
		if n.parent >= 0 && n.borrowing[i] != unlimited {
			limit := amount(name, n.borrowing[i])
			q.BorrowingLimit = &limit
		}
		if n.guarantee != nil {
			lent := amount(name, n.nominal[i]-n.guarantee[i])
			q.LendingLimit = &lent
		}
		quotas = append(quotas, q)
	}
	return quotas
}

// newSnapshot returns the tree as Kueue has it.
func (x *quotaTree) newSnapshot(t testing.TB) *scheduler.Snapshot {
	t.Helper()
	cache := newKueue()
	for i := range x.nodes {
		n := &x.nodes[i]
		parent := ""
		if n.parent >= 0 {
			parent = x.nodes[n.parent].name
		}
		var err error
		if n.cohort {
			err = cache.AddOrUpdateCohort(&kueue.Cohort{
				ObjectMeta: metav1.ObjectMeta{Name: n.name},
				Spec:       kueue.CohortSpec{ParentName: kueue.CohortReference(parent), ResourceGroups: resourceGroups(n.quotas())},
			})
		} else {
			err = cache.AddClusterQueue(quiet(), clusterQueue(n.name, parent, n.quotas()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return takeSnapshot(t, cache)
}

// limits returns the tree as the ledger has it. A queue may use what its quotas and its
// borrowing limits allow together; a cohort what its own quotas and those below come to,
// and what it may borrow.
func (x *quotaTree) limits() []quota.Queue {
	sums := make([][]int64, len(x.nodes))
	queues := make([]quota.Queue, len(x.nodes))
	for i := len(x.nodes) - 1; i >= 0; i-- {
		n := &x.nodes[i]
		sums[i] = addUp(sums[i], n.nominal)
		if n.parent >= 0 {
			sums[n.parent] = addUp(sums[n.parent], sums[i])
		}
	}
	for i := range x.nodes {
		n := &x.nodes[i]
		q := quota.Queue{Name: n.name, Cards: map[string]int64{}, Capability: corev1.ResourceList{}, Guarantee: corev1.ResourceList{}}
		guarantees := map[string]int64{}
		limit := sums[i]
		if n.parent >= 0 {
			q.Parent = x.nodes[n.parent].name
			limit = addUp(slices.Clone(limit), n.borrowing)
		}
		for j := range quotaNames {
			guarantee := int64(0)
			if n.guarantee != nil {
				guarantee = n.guarantee[j]
			}
			switch name := quotaNames[j]; name {
			case corev1.ResourceCPU, corev1.ResourceMemory:
				q.Capability[name], q.Guarantee[name] = amount(name, limit[j]), amount(name, guarantee)
			default:
				q.Cards[string(name)], guarantees[string(name)] = limit[j], guarantee
			}
		}
		text, err := json.Marshal(guarantees)
		if err != nil {
			panic(err)
		}
		q.Annotations = map[string]string{guaranteeKey: string(text)}
		queues[i] = q
	}
	return queues
}

func addUp(sums, amounts []int64) []int64 {
	if sums == nil {
		sums = make([]int64, len(amounts))
	}
	for j, n := range amounts {
		if sums[j] == unlimited || n == unlimited {
			sums[j] = unlimited
		} else {
			sums[j] += n
		}
	}
	return sums
}

// guaranteeKey is the annotation of guaranteed cards.
const guaranteeKey = "guarantee"

// endless returns a cluster that has more of everything than any quota says.
func endless() *device.Catalog {
	node := device.Node{Name: "all", CPUMilli: 1 << 50, MemoryBytes: 1 << 50}
	for _, card := range cards() {
		node.Cards = append(node.Cards, device.Card{Name: card, Count: 1 << 40})
	}
	return (&device.Inventory{Nodes: []device.Node{node}}).Catalog()
}

func cards() (all []string) {
	for _, name := range quotaNames[firstCard:] {
		all = append(all, string(name))
	}
	return all
}

func newQuotaTree(t testing.TB, nodes []quotaNode, cfg quota.Config) *quotaTree {
	t.Helper()
	x := &quotaTree{nodes: nodes}
	for i := range nodes {
		if !nodes[i].cohort {
			x.queues = append(x.queues, i)
		}
	}
	x.snapshot = x.newSnapshot(t)
	var err error
	cfg.GuaranteeKey = guaranteeKey
	if x.ledger, err = quota.New(cfg, endless(), x.limits()); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *quotaTree) queue(i int) *scheduler.ClusterQueueSnapshot {
	return x.snapshot.ClusterQueue(kueue.ClusterQueueReference(x.nodes[x.queues[i]].name))
}

// job is a workload in both forms.
type job struct {
	queue int // index into queues
	id    string
	usage workload.Usage
	ours  *quota.JobRequest
}

func (x *quotaTree) newJob(t testing.TB, id string, queue int, amounts []int64) *job {
	t.Helper()
	j := &job{queue: queue, id: id, usage: workload.Usage{Quota: resources.FlavorResourceQuantities{}}}
	min := &quota.Min{CPU: amounts[0], Memory: amounts[1]}
	for i, n := range amounts {
		if n == 0 {
			continue
		}
		j.usage.Quota[resources.FlavorResource{Flavor: flavor, Resource: quotaNames[i]}] = resources.NewAmount(n)
		if i >= firstCard {
			min.Items = append(min.Items, quota.Item{Alternatives: []string{string(quotaNames[i])}, Milli: n * 1000})
		}
	}
	var err error
	if j.ours, _, err = x.ledger.ResolveJob(quota.Job{ID: id, Queue: x.nodes[x.queues[queue]].name, Min: min}); err != nil {
		t.Fatal(err)
	}
	if why := j.ours.Invalid(); why != "" {
		t.Fatal(why)
	}
	return j
}

// randomQuotaNodes returns cohorts and queues, up to four levels deep.
func randomQuotaNodes(r peer.Random) []quotaNode {
	amounts := func(most int64, none int) []int64 {
		all := make([]int64, len(quotaNames))
		for j := range all {
			switch {
			case r.Chance(none):
				all[j] = unlimited
			case r.Chance(80):
				all[j] = r.Int64N(most)
			}
		}
		return all
	}
	var nodes []quotaNode
	cohorts := r.IntN(4)
	for i := range cohorts + 1 + r.IntN(5) {
		n := quotaNode{name: fmt.Sprint("queue-", i), parent: -1, nominal: amounts(12, 1), borrowing: amounts(10, 40)}
		if n.cohort = i < cohorts; n.cohort {
			n.name = fmt.Sprint("cohort-", i)
			if r.Chance(60) {
				n.nominal = make([]int64, len(quotaNames))
			}
		}
		if above := min(i, cohorts); above > 0 && r.Chance(90) {
			n.parent = r.IntN(above)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// TestQuota compares the verdicts of ClusterQueueSnapshot.Fits with the ledger's,
// and what is available with its room, on random trees of cohorts and queues with
// borrowing limits, while jobs come and go and quotas change.
func TestQuota(t *testing.T) {
	counts := map[string]int{}
	peer.Cases(t, func(r peer.Random) error {
		x := newQuotaTree(t, randomQuotaNodes(r), quota.Config{})
		var live []*job
		for step := range 12 {
			if r.Chance(8) {
				x.change(t, r, live)
				counts["changes"]++
			}
			if len(live) > 0 && r.Chance(25) {
				i := r.IntN(len(live))
				x.queue(live[i].queue).RemoveUsage(live[i].usage)
				if _, known := x.ledger.ReleaseJob(live[i].id); !known {
					return fmt.Errorf("job %s is gone", live[i].id)
				}
				live = slices.Delete(live, i, i+1)
			}
			amounts := make([]int64, len(quotaNames))
			for j := range amounts {
				if r.Chance(40) {
					amounts[j] = r.Int64N(8)
				}
			}
			j, err := x.admit(t, fmt.Sprint("job-", step), r.IntN(len(x.queues)), amounts)
			if err != nil {
				return err
			}
			if j == nil {
				counts["refused"]++
			} else {
				counts["fits"]++
				live = append(live, j)
			}
			if err := x.compareRoom(t, fmt.Sprint("probe-", step)); err != nil {
				return err
			}
		}
		return nil
	})
	t.Log(counts)
}

func (x *quotaTree) String() string {
	var b strings.Builder
	for _, n := range x.nodes {
		fmt.Fprintf(&b, "%+v\n", n)
	}
	return b.String()
}

// change changes quotas. Kueue makes another snapshot.
func (x *quotaTree) change(t testing.TB, r peer.Random, live []*job) {
	t.Helper()
	changed := randomQuotaNodes(r)
	for i := range x.nodes {
		if i < len(changed) {
			x.nodes[i].nominal, x.nodes[i].borrowing = changed[i].nominal, changed[i].borrowing
		}
	}
	x.snapshot = x.newSnapshot(t)
	for _, j := range live {
		x.queue(j.queue).AddUsage(j.usage)
	}
	if _, _, err := x.ledger.SetQueues(x.limits()); err != nil {
		t.Fatal(err)
	}
}

// compareRoom compares what is available to each queue of each resource.
func (x *quotaTree) compareRoom(t testing.TB, id string) error {
	t.Helper()
	for i := range x.queues {
		ones := make([]int64, len(quotaNames))
		for j := range ones {
			ones[j] = 1
		}
		fits, err := x.ledger.JobCopies(x.newJob(t, fmt.Sprint(id, "-", i), i, ones).ours)
		if err != nil {
			return err
		}
		for j, name := range quotaNames {
			want := x.queue(i).Available(resources.FlavorResource{Flavor: flavor, Resource: name}).Int64()
			scale := int64(1)
			if j >= firstCard {
				scale = 1000
			}
			got := int64(fits.Room[j].Room)
			if got != quota.Unlimited {
				got = max(got, 0) / scale
			}
			if want != got {
				return fmt.Errorf("%s of %s: Kueue %d, ours %+v\n%s", name, x.nodes[x.queues[i]].name, want, fits.Room[j], x)
			}
		}
	}
	return nil
}

// TestQuotaGuarantee: what a queue of a cohort does not lend is a guarantee. For two
// queues the rules are the same.
func TestQuotaGuarantee(t *testing.T) {
	counts := map[bool]int{}
	peer.Cases(t, func(r peer.Random) error {
		x := newQuotaTree(t, guaranteedNodes(r, 2), quota.Config{EnforceGuarantee: true})
		for step := range 12 {
			amounts := make([]int64, len(quotaNames))
			for j := range amounts {
				amounts[j] = max(r.Int64N(12)-6, 0)
			}
			j, err := x.admit(t, fmt.Sprint("job-", step), r.IntN(2), amounts)
			if err != nil {
				return err
			}
			counts[j != nil]++
			if err := x.compareRoom(t, fmt.Sprint("probe-", step)); err != nil {
				return err
			}
		}
		return nil
	})
	t.Logf("fits: %v", counts)
}

// guaranteedNodes returns a cohort of queues that keep a part of their quotas.
func guaranteedNodes(r peer.Random, queues int) []quotaNode {
	draw := func(most int64) []int64 {
		all := make([]int64, len(quotaNames))
		for j := range all {
			all[j] = r.Int64N(most)
		}
		return all
	}
	nodes := []quotaNode{{name: "cohort", parent: -1, cohort: true, nominal: draw(4), borrowing: draw(1)}}
	for i := range queues {
		n := quotaNode{name: fmt.Sprint("queue-", i), nominal: draw(12), borrowing: draw(10)}
		for j := range n.nominal {
			n.guarantee = append(n.guarantee, r.Int64N(n.nominal[j]+1))
			if r.Chance(40) {
				n.borrowing[j] = unlimited
			}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// admit admits a job on both sides if it fits, and compares the verdicts. It returns nil
// for a job that doesn't fit.
func (x *quotaTree) admit(t testing.TB, id string, queue int, amounts []int64) (*job, error) {
	t.Helper()
	j := x.newJob(t, id, queue, amounts)
	fits := x.queue(queue).Fits(j.usage) == scheduler.FitsCheckOk
	answer, err := x.ledger.Reserve(j.ours)
	if err != nil {
		return nil, err
	}
	if fits != answer.OK {
		return nil, fmt.Errorf("%v in %s: Kueue %t, ours %+v\n%s", amounts, x.nodes[x.queues[queue]].name, fits, answer, x)
	}
	if !fits {
		return nil, nil
	}
	x.queue(queue).AddUsage(j.usage)
	return j, nil
}

// TestQuotaGuaranteeOfThree is the difference where a cohort has more than two queues:
// Kueue keeps for a queue what it does not lend, from all others together. The ledger
// limits each queue by what the guarantees of its siblings leave, as Volcano does, so
// that two of them together can use what is left twice.
func TestQuotaGuaranteeOfThree(t *testing.T) {
	card := func(n int64) []int64 { return []int64{0, 0, n, 0, 0} }
	nodes := []quotaNode{{name: "cohort", parent: -1, cohort: true, nominal: card(4), borrowing: card(0)}}
	for i, n := range []int64{6, 0, 0} {
		any := slices.Repeat([]int64{unlimited}, len(quotaNames))
		nodes = append(nodes, quotaNode{name: fmt.Sprint("queue-", i), nominal: card(n), guarantee: card(n), borrowing: any})
	}
	x := newQuotaTree(t, nodes, quota.Config{EnforceGuarantee: true})
	if j, err := x.admit(t, "first", 1, card(4)); j == nil || err != nil {
		t.Fatal(j, err)
	}
	second := x.newJob(t, "second", 2, card(4))
	theirs := x.queue(2).Fits(second.usage) == scheduler.FitsCheckOk
	if ours := x.ledger.Enqueueable(nil, second.ours); theirs || !ours {
		t.Errorf("four cards for another queue: Kueue %t, ours %t", theirs, ours)
	}
}

// BenchmarkQuota asks about workloads of 1,000 queues, which are half full: 20 to each of
// 50 cohorts, which are in one cohort, or below others that are.
func BenchmarkQuota(b *testing.B) {
	for _, levels := range []int{3, 6} {
		b.Run(fmt.Sprintf("levels=%d", levels), func(b *testing.B) { benchQuota(b, levels) })
	}
}

func benchQuota(b *testing.B, levels int) {
	r := peer.NewRandom(1)
	amounts := func(least, most int64) []int64 {
		all := make([]int64, len(quotaNames))
		for j := range all {
			all[j] = least + r.Int64N(most-least)
		}
		return all
	}
	none := make([]int64, len(quotaNames))
	nodes := []quotaNode{{name: "root", parent: -1, cohort: true, nominal: none, borrowing: none}}
	var lowest []int
	for i := range 50 {
		parent := 0
		for level := range levels - 2 {
			nodes = append(nodes, quotaNode{name: fmt.Sprintf("cohort-%d-%d", i, level), parent: parent, cohort: true, nominal: none, borrowing: amounts(100, 500)})
			parent = len(nodes) - 1
		}
		lowest = append(lowest, parent)
	}
	for i := range 1000 {
		nodes = append(nodes, quotaNode{name: fmt.Sprint("queue-", i), parent: lowest[i%50], nominal: amounts(50, 100), borrowing: amounts(10, 50)})
	}
	x := newQuotaTree(b, nodes, quota.Config{})
	for i := range x.queues {
		if _, err := x.admit(b, fmt.Sprint("running-", i), i, amounts(20, 50)); err != nil {
			b.Fatal(err)
		}
	}
	const questions = 1000
	type question struct {
		queue *scheduler.ClusterQueueSnapshot
		usage workload.Usage
		ours  *quota.JobRequest
	}
	ask, ours, fit := make([]question, questions), make([]*quota.JobRequest, questions), 0
	for k := range ask {
		j := x.newJob(b, fmt.Sprint("job-", k), r.IntN(len(x.queues)), amounts(1, 70))
		ask[k], ours[k] = question{x.queue(j.queue), j.usage, j.ours}, j.ours
		if x.ledger.Enqueueable(nil, j.ours) {
			fit++
		}
	}
	if fit < questions/4 || fit > questions*3/4 {
		b.Fatalf("%d of %d fit", fit, questions)
	}
	row := peer.Row{
		Peer: "Kueue", Module: "sigs.k8s.io/kueue", Function: "ClusterQueueSnapshot.Fits", Goal: 20,
	}
	if levels <= 3 {
		row.Remark = "ours locks, looks up the workload"
	}
	b.Run("one", func(b *testing.B) {
		row, theirs, ours := row, false, false
		row.Ours, row.Work, row.Questions = "Ledger.Enqueueable", fmt.Sprintf("one workload of 5 resources, 1,000 queues in a tree of %d levels", levels), questions
		row.Their = func(k int) { theirs = ask[k].queue.Fits(ask[k].usage) == scheduler.FitsCheckOk }
		row.Our = func(k int) { ours = x.ledger.Enqueueable(nil, ask[k].ours) }
		row.Same = func(int) error {
			if theirs != ours {
				return fmt.Errorf("Kueue %t, ours %t", theirs, ours)
			}
			return nil
		}
		row.Bench(b)
	})
	b.Run("many", func(b *testing.B) {
		row, theirs := row, make([]bool, questions)
		var can vector.Mask
		row.Ours, row.Work, row.Questions = "Ledger.EnqueueableBatch", fmt.Sprintf("1,000 workloads, each alone, %d levels", levels), 1
		row.Their = func(int) {
			for k := range ask {
				theirs[k] = ask[k].queue.Fits(ask[k].usage) == scheduler.FitsCheckOk
			}
		}
		row.Our = func(int) { x.ledger.EnqueueableBatch(&can, ours) }
		row.Same = func(int) error {
			for k := range theirs {
				if theirs[k] != can.Test(k) {
					return fmt.Errorf("workload %d: Kueue %t, ours %t", k, theirs[k], can.Test(k))
				}
			}
			return nil
		}
		row.Bench(b)
	})
}
