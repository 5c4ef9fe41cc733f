package shared

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// MaxWindow is how many starts a rate limit allows in one span at most.
const MaxWindow = 10_000

// Window is a rate limit: in no span of length Per do more than Requests attempts start. A span includes its beginning
// and not its end, so an attempt can start exactly Per after another one.
//
// The state is a ring with the moments of the last starts, a row each. The next place of the ring holds the oldest of
// them, and that decides.
type Window struct {
	Name     string
	Requests int // 1 to MaxWindow
	Per      time.Duration
}

// ring is the row that says where the ring is. Size is the number of places, Next the place of the oldest start.
type ring struct {
	Size int        `json:"size"`
	Next int        `json:"next"`
	Last event.Time `json:"last"`           // the newest start
	Held event.Time `json:"held,omitempty"` // nothing starts before
}

func (w *Window) space() string { return "window " + w.Name }

const ringKey = "ring"

func place(i int) string { return fmt.Sprintf("%08d", i) }

// Take starts an attempt, and returns 0; or it returns the moment at which asking again makes sense, and changes
// nothing. A clock that goes back does not: time is that of the last start then.
func (w *Window) Take(rows Rows, now event.Time) (next event.Time, err error) {
	if w.Requests < 1 || w.Requests > MaxWindow || w.Per <= 0 {
		return 0, refuse("a rate limit of %d requests in %s; it has 1 to %d requests in more than no time", w.Requests, w.Per, MaxWindow)
	}
	r, err := w.load(rows)
	if err != nil {
		return 0, err
	}
	now = max(now, r.Last)
	if now < r.Held {
		return r.Held, nil
	}
	if r.Size != 0 && r.Size != w.Requests {
		if next, err := w.resize(rows, r, now); err != nil || next != 0 {
			return next, err
		}
	}
	r.Size = w.Requests
	oldest, err := w.start(rows, r.Next)
	if err != nil {
		return 0, err
	}
	if oldest != 0 && now.Sub(oldest) < w.Per {
		return oldest.Add(w.Per), nil
	}
	if err := rows.Put(w.space(), place(r.Next), strconv.AppendInt(nil, int64(now), 10)); err != nil {
		return 0, err
	}
	r.Next, r.Last = (r.Next+1)%r.Size, now
	return 0, w.save(rows, r)
}

// Hold lets nothing start before a moment: the other side has said so. An earlier moment than one that is held changes
// nothing.
func (w *Window) Hold(rows Rows, until event.Time) error {
	r, err := w.load(rows)
	if err != nil || until <= r.Held {
		return err
	}
	r.Held = until
	return w.save(rows, r)
}

// resize changes the size of the ring, because the program says another number: the newest starts stay, as many as fit.
// It returns the moment at which asking again makes sense, and changes nothing, if nothing can start now anyway.
func (w *Window) resize(rows Rows, r *ring, now event.Time) (next event.Time, err error) {
	var starts []event.Time // from the oldest on
	for i := range r.Size {
		at, err := w.start(rows, (r.Next+i)%r.Size)
		if err != nil {
			return 0, err
		}
		if at != 0 {
			starts = append(starts, at)
		}
	}
	starts = starts[max(0, len(starts)-w.Requests):]
	if len(starts) == w.Requests && now.Sub(starts[0]) < w.Per {
		return starts[0].Add(w.Per), nil
	}
	for i := range max(r.Size, w.Requests) {
		if i < len(starts) {
			err = rows.Put(w.space(), place(i), strconv.AppendInt(nil, int64(starts[i]), 10))
		} else {
			err = rows.Delete(w.space(), place(i))
		}
		if err != nil {
			return 0, err
		}
	}
	r.Next = len(starts) % w.Requests
	return 0, nil
}

// start returns the moment in a place of the ring; 0 if there is none.
func (w *Window) start(rows Rows, i int) (event.Time, error) {
	body, found, err := rows.Get(w.space(), place(i))
	if err != nil || !found {
		return 0, err
	}
	n, err := strconv.ParseInt(string(body), 10, 64)
	if err != nil {
		return 0, refuse("the rate limit of %q is damaged: %v", w.Name, err)
	}
	return event.Time(n), nil
}

func (w *Window) load(rows Rows) (*ring, error) {
	r := new(ring)
	return r, loadRow(rows, w.space(), ringKey, r)
}

func (w *Window) save(rows Rows, r *ring) error { return saveRow(rows, w.space(), ringKey, r) }

// loadRow reads a row of JSON into v, and leaves v as it is if there is none.
func loadRow(rows Rows, space, key string, v any) error {
	body, found, err := rows.Get(space, key)
	if err != nil || !found {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return refuse("the row %q of %q is damaged: %v", key, space, err)
	}
	return nil
}

// saveRow writes a row of JSON. Equal values give equal bytes.
func saveRow(rows Rows, space, key string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return rows.Put(space, key, body)
}
