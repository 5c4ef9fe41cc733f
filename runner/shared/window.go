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

// Take starts an attempt, and returns 0; or it returns the first moment at which an attempt can start, and changes
// nothing. A clock that goes back does not: time is that of the last start then.
func (w *Window) Take(rows Rows, now event.Time) (next event.Time, err error) {
	if err := w.check(); err != nil {
		return 0, err
	}
	r, err := w.load(rows)
	if err != nil {
		return 0, err
	}
	if next, err := w.next(rows, r, now, 0); err != nil || next != 0 {
		return next, err
	}
	if r.Size != 0 && r.Size != w.Requests {
		if err := w.resize(rows, r); err != nil {
			return 0, err
		}
	}
	r.Size = w.Requests
	r.Last = max(now, r.Last)
	if err := rows.Put(w.space(), place(r.Next), strconv.AppendInt(nil, int64(r.Last), 10)); err != nil {
		return 0, err
	}
	r.Next = (r.Next + 1) % r.Size
	return 0, w.save(rows, r)
}

// Next returns the first moment at which an attempt can start if so many others start before it; 0: now. It changes
// nothing. Where Requests is 0, only Hold bounds the start.
func (w *Window) Next(rows Rows, now event.Time, ahead int) (event.Time, error) {
	if w.Requests != 0 {
		if err := w.check(); err != nil {
			return 0, err
		}
	}
	r, err := w.load(rows)
	if err != nil {
		return 0, err
	}
	return w.next(rows, r, now, ahead)
}

// State returns how many attempts have started in the span that ends now, and when the next one can; 0: now.
func (w *Window) State(rows Rows, now event.Time) (started int, next event.Time, err error) {
	r, err := w.load(rows)
	if err != nil {
		return 0, 0, err
	}
	now = max(now, r.Last)
	if next, err = w.next(rows, r, now, 0); err != nil || w.Requests == 0 {
		return 0, next, err
	}
	starts, err := w.newest(rows, r)
	for _, at := range starts {
		if now.Sub(at) < w.Per {
			started++
		}
	}
	return started, next, err
}

func (w *Window) check() error {
	if w.Requests < 1 || w.Requests > MaxWindow || w.Per <= 0 {
		return refuse("a rate limit of %d requests in %s; it has 1 to %d requests in more than no time", w.Requests, w.Per, MaxWindow)
	}
	return nil
}

func (w *Window) next(rows Rows, r *ring, now event.Time, ahead int) (event.Time, error) {
	now = max(now, r.Last)
	at := max(now, r.Held)
	if w.Requests > 0 {
		// The start that comes Requests before this one decides: a stored one, or that of a request ahead.
		before, err := w.oldest(rows, r, ahead%w.Requests)
		if err != nil {
			return 0, err
		}
		if before != 0 {
			at = max(at, before.Add(w.Per))
		}
		at = at.Add(time.Duration(ahead/w.Requests) * w.Per)
	}
	if at == now {
		return 0, nil
	}
	return at, nil
}

// oldest returns the i-th of the starts that bound the next ones, from the oldest on; 0 if there is none.
func (w *Window) oldest(rows Rows, r *ring, i int) (event.Time, error) {
	switch r.Size {
	case 0:
		return 0, nil
	case w.Requests:
		return w.start(rows, (r.Next+i)%r.Size)
	}
	starts, err := w.newest(rows, r)
	if i -= w.Requests - len(starts); err != nil || i < 0 {
		return 0, err
	}
	return starts[i], nil
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

// Release undoes Hold, and reports whether a moment was held.
func (w *Window) Release(rows Rows) (bool, error) {
	r, err := w.load(rows)
	if err != nil || r.Held == 0 {
		return false, err
	}
	r.Held = 0
	return true, w.save(rows, r)
}

// Settle corrects the ring after a clock was ahead: where the last start lies more than Per in the future, no start counts from later
// than now.
func (w *Window) Settle(rows Rows, now event.Time) error {
	r, err := w.load(rows)
	if err != nil || w.Per <= 0 || r.Last <= now.Add(w.Per) {
		return err
	}
	for i := range r.Size {
		at, err := w.start(rows, i)
		if err == nil && at > now {
			err = rows.Put(w.space(), place(i), strconv.AppendInt(nil, int64(now), 10))
		}
		if err != nil {
			return err
		}
	}
	r.Last = now
	return w.save(rows, r)
}

// newest returns the newest starts, as many as the program says, from the oldest on.
func (w *Window) newest(rows Rows, r *ring) (starts []event.Time, err error) {
	for i := range r.Size {
		at, err := w.start(rows, (r.Next+i)%r.Size)
		if err != nil {
			return nil, err
		}
		if at != 0 {
			starts = append(starts, at)
		}
	}
	return starts[max(0, len(starts)-w.Requests):], nil
}

// resize changes the size of the ring, because the program says another number: the newest starts stay, as many as fit.
func (w *Window) resize(rows Rows, r *ring) error {
	starts, err := w.newest(rows, r)
	for i := 0; i < max(r.Size, w.Requests) && err == nil; i++ {
		if i < len(starts) {
			err = rows.Put(w.space(), place(i), strconv.AppendInt(nil, int64(starts[i]), 10))
		} else {
			err = rows.Delete(w.space(), place(i))
		}
	}
	r.Next = len(starts) % w.Requests
	return err
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
	return decodeRow(space, key, body, v)
}

func decodeRow(space, key string, body []byte, v any) error {
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
