package document

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// IsConfigMap is the hint that a document is the ConfigMap with the configuration.
const IsConfigMap = "; this is a ConfigMap: give the text in its data"

// PluginArguments returns the arguments of a plugin in a configuration of Volcano's
// scheduler, for every entry of that name in tiers[i].plugins[j]; they are absent
// where an entry has none. That there is no entry, or more than one, is noted, the
// former with what the document is instead, as the names of the arguments show.
// The plugin's switches, such as enableNodeOrder, are the scheduler's own matter, and
// so are other plugins and what else the document holds.
func PluginArguments(root Value, plugin string, names ...string) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if root.source == nil {
			return
		}
		r := root.source.report
		tiers := root.Fields().Get("tiers")
		entries, isRead := 0, true
		var malformed []func() // entries without a name
		for _, tier := range tiers.Items() {
			list := tier.Fields().Get("plugins")
			for _, entry := range list.Items() {
				name := entry.Peek("name")
				switch {
				case entry.Kind() != Mapping:
					malformed = append(malformed, func() { entry.Wrong("a mapping with a name") })
					continue
				case name.Kind() == Absent:
					malformed = append(malformed, func() { r.Fail(field.Required(field.NewPath(name.Path()), "the name of a plugin")) })
					continue
				case name.Kind() != Text:
					malformed = append(malformed, func() { name.Wrong("a string") })
					continue
				case name.Written() != plugin:
					continue
				}
				x := entry.Fields()
				x.KnownBut("enable", "name", "arguments") // these turn its parts on and off
				if entries++; entries > 1 {
					r.Fail(field.Duplicate(field.NewPath(x.Get("name").Path()), plugin))
				}
				if !yield(x.Get("arguments")) {
					return
				}
			}
			isRead = isRead && !r.IsUnread(list.Path())
		}
		switch {
		case entries > 0 || !isRead:
		case len(malformed) > 0:
			for _, note := range malformed {
				note()
			}
		default:
			r.Fail(field.Required(field.NewPath(tiers.Path()), "no plugin is named "+plugin+notConf(root, names)))
		}
	}
}

// notConf says what a document is instead of a scheduler's configuration, "" when
// that is not known.
func notConf(root Value, names []string) string {
	switch {
	case root.Peek("kind").Written() == "ConfigMap":
		return IsConfigMap
	case slices.ContainsFunc(names, func(key string) bool { return root.Peek(key).Kind() != Absent }):
		return "; these are the arguments of the plugin: use ParseArguments"
	}
	return ""
}
