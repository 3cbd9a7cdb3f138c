package main

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const deviceAnnotation = "example.com/devices" // of a bound pod: which ones it got

// nodeSeen is for a node that came or has changed.
func (s *scheduler) nodeSeen(object *corev1.Node) error {
	allocatable, err := s.convert(func(unknown *[]string) (vector.ResourceVector, error) {
		return s.resources.NodeAllocatable(nil, object, unknown)
	})
	if err != nil {
		return err
	}
	inventory, err := device.FromNodes([]*corev1.Node{object}, nil, device.Options{})
	if err != nil {
		return err
	}
	n := s.nodeOf(object.Name)
	n.allocatable, n.inventory, s.moved = allocatable, inventory, true
	return s.write(n)
}

// nodeGone is for a node that was deleted. Its pods go by events of their own.
func (s *scheduler) nodeGone(name string) {
	if row, ok := s.nodes.Row(name); ok {
		s.nodes.Delete(name) // the last row takes its place, in both
		s.account.Delete(row)
	}
	if n := s.known[name]; n != nil {
		n.inventory, s.moved = nil, true
		s.drop(n)
	}
}

// podSeen is for a pod on a node, whoever has bound it: new, changed, or seen again.
func (s *scheduler) podSeen(object *corev1.Pod) error {
	request, err := s.convert(func(unknown *[]string) (vector.ResourceVector, error) {
		return s.resources.PodRequest(nil, object, podOptions, unknown)
	})
	if err != nil {
		return err
	}
	p := &pod{id: object.UID, request: request, node: object.Spec.NodeName}
	if text, ok := object.Annotations[deviceAnnotation]; ok {
		err = json.Unmarshal([]byte(text), &p.devices)
	}
	if was := s.pods[p.id]; was != nil {
		err = errors.Join(err, s.takeOff(was))
	}
	s.put(p)
	err = errors.Join(err, s.write(s.known[p.node]), s.updateCards())
	_, failed := s.ledger.Reconcile(quota.View{Partial: true, Jobs: []quota.Job{jobOf(object)}})
	return errors.Join(err, failed)
}

// podGone is for a pod that has ended or was deleted, also if it never had a node.
func (s *scheduler) podGone(id types.UID) (err error) {
	if p := s.pods[id]; p != nil {
		err = s.takeOff(p)
	}
	s.ledger.ReleaseJob(string(id))
	return err
}

// takeOff takes a pod off its node.
func (s *scheduler) takeOff(p *pod) error {
	n := s.known[p.node]
	s.remove(p)
	return s.write(n)
}

// write writes the row of a node and its devices anew, with the pods that are there.
func (s *scheduler) write(n *node) error {
	if n.inventory == nil {
		return nil
	}
	amounts := vector.NodeAmounts{Allocatable: n.allocatable}
	for _, p := range n.pods {
		amounts.Requested.Add(p.request)
	}
	n.generation++
	row, _, err := s.nodes.Set(n.name, n.generation, amounts)
	if err != nil {
		return err
	}
	found, _ := n.inventory.Node(n.name)
	if err := s.account.Set(row, share.States(found)); err != nil {
		return errors.Join(err, s.account.Set(row, nil)) // keeps the rows in step
	}
	for _, p := range n.pods {
		err = errors.Join(err, s.account.Commit(row, p.devices...)) // if a device has gone
	}
	return err
}

// updateCards gives the ledger the cards that the nodes have.
func (s *scheduler) updateCards() error {
	if !s.moved {
		return nil
	}
	var inventories []*device.Inventory
	for _, n := range s.known {
		if n.inventory != nil {
			inventories = append(inventories, n.inventory)
		}
	}
	catalog := device.Merge(inventories...).Catalog()
	_, err := s.ledger.SetCatalog(catalog)
	s.moved, s.cards = err != nil, catalog.Totals().Cards
	return err
}

// convert converts an object. A resource that nobody had before gets a column first.
func (s *scheduler) convert(object func(unknown *[]string) (vector.ResourceVector, error)) (vector.ResourceVector, error) {
	var unknown []string
	v, err := object(&unknown)
	if err != nil || len(unknown) == 0 {
		return v, err
	}
	m, err := s.resources.Extend(unknown)
	if err != nil {
		return nil, err
	}
	if err := m.Widen(s.nodes); err != nil {
		return nil, err
	}
	s.resources = m
	if err := s.compile(); err != nil {
		return nil, err
	}
	return object(nil)
}

// put puts a pod on its node.
func (s *scheduler) put(p *pod) {
	n := s.nodeOf(p.node)
	n.pods = append(n.pods, p)
	s.pods[p.id] = p
}

// remove is the reverse of put.
func (s *scheduler) remove(p *pod) {
	n := s.known[p.node]
	n.pods = slices.DeleteFunc(n.pods, func(other *pod) bool { return other == p })
	delete(s.pods, p.id)
	s.drop(n)
}

func (s *scheduler) nodeOf(name string) *node {
	n := s.known[name]
	if n == nil {
		n = &node{name: name}
		s.known[name] = n
	}
	return n
}

// drop forgets a node of which nothing is left.
func (s *scheduler) drop(n *node) {
	if n.inventory == nil && len(n.pods) == 0 {
		delete(s.known, n.name)
	}
}
