package local

import (
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/shared"
)

// haltsEvery is how long a process relies on what it has read of an agent that may start attempts. What another process stops can
// start here for so long.
const haltsEvery = 10 * time.Millisecond

// halts remembers which agents may start attempts: they were not stopped, and the other side has named no moment. An agent that
// may not is read each time: its attempts go to the line.
type halts struct {
	mu      sync.Mutex
	free    map[string]time.Time // when an agent was read that may start attempts
	changed time.Time            // what was read before is not relied on
}

// forget makes the next attempts read the store. A process calls it after it has changed rows of agents.
func (h *halts) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed = time.Now()
}

// isHalted reports whether an agent starts nothing now.
func (h *halts) isHalted(e *Engine, agent string) (bool, error) {
	now := time.Now()
	h.mu.Lock()
	read := h.free[agent]
	relied := read.After(h.changed) && now.Sub(read) < haltsEvery
	h.mu.Unlock()
	if relied {
		return false, nil
	}
	halted, err := shared.IsHalted(e.readRows(), agent, e.now())
	if err != nil || halted {
		return halted, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.free == nil {
		h.free = map[string]time.Time{}
	}
	h.free[agent] = now
	return false, nil
}
