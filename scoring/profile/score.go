package profile

import (
	"math"
	"math/bits"
	"slices"

	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// total sets work.totals of work.fits.
func (p *Profile) total(s *shape, amounts vector.PodAmounts) error {
	w := &p.work
	n := len(p.cluster.rows)
	w.totals, w.raw = resized(w.totals, n), resized(w.raw, n)
	clear(w.totals)
	constant := int64(0)
	for i := range weighted {
		weight := p.settings.weights[i]
		if weight == 0 {
			continue
		}
		score := p.scoreOf(s, i)
		if score.raw == nil {
			constant += weight * score.of(0)
			continue
		}
		w.add(&score, weight)
	}
	for _, t := range p.terms {
		if err := t.Scores.ScorePercent(w.raw, amounts, &w.fits); err != nil {
			return err
		}
		w.addRaw(w.raw, t.Weight)
	}
	if constant != 0 {
		for r := range w.totals {
			w.totals[r] += constant
		}
	}
	return nil
}

// score is what a plugin says of the feasible rows.
type score struct {
	plugin    int
	raw       []int64 // by row; nil: 0 on all of them
	low, high int64   // of raw
	skipped   bool    // the plugin has nothing to say of the pod
}

// Unscored is the raw score of a row that PodTopologySpread leaves out, since its node lacks a
// label: its score is 0, and the scores of other rows don't depend on it.
const Unscored = math.MinInt64

// of returns the normalized score of a raw one.
func (s *score) of(x int64) int64 {
	switch {
	case s.skipped:
		return 0
	case s.plugin == weighTaints:
		if s.high == 0 {
			return 100
		}
		return 100 - 100*x/s.high
	case s.plugin == weighAffinity:
		if s.high == 0 {
			return 0
		}
		return 100 * x / s.high
	case s.plugin == weighSpread:
		switch {
		case x == Unscored:
			return 0
		case s.high == 0:
			return 100
		}
		return 100 * (s.high + s.low - x) / s.high
	case s.plugin == weighPods:
		if s.high == s.low {
			return 0
		}
		// The quotient first: 29 of 50 is 57.
		return int64(100 * (float64(x-s.low) / float64(s.high-s.low)))
	}
	return x // images are scored in percent
}

// scoreOf returns what a plugin says of work.fits. Its raw scores may be work.raw.
func (p *Profile) scoreOf(s *shape, plugin int) score {
	w := &p.work
	made := score{plugin: plugin}
	switch plugin {
	case weighTaints:
		if s.taints.preferred > 0 {
			made.raw = s.taints.raw
		}
	case weighAffinity:
		if made.skipped = s.affinity == nil || s.affinity.raw == nil; !made.skipped {
			made.raw = s.affinity.raw
		}
	case weighSpread:
		if made.skipped = len(s.soft) == 0; !made.skipped {
			made.raw = w.raw
			p.spreadScores(s)
		}
	case weighPods:
		own := slices.ContainsFunc(s.preferred, func(t podTerm) bool { return t.sum.total != 0 })
		if made.skipped = s.scoreNone || !own && s.existing.scoring == 0; !made.skipped {
			made.raw = w.raw
			p.podScores(s)
		}
	case weighImages:
		if s.images != nil && s.images.scored > 0 {
			made.raw = s.images.scores
		}
	}
	if made.raw != nil && plugin != weighImages {
		made.low, made.high = w.rangeOf(made.raw)
	}
	return made
}

// add adds a plugin's scores to the totals.
func (w *workspace) add(s *score, weight int64) {
	if s.plugin == weighImages {
		w.addRaw(s.raw, weight)
		return
	}
	// Raw scores are few different numbers: each is normalized once.
	span := s.high - s.low
	if span < 0 || span >= int64(len(w.totals)) {
		for r := range w.fits.All() {
			w.totals[r] += weight * s.of(s.raw[r])
		}
		return
	}
	w.table = resized(w.table, int(span)+1)
	for x := range w.table {
		w.table[x] = weight * s.of(s.low+int64(x))
	}
	for k, word := range w.fits.Words() {
		for base := 64 * k; word != 0; word &= word - 1 {
			r := base + bits.TrailingZeros64(word)
			if x := s.raw[r] - s.low; uint64(x) <= uint64(span) { // all but those that are left out
				w.totals[r] += w.table[x]
			}
		}
	}
}

// addRaw adds scores that are normalized already.
func (w *workspace) addRaw(scores []int64, weight int64) {
	for k, word := range w.fits.Words() {
		for base := 64 * k; word != 0; word &= word - 1 {
			r := base + bits.TrailingZeros64(word)
			w.totals[r] += weight * scores[r]
		}
	}
}

// RawScores sets dst[r] for the selected rows to a plugin's raw score, which [Normalize] makes
// a score. It is for a host that scores some of the feasible nodes only: rows are these; nil
// selects all that have a node object. It reports false, and sets nothing, where the plugin
// skips the pod: then its scores are 0. dst has an element a row at least. Errors are those of
// [Profile.Feasible]. The plugin must be one that has a weight in [Config].
func (p *Profile) RawScores(dst []int64, plugin Plugin, pod *corev1.Pod, rows *vector.Mask) (scored bool, err error) {
	w := &p.work
	n := p.cluster.nodes.Len()
	switch {
	case rows != nil && rows.Len() != n:
		panic(panicMask)
	case len(dst) < n:
		panic(panicDst)
	}
	s, err := p.begin(pod)
	if err != nil {
		return false, err
	}
	if rows == nil {
		rows = p.known
	}
	w.fits.And(p.known, rows)
	w.totals, w.raw = resized(w.totals, n), resized(w.raw, n)
	of := p.scoreOf(s, indexOf(plugin))
	if of.skipped {
		return false, nil
	}
	for r := range w.fits.All() {
		if dst[r] = 0; of.raw != nil {
			dst[r] = of.raw[r]
		}
	}
	return true, nil
}

// Normalize replaces raw scores, of all nodes that are scored, by the plugin's scores from 0 to
// 100. [Unscored] becomes 0. The plugin must be one that has a weight in [Config].
func Normalize(plugin Plugin, scores []int64) {
	of := score{plugin: indexOf(plugin), low: math.MaxInt64, high: math.MinInt64}
	for _, x := range scores {
		if x != Unscored {
			of.low, of.high = min(of.low, x), max(of.high, x)
		}
	}
	for i, x := range scores {
		scores[i] = of.of(x)
	}
}

// indexOf returns the index of a plugin that has a weight.
func indexOf(plugin Plugin) int {
	for i := range weightedPlugins {
		if weightedPlugins[i].name == plugin {
			return i
		}
	}
	panic("profile: plugin without a weight")
}

// rangeOf returns the lowest and the highest raw score of the feasible rows, without those
// that are left out.
func (w *workspace) rangeOf(raw []int64) (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
	for k, word := range w.fits.Words() {
		for base := 64 * k; word != 0; word &= word - 1 {
			if x := raw[base+bits.TrailingZeros64(word)]; x != Unscored {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	return low, high
}

// spreadScores sets work.raw to what PodTopologySpread scores. The order of the
// operations is the contract: the bits are kube-scheduler's.
func (p *Profile) spreadScores(s *shape) {
	w := &p.work
	feasible := w.fits.Count()
	scored := &w.scored
	scored.CopyFrom(&w.fits)
	if s.all {
		for i := range s.soft {
			values := s.soft[i].column.values
			for r := range scored.All() {
				if values[r] == missing {
					scored.Clear(r)
				}
			}
		}
		if n := scored.Count(); n < feasible {
			for r := range w.fits.All() {
				w.raw[r] = Unscored
			}
			feasible = n
		}
	}
	w.sums = resized(w.sums, len(w.totals))
	for r := range scored.All() {
		w.sums[r] = 0
	}
	for i := range s.soft {
		c := &s.soft[i]
		skew := float64(c.maxSkew - 1)
		if c.key == corev1.LabelHostname {
			weight := logOf(feasible + 2)
			w.spreadHosts(c, weight, skew)
			continue
		}
		w.spreadDomains(c, skew)
	}
	for k, word := range scored.Words() {
		for base := 64 * k; word != 0; word &= word - 1 {
			r := base + bits.TrailingZeros64(word)
			w.raw[r] = int64(math.Round(w.sums[r]))
		}
	}
}

// spreadHosts adds the score of each row's own pods.
func (w *workspace) spreadHosts(c *constraint, weight, skew float64) {
	counts, values := c.count.counts, c.column.values
	for k, word := range w.scored.Words() {
		for base := 64 * k; word != 0; word &= word - 1 {
			r := base + bits.TrailingZeros64(word)
			if values[r] != missing {
				w.sums[r] += float64(float64(counts[r])*weight) + skew
			}
		}
	}
}

// spreadDomains adds the score of each row's domain.
func (w *workspace) spreadDomains(c *constraint, skew float64) {
	values, sums := c.column.values, c.sum.sums
	// The weight grows with the number of domains that have a row.
	w.seen = resized(w.seen, (len(sums)+63)/64)
	clear(w.seen)
	for k, word := range w.scored.Words() {
		for base := 64 * k; word != 0; word &= word - 1 {
			domain := max(values[base+bits.TrailingZeros64(word)], 0) // without the label it is ""
			w.seen[domain/64] |= 1 << (domain % 64)
		}
	}
	size := 0
	for _, word := range w.seen {
		size += bits.OnesCount64(word)
	}
	weight := logOf(size + 2)
	w.domains = resized(w.domains, len(sums))
	for d, sum := range sums {
		w.domains[d] = float64(float64(sum)*weight) + skew
	}
	for k, word := range w.scored.Words() {
		for base := 64 * k; word != 0; word &= word - 1 {
			r := base + bits.TrailingZeros64(word)
			if domain := values[r]; domain != missing {
				w.sums[r] += w.domains[domain]
			}
		}
	}
}

// podScores sets work.raw to what InterPodAffinity scores.
func (p *Profile) podScores(s *shape) {
	w := &p.work
	for r := range w.fits.All() {
		w.raw[r] = 0
	}
	for i := range s.preferred {
		t := &s.preferred[i]
		if t.sum.total != 0 {
			w.addDomains(t.sum.key.values, t.sum.sums, t.weight)
		}
	}
	if !s.scoreNone {
		for key, sums := range s.existing.scores {
			column := s.existing.columns[key]
			w.addDomains(column.values, p.spread(column, sums), 1)
		}
	}
}

// addDomains adds sums by domain to work.raw.
func (w *workspace) addDomains(values []int32, sums []int64, weight int64) {
	for k, word := range w.fits.Words() {
		for base := 64 * k; word != 0; word &= word - 1 {
			r := base + bits.TrailingZeros64(word)
			if domain := values[r]; domain != missing {
				w.raw[r] += weight * sums[domain]
			}
		}
	}
}

// Explanation says how kube-scheduler comes to its verdict and total of a row.
type Explanation struct {
	Reason  Reason        // [Fits], or why the row is not feasible; then nothing else is set
	Plugins []PluginScore // that score, in the order of Kubernetes' default profile
	Total   int64
}

// PluginScore is the score of a plugin. Of one that skips the pod Raw and Score are 0.
type PluginScore struct {
	Plugin Plugin
	Raw    int64 // before it is normalized
	Score  int64 // over all feasible rows, 0 to 100
	Weight int64
}

// Explain returns what makes the total of a row, which must be selected. Errors are those of
// [Profile.Totals].
func (p *Profile) Explain(q Question, row int) (Explanation, error) {
	if row < 0 || row >= p.cluster.nodes.Len() {
		panic(panicRow)
	}
	s, err := p.ask(q)
	if err != nil {
		return Explanation{}, err
	}
	if q.Rows != nil && !q.Rows.Test(row) {
		panic("profile: row is not selected")
	}
	w := &p.work
	if !w.fits.Test(row) {
		var capable, only vector.Mask
		only.Reset(w.fits.Len())
		only.Set(row)
		vector.FitAmong(&capable, p.cluster.nodes.Free(), q.Amounts.Requested, &only)
		return Explanation{Reason: p.reason(s, q.Pod, row, capable.Test(row))}, nil
	}
	n := len(p.cluster.rows)
	w.totals, w.raw = resized(w.totals, n), resized(w.raw, n)
	var e Explanation
	add := func(x PluginScore) {
		e.Plugins = append(e.Plugins, x)
		e.Total += x.Weight * x.Score
	}
	for i := range weighted {
		if i == weighSpread { // scores of resources stand before it
			for _, t := range p.terms {
				if err := t.Scores.ScorePercent(w.raw, q.Amounts, &w.fits); err != nil {
					return Explanation{}, err
				}
				add(PluginScore{t.Plugin, w.raw[row], w.raw[row], t.Weight})
			}
		}
		if p.settings.weights[i] == 0 {
			continue
		}
		score := p.scoreOf(s, i)
		x := PluginScore{Plugin: weightedPlugins[i].name, Weight: p.settings.weights[i], Score: score.of(0)}
		if score.raw != nil {
			x.Raw, x.Score = score.raw[row], score.of(score.raw[row])
		}
		if x.Raw == Unscored {
			x.Raw = 0
		}
		add(x)
	}
	return e, nil
}
