package shared

import (
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// MaxPaused is how many agents of a loop can be paused one by one.
const MaxPaused = 1000

// Spaces of loops: what people want of each, and the runs that are woken, as "LOOP RUN".
const (
	loopSpace     = "loops"
	listenerSpace = "loop-runs"
)

// applyLoop reads or changes how a loop is to behave.
func applyLoop(rows Rows, r *event.LoopRequest, by Waiter, now event.Time) (a Answer, err error) {
	if r.Loop == "" || len(r.Loop) > MaxName || strings.ContainsAny(r.Loop, " \n\x00") {
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
	case event.LoopBegin:
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
		if c.Paused[cut(r.Agent, MaxName)] = until; len(c.Paused) > MaxPaused {
			return a, refuse("%d agents of loop %s are paused; the limit is %d", len(c.Paused)-1, r.Loop, MaxPaused)
		}
	case event.LoopResume:
		if delete(c.Paused, r.Agent); r.Agent == "" {
			c.Paused, c.Stopped = nil, false
		}
	case event.LoopStop:
		c.Stopped = true
	default:
		return a, refuse("a loop has no operation %.40q", r.Operation)
	}
	c.By = cut(r.By, MaxName)
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
