package ui

import (
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Repaint is the interval of updates of the live tree. A stream without a tree is updated as often,
// and prints rarely.
const Repaint = 100 * time.Millisecond

// Bounds of the screen of a run that another process drives: how often it looks, and at how many
// attempts.
const (
	glanceEvery = time.Second
	maxGlance   = 64
)

// maxKeptLines bounds the memory that is kept for the lines of the next batch.
const maxKeptLines = 4096

// Live shows the progress of a run while the run goes on. It is safe for concurrent use, and must be closed.
type Live struct {
	mu   sync.Mutex // the watcher and the ticker come from two goroutines
	run  *view.Run
	p    Progress
	hear func(now time.Time) []Saying
	done chan struct{}

	lines   []view.Line // of the last batch: the next takes their memory
	glanced time.Time   // see Look
}

// NewProgress picks the form of the progress: JSON lines on out, a tree on a terminal, lines elsewhere.
func NewProgress(out, err *Term, scene Scene, asJSON bool) Progress {
	switch {
	case asJSON:
		return NewEvents(out)
	case err.Live && !scene.Logs:
		return NewTree(err, scene)
	}
	return NewLines(err, scene)
}

// NewLive shows a run. hear gives the new output of agents. A panic of the screen must not end the run: failed hears of it.
func NewLive(p Progress, run *view.Run, hear func(now time.Time) []Saying, failed func(defect any)) *Live {
	run.Forget()
	l := &Live{run: run, p: p, hear: hear, done: make(chan struct{})}
	go func() {
		defer func() {
			if defect := recover(); defect != nil {
				failed(defect)
			}
		}()
		l.tick()
	}()
	return l
}

// tick updates the screen until it is closed.
func (l *Live) tick() {
	ticks := time.NewTicker(Repaint)
	defer ticks.Stop()
	for {
		select {
		case <-l.done:
			return
		case now := <-ticks.C:
			l.paint(now)
		}
	}
}

func (l *Live) paint(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock() // also if the screen fails
	l.showSayings(now)
	l.p.Tick(now)
}

// Watch takes a batch of the run, as an engine.Watcher does.
func (l *Live) Watch(events []event.Event, r *event.Reaction, replayed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.showSayings(time.Now()) // before it is over
	lines := l.run.ApplyTo(l.lines, events, r)
	l.p.Update(l.run, lines, replayed)
	if cap(lines) <= maxKeptLines {
		l.lines = lines
	}
}

// showSayings shows the new output of agents.
func (l *Live) showSayings(now time.Time) {
	for _, s := range l.hear(now) {
		l.p.Hear(s)
	}
}

// Look shows the facts that no journal holds about a run that another process drives: whether a process drives the run, and the output of
// its attempts. Look calls underWay at most once a second, and underWay may change the view of the run.
func (l *Live) Look(driven bool, underWay func() []*view.Begun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if driven == l.run.Driven && time.Since(l.glanced) < glanceEvery {
		return
	}
	l.glanced = time.Now()
	begun := underWay()
	for _, b := range begun[:min(len(begun), maxGlance)] {
		if b.Interrupted == "" {
			l.p.Work(b)
		}
	}
}

// Say shows a text.
func (l *Live) Say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.p.Say(text)
}

// Print calls a function that prints on the stream of the screen, between two updates. An error is shown. Do not use it with a tree.
func (l *Live) Print(print func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.p.Tick(time.Now()) // what is held
	if err := print(); err != nil {
		l.p.Say(Clean(err.Error()))
	}
}

// Close ends the updates, and leaves the last state on the screen.
func (l *Live) Close() {
	close(l.done)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.p.Close(time.Now())
}
