package flowtest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	loop "github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

// MostIdle bounds a test of a loop that does not say how long it takes.
const MostIdle = 30 * 24 * time.Hour

// loopRun is what was seen of the run of a loop.
type loopRun struct {
	machine *loop.Machine // the newest
	claims  map[string]*event.ClaimRequest
	taken   []*taken
	reason  string // why it ended, in words
	before  *seen  // the run where this one goes on; nil: it is the first
}

// taken is an item that was taken once.
type taken struct {
	node, id, source, title, agent, workflow string
	status, reason                           string
	at, ended                                event.Time
	next                                     *taken // in the next run of the loop, which goes on with it; nil: none does
	goesOn                                   bool   // the run before had it
}

// forItems begins the paths of nodes of the runs that do items.
const forItems = "item:"

// startLoops starts the runs of the loops. Where the test does not say how long it takes, its one loop ends when there is nothing to do
// behind all that happens.
func (t *test) startLoops(ctx context.Context) error {
	last := time.Duration(0)
	for i := range t.Moments {
		last = max(last, t.Moments[i].After)
	}
	for i := range t.Items {
		last = max(last, t.Items[i].After)
	}
	for _, name := range t.Loops {
		first := event.RunStarted{Workflow: name, FirstMembers: true, Dir: "/", Vars: open(t.program.Variables, t.Vars), Secrets: seals(t.variables()),
			Loop: &event.LoopStart{UntilIdle: t.RunFor == 0 && last == 0}}
		if t.RunFor == 0 && last > 0 {
			t.host.Schedule(sim.Moment{At: t.start.Add(last), Do: func() error {
				_, err := t.host.Ask(ctx, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopBegin, Loop: name, UntilIdle: true}})
				return err
			}})
		}
		if err := t.launch(ctx, &ir.TestRun{Workflow: name, Label: t.loopLabel(name)}, t.variables(), first); err != nil {
			return err
		}
	}
	return nil
}

// loopLabel is the label of the run of a loop: its name, if the test has several loops.
func (t *test) loopLabel(name string) string {
	if len(t.Loops) == 1 {
		return ""
	}
	return name
}

// goOn notes that a run of a loop has begun where another one has ended.
func (t *test) goOn(s *seen, first *event.RunStarted) {
	before := t.loopNamed(first.Workflow)
	s.label, s.prefix, s.first, s.secrets, s.loop.before = before.label, before.prefix, first, before.secrets, before
	t.secrets[s.id], t.labels[s.label] = t.secrets[before.id], s
	t.launched = append(t.launched, s)
}

// watchLoop notes what a loop does with its items.
func (rec *record) watchLoop(s *seen, r *event.Reaction) {
	l := s.loop
	for i := range r.Transitions {
		tr := &r.Transitions[i]
		if tr.Node == "" {
			if tr.To.Terminal() {
				l.reason = tr.Reason
			}
			continue
		}
		switch row := l.newest(tr.Node); {
		case tr.From == event.Pending: // also where the run before had it
			row = &taken{node: tr.Node, id: tr.Name, title: tr.Name, status: "claimed", at: tr.At}
			if c := l.claims[tr.Node]; c != nil {
				list := strings.TrimSuffix(c.Item, "/"+tr.Name)
				row.source, row.agent, row.title = cmp.Or(rec.lists[list], list), c.Agent, c.Title
			} else if old := l.left(tr.Node); old != nil {
				copied := *old
				row, copied.next, copied.goesOn = &copied, nil, true
				old.next = row
			}
			l.taken = append(l.taken, row)
			for _, p := range []Point{{s.workflow, SourcePoint, row.source}, {s.workflow, AgentPoint, row.agent}} {
				rec.reached[p] = true
			}
		case row == nil:
		case tr.To == event.Waiting && tr.From == event.Waiting:
			row.status, row.reason = "parked", tr.Reason
		case tr.To == event.Waiting:
			row.status = "working"
		case tr.To.Terminal():
			row.ended, row.reason = tr.At, tr.Reason
			row.status = map[event.Status]string{event.Succeeded: "closed", event.FailedS: "failed", event.Skipped: "released", event.Cancelled: "lost"}[tr.To]
		}
	}
	for i := range r.Commands {
		switch c := &r.Commands[i]; {
		case c.StartChild != nil:
			if row := l.newest(c.StartChild.Node); row != nil {
				row.workflow = c.StartChild.Workflow
			}
		case c.Start != nil && c.Start.Store != nil && c.Start.Store.Claim != nil && c.Start.Store.Claim.Operation == event.ClaimTake:
			l.claims[c.Start.Node] = c.Start.Store.Claim
		}
	}
}

// newest is what was last taken under a node; nil if nothing was.
func (l *loopRun) newest(node string) *taken {
	for i := len(l.taken) - 1; i >= 0; i-- {
		if l.taken[i].node == node {
			return l.taken[i]
		}
	}
	return nil
}

// left is what the run before has left under a node; nil: nothing.
func (l *loopRun) left(node string) *taken {
	if l.before == nil {
		return nil
	}
	return l.before.loop.newest(node)
}

// rows are what was taken in this run and in those before it.
func (l *loopRun) rows() (out []*taken) {
	if l.before != nil {
		out = l.before.loop.rows()
	}
	for _, row := range l.taken {
		if !row.goesOn {
			out = append(out, row)
		}
	}
	for i, row := range out {
		if row.next != nil {
			out[i] = row.next
		}
	}
	return out
}

// over reports whether the work on an item has ended.
func (k *taken) over() bool { return k.ended != 0 }

// loopNamed is the newest run of a loop of the test; nil before it starts.
func (t *test) loopNamed(name string) *seen {
	if s := t.labels[t.loopLabel(name)]; s != nil && s.loop != nil {
		return s
	}
	return nil
}

// readLoop is how a loop stands, or an attribute of that.
func (s *names) readLoop(name, attr string) (value.Value, error) {
	of := s.loopNamed(name)
	if of == nil {
		return nil, nil
	}
	l, rows := of.loop, of.loop.rows()
	ids := func(status ...string) []any {
		out := []any{}
		for _, row := range rows {
			for _, one := range status {
				if row.status == one {
					out = append(out, row.id)
				}
			}
		}
		return out
	}
	o := map[string]any{"status": "idle", "reason": l.reason, "working": ids("claimed", "working"), "parked": ids("parked"), "done": doneItems(rows), "warnings": []any{}, "missed": []any{}, "events": 0.0,
		"asked": map[string]any{}, "texts": map[string]any{}, "items": []any{}, "taken": float64(len(rows)), "dead": 0.0}
	for asked, n := range s.askedSources { // any order: it fills a map
		if asked.loop == name {
			o["asked"].(map[string]any)[asked.source] = float64(n)
		}
	}
	for _, x := range s.program.Loop(name).Sources {
		if text, is := s.lists[x.Name]; is {
			o["texts"].(map[string]any)[x.Name] = text
		}
	}
	for _, status := range []string{"closed", "failed", "released"} {
		o[status] = float64(len(ids(status)))
	}
	for _, f := range l.machine.Figures(of.view.Last) {
		if f.Missed {
			o["missed"] = append(o["missed"].([]any), f.Name)
		}
	}
	for run := of; run != nil; run = run.loop.before {
		o["events"] = o["events"].(float64) + float64(run.events)
		o["warnings"] = append(warningsOf(run.view), o["warnings"].([]any)...)
	}
	switch st := of.view.Status; {
	case st == event.FailedS:
		o["status"] = "failed"
	case st == event.Cancelled:
		o["status"] = "cancelled"
	case st.Terminal():
		o["status"] = "stopped"
	case len(o["working"].([]any)) > 0:
		o["status"] = "working"
	}
	for _, row := range rows {
		x := map[string]any{"id": row.id, "source": row.source, "title": row.title, "agent": row.agent, "workflow": row.workflow, "status": row.status, "reason": row.reason,
			"taken": row.at.Sub(s.start).Seconds(), "ended": nil}
		if row.over() {
			x["ended"] = row.ended.Sub(s.start).Seconds()
		}
		o["items"] = append(o["items"].([]any), x)
	}
	claims, err := s.claims()
	if err != nil {
		return nil, err
	}
	for _, c := range claims.([]any) {
		if c := c.(map[string]any); c["loop"] == name && c["state"] == string(event.ClaimDead) {
			o["dead"] = o["dead"].(float64) + 1
		}
	}
	if attr == "next" || attr == "left" || attr == "" {
		o["next"], o["left"] = l.ladder()
	}
	if attr == "" {
		return o, nil
	}
	return o[attr], nil
}

// doneItems are the ids of the items that are done, in order of their ends.
func doneItems(rows []*taken) []any {
	rows = slices.DeleteFunc(slices.Clone(rows), func(k *taken) bool { return k.status != "closed" })
	slices.SortStableFunc(rows, func(a, b *taken) int { return cmp.Compare(a.ended, b.ended) })
	out := []any{}
	for _, row := range rows {
		out = append(out, row.id)
	}
	return out
}

// ladder is what the loop would take now by what its sources have listed last, and why nobody takes the other items.
func (l *loopRun) ladder() (next, left []any) {
	standing := l.machine.Standing()
	b := standing.Board
	next, left = []any{}, []any{}
	if standing.Draining != "" { // it takes nothing
		for a := range b.Agents {
			b.Agents[a].Free = 0
		}
	}
	takes, rest := b.Ladder()
	for _, c := range takes {
		it := &b.Sources[c.Source].Items[c.Item]
		next = append(next, map[string]any{"agent": b.Agents[c.Agent].Name, "source": b.Sources[c.Source].Name, "id": it.ID, "title": it.Title})
	}
	for _, x := range rest {
		it, why := &b.Sources[x.Source].Items[x.Item], []any{}
		for _, words := range x.Why {
			why = append(why, words)
		}
		left = append(left, map[string]any{"source": b.Sources[x.Source].Name, "id": it.ID, "title": it.Title, "why": why})
	}
	return next, left
}

// readAgent is how an agent stands in the loops of the test, all together.
func (s *names) readAgent(name string) value.Value {
	o := map[string]any{"busy": 0.0, "items": []any{}, "taken": 0.0, "done": 0.0, "failed": 0.0, "parked": 0.0, "stopped": nil, "paused": false}
	add := func(what string) { o[what] = o[what].(float64) + 1 }
	for _, loop := range s.Loops {
		of := s.loopNamed(loop)
		if of == nil {
			return nil
		}
		for _, row := range of.loop.rows() {
			if row.agent != name {
				continue
			}
			add("taken")
			switch row.status {
			case "claimed", "working":
				add("busy")
				o["items"] = append(o["items"].([]any), row.id)
			case "closed":
				add("done")
			case "failed", "parked":
				add(row.status)
			}
		}
		for _, a := range of.loop.machine.Standing().Agents {
			if a.Name == name {
				if o["paused"] = o["paused"] == true || a.Paused; a.Stopped != "" && o["stopped"] == nil {
					o["stopped"] = a.Stopped
				}
			}
		}
	}
	return o
}
