package gang

import (
	"fmt"
	"iter"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// FilterTopology says how many of the victims have to go for the gang to be placeable as
// [Packer.PlaceTopology] places it, given the free amounts in o: the shortest prefix of
// the victims with which there is a placement, and that placement. With a required level
// it is the first with which some domain of it suffices, otherwise the first with which
// all domains together suffice. Victims, the overlay and errors are as in
// [Packer.Filter]; a victim costs the levels and the columns of its row. Without a
// placement the answer is about the free amounts when all victims are gone, with
// [Packer.Limit] all that may go.
//
// With Reprieve the victims of the prefix stay, one by one from the last to the first, as
// long as the gang still fits, in the required domain or in all domains together. The
// placement is then the one of PlaceTopology when only Victims are gone. It can take more
// domains than with the whole prefix gone. That is once more the time of the prefix, and
// for each victim the ones on its row.
func (p *Packer) FilterTopology(dst TopologyPlacement, o *vector.Overlay, request TopologyRequest, rows *vector.Mask, t *Topology, victims iter.Seq2[int, vector.ResourceVector]) (TopologyPlacement, error) {
	s := &p.topology
	if err := s.take(o.Matrix(), rows, t, &request, &p.spread); err != nil {
		return TopologyPlacement{}, err
	}
	if s.yield == nil {
		s.yield = s.victim
	}
	if s.allowance = nil; p.allowance.on {
		checkSame(o.Matrix(), &p.allowance.limits)
		s.allowance = &p.allowance
		s.allowance.start()
	}
	s.overlay, s.released, s.fault = o, 0, nil
	s.done = s.count == 0 && !s.hasLeader
	if !s.done {
		// A victim may be anywhere, so every level is kept.
		s.countRows(len(t.levels) - 1)
		s.countLevel(0)
		s.done = s.suffices()
	}
	mark := o.Mark()
	defer o.Rollback(mark) // also when victims panics
	if s.reprieve = request.Reprieve; s.reprieve {
		s.start.CopyFrom(s.free)
		s.victims.start(s.free.Cols())
	}
	if victims != nil && !s.done {
		victims(s.yield)
	}
	p.filters.note(s.done && s.fault == nil)
	if s.fault != nil {
		return TopologyPlacement{}, s.fault
	}
	found := s.done
	s.done = true
	if found && request.Reprieve {
		s.leaveOut(mark)
	}
	answer := s.place(dst)
	switch {
	case !found:
	case request.Reprieve:
		for i := range s.victims.rows {
			if s.victims.isGone(int32(i)) {
				answer.Victims = append(answer.Victims, int32(i))
			}
		}
	case p.allowance.on:
		// With a required level the last one is in the domain that suffices, and those elsewhere stay.
		going := s.allowance.going
		answer.Victims = append(answer.Victims, s.allowance.chosen(s.released, func(row int) bool {
			return !s.required || s.t.at[s.last][row] == s.t.at[s.last][going[len(going)-1].row]
		})...)
	}
	if answer.Prefix = s.released; !found {
		answer.Prefix = -1
	}
	return answer, nil
}

// victim takes the next victim and reports whether it wants another.
func (s *placing) victim(row int, amounts vector.ResourceVector) bool {
	if s.done || s.fault != nil {
		return false
	}
	err := checkVictim(s.free, row, amounts)
	if err == nil {
		// A victim that stays has a number all the same.
		if !s.lets(row, amounts) {
			amounts = nil
		}
		err = s.overlay.AddToRow(row, amounts)
	}
	if err != nil {
		s.fault = fmt.Errorf("victim %d: %w", s.released, err)
		return false
	}
	s.released++
	if s.reprieve {
		s.victims.add(0, row, amounts)
	}
	if s.makesRoom(row) {
		s.done = s.recount(row)
	}
	return !s.done
}

// makesRoom reports whether a victim on a row makes room.
func (s *placing) makesRoom(row int) bool {
	return isSelected(s.selected, row) && s.inDomain(row)
}

// lets reports whether the next victim goes.
func (s *placing) lets(row int, amounts vector.ResourceVector) bool {
	if s.allowance == nil {
		return true
	}
	if !s.makesRoom(row) {
		return false
	}
	set := 0
	if s.required {
		set = int(s.t.at[s.last][row])
	}
	return s.allowance.lets(s.released, set, row, amounts)
}

// leaveOut takes victims back as long as the gang fits, and brings the overlay to where
// only the others are gone. One pass is enough: who could not stay with more victims gone
// cannot stay with fewer.
func (s *placing) leaveOut(mark vector.Mark) {
	v := &s.victims
	v.group(s.free.Rows(), 1)
	holder := int32(-1) // only the last victim's domain suffices: without it none did
	for i := len(v.rows) - 1; i >= 0; i-- {
		row, word, bit := int(v.rows[i]), i/kernel.Block, uint64(1)<<(i%kernel.Block)
		v.gone[word] &^= bit
		if !s.makesRoom(row) {
			continue
		}
		if s.required { // a victim elsewhere makes no room there
			d := s.t.at[s.last][row]
			if holder < 0 {
				holder = d
			}
			if d != holder {
				continue
			}
		}
		v.restore(s.overlay, &s.start, row)
		s.recount(row)
		if s.required && s.holds(holder) || !s.required && s.allSuffice() {
			continue
		}
		v.gone[word] |= bit
		v.restore(s.overlay, &s.start, row)
		s.recount(row)
	}
	// The amounts are there already. The overlay is made anew so that it has the bits that a
	// caller gets who releases the same victims.
	s.overlay.Rollback(mark)
	for i, row := range v.rows {
		if v.isGone(int32(i)) {
			_ = s.overlay.AddToRow(int(row), v.amountsOf(int32(i))) // accepted before
		}
	}
}

// suffices reports whether the gang fits, when all levels are counted.
func (s *placing) suffices() bool {
	s.total = 0
	for _, d := range s.order[0] {
		s.total += s.have[d]
	}
	if !s.required {
		return s.allSuffice()
	}
	for _, d := range s.order[s.last] {
		if s.holds(d) {
			return true
		}
	}
	return false
}

// holds reports whether a domain of the required level holds the gang.
func (s *placing) holds(d int32) bool {
	if s.hasExtra {
		return s.haveWithExtra[d] != noPlace && s.haveWithExtra[d] >= s.slices
	}
	return s.have[d] >= s.slices
}

// allSuffice reports whether all domains together hold the gang.
func (s *placing) allSuffice() bool {
	if !s.hasExtra || s.total+1 < s.slices { // the extra gains one slice at most
		return s.total >= s.slices
	}
	for _, d := range s.order[0] {
		if s.haveWithExtra[d] != noPlace && s.total+s.haveWithExtra[d]-s.have[d] >= s.slices {
			return true
		}
	}
	return false
}

// recount brings a row and the domains that it is in up to date, and reports whether the
// gang fits now. It climbs only as long as something has changed: a victim often makes no
// place, and a place often no slice.
func (s *placing) recount(row int) bool {
	places := int32(min(s.counter.on(s.free, row), s.roomOn(row)))
	changed := places - s.rowPods[row]
	s.rowPods[row] = places
	changedWithExtra := false
	if s.hasLeader {
		withLeader := int32(noPlace)
		if fitsRow(s.free, row, s.leader) {
			withLeader = s.withLeaderOn(row, s.counter.withLeader(s.free, row, s.leader))
		}
		changedWithExtra = changed != 0 || withLeader != s.rowWithLeader[row]
		s.rowWithLeader[row] = withLeader
	}
	pods, have := int64(changed), int64(0) // what changes below the level
	for l := len(s.t.levels) - 1; l >= 0 && (pods != 0 || have != 0 || changedWithExtra); l-- {
		d := s.t.at[l][row]
		pods, have, changedWithExtra = s.renew(d, l, pods, have)
		if l == s.last && s.required {
			return s.holds(d)
		}
		if l == 0 {
			s.total += have
		}
	}
	return !s.required && s.allSuffice()
}

// renew brings a domain up to date when one child has changed by so many pods and by so
// much of what it has; below the finest level both are pods. It returns by how much the
// domain has changed, and whether it has with the extra.
func (s *placing) renew(d int32, level int, pods, have int64) (podsNow, haveNow int64, changedWithExtra bool) {
	if s.limited(level) {
		return s.renewLimited(d, level)
	}
	// What is no whole slice within the child is not there.
	if level < len(s.t.levels)-1 && level >= s.sliced {
		pods = have
	}
	oldHave, oldWithExtra, oldPods := s.have[d], int64(0), int64(0)
	s.pods[d] += pods
	if s.above(level) {
		s.have[d] += have
	}
	// Another child may be the best one for the extra now, so all are asked again.
	if s.hasExtra {
		oldWithExtra, oldPods = s.haveWithExtra[d], s.podsWithExtra[d]
		s.sumWithExtra(d, level)
	}
	s.countWhole(d, level)
	changedWithExtra = s.hasExtra && (s.haveWithExtra[d] != oldWithExtra || s.podsWithExtra[d] != oldPods)
	return pods, s.have[d] - oldHave, changedWithExtra
}

// renewLimited is renew for a domain that takes only so many pods. What it had without that
// limit is not kept, so its children are added up again.
func (s *placing) renewLimited(d int32, level int) (podsNow, haveNow int64, changedWithExtra bool) {
	pods, have, podsWithExtra, haveWithExtra := s.pods[d], s.have[d], s.podsWithExtra[d], s.haveWithExtra[d]
	s.sum(d, level)
	changedWithExtra = s.hasExtra && (s.haveWithExtra[d] != haveWithExtra || s.podsWithExtra[d] != podsWithExtra)
	return s.pods[d] - pods, s.have[d] - have, changedWithExtra
}
