package learn

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
)

// Importance is what an entry weighs before it has repeats, without a model's opinion: 0 to 1.
func Importance(t entry.Type, tags []string) float64 {
	tenths := 5
	switch t {
	case entry.Failure:
		tenths = 7
	case entry.Insight, entry.Pattern, entry.Decision:
		tenths = 6
	case entry.Success:
		tenths = 4
	}
	if slices.Contains(tags, "critical") || slices.Contains(tags, "security") {
		tenths++
	}
	return float64(tenths) / 10
}

// Tags brings tags into their form: lower case, no spaces around, each once, sorted, at most [MaxTags] of [MaxTag] bytes.
func Tags(tags ...string) []string {
	var out []string
	for _, t := range tags {
		if t = Clip(strings.ToLower(strings.Join(strings.Fields(t), "-")), MaxTag); t != "" && !slices.Contains(out, t) && len(out) < MaxTags {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return out
}
