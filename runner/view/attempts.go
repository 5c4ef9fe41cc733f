package view

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// Attempts is the fold of the attempts of a run that have not answered: those under way, and those whose driver went away. It is a
// fold of its own, for whoever looks at a run from outside. Make it with [NewAttempts].
type Attempts struct {
	live map[uint64]*Begun
	lost []*Begun
	last event.Time
	// Left counts the first interrupted attempts, which are left out where there are more than MaxTries.
	Left int
}

// Begun is an attempt that was asked for and has not answered.
type Begun struct {
	Ticket     uint64
	Run        string
	Node       string // the instance's path
	Name       string // the declared name
	Attempt    int
	Gate       string
	Compensate bool
	StartedAt  event.Time
	Agent      string // that carries it out; "" if no agent does
	// Command is what the attempt carries out, in a line: the program with its arguments, the script, or the request. A secret is not in it.
	Command string
	// Interrupted is why it never answers, "" while it is under way. Heard is then the last that the journal knows of its driver,
	// and NextDriver the number of the event that took the run over, 0 while nobody has.
	Interrupted string
	Heard       event.Time
	NextDriver  uint64
	Over        event.Time // when that was

	// What no journal has, and whoever looks sets as far as it is known: the process of an attempt under way, what it said of its
	// progress last, and the ends of what it wrote.
	Process        int
	Says           string
	Stdout, Stderr string
	// StdoutLog and StderrLog are the files that hold all of it, relative to the store; "" where nothing was written.
	StdoutLog, StderrLog string
}

// Why an attempt is interrupted.
const (
	DriverDied    = "the process that ran it died"
	DriverStopped = "the process that ran it was stopped"
)

// NewAttempts makes the fold of a run that has not begun.
func NewAttempts() *Attempts { return &Attempts{live: map[uint64]*Begun{}} }

// Apply takes in one batch, or one event with what it caused.
func (a *Attempts) Apply(events []event.Event, reaction *event.Reaction) {
	for i := range events {
		switch ev := &events[i]; {
		case ev.AttemptFinished != nil:
			delete(a.live, ev.AttemptFinished.Ticket)
		case ev.DriverChanged != nil && ev.DriverChanged.Why == event.NobodyBefore: // nothing was carried out
			clear(a.live)
		case ev.DriverChanged != nil:
			if ev.DriverChanged.Since != 0 { // a cancel that came after the driver's end may stand before
				a.last = ev.DriverChanged.Since
			}
			for ticket, b := range a.live { // any order: each for itself
				if ev.DriverChanged.NeverBegan(b.StartedAt) {
					delete(a.live, ticket)
				}
			}
			a.lost = append(a.lost, a.interrupted(ev.DriverChanged.Lost, ev.Seq, ev.At)...)
			clear(a.live)
			if left := len(a.lost) - MaxTries; left > 0 {
				a.lost = slices.Delete(a.lost, 0, left)
				a.Left += left
			}
		}
		a.last = events[i].At
	}
	for i := range reaction.Commands {
		if c := reaction.Commands[i].Start; c != nil {
			agent := ""
			if c.Agent != nil {
				agent = c.Agent.Name
			}
			a.live[c.Ticket] = &Begun{Agent: agent, Ticket: c.Ticket, Run: c.Run, Node: c.Node, Name: c.Name, Attempt: c.Attempt, Gate: c.Gate,
				Compensate: c.Compensate, StartedAt: a.last, Command: commandOf(c)}
		}
	}
}

// maxCommand bounds the text of a command, in bytes.
const maxCommand = 500

// commandOf puts what an attempt carries out into a line.
func commandOf(a *event.Attempt) string {
	text := a.Script
	switch {
	case a.HTTP != nil:
		text = a.HTTP.Method + " " + a.HTTP.URL
	case len(a.Argv) > 0:
		text = strings.Join(a.Argv, " ")
	}
	return strings.ToValidUTF8(text[:min(len(text), maxCommand)], "")
}

// interrupted gives the attempts that are under way as the loss of their driver leaves them.
func (a *Attempts) interrupted(died bool, next uint64, over event.Time) []*Begun {
	list := a.Live()
	for i := range list {
		b := *list[i]
		b.Interrupted, b.Heard, b.NextDriver, b.Over = DriverStopped, a.last, next, over
		if died {
			b.Interrupted = DriverDied
		}
		list[i] = &b
	}
	return list
}

// Live gives the attempts that are under way, in the order of their starts.
func (a *Attempts) Live() []*Begun {
	list := make([]*Begun, 0, len(a.live))
	for _, b := range a.live { // any order: sorted below
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *Begun) int { return int(a.Ticket) - int(b.Ticket) })
	return list
}

// Interrupted gives the same, of a run that nobody drives now; died tells that its driver did.
func (a *Attempts) Interrupted(died bool) []*Begun { return a.interrupted(died, 0, 0) }

// Lost gives those whose run was taken over after they had lost their driver, in order; at most MaxTries.
func (a *Attempts) Lost() []*Begun { return a.lost }

// MayWrite reports whether a program, an agent or a request carries the attempt out. A step of the store such as kv writes no log.
func (b *Begun) MayWrite() bool { return b.Command != "" || b.Agent != "" }

// Wrote reports whether anything is known of what the attempt wrote.
func (b *Begun) Wrote() bool { return b.Stdout != "" || b.Stderr != "" }
