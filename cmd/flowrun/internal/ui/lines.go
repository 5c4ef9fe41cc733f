package ui

import (
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Heartbeat is how often a step that takes long says that it still runs, where there is no live tree.
const Heartbeat = 30 * time.Second

// Lines shows a run as one line per change.
type Lines struct {
	t     *Term
	scene Scene
	run   *view.Run
	beats []beat // of what runs, in order of start; may hold what ended since
}

// beat is a node with the time when it is next spoken of.
type beat struct {
	node    *view.Node
	attempt int
	next    time.Time
}

// NewLines makes a Progress for a stream that is no terminal.
func NewLines(t *Term, s Scene) *Lines { return &Lines{t: t, scene: s} }

// Update implements Progress.
func (p *Lines) Update(r *view.Run, lines []view.Line, past bool) {
	p.run = r
	var b strings.Builder
	if !past {
		b.Grow(len(lines) * 48) // most are about so long
	}
	for i := range lines {
		l := &lines[i]
		if !past {
			b.WriteString(sentence(p.t, l))
			b.WriteByte('\n')
		}
		if !past && failed(l) {
			b.WriteString(details(p.t, &p.scene, l))
		}
		if n := r.Node(l.Node); n != nil && l.Leaf && l.Gate == nil && l.Note == "" && l.Status == event.Running {
			p.beats = append(p.beats, beat{n, l.Attempt, l.Time.Go().Add(Heartbeat)})
		}
	}
	if b.Len() > 0 {
		p.t.Printf("%s", b.String())
	}
}

// Tick implements Progress.
func (p *Lines) Tick(now time.Time) {
	kept := p.beats[:0]
	for _, b := range p.beats {
		if b.node.Status != event.Running || b.node.Attempt != b.attempt || len(b.node.Children) > 0 {
			continue
		}
		if !now.Before(b.next) {
			p.t.Printf("%s: still running after %s\n", Clean(b.node.Path), Duration(b.node.Duration(event.At(now))))
			b.next = now.Add(Heartbeat)
		}
		kept = append(kept, b)
	}
	p.beats = kept
}

// Close implements Progress.
func (p *Lines) Close(time.Time) {}

// Hear implements Progress.
func (p *Lines) Hear(s Saying) {
	if n := s.of(p.run); n != nil {
		p.t.Printf("%s: says: %s\n", Clean(n.Path), s.words())
	}
}

// Say implements Progress.
func (p *Lines) Say(text string) {
	p.t.Printf("%s\n", text)
}
