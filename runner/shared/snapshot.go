package shared

import (
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/snapshot"
)

// Code writes the tally to a snapshot, or reads it from one.
func (t *UsageTally) Code(s *snapshot.Coder) {
	text := func(v *string) { snapshot.Text(s, v) }
	snapshot.Map(s, &t.live, func(ticket *uint64) { snapshot.Uint(s, ticket) }, text)
	snapshot.Map(s, &t.most, text, snapshot.PlainOf[event.Bounds](s))
}
