package document

import (
	"iter"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PluginArguments returns the arguments of a plugin in a configuration of Volcano's
// scheduler, for every entry of that name in tiers[i].plugins[j]; they are absent
// where an entry has none. That there is no entry, or more than one, is noted, the
// former with a hint. Its switches, such as enableNodeOrder, are the scheduler's own
// matter, and so are other plugins and what else the document holds.
func PluginArguments(root Value, plugin, hint string) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if root.source == nil {
			return
		}
		r := root.source.report
		tiers := root.Fields().Get("tiers")
		entries, isRead := 0, true
		for _, tier := range tiers.Items() {
			list := tier.Fields().Get("plugins")
			for _, entry := range list.Items() {
				if name := entry.Peek("name"); name.Kind() != Text || name.Written() != plugin {
					continue
				}
				x := entry.Fields()
				x.Known(append(switches(entry), "name", "arguments")...)
				if entries++; entries > 1 {
					r.Fail(field.Duplicate(field.NewPath(x.Get("name").Path()), plugin))
				}
				if !yield(x.Get("arguments")) {
					return
				}
			}
			isRead = isRead && !r.IsUnread(list.Path())
		}
		if entries == 0 && isRead {
			r.Fail(field.Required(field.NewPath(tiers.Path()), "no plugin is named "+plugin+hint))
		}
	}
}

// switches returns the keys of a plugin's entry that turn its parts on and off.
func switches(entry Value) (keys []string) {
	for _, key := range entry.Keys() {
		if strings.HasPrefix(key, "enable") {
			keys = append(keys, key)
		}
	}
	return keys
}
