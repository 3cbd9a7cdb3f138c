package yunikorn

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/apache/yunikorn-core/pkg/common/configs"
	"github.com/apache/yunikorn-core/pkg/common/resources"
	"github.com/apache/yunikorn-core/pkg/log"
	"github.com/apache/yunikorn-core/pkg/scheduler/objects"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/vector"
)

func TestMain(m *testing.M) {
	log.InitializeLogger(zap.NewNop(), &zap.Config{Level: zap.NewAtomicLevel()}) // refusals are logged there
	os.Exit(m.Run())
}

// dimensions are what both sides count: cpu in milli-cores, memory in bytes, and cards,
// which are milli-cards here.
var dimensions = []struct {
	their string
	card  string
}{{their: "vcore"}, {their: "memory"}, {"gpu.example/a", "Card-A"}, {"gpu.example/b", "Card-B"}}

const perCard = 1000

// limits are the most that a queue may use by dimension; missing is no limit.
type limits map[int]int64

// treeNode is a queue of a tree, and its parent's index.
type treeNode struct {
	name   string
	parent int // -1: the root
	limits limits
	leaf   bool
}

// tree is one tree of queues on both sides.
type tree struct {
	nodes  []treeNode
	leaves []int
	their  []*objects.Queue
	ledger *quota.Ledger
}

func newTree(nodes []treeNode) (*tree, error) {
	t := &tree{nodes: nodes}
	mapping := objects.NewAppQueueMapping()
	cards := []string{"Card-A", "Card-B"}
	inventory := device.Inventory{Nodes: []device.Node{{Name: "node", Cards: []device.Card{
		{Name: "Card-A", Resource: "gpu.example/a", Count: 1 << 20}, {Name: "Card-B", Resource: "gpu.example/b", Count: 1 << 20},
	}}}}
	var ours []quota.Queue
	for i, node := range nodes {
		// Theirs: the root gets its limits from the nodes of the cluster, others from
		// their configuration.
		conf := configs.QueueConfig{Name: node.name, Parent: !node.leaf, Resources: configs.Resources{Max: map[string]string{}}}
		for d, most := range node.limits {
			text := strconv.FormatInt(most, 10)
			if d == 0 {
				text += "m"
			}
			conf.Resources.Max[dimensions[d].their] = text
		}
		var parent *objects.Queue
		if node.parent >= 0 {
			parent = t.their[node.parent]
		}
		queue, err := objects.NewConfiguredQueue(conf, parent, true, mapping)
		if err != nil {
			return nil, err
		}
		if node.parent < 0 {
			most := resources.NewResource()
			for d, x := range node.limits {
				most.Resources[dimensions[d].their] = resources.Quantity(x)
			}
			queue.SetMaxResource(most)
		}
		t.their = append(t.their, queue)
		if node.leaf {
			t.leaves = append(t.leaves, i)
		}

		// Ours: what isn't limited is not mentioned in a parent, and unlimited in a leaf.
		our := quota.Queue{Name: node.name, Cards: map[string]int64{}, Capability: corev1.ResourceList{}}
		if node.parent >= 0 {
			our.Parent = nodes[node.parent].name
		}
		for d := range dimensions {
			most, limited := node.limits[d]
			if !limited && !node.leaf {
				continue
			} else if !limited {
				most = quota.Unlimited
			}
			switch d {
			case 0:
				our.Capability[corev1.ResourceCPU] = *resource.NewMilliQuantity(most, resource.DecimalSI)
			case 1:
				our.Capability[corev1.ResourceMemory] = *resource.NewQuantity(most, resource.BinarySI)
			default:
				our.Cards[cards[d-2]] = most
			}
		}
		ours = append(ours, our)
	}
	ledger, err := quota.New(quota.Config{MissingUnlimited: true}, inventory.Catalog(), ours)
	t.ledger = ledger
	return t, err
}

// demand is what a pod asks for, by dimension.
type demand [4]int64

func (d demand) their() *resources.Resource {
	r := resources.NewResource()
	for i, x := range d {
		if x != 0 {
			r.Resources[dimensions[i].their] = resources.Quantity(x)
		}
	}
	return r
}

// task returns a task of a team's one job.
func (t *tree) task(id string, leaf int, d demand) (*quota.TaskRequest, error) {
	task := quota.Task{ID: id, Job: "job-of-" + t.nodes[leaf].name, Queue: t.nodes[leaf].name, Cards: []quota.Item{}, Request: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(d[0], resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(d[1], resource.BinarySI),
	}}
	for i := 2; i < len(d); i++ {
		if d[i] > 0 {
			task.Cards = append(task.Cards, quota.Item{Alternatives: []string{dimensions[i].card}, Milli: d[i] * perCard})
		}
	}
	r, _, err := t.ledger.ResolveTask(task)
	if err == nil && r.Invalid() != "" {
		err = fmt.Errorf("task %s: %s", id, r.Invalid())
	}
	return r, err
}

// drawLimits returns limits of some dimensions, 0 at times, but not of all that are
// limited: YuniKorn ignores such a limit.
func drawLimits(r peer.Random, all bool, scale int64) limits {
	l, some := limits{}, false
	for d := range dimensions {
		if all || r.Chance(60) {
			l[d] = r.Int64N(4) * scale
			if d < 2 {
				l[d] *= 500
			}
			some = some || l[d] > 0
		}
	}
	if !some {
		return limits{0: 1000 * scale, 1: 2000 * scale, 2: 3 * scale, 3: scale}
	}
	return l
}

func drawTree(r peer.Random) []treeNode {
	nodes := []treeNode{{name: "root", parent: -1, limits: drawLimits(r, true, 6)}}
	for p := range 1 + r.IntN(3) {
		parent := len(nodes)
		nodes = append(nodes, treeNode{name: fmt.Sprintf("department-%d", p), limits: drawLimits(r, false, 4)})
		for l := range 1 + r.IntN(3) {
			nodes = append(nodes, treeNode{name: fmt.Sprintf("team-%d-%d", p, l), parent: parent, limits: drawLimits(r, false, 2), leaf: true})
		}
	}
	return nodes
}

// TestTree: over a random tree of three levels both admit and refuse the same pods, and
// take the same ones back.
func TestTree(t *testing.T) {
	verdicts := map[bool]int{}
	peer.Cases(t, func(r peer.Random) error {
		tree, err := newTree(drawTree(r))
		if err != nil {
			return err
		}
		type charge struct {
			id     string
			leaf   int
			demand demand
		}
		var charged []charge
		for step := range 24 {
			if len(charged) > 0 && r.Chance(30) {
				i := r.IntN(len(charged))
				c := charged[i]
				charged[i] = charged[len(charged)-1]
				charged = charged[:len(charged)-1]
				if err := tree.their[c.leaf].DecAllocatedResource(c.demand.their()); err != nil {
					return fmt.Errorf("step %d: DecAllocatedResource: %w", step, err)
				}
				if _, known := tree.ledger.Release(c.id); !known {
					return fmt.Errorf("step %d: task %s isn't known here", step, c.id)
				}
				continue
			}
			c := charge{id: fmt.Sprint(step), leaf: tree.leaves[r.IntN(len(tree.leaves))]}
			for d := range c.demand {
				if r.Chance(50) {
					c.demand[d] = r.Int64N(3)
					if d < 2 {
						c.demand[d] *= 500
					}
				}
			}
			task, err := tree.task(c.id, c.leaf, c.demand)
			if err != nil {
				return err
			}
			refusal := tree.their[c.leaf].TryIncAllocatedResource(c.demand.their())
			answer, err := tree.ledger.Commit(task)
			if err != nil {
				return err
			}
			if answer.OK != (refusal == nil) {
				return fmt.Errorf("step %d: %v in %s: %v there, here %v %s", step, c.demand, tree.nodes[c.leaf].name, refusal, answer.OK, answer.Refusal.Message())
			}
			verdicts[answer.OK]++
			if answer.OK {
				charged = append(charged, c)
			}
		}
		return tree.ledger.Check()
	})
	t.Logf("%d admitted, %d refused", verdicts[true], verdicts[false])
}

// BenchmarkTree: 100 departments with 100 teams each. A pod is admitted and released;
// one of four is refused by its team.
func BenchmarkTree(b *testing.B) {
	const departments, teams, questions = 100, 100, 1024
	r := peer.NewRandom(1)
	most := func(scale int64) limits { return limits{0: 64000 * scale, 1: scale << 38, 2: 8 * scale, 3: 4 * scale} }
	nodes := []treeNode{{name: "root", parent: -1, limits: most(departments * teams)}}
	for p := range departments {
		parent := len(nodes)
		nodes = append(nodes, treeNode{name: fmt.Sprintf("department-%d", p), limits: most(teams)})
		for l := range teams {
			nodes = append(nodes, treeNode{name: fmt.Sprintf("team-%d-%d", p, l), parent: parent, limits: most(1), leaf: true})
		}
	}
	tree, err := newTree(nodes)
	if err != nil {
		b.Fatal(err)
	}
	// Something runs in every team.
	running := demand{16000, 64 << 30, 2, 1}
	for _, leaf := range tree.leaves {
		task, err := tree.task(fmt.Sprintf("running-%d", leaf), leaf, running)
		if err != nil {
			b.Fatal(err)
		}
		if answer, err := tree.ledger.Commit(task); err != nil || !answer.OK {
			b.Fatal(answer, err)
		}
		if err := tree.their[leaf].TryIncAllocatedResource(running.their()); err != nil {
			b.Fatal(err)
		}
	}
	queues, demands := make([]*objects.Queue, questions), make([]*resources.Resource, questions)
	tasks, ids := make([]*quota.TaskRequest, questions), make([]string, questions)
	for k := range questions {
		leaf := tree.leaves[r.IntN(len(tree.leaves))]
		d := demand{1000 * (1 + r.Int64N(8)), (1 + r.Int64N(32)) << 30, 1 + r.Int64N(8), r.Int64N(2)}
		queues[k], demands[k], ids[k] = tree.their[leaf], d.their(), fmt.Sprintf("pod-%d", k)
		if tasks[k], err = tree.task(ids[k], leaf, d); err != nil {
			b.Fatal(err)
		}
	}

	var their, our bool
	row := yunikorn
	row.Function, row.Ours, row.Questions, row.Goal = "Queue.TryIncAllocatedResource, DecAllocatedResource", "Ledger.Commit, Release", questions, 20
	row.Work = "a pod of one of 10,000 teams, charged and released"
	row.Equal = "verdicts"
	row.Remark = "there also Prometheus gauges; here a record, an allocated answer"
	row.Allocates = 4
	row.Their = func(k int) { their = ask(queues[k], demands[k]) }
	row.Our = func(k int) {
		answer, err := tree.ledger.Commit(tasks[k])
		if err != nil {
			panic(err)
		}
		if our = answer.OK; our {
			tree.ledger.Release(ids[k])
		}
	}
	row.Same = func(int) error {
		if their != our {
			return fmt.Errorf("%v here, %v there", our, their)
		}
		return nil
	}
	b.Run("TryIncAllocatedResource", row.Bench)

	fits, admitted := vector.NewMask(questions), vector.NewMask(questions)
	list := yunikorn
	list.Function, list.Ours, list.Questions, list.Goal = "Queue.TryIncAllocatedResource, DecAllocatedResource", "Ledger.AllocatableBatch", 1, 20
	list.Work = "which of 1,024 pods have room, each by itself"
	list.Equal = "verdicts"
	list.Remark = "there a question changes something"
	list.Their = func(int) {
		admitted.Reset(admitted.Len())
		for i, queue := range queues {
			if ask(queue, demands[i]) {
				admitted.Set(i)
			}
		}
	}
	list.Our = func(int) { tree.ledger.AllocatableBatch(fits, tasks) }
	list.Same = func(int) error {
		if !fits.Equal(admitted) {
			return fmt.Errorf("%d have room here, %d there", fits.Count(), admitted.Count())
		}
		return nil
	}
	b.Run("AllocatableBatch", list.Bench)
}

// ask charges a queue and takes the charge back, if there is room.
func ask(queue *objects.Queue, r *resources.Resource) bool {
	if queue.TryIncAllocatedResource(r) != nil {
		return false
	}
	if err := queue.DecAllocatedResource(r); err != nil {
		panic(err)
	}
	return true
}
