package machine

import (
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// Targets are judged over so many hours, the one that goes on included, and rates and means of so many items at least. A target changes its
// state at most once in targetPause.
const (
	targetHours = 24
	targetItems = 10
	targetPause = time.Hour
)

// hour is what happened in one hour.
type hour struct {
	Hour      int64   `json:"hour"` // since 1970
	Closed    int     `json:"closed,omitempty"`
	Failed    int     `json:"failed,omitempty"`
	Runs      int     `json:"runs,omitempty"`      // that were started
	Retries   int     `json:"retries,omitempty"`   // of Runs, those of items on which the work had failed or was lost before
	Escalated int     `json:"escalated,omitempty"` // of Closed and Failed, those that went to a person
	Took      float64 `json:"took,omitempty"`      // seconds from the claim to the end, of Closed and Failed
	Worked    float64 `json:"worked,omitempty"`    // seconds in which an agent had an item, over all agents
}

// targets judge what the loop reaches. Without a target the figures are kept, too, for those who look at the run, and the next run of the
// loop begins without them.
type targets struct {
	wanted []target
	hours  []hour     // the newest last, at most targetHours
	since  event.Time // when counting began; 0: it has not
	last   event.Time // up to when the time of the agents is counted
}

// target is one figure that the loop is to reach.
type target struct {
	name    string
	least   bool // bound is the least that is enough; else the most
	bound   float64
	missed  bool
	changed event.Time // when missed was set last; 0: never
}

// TargetStanding is a figure of a loop over the last 24 hours, and its target.
type TargetStanding struct {
	Name   string
	Is     *float64 // mean_time in seconds, throughput in items an hour, the others from 0 to 1; nil: nothing has happened that it can be computed of
	Wanted *float64 // nil: there is no target
	Least  bool     // Wanted is the least that is enough; else the most
	Missed bool     // the loop has said so
}

// Words is the figure and its target as people read it: met or missed by the figure of now. Missed changes later, when the loop can say so.
func (s *TargetStanding) Words() string {
	name := strings.ReplaceAll(s.Name, "_", " ")
	bound := func() string {
		than := "at most"
		if s.Least {
			than = "at least"
		}
		return than + " " + figureWords(s.Name, *s.Wanted)
	}
	switch {
	case s.Is == nil && s.Wanted == nil:
		return name + " -"
	case s.Is == nil:
		return fmt.Sprintf("%s -: nothing yet to compare with the target (%s)", name, bound())
	case s.Wanted == nil:
		return name + " " + figureWords(s.Name, *s.Is)
	case *s.Is < *s.Wanted && s.Least || *s.Is > *s.Wanted && !s.Least:
		return fmt.Sprintf("%s %s: misses the target (%s)", name, figureWords(s.Name, *s.Is), bound())
	}
	return fmt.Sprintf("%s %s: meets the target (%s)", name, figureWords(s.Name, *s.Is), bound())
}

// targetNames are the names of all figures, and whether the target is the least that is enough, in the order in which they are shown.
var targetNames = []struct {
	name  string
	least bool
}{{"throughput", true}, {"success_rate", true}, {"mean_time", false}, {"idle", false}, {"retry_rate", false}, {"escalation_rate", false}}

// compute computes the targets of the loop.
func (t *targets) compute(c *compose.Composer, spec *ir.LoopTarget) error {
	if spec == nil {
		return nil
	}
	here := c.Constants()
	for i, e := range []*ir.Expr{spec.Throughput, spec.SuccessRate, spec.MeanTime, spec.Idle, spec.RetryRate, spec.EscalationRate} {
		if e == nil {
			continue
		}
		n := targetNames[i]
		w := target{name: n.name, least: n.least}
		if n.name == "mean_time" {
			d, err := c.Duration(e, here)
			if err != nil {
				return fmt.Errorf("target %s: %w", n.name, err)
			}
			w.bound = d.Seconds()
		} else {
			most := 1.0
			if n.name == "throughput" {
				most = plan.MaxLoopRate
			}
			v, err := c.Value(e, here)
			f, is := v.(float64)
			if err == nil && (!is || !(f >= 0 && f <= most)) {
				err = fmt.Errorf("a number from 0 to %s is needed, but this is %.60s", value.Text(most), value.Text(v))
			}
			if err != nil {
				return fmt.Errorf("target %s: %w", n.name, err)
			}
			w.bound = f
		}
		t.wanted = append(t.wanted, w)
	}
	return nil
}

func hourOf(at event.Time) int64 { return int64(at) / int64(time.Hour) }

func startOf(h int64) event.Time { return event.Time(h * int64(time.Hour)) }

// at is the hour of a moment. A clock that was set back counts into the newest hour.
func (t *targets) at(now event.Time) *hour {
	h := hourOf(now)
	if n := len(t.hours); n > 0 && t.hours[n-1].Hour >= h {
		return &t.hours[n-1]
	}
	t.hours = append(t.hours, hour{Hour: h})
	for t.hours[0].Hour <= h-targetHours {
		t.hours = t.hours[1:]
	}
	return &t.hours[len(t.hours)-1]
}

// pass counts the time up to now, in which so many agents have had an item.
func (t *targets) pass(now event.Time, busy int) {
	if t.since == 0 {
		t.since, t.last = now, now
	}
	if busy > 0 {
		for from := max(t.last, startOf(hourOf(now)-targetHours+1)); from < now; {
			to := min(now, startOf(hourOf(from)+1))
			t.at(from).Worked += float64(to.Sub(from).Seconds() * float64(busy))
			from = to
		}
	}
	t.last = max(t.last, now)
}

// figures are the figures at a moment, by name; a figure of nothing is missing. enough tells of which the target can be judged.
func (t *targets) figures(now event.Time, agents int) (is map[string]float64, enough map[string]bool) {
	first := hourOf(now) - targetHours + 1
	var sum hour
	for _, h := range t.hours {
		if h.Hour < first {
			continue
		}
		sum.Closed, sum.Failed, sum.Runs, sum.Retries = sum.Closed+h.Closed, sum.Failed+h.Failed, sum.Runs+h.Runs, sum.Retries+h.Retries
		sum.Escalated, sum.Took, sum.Worked = sum.Escalated+h.Escalated, sum.Took+h.Took, sum.Worked+h.Worked
	}
	is, enough = map[string]float64{}, map[string]bool{}
	if length := now.Sub(max(t.since, startOf(first))); t.since != 0 && length > 0 {
		is["throughput"] = float64(sum.Closed) / length.Hours()
		if agents > 0 {
			is["idle"] = max(0, 1-sum.Worked/(length.Seconds()*float64(agents)))
		}
		enough["throughput"], enough["idle"] = length >= time.Hour, length >= time.Hour
	}
	if ended := sum.Closed + sum.Failed; ended > 0 {
		is["success_rate"], is["mean_time"], is["escalation_rate"] = float64(sum.Closed)/float64(ended), sum.Took/float64(ended), float64(sum.Escalated)/float64(ended)
		many := ended >= targetItems
		enough["success_rate"], enough["mean_time"], enough["escalation_rate"] = many, many, many
	}
	if sum.Runs > 0 {
		is["retry_rate"], enough["retry_rate"] = float64(sum.Retries)/float64(sum.Runs), sum.Runs >= targetItems
	}
	return is, enough
}

// next is when a target is judged though nothing happens; 0: no target asks for that.
func (t *targets) next(now event.Time) event.Time {
	for i := range t.wanted {
		if name := t.wanted[i].name; name == "throughput" || name == "idle" {
			return startOf(hourOf(max(now, t.since.Add(time.Hour)-1)) + 1)
		}
	}
	return 0
}

// ended counts the end of the work on an item.
func (t *targets) ended(w *work, now event.Time) {
	h := t.at(now)
	if w.close == event.ClaimClose {
		h.Closed++
	} else {
		h.Failed++
	}
	if w.escalated {
		h.Escalated++
	}
	h.Took += max(0, now.Sub(w.since).Seconds())
}

// started counts the start of a run.
func (t *targets) started(w *work, now event.Time) {
	h := t.at(now)
	if h.Runs++; w.retry {
		h.Retries++
	}
}

// judge tells of each target that is missed now, or met again.
func (m *Machine) judge() {
	t := &m.targets
	if len(t.wanted) == 0 {
		return
	}
	is, enough := t.figures(m.now, len(m.agents))
	for i := range t.wanted {
		w := &t.wanted[i]
		f, known := is[w.name]
		if !known || !enough[w.name] || w.changed != 0 && m.now < w.changed.Add(targetPause) {
			continue
		}
		missed := f > w.bound
		if w.least {
			missed = f < w.bound
		}
		if missed != w.missed {
			w.missed, w.changed = missed, m.now
			m.tellTarget(w, f)
		}
	}
}

// tellTarget tells of a target that is missed or met again: a warning of the run, a message, and an event.
func (m *Machine) tellTarget(w *target, is float64) {
	figure := func(f float64) string {
		if w.name == "throughput" && !m.rules[ir.PlainFigures] {
			return fmt.Sprintf("%.3g an hour", f)
		}
		return figureWords(w.name, f)
	}
	state, level, than := "met", "info", "at most"
	if w.least {
		than = "at least"
	}
	words := fmt.Sprintf("loop %s meets its target again: %s is %s, and %s %s is wanted", m.loop.Name, w.name, figure(is), than, figure(w.bound))
	title := fmt.Sprintf("Loop %s meets its target %s again", m.loop.Name, w.name)
	if w.missed {
		state, level = "missed", "warning"
		words = fmt.Sprintf("loop %s misses a target: %s is %s, and %s %s is wanted", m.loop.Name, w.name, figure(is), than, figure(w.bound))
		title = fmt.Sprintf("Loop %s misses its target %s", m.loop.Name, w.name)
	}
	data := map[string]value.Value{"loop": m.loop.Name, "target": w.name, "state": state, "wanted": w.bound, "is": is}
	m.warn("", words)
	m.tell("target "+w.name+" "+m.now.String(), level, title, words+".", data)
	m.askStore(&ask{kind: askNotice}, "loop", &event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopTarget, Loop: m.loop.Name, Target: data}})
}

// figureWords writes a figure as people read it.
func figureWords(name string, f float64) string {
	switch name {
	case "throughput":
		if f >= 999.5 { // three digits would have an exponent
			return fmt.Sprintf("%.0f an hour", f)
		}
		return fmt.Sprintf("%.3g an hour", f)
	case "mean_time":
		return time.Duration(float64(f * float64(time.Second))).Round(time.Second).String()
	}
	return fmt.Sprintf("%.1f%%", float64(100*f))
}

// Figures are the figures of the loop up to a moment, with their targets, in the order in which they are shown. They change nothing.
func (m *Machine) Figures(now event.Time) (out []TargetStanding) {
	t := m.targets
	t.hours = append([]hour(nil), t.hours...)
	t.pass(now, m.busyAgents())
	is, _ := t.figures(now, len(m.agents))
	for _, n := range targetNames {
		s := TargetStanding{Name: n.name, Least: n.least}
		if f, known := is[n.name]; known {
			s.Is = &f
		}
		for i := range t.wanted {
			if w := &t.wanted[i]; w.name == n.name {
				s.Wanted, s.Missed = &w.bound, w.missed
			}
		}
		out = append(out, s)
	}
	return out
}

// busyAgents is how many agents have an item.
func (m *Machine) busyAgents() (n int) {
	for _, a := range m.agents {
		if a.busy > 0 {
			n++
		}
	}
	return n
}

// leftTargets is what the next run of the loop knows of the figures.
type leftTargets struct {
	Since   event.Time            `json:"since,string"`
	Hours   []hour                `json:"hours,omitempty"`
	Changed map[string]leftTarget `json:"changed,omitempty"` // by target
}

type leftTarget struct {
	Missed bool       `json:"missed"`
	At     event.Time `json:"at,string"`
}

func (t *targets) leave() *leftTargets {
	if len(t.wanted) == 0 || t.since == 0 {
		return nil
	}
	l := &leftTargets{Since: t.since, Hours: t.hours}
	for i := range t.wanted {
		if w := &t.wanted[i]; w.changed != 0 {
			if l.Changed == nil {
				l.Changed = map[string]leftTarget{}
			}
			l.Changed[w.name] = leftTarget{w.missed, w.changed}
		}
	}
	return l
}

// adopt goes on with the figures of the run before. back is how far the clock was set back meanwhile.
func (t *targets) adopt(l *leftTargets, now event.Time, back time.Duration) {
	if l == nil {
		return
	}
	t.since, t.last = l.Since.Add(-back), now
	for _, h := range l.Hours {
		h.Hour -= hourOf(now.Add(back)) - hourOf(now)
		if h.Hour > hourOf(now)-targetHours && h.Hour <= hourOf(now) {
			t.hours = append(t.hours, h)
		}
	}
	for i := range t.wanted {
		w := &t.wanted[i]
		if c, known := l.Changed[w.name]; known {
			w.missed, w.changed = c.Missed, c.At.Add(-back)
		}
	}
}
