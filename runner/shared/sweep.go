package shared

import (
	"cmp"
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
)

// sweptAtOnce is how many events, messages and sync points one call of sweepOld looks at, each.
const sweptAtOnce = 4

// sweepOld removes some of the events, messages and sync points that are too old. Each end of a run, event and check-in does it, so these
// rows do not pile up in a store where runs end.
func sweepOld(rows Rows, now event.Time) error {
	if err := sweepEvents(rows, now); err != nil {
		return err
	}
	if err := sweepNotices(rows, now); err != nil {
		return err
	}
	return sweepPoints(rows, now)
}

// sweepPoints removes points to which nobody has checked in for PointAge. A point at which an attempt waits stays, and so does one whose
// answer an attempt has not read yet; they are looked at again later.
func sweepPoints(rows Rows, now event.Time) error {
	var old []string
	err := rows.Scan(pointAgeSpace, "", func(at string, _ []byte) bool {
		if len(old) == sweptAtOnce || at >= ageKey(now.Add(-PointAge)+1, "") {
			return false
		}
		old = append(old, at)
		return true
	})
	for _, at := range old {
		if err != nil {
			return err
		}
		if err = rows.Delete(pointAgeSpace, at); err == nil {
			err = sweepPoint(rows, at[len(ageKey(0, "")):], now)
		}
	}
	return err
}

func sweepPoint(rows Rows, point string, now event.Time) error {
	var m meeting
	if err := loadRow(rows, syncSpace(point), meetingKey, &m); err != nil {
		return err
	}
	busy := false
	err := rows.Scan(waiterSpace(point), "", func(string, []byte) bool {
		busy = true
		return false
	})
	switch {
	case err != nil:
		return err
	case busy:
		return rows.Put(pointAgeSpace, ageKey(now, point), nil)
	case now.Sub(m.At) < PointAge:
		return rows.Put(pointAgeSpace, ageKey(m.At, point), nil)
	}
	return cmp.Or(rows.Clear(syncSpace(point)), rows.Delete(pointSpace, point))
}

func ageKey(at event.Time, rest string) string { return fmt.Sprintf("%016x %s", int64(at), rest) }
