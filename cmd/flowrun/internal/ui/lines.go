package ui

import (
	"bytes"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Heartbeat is how often a step that takes long says that it still runs, where there is no live tree.
const Heartbeat = 30 * time.Second

// HeldTime and HeldBytes bound what waits for the next write: a run that moves fast writes ten times a second and not once a
// step. What comes after a pause, a failure and the end are written at once.
const (
	HeldTime  = 100 * time.Millisecond // of the run's time; Tick writes by the clock
	HeldBytes = 16 << 10
)

// Lines shows a run as one line per change.
type Lines struct {
	t     *Term
	scene Scene
	run   *view.Run
	beats []beat // of what runs, in order of start; may hold what ended since
	held  bytes.Buffer
	wrote event.Time // of the last line that was written
}

// beat is a node with the time when it is next spoken of.
type beat struct {
	node    *view.Node
	attempt int
	next    event.Time
	work    *view.Begun // what was seen of it from outside; nil: nothing
}

// NewLines makes a Progress for a stream that is not a terminal.
func NewLines(t *Term, s Scene) *Lines { return &Lines{t: t, scene: s} }

// Update implements Progress.
func (p *Lines) Update(r *view.Run, lines []view.Line, past bool) {
	p.run = r
	b, urgent := &p.held, false
	for i := range lines {
		l := &lines[i]
		if !past {
			b.WriteString(sentence(p.t, l))
			b.WriteByte('\n')
		}
		if !past && failed(l) {
			b.WriteString(details(p.t, &p.scene, l))
			urgent = true
		}
		if l.Status != event.Running || !l.Leaf || l.Gate != nil || l.Note != "" || l.AsksToEnd() {
			continue
		}
		if n := r.Node(l.Node); n != nil {
			p.beats = append(p.beats, beat{n, l.Attempt, l.Time.Add(Heartbeat), nil})
		}
	}
	if n := len(lines); n > 0 && (urgent || lines[n-1].End != nil || lines[n-1].Time.Sub(p.wrote) >= HeldTime || b.Len() >= HeldBytes) {
		p.wrote = lines[n-1].Time
		p.write()
	}
}

// write writes what is held.
func (p *Lines) write() {
	if p.held.Len() > 0 {
		p.t.Printf("%s", p.held.String())
		p.held.Reset()
	}
}

// Tick implements Progress.
func (p *Lines) Tick(now time.Time) {
	p.write()
	if p.run != nil && p.run.Stands != 0 {
		return // nothing runs
	}
	kept := p.beats[:0]
	for _, b := range p.beats {
		if b.node.Status != event.Running || b.node.Attempt != b.attempt || len(b.node.Children) > 0 {
			continue
		}
		if event.At(now) >= b.next {
			p.t.Printf("%s: still running after %s%s\n", Clean(b.node.Title()), Duration(b.node.Duration(event.At(now))), lastWord(b.work))
			b.next = event.At(now).Add(Heartbeat)
		}
		kept = append(kept, b)
	}
	p.beats = kept
}

// Close implements Progress.
func (p *Lines) Close(time.Time) { p.write() }

// Hear implements Progress.
func (p *Lines) Hear(s Saying) {
	p.write()
	if n := s.of(p.run); n != nil {
		p.t.Printf("%s: says: %s\n", Clean(n.Title()), s.words())
	}
}

// Work implements Progress: it is told when the attempt is spoken of next.
func (p *Lines) Work(b *view.Begun) {
	for i := range p.beats {
		if p.beats[i].node.Path == b.Node && p.beats[i].attempt == b.Attempt {
			p.beats[i].work = b
		}
	}
}

// Say implements Progress.
func (p *Lines) Say(text string) {
	p.write()
	p.t.Printf("%s\n", text)
}
