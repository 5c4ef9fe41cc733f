package standalone

import (
	"maps"
	"slices"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/live"
	"github.com/flowrun/flowrun/runner/view"
)

// maxEnds bounds the number of running attempts of a run with output that is read.
const maxEnds = 256

// Stand tells the view of a run whether a process drives the run, and whether the runs that it called wait. If none does, the clock of the view stops at the run's last event, or
// at the last sign of life of its driver or of an attempt. unanswered may be nil.
func (s *Store) Stand(p *runner.Past, info engine.Info, unanswered []*view.Begun) {
	p.View.Driven, p.View.Stands = info.Driver != 0, 0
	p.View.CalledWait(info.Status == event.Waiting)
	if info.Turn != nil && p.View.Driven {
		p.View.Reason = info.Turn.String()
	}
	if !info.Interrupted() {
		return
	}
	_, sign := live.Read(s.Dir(), p.Run)
	p.View.Stands = max(info.Last, p.View.Last, sign)
	for _, b := range unanswered {
		if b.Interrupted != "" && b.NextDriver == 0 {
			p.View.Stands = max(p.View.Stands, b.Heard)
		}
	}
}

// Unanswered returns the running attempts of a run and the attempts that lost their driver, with what they wrote so far.
func (s *Store) Unanswered(p *runner.Past, info engine.Info) []*view.Begun {
	list := p.Attempts.Lost()
	for _, b := range list {
		s.Logs().ReadEnds(b)
	}
	return append(list[:len(list):len(list)], s.UnderWay(p, info)...)
}

// UnderWay returns the attempts of Unanswered that no later driver took over: either they are running, or no process drives the run.
func (s *Store) UnderWay(p *runner.Past, info engine.Info) []*view.Begun {
	list := p.Attempts.Live()
	if info.Interrupted() {
		list = p.Attempts.Interrupted(info.Crashed)
	}
	rows, sign := live.Read(s.Dir(), p.Run)
	read := 0
	for _, b := range list {
		if row, known := rows[b.Ticket]; known {
			b.Says, b.Heard = row.Says, max(b.Heard, row.Heard)
			if b.Interrupted == "" {
				b.Process = row.Process
			}
		}
		if b.Interrupted != "" {
			b.Heard = max(b.Heard, sign)
		}
		if b.MayWrite() && read < maxEnds {
			read++
			s.Logs().ReadEnds(b)
		}
	}
	return list
}

// Glance returns the attempts under way of a run without a replay of its journal, as the run's driver wrote them last; only the first one
// has its output. Of a run that no process drives it returns no attempts, and the time of its last event or sign of life.
func (s *Store) Glance(info *engine.Info) (underWay []*view.Begun, stands event.Time) {
	if info.Status.Terminal() {
		return nil, 0
	}
	rows, sign := live.Read(s.Dir(), info.Run)
	if info.Interrupted() {
		return nil, max(info.Last, sign)
	}
	for _, ticket := range slices.Sorted(maps.Keys(rows)) {
		row := rows[ticket]
		underWay = append(underWay, &view.Begun{Ticket: ticket, Run: info.Run, Node: row.Node, Name: row.Name, Attempt: row.Attempt, Gate: row.Gate,
			StartedAt: row.Since, Process: row.Process, Says: row.Says, Heard: row.Heard})
	}
	if underWay != nil {
		s.Logs().ReadEnds(underWay[0])
	}
	return underWay, 0
}
