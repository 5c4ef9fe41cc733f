package shared

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of what is registered.
const (
	// MaxPrograms is how many programs a store registers.
	MaxPrograms = 1000
	// MaxSubscriptions is how many subscriptions a program has.
	MaxSubscriptions = 1000
	// MaxDue is how many events wait for one subscription until somebody starts their runs. One more is a dead letter.
	MaxDue = 10_000
)

// Spaces of registered programs: by their paths, and the definitions and sources by their hashes.
const (
	programSpace    = "programs"
	definitionSpace = "program-definitions"
	sourceSpace     = "program-sources"
)

// subscriptionSpace has the subscriptions by event, workflow and program.
const subscriptionSpace = "subscriptions"

// dueSpace has the events that are to start runs, by their numbers and the keys of the subscriptions.
const dueSpace = "due"

// Program is what is registered of a program.
type Program struct {
	Path    string     `json:"path"`
	Hash    string     `json:"hash"` // of the definition
	At      event.Time `json:"at"`   // when it was registered with this definition
	Release string     `json:"release,omitempty"`
	// First is what each run begins with that starts by itself.
	First event.Surroundings `json:"first"`
}

// Subscription starts runs of a workflow of a program for the events of a name.
type Subscription struct {
	event.Subscribed
	Program string     `json:"program"`
	Since   event.Time `json:"since"`             // when it was registered first: earlier events start nothing
	Waiting int        `json:"waiting,omitempty"` // events that are due
	Started uint64     `json:"started,omitempty"`
	Skipped uint64     `json:"skipped,omitempty"` // its condition did not hold
	Dead    uint64     `json:"dead,omitempty"`
	Refused uint64     `json:"refused,omitempty"` // deliveries whose signatures did not hold
	Last    *LastStart `json:"last,omitempty"`
}

// LastStart is the last run that a subscription started.
type LastStart struct {
	Event string     `json:"event"` // its id
	Run   string     `json:"run"`
	At    event.Time `json:"at"`
}

func (s *Subscription) key() string { return s.Event + " " + s.Workflow + " " + s.Program }

// due is an event that is to start a run.
type due struct {
	Name string `json:"name"`
	// Event is the event itself, where it may be too old for the log.
	Event *Event `json:"event,omitempty"`
}

// register takes in what starts runs of a program. The answer says what was added, changed and removed, as lists of words.
func register(rows Rows, r *event.RegisterRequest, now event.Time) (a Answer, err error) {
	var before Program
	if err := loadRow(rows, programSpace, r.Program, &before); err != nil {
		return a, err
	}
	subs, err := subscriptionsOf(rows, r.Program)
	if err != nil {
		return a, err
	}
	switch {
	case r.Program == "":
		return a, refuse("a program is registered by its path, and there is none")
	case len(r.Ons) > MaxSubscriptions:
		return a, refuse("%s has %d blocks on; the limit is %d", r.Program, len(r.Ons), MaxSubscriptions)
	}
	if err := checkOutside(rows, r); err != nil {
		return a, err
	}
	if before.Path == "" && r.Definition != "" {
		n := 0
		if err := rows.Scan(programSpace, "", func(string, []byte) bool { n++; return true }); err != nil {
			return a, err
		}
		if n >= MaxPrograms {
			return a, refuse("the store has %d registered programs, which is the limit: remove one that is no longer needed", MaxPrograms)
		}
	}
	c := &changes{}
	routines := r.Routines
	if r.Definition == "" {
		routines = nil
	}
	if err := c.schedule(rows, r.Program, routines, now); err != nil {
		return a, err
	}
	if err := c.subscribe(rows, subs, r, now); err != nil {
		return a, err
	}
	if a.Posts, err = c.keep(rows, r, now); err != nil {
		return a, err
	}
	a.Output = c.object()
	return a, saveProgram(rows, r, &before, now)
}

// saveProgram keeps the definition of a program, or removes the program.
func saveProgram(rows Rows, r *event.RegisterRequest, before *Program, now event.Time) error {
	if r.Definition == "" {
		if err := rows.Delete(programSpace, r.Program); err != nil {
			return err
		}
	} else {
		p := Program{Path: r.Program, Hash: r.Hash, At: now, Release: r.Release, First: r.First}
		if before.Hash == r.Hash {
			p.At = before.At
		}
		if err := saveRow(rows, programSpace, r.Program, &p); err != nil {
			return err
		}
		if err := rows.Put(definitionSpace, r.Hash, []byte(r.Definition)); err != nil {
			return err
		}
		if err := rows.Put(sourceSpace, r.Hash, []byte(r.Source)); err != nil {
			return err
		}
	}
	if before.Hash == "" || before.Hash == r.Hash {
		return nil
	}
	all, err := programs(rows)
	if err != nil || slices.ContainsFunc(all, func(p Program) bool { return p.Hash == before.Hash }) {
		return err
	}
	if err := rows.Delete(definitionSpace, before.Hash); err != nil {
		return err
	}
	return rows.Delete(sourceSpace, before.Hash)
}

// programs lists the registered programs, in the order of their paths.
func programs(rows Rows) (list []Program, err error) {
	err = scanRows(rows, programSpace, "", func(p *Program) bool {
		list = append(list, *p)
		return true
	})
	return list, err
}

// scanRows decodes the rows of a space, until each returns false.
func scanRows[T any](rows Rows, space, from string, each func(*T) bool) error {
	var broken error
	err := rows.Scan(space, from, func(key string, body []byte) bool {
		v := new(T)
		if broken = decodeRow(space, key, body, v); broken != nil {
			return false
		}
		return each(v)
	})
	return cmp.Or(err, broken)
}

// subscriptionsOf lists the subscriptions of a program, in the order of their events and workflows; of all programs for "".
func subscriptionsOf(rows Rows, program string) (list []Subscription, err error) {
	err = scanRows(rows, subscriptionSpace, "", func(s *Subscription) bool {
		if program == "" || s.Program == program {
			list = append(list, *s)
		}
		return true
	})
	return list, err
}

// changes are those of a registration, in words.
type changes struct{ added, changed, removed []string }

func (c *changes) object() value.Value {
	return map[string]any{"added": texts(c.added), "changed": texts(c.changed), "removed": texts(c.removed)}
}

// subscribe puts the subscriptions of a program in the place of those before.
func (c *changes) subscribe(rows Rows, before []Subscription, r *event.RegisterRequest, now event.Time) error {
	old := map[string]*Subscription{}
	for i := range before {
		old[before[i].key()] = &before[i]
	}
	if r.Definition == "" {
		r.Ons = nil
	}
	for _, on := range r.Ons {
		s := Subscription{Subscribed: on, Program: r.Program, Since: now}
		words := fmt.Sprintf("on %s → %s", on.Event, on.Workflow)
		switch was := old[s.key()]; {
		case was == nil:
			c.added = append(c.added, words)
		case was.Spec != on.Spec:
			c.changed = append(c.changed, words)
			s = *was
			s.Subscribed = on
		default:
			delete(old, s.key())
			continue
		}
		delete(old, s.key())
		if err := saveRow(rows, subscriptionSpace, s.key(), &s); err != nil {
			return err
		}
	}
	for i := range before {
		s := &before[i]
		if old[s.key()] == nil {
			continue
		}
		c.removed = append(c.removed, fmt.Sprintf("on %s → %s", s.Event, s.Workflow))
		if err := rows.Delete(subscriptionSpace, s.key()); err != nil {
			return err
		}
		if err := removeDue(rows, s.key()); err != nil {
			return err
		}
		if err := forgetFiles(rows, s.Event); err != nil {
			return err
		}
	}
	return nil
}

// removeDue removes what waits for a subscription.
func removeDue(rows Rows, subscription string) error {
	var keys []string
	err := rows.Scan(dueSpace, "", func(key string, _ []byte) bool {
		if _, of, _ := strings.Cut(key, " "); of == subscription {
			keys = append(keys, key)
		}
		return true
	})
	for _, key := range keys {
		if err == nil {
			err = rows.Delete(dueSpace, key)
		}
	}
	return err
}

// subscribers lists the subscriptions for the events of a name.
func subscribers(rows Rows, name string) (list []Subscription, err error) {
	for _, pattern := range ir.EventPatterns(name) {
		if err == nil {
			err = scanRows(rows, subscriptionSpace, pattern+" ", func(s *Subscription) bool {
				if s.Event == pattern {
					list = append(list, *s)
				}
				return s.Event == pattern
			})
		}
	}
	return list, err
}

// HasSubscribers reports whether events of a name start runs.
func HasSubscribers(rows Rows, name string) (bool, error) {
	list, err := subscribers(rows, name)
	return len(list) > 0, err
}

// deliver makes an event due for its subscriptions. An event to which too many others led is a dead letter.
func deliver(rows Rows, name string, e *Event, now event.Time) error {
	list, err := subscribers(rows, name)
	for i := range list {
		s := &list[i]
		key := seqKey(e.Seq) + " " + s.key()
		switch {
		case err != nil:
			return err
		case len(e.Causes) >= event.MaxCauses:
			s.Dead++
			err = buryEvent(rows, s, key, name, e, fmt.Sprintf("%d events led to it, each published by a run that the one before had started: %s", len(e.Causes), chain(e.Causes)), now)
		case s.Waiting >= MaxDue:
			s.Dead++
			err = buryEvent(rows, s, key, name, e, fmt.Sprintf("%d events already wait for a process that starts their runs", s.Waiting), now)
		default:
			s.Waiting++
			err = saveRow(rows, dueSpace, key, &due{Name: name})
		}
		if err == nil {
			err = saveRow(rows, subscriptionSpace, s.key(), s)
		}
	}
	return err
}

// chain is the end of a list of causes, in words.
func chain(causes []string) string {
	return "… " + strings.Join(causes[max(0, len(causes)-3):], ", ")
}

// listDue lists the events that are to start runs, the oldest first: objects of due (which names it), event, subscription, workflow and
// program; and the programs, with what their runs begin with as JSON.
func listDue(rows Rows, r *event.DueRequest) (value.Value, error) {
	most := event.MaxDueListed
	if r.Limit > 0 {
		most = min(most, r.Limit)
	}
	var keys []string
	suffix := " " + r.Program
	err := rows.Scan(dueSpace, "", func(key string, _ []byte) bool {
		if r.Program == "" || strings.HasSuffix(key, suffix) {
			keys = append(keys, key)
		}
		return len(keys) < most
	})
	list, of, seen := []any{}, []any{}, map[string]bool{}
	for _, key := range keys {
		var o map[string]any
		if err == nil {
			o, err = dueObject(rows, key)
		}
		if o == nil {
			continue
		}
		list = append(list, o)
		if path := o["program"].(string); !seen[path] && err == nil {
			seen[path] = true
			var p map[string]any
			if p, err = startsOf(rows, path); err == nil {
				of = append(of, p)
			}
		}
	}
	handed := false
	if err == nil {
		handed, err = hasHanded(rows)
	}
	return map[string]any{"due": list, "programs": of, "handed": handed}, err
}

// startsOf is what the runs of a program begin with that start by themselves.
func startsOf(rows Rows, path string) (map[string]any, error) {
	p, err := RegisteredProgram(rows, path)
	if err != nil {
		return nil, err
	}
	first, err := json.Marshal(p.First)
	return map[string]any{"path": p.Path, "definition": p.Hash, "release": p.Release, "first": string(first)}, err
}

func dueObject(rows Rows, key string) (map[string]any, error) {
	var d due
	var s Subscription
	seq, of, _ := strings.Cut(key, " ")
	if err := loadRow(rows, dueSpace, key, &d); err != nil {
		return nil, err
	}
	if err := loadRow(rows, subscriptionSpace, of, &s); err != nil || s.Program == "" {
		return nil, err
	}
	e, err := dueEvent(rows, &d, seq)
	if err != nil {
		return nil, err
	}
	o := map[string]any{"due": key, "program": s.Program, "subscription": s.Event, "workflow": s.Workflow, "event": nil}
	if e != nil {
		x := e.External(d.Name).Data.(map[string]value.Value)
		x["causes"] = texts(e.Causes)
		o["event"] = x
	}
	return o, nil
}

// dueEvent is the event itself; nil if it is too old.
func dueEvent(rows Rows, d *due, seq string) (*Event, error) {
	if d.Event != nil {
		return d.Event, nil
	}
	var e Event
	if err := loadRow(rows, eventSpace(d.Name), seq, &e); err != nil || e.Seq == 0 {
		return nil, err
	}
	return &e, nil
}

// noteStarted takes in what became of events that were due.
func noteStarted(rows Rows, r *event.StartedRequest, now event.Time) error {
	for i := range r.Done {
		if err := noteDelivered(rows, &r.Done[i], now); err != nil {
			return err
		}
	}
	return nil
}

func noteDelivered(rows Rows, done *event.Delivered, now event.Time) error {
	body, found, err := rows.Get(dueSpace, done.Due)
	if err != nil || !found {
		return err // somebody else was faster
	}
	var d due
	if err := decodeRow(dueSpace, done.Due, body, &d); err != nil {
		return err
	}
	seq, of, _ := strings.Cut(done.Due, " ")
	var s Subscription
	if err := loadRow(rows, subscriptionSpace, of, &s); err != nil {
		return err
	}
	e, err := dueEvent(rows, &d, seq)
	if err == nil {
		err = rows.Delete(dueSpace, done.Due)
	}
	if err != nil || s.Program == "" {
		return err
	}
	if s.Waiting--; s.Waiting < 0 {
		s.Waiting = 0
	}
	switch {
	case done.Dead != "":
		s.Dead++
		if e == nil {
			e = &Event{}
		}
		err = buryEvent(rows, &s, done.Due, d.Name, e, done.Dead, now)
	case done.Run != "":
		s.Started++
		s.Last = &LastStart{Run: done.Run, At: now}
		if e != nil {
			s.Last.Event = e.ID()
		}
		err = closeAbout(rows, aboutDue(done.Due))
	default:
		s.Skipped++
		err = closeAbout(rows, aboutDue(done.Due))
	}
	if err == nil {
		err = saveRow(rows, subscriptionSpace, s.key(), &s)
	}
	return err
}

// giveUpDue makes dead letters of what an event was to start, because the event is removed.
func giveUpDue(rows Rows, seq string, now event.Time) error {
	var keys []string
	err := rows.Scan(dueSpace, seq+" ", func(key string, _ []byte) bool {
		if !strings.HasPrefix(key, seq+" ") {
			return false
		}
		keys = append(keys, key)
		return true
	})
	for _, key := range keys {
		if err == nil {
			err = noteDelivered(rows, &event.Delivered{Due: key, Dead: fmt.Sprintf("no process started its run within %d days", int(EventAge.Hours()/24))}, now)
		}
	}
	return err
}

func aboutDue(key string) string { return "event " + key }

// buryEvent makes an event that cannot start a run of a subscription a dead letter.
func buryEvent(rows Rows, s *Subscription, key, name string, e *Event, why string, now event.Time) error {
	d := DeadLetter{Kind: DeadEvent, Workflow: s.Workflow, Program: s.Program, Name: name, Event: e, Due: key, ErrorKind: string(event.Blocking), Error: why, About: aboutDue(key)}
	return bury(rows, &d, now)
}

// closeAbout removes the dead letter about something, if there is one.
func closeAbout(rows Rows, about string) error {
	var seq uint64
	var d DeadLetter
	err := loadRow(rows, deadAboutSpace, about, &seq)
	if err == nil && seq != 0 {
		err = loadRow(rows, deadSpace, seqKey(seq), &d)
	}
	if err != nil || d.Seq == 0 {
		return err
	}
	return closeLetter(rows, &d)
}

// redeliver makes the event of a dead letter due again.
func redeliver(rows Rows, d *DeadLetter) error {
	if d.Kind != DeadEvent || d.Event == nil || d.Event.Seq == 0 {
		return refuse("%s is not about an event that is kept", d.ID())
	}
	_, of, _ := strings.Cut(d.Due, " ")
	var s Subscription
	if err := loadRow(rows, subscriptionSpace, of, &s); err != nil {
		return err
	}
	if s.Program == "" {
		return refuse("%s is about a subscription that was removed: on %s → %s of %s", d.ID(), d.Name, d.Workflow, d.Program)
	}
	if _, waits, err := rows.Get(dueSpace, d.Due); err != nil || waits {
		return err
	}
	s.Waiting++
	e := *d.Event
	e.Causes = nil // the person who sends it again is its cause
	if err := saveRow(rows, dueSpace, d.Due, &due{Name: d.Name, Event: &e}); err != nil {
		return err
	}
	return saveRow(rows, subscriptionSpace, s.key(), &s)
}

// listPrograms lists the registered programs: objects of path, definition (its hash), at, release, and the lists on, routines and loops.
func listPrograms(rows Rows) (value.Value, error) {
	all, err := programs(rows)
	if err != nil {
		return nil, err
	}
	subs, err := subscriptionsOf(rows, "")
	if err != nil {
		return nil, err
	}
	loops := map[string][]any{}
	err = scanRows(rows, keptLoopSpace, "", func(l *keptLoop) bool {
		loops[l.Program] = append(loops[l.Program], map[string]any{"name": l.Name, "since": l.Since.String()})
		return true
	})
	list := []any{}
	for i := range all {
		p := &all[i]
		on := []any{}
		for k := range subs {
			if subs[k].Program == p.Path {
				on = append(on, subs[k].object())
			}
		}
		routines := []any{}
		if err := eachRoutine(rows, func(r *Routine) error {
			if r.Program != p.Path {
				return nil
			}
			s, err := r.plan()
			if err != nil {
				return err
			}
			o := map[string]any{"name": r.Name, "workflow": s.is.Workflow, "next": nil, "paused": s.stopped(), "started": float64(r.Started), "missed": float64(r.Missed)}
			if r.Wakes != 0 {
				o["next"] = r.Wakes.String()
			}
			routines = append(routines, o)
			return nil
		}); err != nil {
			return nil, err
		}
		list = append(list, map[string]any{"routines": routines, "path": p.Path, "definition": p.Hash, "at": p.At.String(), "release": p.Release, "on": on, "loops": append([]any{}, loops[p.Path]...)})
	}
	return list, err
}

func (s *Subscription) object() map[string]any {
	o := map[string]any{"event": s.Event, "workflow": s.Workflow, "since": s.Since.String(), "waiting": float64(s.Waiting), "started": float64(s.Started),
		"skipped": float64(s.Skipped), "dead": float64(s.Dead), "refused": float64(s.Refused), "last": nil}
	if s.Last != nil {
		o["last"] = map[string]any{"event": s.Last.Event, "run": s.Last.Run, "at": s.Last.At.String()}
	}
	return o
}

// RegisteredProgram returns what is registered of a program; its path is "" if nothing is.
func RegisteredProgram(rows Rows, path string) (p Program, err error) {
	err = loadRow(rows, programSpace, path, &p)
	return p, err
}

// definitionOf is the answer with a registered definition: an object of definition, source, and the programs that are registered with it.
func definitionOf(rows Rows, hash string) (value.Value, error) {
	definition, found, err := rows.Get(definitionSpace, hash)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, refuse("the store has no registered program with the definition %.16s", hash)
	}
	source, _, err := rows.Get(sourceSpace, hash)
	return map[string]any{"definition": string(definition), "source": string(source)}, err
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, text := range list {
		out[i] = text
	}
	return out
}

// NextStart says when a run is to start by itself: now, because an event is due, or at the next moment of a routine; 0: at none.
func NextStart(rows Rows) (now bool, at event.Time, err error) {
	if now, err = HasDue(rows); err != nil || now {
		return now, 0, err
	}
	at, err = wakesOfRoutines(rows, "")
	return false, at, err
}

// TellsStart reports whether the rows of a space can change what [NextStart] says.
func TellsStart(space string) bool { return space == dueSpace || space == routineSpace }

// KeepsLoops reports whether a loop is registered.
func KeepsLoops(rows Rows) (keeps bool, err error) {
	err = rows.Scan(keptLoopSpace, "", func(string, []byte) bool {
		keeps = true
		return false
	})
	return keeps, err
}

// TellsLoop reports whether a changed row of a space can mean that a loop is to run, and whether one that is removed can.
func TellsLoop(space string, removed bool) bool {
	return space == keptLoopSpace || space == loopSpace || removed && space == listenerSpace
}

// HasDue reports whether an event is to start a run.
func HasDue(rows Rows) (has bool, err error) {
	err = rows.Scan(dueSpace, "", func(string, []byte) bool {
		has = true
		return false
	})
	return has, err
}
