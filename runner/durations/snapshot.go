package durations

import "github.com/flowrun/flowrun/runner/snapshot"

// Code writes the tally to a snapshot, or reads it from one.
func (t *Tally) Code(s *snapshot.Coder) {
	text := func(v *string) { snapshot.Text(s, v) }
	snapshot.Map(s, &t.live, text, func(us *int64) { snapshot.Int(s, us) })
	snapshot.Map(s, &t.whole, text, func(is *bool) { s.Bools(is) })
	snapshot.Map(s, &t.nodes, text, func(n **seen) {
		snapshot.Owned(s, n, func(n *seen) {
			snapshot.List(s, &n.samples, func(us *int64) { snapshot.Int(s, us) })
			snapshot.Int(s, &n.every)
			snapshot.Int(s, &n.ends)
		})
	})
	s.Bools(&t.full)
}
