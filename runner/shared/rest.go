package shared

import "github.com/flowrun/flowrun/runner/event"

// RestSpace has the runs that do items and of which nothing is in flight, by their ids.
const RestSpace = "resting"

// Rest is how a run stands that does an item of a loop: whether nothing of it is in flight, so that it waits for a moment or for something
// from outside, and when its first timer is due then; 0: no timer is set.
type Rest struct {
	Idle bool
	Due  event.Time
}

// RestOf says how a run stands; nil: it does no item of a loop, and nobody wants to know.
func RestOf(first *event.RunStarted, due event.Time, idle bool) *Rest {
	if first.Cause == nil || first.Cause.Kind != event.CauseLoop {
		return nil
	}
	return &Rest{idle, due}
}

// restRow is a run that rests.
type restRow struct {
	Due event.Time `json:"due,omitempty"`
}

// NoteRest keeps how a run stands. Nothing is to be kept where r is nil.
func NoteRest(rows Rows, run string, r *Rest) error {
	switch {
	case r == nil:
		return nil
	case r.Idle:
		return saveRow(rows, RestSpace, run, restRow{r.Due})
	}
	return rows.Delete(RestSpace, run)
}

// Stir notes that a run gets a message: it does not rest until it has heard of it.
func Stir(rows Rows, run string) error { return rows.Delete(RestSpace, run) }

// rests reports whether a run waits for something from outside, or for a moment that is at least as far away as a lease is long.
func rests(rows Rows, run string, r *event.ClaimRequest, now event.Time) (bool, error) {
	if run == "" {
		return false, nil
	}
	body, found, err := rows.Get(RestSpace, run)
	if err != nil || !found {
		return false, err
	}
	var row restRow
	err = decodeRow(RestSpace, run, body, &row)
	return err == nil && (row.Due == 0 || row.Due.Sub(now) >= r.Lease), err
}
