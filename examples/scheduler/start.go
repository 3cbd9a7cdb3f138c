package main

import (
	"fmt"

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
	queues  []quota.QueueSpec
	typical []gpu.TypicalPod // what pods with GPUs are like
}

// newScheduler returns the scheduler of an empty cluster. snapshot is the ledger of the
// process before; nil: there was none.
func newScheduler(cfg config, snapshot []byte) (s *scheduler, err error) {
	s = &scheduler{known: map[string]*node{}, pods: map[types.UID]*pod{}}
	if s.ledger, s.queues, err = openLedger(cfg, snapshot); err != nil {
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

// openLedger returns the queues and their ledger. They are limited in cpu, memory and cards,
// and in what the transformation makes of requests.
func openLedger(cfg config, snapshot []byte) (ledger *quota.Ledger, queues []quota.Queue, err error) {
	rules, _, err := transform.Parse([]byte(cfg.rules), transform.ShapeAuto)
	if err != nil {
		return nil, nil, err
	}
	var how quota.Config
	if how.Transformation, err = transform.Compile(rules, transform.Options{}); err != nil {
		return nil, nil, err
	}
	var m *vectormap.ResourceVectorMap
	if snapshot != nil {
		ledger, err = quota.Restore(how, nil, nil, snapshot)
	} else if m, err = quota.NewMap(nil, how.Transformation.Outputs()...); err == nil {
		ledger, err = quota.New(how, m, nil, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	m, err = ledger.ExtendMap(how.NamedCards(cfg.queues))
	if err != nil {
		return nil, nil, err
	}
	queues = make([]quota.Queue, len(cfg.queues))
	for i, spec := range cfg.queues {
		var faults []quota.EntryError
		if queues[i], faults, err = how.BuildQueue(m, spec); err != nil {
			return nil, nil, err
		}
		for _, fault := range faults {
			if !fault.IsNote() {
				return nil, nil, fmt.Errorf("queue %s: %w", spec.Name, fault)
			}
		}
	}
	_, _, err = ledger.SetQueues(queues, m)
	return ledger, queues, err
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
