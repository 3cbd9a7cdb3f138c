package quota

import (
	"cmp"
	"slices"
	"strings"
)

// quotaKey is the annotation that a queue's Cards take the place of.
func (c *Config) quotaKey() string { return cmp.Or(c.QuotaKey, QuotaAnnotation) }

// requestKey is the annotation of jobs.
func (c *Config) requestKey() string { return cmp.Or(c.RequestKey, RequestAnnotation) }

// nameKey is the annotation of pods.
func (c *Config) nameKey() string { return cmp.Or(c.NameKey, NameAnnotation) }

// queueKeys lists the annotations of queues, the quota's first.
func (c *Config) queueKeys() []string {
	return distinct(c.quotaKey(), c.GuaranteeKey, c.DeservedKey)
}

// keys lists the annotations of all objects, those that other keys take the place of, too.
func (c *Config) keys() []string {
	return distinct(c.quotaKey(), c.GuaranteeKey, c.DeservedKey, c.requestKey(), c.nameKey(), QuotaAnnotation, RequestAnnotation, NameAnnotation)
}

// distinct returns each key once, without empty ones.
func distinct(keys ...string) (list []string) {
	for _, key := range keys {
		if key != "" && !slices.Contains(list, key) {
			list = append(list, key)
		}
	}
	return list
}

// ignored returns notes on annotations of an object that look as if they counted, and don't:
// they are similar to a known key, or below what it begins with. what is read from such objects,
// and from which keys; those of expected are no mistake.
func ignored(annotations map[string]string, known []string, what string, read, expected []string) (notes []entryError) {
	for key, text := range annotations {
		isLike := func(other string) bool { return isSimilar(key, other) }
		switch {
		case slices.Contains(read, key), slices.Contains(expected, key), strings.TrimSpace(text) == "":
		case slices.ContainsFunc(known, func(other string) bool { return isBelow(key, family(other)) || isLike(other) }):
			from := read[max(slices.IndexFunc(read, isLike), 0)]
			notes = append(notes, entryError{Code: codeIgnoredAnnotation, Field: key, Value: what + " are read from " + from})
		}
	}
	// A map has no order.
	slices.SortFunc(notes, func(a, b entryError) int { return cmp.Compare(a.Field, b.Field) })
	return notes
}

// family returns what an annotation begins with that comes in several, such as
// volcano.sh/card. of volcano.sh/card.quota; empty: it has a name of its own in its domain,
// which is of others, too.
func family(key string) string {
	dot := strings.LastIndexByte(key, '.')
	if dot < strings.IndexByte(key, '/') {
		return ""
	}
	return key[:dot+1]
}

func isBelow(key, family string) bool { return family != "" && strings.HasPrefix(key, family) }
