package resvecfit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/resvec/resvec/scoring/profile"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
)

// world keeps what kube-scheduler's default plugins look at besides amounts in step with a
// cluster: nodes with their pods by row, from the snapshot, and what selects pods, from
// informers.
type world struct {
	cluster  *profile.Cluster
	events   *objectEvents
	profiles map[string]*profile.Profile // by configuration

	pods []*corev1.Pod // scratch
}

// objectEvents collects the changes of objects that select pods until the next cycle, the
// last one of each object.
type objectEvents struct {
	mu      sync.Mutex
	pending map[objectKey]objectEvent // nil: stopped
	applied bool                      // a cluster has objects that may be deleted
	synced  []cache.InformerSynced    // that what was there at the start is pending
	stops   []func() error
}

type objectKey struct{ kind, namespace, name string }

type objectEvent struct {
	object  metav1.Object
	deleted bool
}

// newObjectEvents registers for events. It must be called while the plugins are made, since
// the informers are started then.
func newObjectEvents(handle fwk.Handle) (*objectEvents, error) {
	factory := handle.SharedInformerFactory()
	if factory == nil {
		return nil, errors.New("this scheduler has no informers")
	}
	e := &objectEvents{pending: map[objectKey]objectEvent{}}
	for _, informer := range selectingInformers(factory) {
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { e.add(obj, false) },
			UpdateFunc: func(_, obj any) { e.add(obj, false) },
			DeleteFunc: func(obj any) { e.add(obj, true) },
		})
		if err != nil {
			return nil, err
		}
		e.synced = append(e.synced, registration.HasSynced)
		e.stops = append(e.stops, func() error { return informer.RemoveEventHandler(registration) })
	}
	return e, nil
}

// selectingInformers returns those of objects that select pods.
func selectingInformers(factory informers.SharedInformerFactory) []cache.SharedIndexInformer {
	core, apps := factory.Core().V1(), factory.Apps().V1()
	return []cache.SharedIndexInformer{
		core.Namespaces().Informer(), core.Services().Informer(), core.ReplicationControllers().Informer(),
		apps.ReplicaSets().Informer(), apps.StatefulSets().Informer(),
	}
}

func (e *objectEvents) add(obj any, deleted bool) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	object, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	key := objectKey{fmt.Sprintf("%T", obj), object.GetNamespace(), object.GetName()}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.pending == nil:
	case deleted && !e.applied: // a scheduler may wait for days to become the leader
		delete(e.pending, key)
	default:
		e.pending[key] = objectEvent{object, deleted}
	}
}

// apply brings a cluster in step.
func (e *objectEvents) apply(c *profile.Cluster) error {
	e.mu.Lock()
	pending := e.pending
	if e.applied = true; len(pending) > 0 {
		e.pending = map[objectKey]objectEvent{}
	}
	e.mu.Unlock()
	var errs []error
	for _, event := range pending {
		change := c.Set
		if event.deleted {
			change = c.Delete
		}
		errs = append(errs, change(event.object))
	}
	return errors.Join(errs...)
}

// apply brings what selects pods in step.
func (w *world) apply() error { return w.events.apply(w.cluster) }

// syncLimit is how long the first cycle waits for objects. kube-scheduler begins when its own
// handlers of events have been told of all.
const syncLimit = 10 * time.Second

// wait waits until the objects are pending that were there at the start.
func (e *objectEvents) wait() error {
	ctx, cancel := context.WithTimeout(context.Background(), syncLimit)
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), e.synced...) {
		return fmt.Errorf("namespaces, services and owners of pods aren't known after %v", syncLimit)
	}
	return nil
}

// stop ends the collection, also of events that informers still deliver.
func (e *objectEvents) stop() error {
	var errs []error
	for _, stop := range e.stops {
		errs = append(errs, stop())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending, e.stops = nil, nil
	return errors.Join(errs...)
}

// keepObjects has the cluster keep objects from now on. Events are of no more use where it
// does already.
func (c *cluster) keepObjects(events *objectEvents) error {
	switch {
	case c.world == nil:
	case c.world.events == events:
		return nil
	default:
		return events.stop()
	}
	if err := events.wait(); err != nil {
		return err
	}
	c.world = &world{cluster: profile.NewCluster(c.table), events: events, profiles: map[string]*profile.Profile{}}
	for _, node := range c.nodes {
		if err := c.world.write(node); err != nil {
			return err
		}
	}
	return nil
}

// write sets the row of a node.
func (w *world) write(node fwk.NodeInfo) error {
	w.pods = w.pods[:0]
	for _, pod := range node.GetPods() {
		w.pods = append(w.pods, pod.GetPod())
	}
	states := node.GetImageStates()
	return w.cluster.SetRow(node.Node(), w.pods, func(name string) (size int64, nodes int, ok bool) {
		state, ok := states[name]
		if !ok {
			return 0, 0, false
		}
		return state.Size, state.NumNodes, true
	})
}

// drop removes a node and its pods. There is no error for a node with a name.
func (w *world) drop(name string) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_ = w.cluster.SetRow(node, nil, nil)
	_ = w.cluster.Delete(node)
}

// relist sets what the listers have of a namespace, and all namespaces: the handlers of
// events may be behind.
func (w *world) relist(handle fwk.Handle, namespace string) error {
	var errs []error
	for _, informer := range selectingInformers(handle.SharedInformerFactory()) {
		for _, obj := range informer.GetStore().List() {
			object, ok := obj.(metav1.Object)
			if ok && (object.GetNamespace() == namespace || object.GetNamespace() == "") {
				errs = append(errs, w.cluster.Set(object))
			}
		}
	}
	return errors.Join(errs...)
}

// profile returns the profile of a configuration, bound to the cluster. Plugins that have the
// same share it.
func (w *world) profile(cfg profile.Config) (*profile.Profile, error) {
	cfg.Minor = kubernetesMinor
	key, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	p := w.profiles[string(key)]
	if p == nil {
		if p, err = profile.Bind(cfg, w.cluster); err != nil {
			return nil, err
		}
		w.profiles[string(key)] = p
	}
	return p, nil
}

// kubernetesMinor is the minor version of Kubernetes that the plugins are built with, as far
// as their decisions differ.
var kubernetesMinor = func() int {
	if rescores {
		return 37
	}
	return 36
}()
