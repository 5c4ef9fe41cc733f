package machine

import (
	"bytes"
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/snapshot/snapshottest"
)

// Sparse makes restoring ten times as rare: it is two thirds of what a random month costs.
var Sparse bool

// Restored is a machine that is written as bytes after each of the first fifty events, and after one in
// forty from then on. It goes on as the machine that is read from them. It panics if that is not
// the same machine.
type Restored struct {
	*Machine
	events int
}

// Advance implements engine.Machine.
func (r *Restored) Advance(budget int, out *event.Reaction) bool {
	if r.Machine.Advance(budget, out) {
		return true
	}
	first, each := 50, 40
	if Sparse {
		first, each = 5, 400
	}
	if r.events++; r.events > first && r.events%each > 0 {
		return false
	}
	state, err := r.AppendState(nil, 0)
	if err != nil {
		panic(err)
	}
	m, err := Restore(r.graph, r.loop, r.eval, r.rules, state)
	if err != nil {
		panic(err)
	}
	again, err := m.AppendState(nil, 0)
	if err != nil || !bytes.Equal(state, again) {
		panic(fmt.Sprintf("a machine of %d bytes is restored as one of %d (%v)", len(state), len(again), err))
	}
	if err := snapshottest.Same(r.Machine, m, map[string]bool{"Machine.composer": true, "Machine.noted": true, "Machine.out": true, "Machine.eval": true}); err != nil {
		panic(err)
	}
	r.Machine = m
	return false
}
