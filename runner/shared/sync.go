package shared

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// Bounds of sync points.
const (
	// MaxName is the size of the names of points and parties, in bytes.
	MaxName = 256
	// MaxParties is how many parties a point has.
	MaxParties = 256
	// MaxSyncReason is the size of the reason of a party that is blocked, in bytes: a longer one is cut.
	MaxSyncReason = 4 << 10
)

// CheckIn says that a party has come to a point, and whether it is ready. A second check-in of a party replaces its
// first one. Needs are the parties for which all of the point wait; they are the same in each check-in that has them.
//
// A check-in with a Key comes from an attempt that waits until all needed parties are ready. A check-in without one
// comes from a person, who does not wait and says no needs.
type CheckIn struct {
	Point   string
	As      string
	Needs   []string
	Blocked bool
	Reason  string // of a party that is blocked
	Waiter
}

// Waiter is an attempt that waits at a point: its idempotency key, and what its run knows it by.
type Waiter struct {
	Key    string `json:"key"`
	Run    string `json:"run"`
	Node   string `json:"node"`
	Ticket uint64 `json:"ticket"`
}

// Meeting is the answer to a check-in.
type Meeting struct {
	// Met is set once all needed parties are ready. Output is an object then: the parties that have checked in, and
	// whether this attempt is the one that does what must happen once.
	Met    bool
	Output value.Value
	// Missing are the needed parties that are not ready, each with its reason where it gave one.
	Missing []string
	// Wake are the attempts that waited and are released. Each asks again with its key.
	Wake []Waiter
}

// meeting is the row of a point.
type meeting struct {
	Needs   []string `json:"needs,omitempty"` // sorted; none: nobody said it yet
	Missing int      `json:"missing,omitempty"`
	Parties int      `json:"parties"`
	Given   bool     `json:"given,omitempty"` // an attempt does already what must happen once
	Order   int64    `json:"order,omitempty"` // of the attempts that wait
}

// party is the row of a party.
type party struct {
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty"`
}

// waiting is the row of an attempt that waits, or was released and has not asked again. Rows are in the order of coming.
type waiting struct {
	Waiter
	Released value.Value `json:"released,omitempty"` // the output
}

func syncSpace(point string) string   { return "sync " + point }
func waiterSpace(point string) string { return "sync-waits " + point }
func orderSpace(point string) string  { return "sync-order " + point }

const meetingKey = "point"

func partyKey(name string) string { return "party " + name }

// Sync carries out a check-in.
func Sync(rows Rows, c *CheckIn) (a Meeting, err error) {
	if err := c.check(); err != nil {
		return a, err
	}
	if released, found, err := c.released(rows); err != nil || found {
		return Meeting{Met: found, Output: released}, err
	}
	var m meeting
	if err := loadRow(rows, syncSpace(c.Point), meetingKey, &m); err != nil {
		return a, err
	}
	needs := slices.Compact(slices.Sorted(slices.Values(c.Needs)))
	if len(needs) > 0 && len(m.Needs) > 0 && !slices.Equal(needs, m.Needs) {
		return a, refuse("the point %q waits for %s, and this check-in says %s", c.Point, strings.Join(m.Needs, ", "), strings.Join(needs, ", "))
	}
	if len(needs) == 0 && c.Key != "" && len(m.Needs) == 0 {
		return a, refuse("nobody said for whom the point %q waits", c.Point)
	}
	if len(m.Needs) == 0 && len(needs) > 0 {
		if err := m.learnNeeds(rows, c.Point, needs); err != nil {
			return a, err
		}
	}
	if err := m.enter(rows, c); err != nil {
		return a, err
	}
	if len(m.Needs) == 0 || m.Missing > 0 {
		return m.wait(rows, c)
	}
	return m.release(rows, c)
}

func (c *CheckIn) check() error {
	for what, names := range map[string][]string{"point": {c.Point}, "party": append([]string{c.As}, c.Needs...)} { // any order: the first that is wrong
		for _, name := range names {
			if name == "" || len(name) > MaxName || strings.ContainsRune(name, 0) {
				return refuse("%.80q cannot be the name of a %s: it has 1 to %d bytes", name, what, MaxName)
			}
		}
	}
	if len(c.Needs) > MaxParties {
		return refuse("the point %q waits for %d parties; the limit is %d", c.Point, len(c.Needs), MaxParties)
	}
	if len(c.Reason) > MaxSyncReason {
		c.Reason = strings.ToValidUTF8(c.Reason[:MaxSyncReason], "")
	}
	return nil
}

// released returns the output of an attempt that was released. The attempt asks once; its row goes.
func (c *CheckIn) released(rows Rows) (value.Value, bool, error) {
	if c.Key == "" {
		return nil, false, nil
	}
	var order string
	if err := loadRow(rows, orderSpace(c.Point), c.Key, &order); err != nil || order == "" {
		return nil, false, err
	}
	var w waiting
	if err := loadRow(rows, waiterSpace(c.Point), order, &w); err != nil || w.Released == nil {
		return nil, false, err
	}
	return w.Released, true, Leave(rows, c.Point, c.Key)
}

// learnNeeds takes the needed parties from the first check-in that names them.
func (m *meeting) learnNeeds(rows Rows, point string, needs []string) error {
	m.Needs, m.Missing = needs, 0
	for _, name := range needs {
		var p party
		if err := loadRow(rows, syncSpace(point), partyKey(name), &p); err != nil {
			return err
		}
		if !p.Ready {
			m.Missing++
		}
	}
	return nil
}

// enter writes the party of a check-in, and counts it.
func (m *meeting) enter(rows Rows, c *CheckIn) error {
	var before party
	_, known, err := rows.Get(syncSpace(c.Point), partyKey(c.As))
	if err == nil {
		err = loadRow(rows, syncSpace(c.Point), partyKey(c.As), &before)
	}
	if err != nil {
		return err
	}
	if !known {
		if m.Parties == MaxParties {
			return refuse("the point %q has %d parties already", c.Point, MaxParties)
		}
		m.Parties++
	}
	if _, needed := slices.BinarySearch(m.Needs, c.As); needed {
		switch {
		case before.Ready && c.Blocked:
			m.Missing++
			m.Given = false // those that come from now on meet again
		case !before.Ready && !c.Blocked:
			m.Missing--
		}
	}
	after := party{Ready: !c.Blocked}
	if c.Blocked {
		after.Reason = c.Reason
	}
	return saveRow(rows, syncSpace(c.Point), partyKey(c.As), after)
}

// wait enters the attempt of a check-in among those that wait.
func (m *meeting) wait(rows Rows, c *CheckIn) (a Meeting, err error) {
	if c.Key != "" {
		var order string
		if err := loadRow(rows, orderSpace(c.Point), c.Key, &order); err != nil {
			return a, err
		}
		if order == "" {
			m.Order++
			order = fmt.Sprintf("%016x", m.Order)
			if err := saveRow(rows, orderSpace(c.Point), c.Key, order); err != nil {
				return a, err
			}
		}
		if err := saveRow(rows, waiterSpace(c.Point), order, waiting{Waiter: c.Waiter}); err != nil {
			return a, err
		}
	}
	for _, name := range m.Needs {
		var p party
		if err := loadRow(rows, syncSpace(c.Point), partyKey(name), &p); err != nil {
			return a, err
		}
		if !p.Ready && p.Reason != "" {
			name += ": " + p.Reason
		}
		if !p.Ready {
			a.Missing = append(a.Missing, name)
		}
	}
	return a, saveRow(rows, syncSpace(c.Point), meetingKey, m)
}

// release answers the attempt of a check-in, and those that wait.
func (m *meeting) release(rows Rows, c *CheckIn) (a Meeting, err error) {
	var names []value.Value
	err = rows.Scan(syncSpace(c.Point), partyKey(""), func(key string, _ []byte) bool {
		name, is := strings.CutPrefix(key, partyKey(""))
		if is {
			names = append(names, name)
		}
		return is
	})
	if err != nil {
		return a, err
	}
	output := func(waits bool) value.Value {
		last := waits && !m.Given
		m.Given = m.Given || last
		return map[string]value.Value{"checked_in": names, "last": last}
	}
	a.Met = true
	if c.Key != "" { // who completes the point is the one
		a.Output = output(true)
		if err := Leave(rows, c.Point, c.Key); err != nil {
			return a, err
		}
	}
	type row struct {
		order string
		waiting
	}
	var list []row
	var orders []string
	err = rows.Scan(waiterSpace(c.Point), "", func(order string, _ []byte) bool {
		orders = append(orders, order)
		return true
	})
	for _, order := range orders {
		var w waiting
		if err == nil {
			err = loadRow(rows, waiterSpace(c.Point), order, &w)
		}
		if w.Released == nil {
			list = append(list, row{order, w})
		}
	}
	for _, w := range list {
		if err == nil {
			w.Released = output(true)
			err = saveRow(rows, waiterSpace(c.Point), w.order, w.waiting)
			a.Wake = append(a.Wake, w.Waiter)
		}
	}
	if err == nil {
		err = saveRow(rows, syncSpace(c.Point), meetingKey, m)
	}
	return a, err
}

// Leave removes an attempt that does not wait any more: its run was cancelled, or its time is over. Its party stays.
func Leave(rows Rows, point, key string) error {
	var order string
	if err := loadRow(rows, orderSpace(point), key, &order); err != nil || order == "" {
		return err
	}
	if err := rows.Delete(waiterSpace(point), order); err != nil {
		return err
	}
	return rows.Delete(orderSpace(point), key)
}
