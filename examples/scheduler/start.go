package main

import (
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A config is what an operator writes.
type config struct {
	rules   string // of the transformation
	queues  []quota.Queue
	typical []gpu.TypicalPod // what pods with GPUs are like
}

// newScheduler returns the scheduler of an empty cluster. snapshot is the ledger of the
// process before; nil: there was none.
func newScheduler(cfg config, snapshot []byte) (s *scheduler, err error) {
	s = &scheduler{known: map[string]*node{}, pods: map[types.UID]*pod{}}
	s.queues = cfg.queues
	if s.ledger, err = openLedger(cfg, snapshot); err != nil {
		return nil, err
	}
	if s.resources, err = vectormap.New(nil, vectormap.NoFold()); err != nil {
		return nil, err
	}
	s.nodes = s.resources.NewNodes()
	if s.typical, err = gpu.TypicalPods(cfg.typical, 0.95); err != nil {
		return nil, err
	}
	packing, err := share.NewScorer(share.Config{Type: share.MostAllocated, FillMemory: true})
	if err != nil {
		return nil, err
	}
	s.devices = packing.Bind(&s.account)
	return s, s.compile()
}

// compile compiles the scorers against the map that is there now.
func (s *scheduler) compile() error {
	spread, err := scoring.CompileKube(scoring.KubeConfig{
		Type:      scoring.LeastAllocated,
		Resources: []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}},
	}, s.resources)
	if err != nil {
		return err
	}
	fgd, err := gpu.CompileFGD(gpu.FGDConfig{Typical: s.typical}, s.resources)
	if err != nil {
		return err
	}
	s.scores, s.gpus = scoring.Bind(spread, s.nodes), gpu.Bind(fgd, s.nodes, s.account.GPUs())
	return nil
}

// openLedger returns the ledger of the queues. They are limited in cpu, memory and cards,
// and in what the transformation makes of requests.
func openLedger(cfg config, snapshot []byte) (ledger *quota.Ledger, err error) {
	rules, _, err := transform.Parse([]byte(cfg.rules), transform.ShapeAuto)
	if err != nil {
		return nil, err
	}
	var how quota.Config
	if how.Transformation, err = transform.Compile(rules, transform.Options{}); err != nil {
		return nil, err
	}
	how.Outputs = how.Transformation.Outputs()
	if snapshot == nil {
		return quota.New(how, nil, cfg.queues)
	}
	if ledger, err = quota.Restore(how, nil, snapshot); err == nil {
		_, _, err = ledger.SetQueues(cfg.queues)
	}
	return ledger, err
}

// resume is for after a restart, when all nodes and bound pods have been seen. objects are
// the pods of the cluster. What the process before decided and nothing shows is given back.
func (s *scheduler) resume(objects []*corev1.Pod) error {
	var view quota.View
	for _, object := range objects {
		job := jobOf(object)
		if status, _ := s.ledger.Job(job.ID); !status.Reserved && object.Spec.NodeName == "" {
			job.Phase = quota.PhasePending // to be admitted
		}
		view.Jobs = append(view.Jobs, job)
	}
	if err := s.updateCards(); err != nil {
		return err
	}
	report, err := s.ledger.Reconcile(view)
	if err != nil {
		return err
	}
	for _, unseen := range report.Unseen {
		if unseen.Task != "" {
			s.ledger.Rollback(unseen.Task)
		}
	}
	s.ledger.Expire(report.Seq + 1)
	return nil
}
