package gang

import "math"

// noLevel is the level of the sets of a Spread where they are rows, or without a Spread. It
// is finer than all.
const noLevel = maxLevels

// takeSpread takes a Spread whose sets are rows or the domains of a level.
func (s *placing) takeSpread(of *spread) error {
	s.spread, s.spreadLevel = of, noLevel
	if !of.on {
		return nil
	}
	if of.skew > 0 {
		return topologyError("a spread with a skew")
	}
	of.over(s.free.Rows())
	// Rows come first, since they cost nothing later: only their places are cut.
	if s.rowsApart() {
		return nil
	}
	for l := len(s.t.levels) - 1; l >= 0; l-- { // the finest, where a block of one rack is both
		if s.levelApart(l) {
			s.spreadLevel = l
			return nil
		}
	}
	return topologyError("a spread over sets that are neither rows nor the domains of one level of %q", s.t.levels)
}

// rowsApart reports whether no set has two rows that are in a domain. Such a set needs no level:
// its row has fewer places.
func (s *placing) rowsApart() bool {
	of := s.spread
	if !of.grouped {
		return true
	}
	for set := range of.given {
		n := 0
		for _, r := range of.rowsOf(set) {
			if s.inDomain(int(r)) {
				n++
			}
		}
		if n > 1 {
			return false
		}
	}
	return true
}

// inDomain reports whether row r is in a domain.
func (s *placing) inDomain(r int) bool { return r < s.t.Rows() && s.t.at[0][r] != 0 }

// levelApart reports whether the sets are domains of level l, whole ones and with no row of
// another, and keeps how many pods each takes.
func (s *placing) levelApart(l int) bool {
	of := s.spread
	s.rooms, s.setOf, s.homes = resized(s.rooms, len(s.t.domains)), resized(s.setOf, len(s.t.domains)), resized(s.homes, of.given)
	for d := range s.setOf {
		s.setOf[d] = -1
	}
	clear(s.homes)
	for r, d := range s.t.at[l] {
		if d == 0 {
			continue
		}
		set := int32(of.set(r))
		if int(set) >= of.given { // in no set: all that are not stand for one
			set = int32(of.given)
		} else if s.homes[set] == 0 {
			s.homes[set] = d
		} else if s.homes[set] != d {
			return false
		}
		if s.setOf[d] >= 0 && s.setOf[d] != set {
			return false
		}
		s.setOf[d], s.rooms[d] = set, math.MaxInt64
		if int(set) < of.given {
			s.rooms[d] = of.room[set]
		}
	}
	return true
}

// roomOn returns how many pods a row takes by itself.
func (s *placing) roomOn(r int) int64 {
	if !s.spread.on || s.spreadLevel != noLevel {
		return math.MaxInt64
	}
	return s.spread.roomIn(s.spread.set(r))
}

// limited reports whether the domains of a level take only so many pods: they are sets of the
// Spread, or within one and searched. Where the search comes down from a set, it knows how many
// pods go there, and the domains below are chosen by what they really have.
func (s *placing) limited(level int) bool {
	return level == s.spreadLevel || level > s.spreadLevel && s.level > s.spreadLevel
}

// limit cuts what a domain has to what its set takes, before what is whole there is counted.
// Whole slices are all that counts, so the set takes no part of one.
func (s *placing) limit(d int32, level int) {
	if !s.limited(level) {
		return
	}
	set := d
	for s.t.domains[set].level > int32(s.spreadLevel) {
		set = s.t.domains[set].parent
	}
	room := s.rooms[set]
	if room == math.MaxInt64 { // sums with it would overflow
		return
	}
	size := s.sizeFrom(level)
	// Room for a part of a slice is none. What is counted without the extra and with it have
	// different rests: a smaller last slice fits where a whole one does not.
	s.pods[d] = min(s.pods[d], whole(room, size, 0))
	above := s.above(level)
	if above {
		s.have[d] = min(s.have[d], room/size)
	}
	if !s.hasExtra {
		return
	}
	rest := int64(0)
	if s.hasLeader { // it takes a place, and is in no slice
		room--
	} else {
		rest = s.count % size
	}
	if room < rest {
		s.podsWithExtra[d], s.haveWithExtra[d] = noPlace, noPlace
		return
	}
	s.podsWithExtra[d] = min(s.podsWithExtra[d], whole(room, size, rest))
	if above {
		s.haveWithExtra[d] = min(s.haveWithExtra[d], (whole(room, size, rest)+size-1)/size)
	}
}

// whole returns how many of so many pods are in slices of a size, of which the last has only
// rest pods, if not 0.
func whole(pods, size, rest int64) int64 { return (pods-rest)/size*size + rest }

// sizeFrom returns how many pods are a slice at a level, or at the next finer one with slices.
func (s *placing) sizeFrom(level int) int64 {
	if level <= s.sliced {
		return s.slice
	}
	for _, size := range s.inner[level:] {
		if size > 1 {
			return size
		}
	}
	return 1
}
