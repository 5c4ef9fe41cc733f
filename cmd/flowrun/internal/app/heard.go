package app

import (
	"sync"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Bounds of what is heard of agents while they work.
const (
	TellEvery   = time.Second // is how often one node is told of; what it said in between is lost but for the last
	maxSpeakers = 1000        // nodes that are listened to at once
	maxSaying   = 1 << 10     // bytes of one saying
)

// heard keeps what agents say while they work until the screen has time for it. Nothing of it is stored. It is safe for
// concurrent use, never blocks an agent, and its zero value listens to nobody.
type heard struct {
	mu    sync.Mutex
	run   string
	nodes map[string]*speaker
	order []string // in which they spoke first
}

type speaker struct {
	last ui.Saying // of what was not told yet; no text: nothing
	next time.Time // when it may be told of again
}

// only listens to the agents of one run.
func (h *heard) only(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.run, h.nodes, h.order = run, map[string]*speaker{}, nil
}

// hear is for executors. What says only that the agent lives has no text.
func (h *heard) hear(a event.Attempt, _, text string) {
	if text == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.nodes[a.Node]
	if a.Run != h.run || s == nil && len(h.nodes) == maxSpeakers {
		return
	}
	if s == nil {
		s = &speaker{}
		h.nodes[a.Node], h.order = s, append(h.order, a.Node)
	}
	s.last = ui.Saying{Node: a.Node, Attempt: a.Attempt, Text: executor.Clip(text, maxSaying)}
}

// take gives what has not been told yet, of those that it is time to speak of again. Who has been silent for as long is
// forgotten.
func (h *heard) take(now time.Time) (list []ui.Saying) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.order[:0]
	for _, node := range h.order {
		s := h.nodes[node]
		switch {
		case now.Before(s.next):
		case s.last.Text == "":
			delete(h.nodes, node)
			continue
		default:
			list = append(list, s.last)
			s.last, s.next = ui.Saying{}, now.Add(TellEvery)
		}
		kept = append(kept, node)
	}
	h.order = kept
	return list
}
