package learn

import (
	"slices"

	"github.com/flowrun/flowrun/memory/text"
)

// termSet are the terms of a text, sorted, each once.
func termSet(s string) []string {
	t := text.Terms(s)
	slices.Sort(t)
	return slices.Compact(t)
}
