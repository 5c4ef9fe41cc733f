package runner

import (
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Bounds of the progress that is kept.
const (
	// ProgressEvery is how often the progress of one node is given out. Of the texts in between, the last one is kept.
	ProgressEvery = time.Second
	// MaxProgressText bounds one text, in bytes.
	MaxProgressText = 1 << 10
	maxProgressNode = 1000 // nodes at once
)

// Text is the last text of an agent that works.
type Text struct {
	Node    string // the path of the instance
	Attempt int
	Text    string
}

// Progress keeps the last texts of the agents of one run until a screen takes them. No text is stored. It is safe for
// concurrent use, never blocks an agent, and its zero value has nothing to give.
type Progress struct {
	mu    sync.Mutex
	nodes map[string]*speaker
	order []string // nodes, the first speaker first
}

type speaker struct {
	last Text      // not given out yet; empty if there is none
	next time.Time // when the next text may be given out
}

// addText keeps a text of an attempt. An empty text only says that the agent lives.
func (p *Progress) addText(a *event.Attempt, text string) {
	if text == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.nodes[a.Node]
	if s == nil && len(p.nodes) == maxProgressNode {
		return
	}
	if p.nodes == nil {
		p.nodes = map[string]*speaker{}
	}
	if s == nil {
		s = &speaker{}
		p.nodes[a.Node], p.order = s, append(p.order, a.Node)
	}
	s.last = Text{Node: a.Node, Attempt: a.Attempt, Text: executor.Clip(text, MaxProgressText)}
}

// Take gives the texts that are due at now and were not given out before. It forgets a node that has been silent for [ProgressEvery].
func (p *Progress) Take(now time.Time) (list []Text) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.order[:0]
	for _, node := range p.order {
		s := p.nodes[node]
		switch {
		case now.Before(s.next):
		case s.last.Text == "":
			delete(p.nodes, node)
			continue
		default:
			list = append(list, s.last)
			s.last, s.next = Text{}, now.Add(ProgressEvery)
		}
		kept = append(kept, node)
	}
	p.order = kept
	return list
}
