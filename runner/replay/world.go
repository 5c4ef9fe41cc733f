package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// World is what a journal knows of what lies outside of a machine. Make it with [NewWorld], and let it learn every event of a run,
// with what its own machine made of it.
type World struct {
	began, last event.Time
	ended       bool
	answers     map[key][]*answer
	lates       map[key][]*lateness
	others      []event.Event     // what came by itself: wishes, changes of drivers
	asks        map[string][]*ask // by node

	byTicket map[uint64]*answer
	byRun    map[string]*answer
	byTimer  map[uint64]*lateness
}

// key is what attempts, calls and timers are known again by, besides how often they came.
type key struct {
	node    string
	what    string // a gate, "compensation", "call", "timer WHY"; "" is the node's own action
	attempt int
}

// answer is how an attempt or a call ended, if it did.
type answer struct {
	request any // *event.Attempt or *event.StartChild
	asked   event.Time
	cutAt   event.Time // when the machine asked to end it; 0: never
	event   *event.Event
	at      event.Time
	took    time.Duration
	seq     uint64
	again   bool // the machine asked for the same under another ticket, and that one was answered
}

// lateness is how long after its time a timer fired.
type lateness struct {
	set, due event.Time
	late     time.Duration
	fired    event.Time // 0: it has not
	seq      uint64
}

// ask is what people were asked for, and what they decided.
type ask struct {
	request   *event.Ask
	at        event.Time
	decisions []event.Event
}

// NewWorld makes a world that knows nothing.
func NewWorld() *World {
	return &World{answers: map[key][]*answer{}, lates: map[key][]*lateness{}, byTicket: map[uint64]*answer{}, byRun: map[string]*answer{},
		byTimer: map[uint64]*lateness{}, asks: map[string][]*ask{}}
}

// Learn takes in the next event of the run, and the commands that it caused.
func (w *World) Learn(ev event.Event, commands []event.Command) {
	w.last = ev.At
	switch {
	case ev.RunStarted != nil:
		w.began = ev.At
	case ev.AttemptFinished != nil:
		w.finished(w.byTicket[ev.AttemptFinished.Ticket], ev)
	case ev.ChildFinished != nil:
		w.finished(w.byRun[ev.ChildFinished.Run], ev)
	case ev.TimerFired != nil:
		if l := w.byTimer[ev.TimerFired.Timer]; l != nil && l.seq == 0 { // a host may fire a timer twice, and the machine ignores the second time
			l.late, l.fired, l.seq = took(l.due, ev.At), ev.At, ev.Seq
		}
	default:
		w.others = append(w.others, ev)
		w.decided(ev)
	}
	for i := range commands {
		w.asked(ev.At, &commands[i])
	}
}

// finished notes the first answer to a question; later ones were dropped.
func (w *World) finished(a *answer, ev event.Event) {
	if a == nil || a.event != nil {
		return
	}
	a.event, a.at, a.seq, a.took = &ev, ev.At, ev.Seq, took(a.asked, ev.At)
}

func (w *World) asked(at event.Time, c *event.Command) {
	switch {
	case c.Start != nil && w.byTicket[c.Start.Ticket] == nil: // another driver asks again
		a := &answer{request: c.Start, asked: at}
		k := attemptKey(c.Start)
		if list := w.answers[k]; len(list) > 0 {
			before := list[len(list)-1]
			before.again = before.event == nil && before.request.(*event.Attempt).Key == c.Start.Key
		}
		w.byTicket[c.Start.Ticket], w.answers[k] = a, append(w.answers[k], a)
	case c.StartChild != nil && w.byRun[c.StartChild.Run] == nil:
		a := &answer{request: c.StartChild, asked: at}
		k := callKey(c.StartChild)
		w.byRun[c.StartChild.Run], w.answers[k] = a, append(w.answers[k], a)
	case c.Cancel != nil && w.byTicket[c.Cancel.Ticket] != nil:
		w.byTicket[c.Cancel.Ticket].cut(at)
	case c.CancelChild != nil && w.byRun[c.CancelChild.Run] != nil:
		w.byRun[c.CancelChild.Run].cut(at)
	case c.SetTimer != nil:
		l := &lateness{set: at, due: c.SetTimer.Due}
		k := timerKey(c.SetTimer)
		w.byTimer[c.SetTimer.Timer], w.lates[k] = l, append(w.lates[k], l)
	case c.Ask != nil:
		w.asks[c.Ask.Node] = append(w.asks[c.Ask.Node], &ask{request: c.Ask, at: at})
	case c.End != nil:
		w.ended = true
	}
}

// decided notes what a person decided for an ask.
func (w *World) decided(ev event.Event) {
	x := ev.External
	if x == nil || x.Kind != event.ExternalDecision {
		return
	}
	d, err := event.DecisionOf(x.Data)
	if err != nil {
		return // the machine drops it, too
	}
	for _, a := range w.asks[x.Node] {
		if a.request.Number == d.Ask {
			a.decisions = append(a.decisions, ev)
		}
	}
}

// cut notes that the machine asked to end it. An attempt that has answered only leaves a line in which it waited.
func (a *answer) cut(at event.Time) {
	if a.cutAt == 0 && a.event == nil {
		a.cutAt = at
	}
}

// answer is the nth answer to a key, or nil.
func (w *World) answer(k key, n int) *answer {
	if list := w.answers[k]; n < len(list) {
		return list[n]
	}
	return nil
}

// late is how late the nth timer of a key fired, and as which event.
func (w *World) late(k key, n int) (time.Duration, uint64) {
	if list := w.lates[k]; n < len(list) {
		return list[n].late, list[n].seq
	}
	return 0, 0
}

func attemptKey(a *event.Attempt) key {
	k := key{node: a.Node, what: a.Gate, attempt: a.Attempt}
	if a.Compensate {
		k.what = "compensation"
	}
	return k
}

func callKey(c *event.StartChild) key { return key{node: c.Node, what: "call"} }

func timerKey(t *event.SetTimer) key { return key{node: t.Node, what: "timer " + string(t.Purpose)} }

// differs names the fields in which two requests are not the same. Numbers that the machine gives, and keys, are not part of what is
// asked for.
func differs(was, is any) []string {
	a, b := fields(was), fields(is)
	for name := range b { // any order: it fills a map, and the names are sorted
		if _, ok := a[name]; !ok {
			a[name] = nil
		}
	}
	var names []string
	for name, text := range a { // any order: the names are sorted
		if !bytes.Equal(text, b[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func fields(request any) map[string]json.RawMessage {
	text, err := json.Marshal(request)
	if err != nil {
		panic("replay: a request that is not JSON: " + err.Error()) // plain data by construction
	}
	m := map[string]json.RawMessage{}
	_ = json.Unmarshal(text, &m) // of an object that was just written
	for _, name := range []string{"ticket", "key", "run", "base"} {
		delete(m, name)
	}
	return m
}
