package shared

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop/schedule"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of routines.
const (
	// MaxRoutines is how many routines a store has.
	MaxRoutines = 10_000
	// MaxMissed is how many moments of a routine wait to start runs. Of more, the latest do.
	MaxMissed = 100
	// MaxCounted is how many missed moments are counted one by one after a time without a daemon. Beyond that the count says "at least".
	MaxCounted = 50_000
)

// routineSpace has the routines by their names, which are unique in a store: two programs with one routine, such as a file and its
// folder, would start everything twice.
const routineSpace = "routines"

// Routine is a registered routine, and what is known of its moments.
//
// Each moment of its schedule after the registration is taken in once, when somebody asks what is due, and waits until its run has been
// made. A run's id is a hash of the routine and the moment, so a moment that is told twice starts one run.
type Routine struct {
	event.Scheduled
	Program string     `json:"program"`         // the path
	Since   event.Time `json:"since"`           // when it was registered, with this schedule
	Seen    event.Time `json:"seen"`            // moments up to it were taken in
	Next    event.Time `json:"next,omitempty"`  // the first moment after Seen; 0: there is none
	Wakes   event.Time `json:"wakes,omitempty"` // when something of the routine is due next; 0: never
	// Waiting are the moments whose runs have not been made, the oldest first.
	Waiting []event.Time `json:"waiting,omitempty"`
	// Again are the moments of a dead letter that somebody has redriven. They start runs however late they are.
	Again   []event.Time `json:"again,omitempty"`
	Paused  event.Time   `json:"paused,omitempty"` // since when; 0: it is not paused
	Started uint64       `json:"started,omitempty"`
	Missed  uint64       `json:"missed,omitempty"` // moments that started no run
	Last    *Occurrence  `json:"last,omitempty"`
}

// Occurrence is a moment of a routine for which a run was made, or could not be.
type Occurrence struct {
	ScheduledAt event.Time `json:"scheduled_at"`
	At          event.Time `json:"at"`
	Run         string     `json:"run,omitempty"`
	Why         string     `json:"why,omitempty"` // there is no run
}

// plan is a routine with its schedule.
type plan struct {
	*Routine
	is       ir.Routine
	schedule schedule.Schedule
}

func (r *Routine) plan() (*plan, error) {
	p := &plan{Routine: r}
	if err := json.Unmarshal([]byte(r.Spec), &p.is); err != nil {
		return nil, refuse("routine %q is damaged: %v", r.Name, err)
	}
	var err error
	if p.schedule, err = schedule.Of(p.is.Cron, p.is.Every, p.is.Timezone); err != nil {
		return nil, refuse("the schedule of routine %q cannot be read: %v", r.Name, err)
	}
	return p, nil
}

// after is the first moment after another one; 0 if there is none.
func (p *plan) after(t event.Time) event.Time {
	next, ok := p.schedule.Next(t.Go())
	if !ok {
		return 0
	}
	return event.At(next)
}

// start is when the run of a moment is to start: later by a share of the jitter, which depends on the routine and the moment alone.
func (p *plan) start(moment event.Time) event.Time {
	if p.is.Jitter <= 0 {
		return moment
	}
	h := sha256.Sum256([]byte(p.Name + " " + strconv.FormatInt(int64(moment), 10)))
	return moment.Add(time.Duration(binary.BigEndian.Uint64(h[:]) % uint64(p.is.Jitter)))
}

// stopped reports whether moments start no runs.
func (p *plan) stopped() bool { return p.Paused != 0 || p.is.Paused }

// lookFrom begins anew: moments after t are taken in.
func (p *plan) lookFrom(t event.Time) {
	p.Seen, p.Next, p.Waiting = t, p.after(t), nil
}

// takeIn takes in the moments that have passed. Those of a routine that is paused start nothing, and were not missed. When the clock is
// put back, the moments since then come a second time; their runs are there already.
func (p *plan) takeIn(now event.Time) {
	switch {
	case p.stopped():
		p.lookFrom(now)
		return
	case now < p.Seen:
		p.Seen, p.Next = now, p.after(now)
		return
	case p.Next == 0 || p.Next > now:
		return
	}
	moments, count := p.passed(p.Seen, now)
	p.Seen, p.Next = now, p.after(now)
	p.Waiting = append(p.Waiting, moments...)
	p.Missed += count - uint64(len(moments))
	if more := len(p.Waiting) - MaxMissed; more > 0 {
		p.Waiting = slices.Delete(p.Waiting, 0, more)
		p.Missed += uint64(more)
	}
}

// passed are the latest moments in (from, to], and how many there are in all, as far as they are counted.
func (p *plan) passed(from, to event.Time) (latest []event.Time, count uint64) {
	walk := func(from event.Time, most uint64) (end event.Time) {
		latest, count = latest[:0], 0
		for m := p.after(from); m != 0 && m <= to; m = p.after(m) {
			if count == most {
				return m
			}
			if count++; len(latest) == MaxMissed {
				latest = slices.Delete(latest, 0, 1)
			}
			latest = append(latest, m)
		}
		return 0
	}
	if walk(from, MaxCounted) == 0 {
		return latest, count
	}
	for span := time.Duration(MaxMissed) * time.Second; ; span *= 2 { // from the end, for the latest
		if begin := to.Add(-span); begin <= from {
			break
		} else if walk(begin, MaxCounted) == 0 && count >= MaxMissed {
			return latest, MaxCounted
		}
	}
	return latest, MaxCounted
}

// choose drops the moments that were missed and start no run, and returns those that are to start one now, the oldest first. A moment
// is missed if it is late by more than [event.RoutineGrace].
func (p *plan) choose(now event.Time) (due []event.Time) {
	var waits []event.Time
	var missed []event.Time
	for _, m := range p.Waiting {
		switch start := p.start(m); {
		case start > now:
			waits = append(waits, m)
		case now.Sub(start) > event.RoutineGrace:
			missed = append(missed, m)
		default:
			due = append(due, m)
		}
	}
	keep := 0
	switch p.is.Missed {
	case ir.MissedAll:
		keep = len(missed)
	case ir.MissedNone:
	case ir.MissedLatest, "":
		if len(due) == 0 && len(missed) > 0 {
			keep = 1
		}
	}
	p.Missed += uint64(len(missed) - keep)
	due = append(missed[len(missed)-keep:], due...)
	p.Waiting = append(slices.Clone(due), waits...)
	return append(slices.Clone(p.Again), due...)
}

// save writes the row.
func (p *plan) save(rows Rows) error {
	p.Wakes = p.wakes()
	return saveRow(rows, routineSpace, p.Name, p.Routine)
}

func (p *plan) wakes() (at event.Time) {
	if p.stopped() {
		return 0
	}
	earliest := func(t event.Time) {
		if t != 0 && (at == 0 || t < at) {
			at = t
		}
	}
	for _, m := range p.Waiting {
		earliest(p.start(m))
	}
	if len(p.Again) > 0 {
		earliest(p.Again[0])
	}
	if p.Next != 0 {
		earliest(p.start(p.Next))
	}
	return at
}

// applyRoutines carries out a request for routines.
func applyRoutines(rows Rows, r *event.RoutineRequest, now event.Time) (value.Value, error) {
	switch r.Operation {
	case event.RoutineList:
		return listRoutines(rows)
	case event.RoutineNext:
		return nextRoutine(rows, r.Program)
	case event.RoutineDue:
		return dueRoutines(rows, r.Program, now)
	case event.RoutineStarted:
		for i := range r.Done {
			if err := noteOccurred(rows, &r.Done[i], now); err != nil {
				return nil, err
			}
		}
		return nil, nil
	case event.RoutineStarts:
		return startsOf(rows, r.Program)
	case event.RoutinePause, event.RoutineResume:
		return pauseRoutine(rows, r, now)
	}
	return nil, refuse("%q is not an operation on routines", r.Operation)
}

// eachRoutine calls each with the routines, in the order of their names. each may change them and rows.
func eachRoutine(rows Rows, each func(*Routine) error) error {
	var list []*Routine
	var broken error
	err := rows.Scan(routineSpace, "", func(key string, body []byte) bool {
		r := new(Routine)
		broken = decodeRow(routineSpace, key, body, r)
		list = append(list, r)
		return broken == nil
	})
	if err := cmp.Or(err, broken); err != nil {
		return err
	}
	for _, r := range list {
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

func listRoutines(rows Rows) (value.Value, error) {
	list := []any{}
	err := eachRoutine(rows, func(r *Routine) error {
		p, err := r.plan()
		if err != nil {
			return err
		}
		o := map[string]any{"name": p.Name, "program": p.Program, "workflow": p.is.Workflow, "spec": p.Spec, "since": p.Since.String(), "next": nil,
			"waiting": float64(len(p.Waiting)), "paused": p.stopped(), "paused_in_file": p.is.Paused, "started": float64(p.Started), "missed": float64(p.Missed), "last": nil}
		if p.Wakes != 0 {
			o["next"] = p.Wakes.String()
		}
		if l := p.Last; l != nil {
			o["last"] = map[string]any{"scheduled_at": l.ScheduledAt.String(), "at": l.At.String(), "run": textOrNull(l.Run), "why": textOrNull(l.Why)}
		}
		list = append(list, o)
		return nil
	})
	return list, err
}

func textOrNull(text string) value.Value {
	if text == "" {
		return nil
	}
	return text
}

// nextRoutine is the moment at which a routine is due next, in nanoseconds since 1970 as text; null if none is.
func nextRoutine(rows Rows, program string) (value.Value, error) {
	at, err := wakesOfRoutines(rows, program)
	if at == 0 {
		return nil, err
	}
	return strconv.FormatInt(int64(at), 10), err
}

func wakesOfRoutines(rows Rows, program string) (at event.Time, err error) {
	err = eachRoutine(rows, func(r *Routine) error {
		if t := r.Wakes; t != 0 && (at == 0 || t < at) && (program == "" || r.Program == program) {
			at = t
		}
		return nil
	})
	return at, err
}

// dueRoutines takes in what has passed. The answer lists the runs to start, of each routine the oldest first; and the programs, with what
// their runs begin with as JSON.
func dueRoutines(rows Rows, program string, now event.Time) (value.Value, error) {
	list, of, seen := []any{}, []any{}, map[string]bool{}
	err := eachRoutine(rows, func(r *Routine) error {
		if program != "" && r.Program != program || len(list) >= event.MaxDueMoments || now >= r.Seen && (r.Wakes == 0 || now < r.Wakes) {
			return nil
		}
		p, err := r.plan()
		if err != nil {
			return err
		}
		p.takeIn(now)
		due := p.choose(now)
		if err := p.save(rows); err != nil {
			return err
		}
		for _, m := range due {
			list = append(list, map[string]any{"routine": p.Name, "program": p.Program, "workflow": p.is.Workflow, "scheduled_at": strconv.FormatInt(int64(m), 10)})
		}
		if len(due) == 0 || seen[p.Program] {
			return nil
		}
		seen[p.Program] = true
		o, err := startsOf(rows, p.Program)
		of = append(of, o)
		return err
	})
	return map[string]any{"due": list, "programs": of}, err
}

func noteOccurred(rows Rows, o *event.Occurred, now event.Time) error {
	var r Routine
	if err := loadRow(rows, routineSpace, o.Routine, &r); err != nil {
		return err
	}
	at, again := slices.Index(r.Waiting, o.ScheduledAt), slices.Index(r.Again, o.ScheduledAt)
	if at < 0 && again < 0 { // somebody else was faster, or the routine has changed
		return nil
	}
	p, err := r.plan()
	if err != nil {
		return err
	}
	if at >= 0 {
		r.Waiting = slices.Delete(r.Waiting, at, at+1)
	}
	if again >= 0 {
		r.Again = slices.Delete(r.Again, again, again+1)
	}
	r.Last = &Occurrence{ScheduledAt: o.ScheduledAt, At: now, Run: o.Run, Why: o.Why}
	switch {
	case o.Run == "" && again < 0:
		r.Missed++
	case o.Run != "":
		if r.Started++; again >= 0 { // it has been counted as missed
			r.Missed--
		}
	}
	if err := noteDeadMoment(rows, p, o, now); err != nil {
		return err
	}
	return p.save(rows)
}

func aboutRoutine(name string) string { return "routine " + name }

// noteDeadMoment makes a moment that could not start its run a dead letter, one for each routine, and takes one out that has. The letter is
// closed with its last moment.
func noteDeadMoment(rows Rows, p *plan, o *event.Occurred, now event.Time) error {
	var d DeadLetter
	var seq uint64
	err := loadRow(rows, deadAboutSpace, aboutRoutine(p.Name), &seq)
	if err == nil && seq != 0 {
		err = loadRow(rows, deadSpace, seqKey(seq), &d)
	}
	if err != nil || o.Run != "" && d.Seq == 0 {
		return err
	}
	d.Moments = slices.DeleteFunc(d.Moments, func(m event.Time) bool { return m == o.ScheduledAt })
	switch {
	case o.Run != "" && len(d.Moments) == 0:
		return closeLetter(rows, &d)
	case o.Run != "":
		return saveRow(rows, deadSpace, seqKey(d.Seq), &d)
	}
	moments := append(d.Moments, o.ScheduledAt)
	slices.Sort(moments)
	return bury(rows, &DeadLetter{Kind: DeadRoutine, Workflow: p.is.Workflow, Program: p.Program, Routine: p.Name, Moments: moments[max(0, len(moments)-MaxMissed):],
		ErrorKind: string(event.Blocking), Error: o.Why, About: aboutRoutine(p.Name)}, now)
}

// redeliverMoments makes the moments of a dead letter due again.
func redeliverMoments(rows Rows, d *DeadLetter) error {
	var r Routine
	if err := loadRow(rows, routineSpace, d.Routine, &r); err != nil {
		return err
	}
	if r.Name == "" || r.Program != d.Program {
		return refuse("%s is about a routine that was removed: %s of %s", d.ID(), d.Routine, d.Program)
	}
	p, err := r.plan()
	if err != nil {
		return err
	}
	if p.stopped() {
		return refuse("%s is about routine %s, which is paused", d.ID(), d.Routine)
	}
	p.Again = slices.Clone(d.Moments)
	return p.save(rows)
}

func pauseRoutine(rows Rows, r *event.RoutineRequest, now event.Time) (value.Value, error) {
	var x Routine
	if err := loadRow(rows, routineSpace, r.Name, &x); err != nil {
		return nil, err
	}
	if x.Name == "" {
		return nil, refuse("there is no routine %q in this store", r.Name)
	}
	p, err := x.plan()
	if err != nil {
		return nil, err
	}
	was := p.Paused
	if p.Paused = 0; r.Operation == event.RoutinePause {
		p.Paused = cmp.Or(was, now)
	} else if p.is.Paused {
		return nil, refuse("routine %q has  paused = true  in its program: take that out, and apply the program", r.Name)
	}
	if (was != 0) != (p.Paused != 0) {
		p.lookFrom(now)
	}
	return map[string]any{"name": p.Name, "paused": p.stopped(), "changed": (was != 0) != (p.Paused != 0)}, p.save(rows)
}

// schedule puts the routines of a program in the place of those before. A routine whose schedule is another one begins anew; what waits of
// one that starts another workflow, or gives it other inputs, starts that.
func (c *changes) schedule(rows Rows, program string, routines []event.Scheduled, now event.Time) error {
	old := map[string]*plan{}
	count := 0
	err := eachRoutine(rows, func(p *Routine) (err error) {
		if count++; p.Program == program {
			old[p.Name], err = p.plan()
			return err
		}
		for i := range routines {
			if routines[i].Name == p.Name {
				return refuse("routine %q is registered by %s already; two programs of a store need two names, or the other one must be removed", p.Name, p.Program)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if count -= len(old); count+len(routines) > MaxRoutines {
		return refuse("the store would have %d routines; the limit is %d", count+len(routines), MaxRoutines)
	}
	plans := make([]*plan, len(routines))
	for i, s := range routines {
		if plans[i], err = (&Routine{Scheduled: s, Program: program, Since: now}).plan(); err != nil {
			return err
		}
	}
	var removed []string
	for i, s := range routines {
		p := plans[i]
		words := fmt.Sprintf("routine %s → %s", s.Name, p.is.Workflow)
		was := old[s.Name]
		delete(old, s.Name)
		switch {
		case was == nil:
			c.added = append(c.added, words)
			p.lookFrom(now)
		case was.Spec == s.Spec:
			continue
		default:
			c.changed = append(c.changed, words)
			same := was.is.Cron == p.is.Cron && was.is.Every == p.is.Every && was.is.Timezone == p.is.Timezone && was.is.Paused == p.is.Paused
			if was.Spec, was.is, was.schedule = p.Spec, p.is, p.schedule; !same {
				was.Since = now
				was.lookFrom(now)
			}
			p = was
		}
		if err := p.save(rows); err != nil {
			return err
		}
	}
	for name := range old { // any order: they are sorted
		removed = append(removed, name)
	}
	slices.Sort(removed)
	for _, name := range removed {
		c.removed = append(c.removed, fmt.Sprintf("routine %s → %s", name, old[name].is.Workflow))
		if err := rows.Delete(routineSpace, name); err != nil {
			return err
		}
	}
	return nil
}
