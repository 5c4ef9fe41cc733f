package shared

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of loops.
const (
	// MaxPaused is how many agents of a loop can be paused one by one.
	MaxPaused = 1000
	// MaxLoops is how many loops of a store are registered.
	MaxLoops = 1000
)

// Spaces of loops: what people want of each, the runs that are woken, as "LOOP RUN", the numbers of the newest runs, and the loops that are
// registered, by their names, which are unique in a store.
const (
	loopSpace     = "loops"
	listenerSpace = "loop-runs"
	sessionSpace  = "loop-sessions"
	keptLoopSpace = "kept-loops"
)

// session is which of the runs of a loop is the newest.
type session struct {
	Loop    string     `json:"loop"`
	Number  uint64     `json:"number,omitempty"`
	Resumed event.Time `json:"resumed,omitempty"` // when somebody asked last that the loop goes on
}

// keptLoop is a loop that is registered.
type keptLoop struct {
	event.KeptLoop
	Program string     `json:"program"`
	Since   event.Time `json:"since"`
}

// applyLoop reads or changes how a loop is to behave.
func applyLoop(rows Rows, r *event.LoopRequest, by Waiter, now event.Time) (a Answer, err error) {
	if r.Operation == event.LoopList {
		a.Output, err = listLoops(rows)
		return a, err
	}
	if r.Loop == "" || len(r.Loop) > limits.MaxSyncName || strings.ContainsAny(r.Loop, " \n\x00") {
		return a, refuse("%.80q cannot be the name of a loop", r.Loop)
	}
	c := event.LoopControl{}
	if err := loadRow(rows, loopSpace, r.Loop, &c); err != nil {
		return a, err
	}
	c.Loop, c.At = r.Loop, now
	maps.DeleteFunc(c.Paused, func(_ string, until event.Time) bool { return now >= until })
	switch r.Operation {
	case event.LoopListen:
		if by.Run == "" {
			return a, refuse("only a run can listen")
		}
		if err := rows.Put(listenerSpace, r.Loop+" "+by.Run, nil); err != nil {
			return a, err
		}
		a.Output = c.Object()
		return a, rows.Put(runHas(by.Run), hasLoop+r.Loop, nil)
	case event.LoopRead:
		a.Output = c.Object()
		return a, nil
	case event.LoopSession:
		s := session{Loop: r.Loop}
		if err := loadRow(rows, sessionSpace, r.Loop, &s); err != nil {
			return a, err
		}
		if r.Ended >= s.Number {
			s.Number = r.Ended + 1
			err = saveRow(rows, sessionSpace, r.Loop, &s)
		}
		a.Output = float64(s.Number)
		return a, err
	case event.LoopTarget:
		a.Posts, err = EmitOwn(rows, TargetEvent, r.Target, now)
		return a, err
	case event.LoopTell:
		a.Posts, err = EmitOwn(rows, LoopEvent, r.Tell, now)
		return a, err
	case event.LoopList: // above
	case event.LoopEnd:
		a.Posts = []Post{endPost(r.Loop, r.Ended, cut(r.Why, limits.MaxKVKey))}
		return a, nil
	case event.LoopBegin:
		if err := noteResumed(rows, r.Loop, now); err != nil {
			return a, err
		}
		a.Output = c.Object()
		wake := event.Wake{Kind: event.WakeBegin, Begin: event.LoopStart{Once: r.Once, UntilIdle: r.UntilIdle}}
		a.Posts, err = postWake(rows, r.Loop+" ", wake.Data())
		return a, err
	case event.LoopPause:
		if r.For < 0 || r.For > MaxTTL {
			return a, refuse("a pause of %s is not between 0 and %s", r.For, MaxTTL)
		}
		until := event.Forever
		if r.For > 0 {
			until = now.Add(r.For)
		}
		if c.Paused == nil {
			c.Paused = map[string]event.Time{}
		}
		if c.Paused[cut(r.Agent, limits.MaxSyncName)] = until; len(c.Paused) > MaxPaused {
			return a, refuse("%d agents of loop %s are paused; the limit is %d", len(c.Paused)-1, r.Loop, MaxPaused)
		}
	case event.LoopResume:
		if delete(c.Paused, r.Agent); r.Agent == "" {
			c.Paused, c.Stopped = nil, false
			if err := noteResumed(rows, r.Loop, now); err != nil {
				return a, err
			}
		}
	case event.LoopStop:
		c.Stopped = true
	default:
		return a, refuse("a loop has no operation %.40q", r.Operation)
	}
	c.By = cut(r.By, limits.MaxSyncName)
	if err := saveRow(rows, loopSpace, r.Loop, &c); err != nil {
		return a, err
	}
	a.Output = c.Object()
	wake := event.Wake{Kind: event.WakeControl, Control: c}
	a.Posts, err = postWake(rows, r.Loop+" ", wake.Data())
	return a, err
}

// wakeLoops tells all loops but the one that asks that there is more to do, or something else.
func wakeLoops(rows Rows, by Waiter) ([]Post, error) {
	wake := event.Wake{Kind: event.WakeWork}
	posts, err := postWake(rows, "", wake.Data())
	return slices.DeleteFunc(posts, func(p Post) bool { return p.Run == by.Run }), err
}

// postWake makes a message to each run that listens; prefix chooses the loop.
func postWake(rows Rows, prefix string, data value.Value) (posts []Post, err error) {
	err = rows.Scan(listenerSpace, prefix, func(key string, _ []byte) bool {
		if !strings.HasPrefix(key, prefix) {
			return false
		}
		_, run, _ := strings.Cut(key, " ")
		posts = append(posts, Post{Run: run, External: event.External{Kind: event.ExternalWake, Data: data}})
		return true
	})
	return posts, err
}

// endPost tells a run of a loop to end.
func endPost(loop string, number uint64, why string) Post {
	end := event.Wake{Kind: event.WakeEnd, Why: why}
	return Post{Run: event.LoopRun(loop, number), External: event.External{Kind: event.ExternalWake, Data: end.Data()}}
}

// noteResumed keeps when somebody asked that a loop goes on.
func noteResumed(rows Rows, loop string, now event.Time) error {
	s := session{Loop: loop}
	if err := loadRow(rows, sessionSpace, loop, &s); err != nil {
		return err
	}
	s.Resumed = now
	return saveRow(rows, sessionSpace, loop, &s)
}

// keep puts the loops of a program in the place of those before. The run of a loop that was removed is to end.
func (c *changes) keep(rows Rows, r *event.RegisterRequest, now event.Time) (posts []Post, err error) {
	loops := r.Loops
	if r.Definition == "" {
		loops = nil
	}
	var all []keptLoop
	if err := scanRows(rows, keptLoopSpace, "", func(l *keptLoop) bool { all = append(all, *l); return true }); err != nil {
		return nil, err
	}
	old := map[string]*keptLoop{}
	for i := range all {
		switch l := &all[i]; {
		case l.Program == r.Program:
			old[l.Name] = l
		case slices.ContainsFunc(loops, func(k event.KeptLoop) bool { return k.Name == l.Name }):
			return nil, refuse("loop %q is registered by %s already; two programs of a store need two names, or the other one must be removed", l.Name, l.Program)
		}
	}
	if n := len(all) - len(old) + len(loops); n > MaxLoops {
		return nil, refuse("the store would have %d loops; the limit is %d", n, MaxLoops)
	}
	for _, k := range loops {
		l := keptLoop{KeptLoop: k, Program: r.Program, Since: now}
		was := old[k.Name]
		delete(old, k.Name)
		switch {
		case was == nil:
			c.added = append(c.added, "loop "+k.Name)
		case was.Spec == k.Spec:
			continue
		default:
			c.changed = append(c.changed, "loop "+k.Name)
			l.Since = was.Since
		}
		if err := saveRow(rows, keptLoopSpace, k.Name, &l); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		c.removed = append(c.removed, "loop "+name)
		if err := rows.Delete(keptLoopSpace, name); err != nil {
			return nil, err
		}
		var s session
		if err := loadRow(rows, sessionSpace, name, &s); err != nil {
			return nil, err
		}
		if s.Number > 0 {
			posts = append(posts, endPost(name, s.Number, "the loop is not registered any more"))
		}
	}
	return posts, nil
}

// listLoops lists the loops that are registered, that have run, or of which people want something.
func listLoops(rows Rows) (value.Value, error) {
	known := map[string]map[string]any{}
	of := func(name string) map[string]any {
		if known[name] == nil {
			known[name] = map[string]any{"name": name, "program": "", "since": "", "definition": "", "number": 0.0, "stopped": false, "resumed": "0"}
		}
		return known[name]
	}
	programs, seen := []any{}, map[string]map[string]any{}
	var kept []keptLoop
	err := scanRows(rows, keptLoopSpace, "", func(l *keptLoop) bool { kept = append(kept, *l); return true })
	for i := range kept {
		l := &kept[i]
		if seen[l.Program] == nil && err == nil {
			if seen[l.Program], err = startsOf(rows, l.Program); err == nil {
				programs = append(programs, seen[l.Program])
			}
		}
		o := of(l.Name)
		o["program"], o["since"], o["definition"] = l.Program, l.Since.String(), seen[l.Program]["definition"]
	}
	if err == nil {
		err = scanRows(rows, sessionSpace, "", func(s *session) bool {
			o := of(s.Loop)
			o["number"], o["resumed"] = float64(s.Number), strconv.FormatInt(int64(s.Resumed), 10)
			return true
		})
	}
	if err == nil {
		err = scanRows(rows, loopSpace, "", func(c *event.LoopControl) bool {
			of(c.Loop)["stopped"] = c.Stopped
			return true
		})
	}
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		list = append(list, known[name])
	}
	return map[string]any{"loops": list, "programs": programs}, err
}
