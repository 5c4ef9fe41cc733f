package shared

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of sync points.
const (
	// MaxSyncReason is the size of the reason of a party that is blocked, in bytes: a longer one is cut.
	MaxSyncReason = 4 << 10
	// PointAge is how long a point is kept after the last check-in, unless an attempt waits there.
	PointAge = 30 * 24 * time.Hour
	// MaxListed is how many points one list has.
	MaxListed = 10_000
)

// CheckIn says that a party has come to a point, and whether it is ready. A second check-in of a party replaces its
// first one; an attempt that waits and asks again does not check in a second time. Needs are the parties for which all of the point wait; they are the same in each check-in that has them.
//
// A check-in with a Key comes from an attempt that waits until all needed parties are ready. A check-in without one
// comes from a person, who does not wait and says no needs.
type CheckIn struct {
	Point   string
	As      string
	Needs   []string
	Blocked bool
	Reason  string // of a party that is blocked
	At      event.Time
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
	// Tell are the attempts that wait on, and whose Missing has another reason now. Each asks again, too.
	Tell []Waiter
}

// meeting is the row of a point.
type meeting struct {
	Needs   []string `json:"needs,omitempty"` // sorted; none: nobody said it yet
	Missing int      `json:"missing,omitempty"`
	Parties int      `json:"parties"`
	Given   bool     `json:"given,omitempty"` // an attempt does already what must happen once
	Order   int64    `json:"order,omitempty"` // of the attempts that wait
	// At is when somebody checked in last.
	At event.Time `json:"at,omitempty"`
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

// pointSpace holds the names of all points, and pointAgeSpace the order in which they grow too old.
const (
	pointSpace    = "sync-points"
	pointAgeSpace = "sync-ages"
)

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
		return a, refuse("the point %q does not know yet which check-ins it waits for", c.Point)
	}
	if len(m.Needs) == 0 && len(needs) > 0 {
		if err := m.learnNeeds(rows, c.Point, needs); err != nil {
			return a, err
		}
	}
	m.At = max(m.At, c.At)
	news, waits := false, false
	if c.Key != "" {
		_, waits, err = rows.Get(orderSpace(c.Point), c.Key)
	}
	if err == nil && !waits { // an attempt that asks again has checked in already; a person may have overridden it since
		news, err = m.enter(rows, c)
	}
	if err != nil {
		return a, err
	}
	if len(m.Needs) == 0 || m.Missing > 0 {
		if a, err = m.wait(rows, c); err == nil && news {
			a.Tell, err = waiters(rows, c.Point, c.Key)
		}
		return a, err
	}
	return m.release(rows, c)
}

// applySync carries out a check-in of the attempt of a step, or of a person.
func applySync(rows Rows, r *event.SyncRequest, by Waiter, now event.Time) (a Answer, err error) {
	c := &CheckIn{Point: r.Point, As: r.As, Needs: r.Needs, Blocked: r.Blocked, Reason: r.Reason, At: now, Waiter: by}
	if r.Expired {
		if err := c.check(); err != nil {
			return a, err
		}
		output, found, err := c.released(rows)
		if err != nil || found {
			return Answer{Output: output}, err
		}
		missing, err := missingAt(rows, r.Point)
		if err == nil {
			err = Leave(rows, r.Point, by)
		}
		return Answer{Expired: true, Waits: fmt.Sprintf("the time to wait at %q is over, and %s", r.Point, notReady(missing))}, err
	}
	m, err := Sync(rows, c)
	if err == nil {
		err = sweepOld(rows, now)
	}
	if err != nil {
		return a, err
	}
	for _, w := range append(m.Wake, m.Tell...) {
		a.Posts = append(a.Posts, Post{w.Run, event.External{Kind: event.ExternalGranted, Node: w.Node, Data: float64(w.Ticket)}})
	}
	switch {
	case by.Key == "":
		names := []value.Value{}
		for _, name := range m.Missing {
			names = append(names, name)
		}
		a.Output = map[string]value.Value{"met": m.Met, "missing": names}
	case m.Met:
		a.Output = m.Output
	default:
		a.Waits = notReady(m.Missing)
	}
	return a, nil
}

// notReady says who is missing.
func notReady(missing []string) string {
	if len(missing) == 1 {
		return "not ready: " + missing[0]
	}
	return "not ready: " + strings.Join(missing, "; ")
}

func (c *CheckIn) check() error {
	for what, names := range map[string][]string{"point": {c.Point}, "party": append([]string{c.As}, c.Needs...)} { // any order: the first that is wrong
		for _, name := range names {
			if name == "" || len(name) > limits.MaxSyncName || strings.ContainsRune(name, 0) {
				return refuse("%.80q cannot be the name of a %s: it has 1 to %d bytes", name, what, limits.MaxSyncName)
			}
		}
	}
	if len(c.Needs) > limits.MaxParties {
		return refuse("the point %q waits for %d parties; the limit is %d", c.Point, len(c.Needs), limits.MaxParties)
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
	if err := c.Waiter.noteLast(rows, c.Point, w.Released); err != nil {
		return nil, false, err
	}
	return w.Released, true, c.Waiter.drop(rows, c.Point, order)
}

func isLast(output value.Value) bool {
	o, _ := output.(map[string]any)
	return o["last"] == true
}

// noteLast remembers an attempt whose answer says that it does what must happen once. Its node may end before it has the answer.
func (w *Waiter) noteLast(rows Rows, point string, output value.Value) error {
	if !isLast(output) {
		return nil
	}
	return saveRow(rows, runHas(w.Run), hasLast+w.Key, point)
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

// enter writes the party of a check-in, and counts it. news tells that those who wait for the party read another reason now.
func (m *meeting) enter(rows Rows, c *CheckIn) (news bool, err error) {
	var before party
	_, known, err := rows.Get(syncSpace(c.Point), partyKey(c.As))
	if err == nil {
		err = loadRow(rows, syncSpace(c.Point), partyKey(c.As), &before)
	}
	if err != nil {
		return false, err
	}
	if !known {
		if m.Parties == limits.MaxParties {
			return false, refuse("the point %q has %d parties already", c.Point, limits.MaxParties)
		}
		m.Parties++
	}
	if m.Parties == 1 && !known {
		if err := cmp.Or(rows.Put(pointSpace, c.Point, nil), rows.Put(pointAgeSpace, ageKey(c.At, c.Point), nil)); err != nil {
			return false, err
		}
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
	_, needed := slices.BinarySearch(m.Needs, c.As)
	news = needed && before.Reason != after.Reason
	if before == after && known {
		return false, nil
	}
	return news, saveRow(rows, syncSpace(c.Point), partyKey(c.As), after)
}

// waiters returns the attempts that wait at a point, but for one.
func waiters(rows Rows, point, but string) (list []Waiter, err error) {
	var bad error
	err = rows.Scan(waiterSpace(point), "", func(order string, body []byte) bool {
		var w waiting
		if bad = json.Unmarshal(body, &w); bad != nil {
			bad = refuse("the row %q of %q is damaged: %v", order, waiterSpace(point), bad)
			return false
		}
		if w.Released == nil && w.Key != but {
			list = append(list, w.Waiter)
		}
		return true
	})
	return list, cmp.Or(err, bad)
}

// missingAt lists the needed parties of a point that are not ready, with their reasons.
func missingAt(rows Rows, point string) ([]string, error) {
	var m meeting
	if err := loadRow(rows, syncSpace(point), meetingKey, &m); err != nil {
		return nil, err
	}
	return m.missing(rows, point)
}

func (m *meeting) missing(rows Rows, point string) (list []string, err error) {
	for _, name := range m.Needs {
		var p party
		if err := loadRow(rows, syncSpace(point), partyKey(name), &p); err != nil {
			return nil, err
		}
		if !p.Ready && p.Reason != "" {
			name += ": " + p.Reason
		}
		if !p.Ready {
			list = append(list, name)
		}
	}
	return list, nil
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
			if err := saveRow(rows, runHas(c.Run), hasSync+c.Key, c.Point); err != nil {
				return a, err
			}
		}
		if err := saveRow(rows, waiterSpace(c.Point), order, waiting{Waiter: c.Waiter}); err != nil {
			return a, err
		}
	}
	if a.Missing, err = m.missing(rows, c.Point); err != nil {
		return a, err
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
		if err := c.Waiter.forget(rows, c.Point); err != nil {
			return a, err
		}
		if err := c.Waiter.noteLast(rows, c.Point, a.Output); err != nil {
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

// drop removes the rows of an attempt that waits, or was released.
func (w *Waiter) drop(rows Rows, point, order string) error {
	if err := rows.Delete(waiterSpace(point), order); err != nil {
		return err
	}
	if err := rows.Delete(runHas(w.Run), hasSync+w.Key); err != nil {
		return err
	}
	return rows.Delete(orderSpace(point), w.Key)
}

// forget is drop of an attempt that may not wait.
func (w *Waiter) forget(rows Rows, point string) error {
	var order string
	if err := loadRow(rows, orderSpace(point), w.Key, &order); err != nil || order == "" {
		return err
	}
	return w.drop(rows, point, order)
}

// Leave removes an attempt that does not wait any more: its run was cancelled, or its time is over. Its party stays. If the attempt
// was released as the one that does what must happen once, another one does it: the next that was released and has not asked yet, or
// else the next that comes.
func Leave(rows Rows, point string, w Waiter) error {
	var order string
	if err := loadRow(rows, orderSpace(point), w.Key, &order); err != nil || order == "" {
		return err
	}
	var left waiting
	if err := loadRow(rows, waiterSpace(point), order, &left); err != nil {
		return err
	}
	if err := w.drop(rows, point, order); err != nil {
		return err
	}
	if !isLast(left.Released) {
		return nil
	}
	return handOn(rows, point)
}

// handOn has another attempt do what must happen once.
func handOn(rows Rows, point string) error {
	heir, heirAt := waiting{}, ""
	err := rows.Scan(waiterSpace(point), "", func(at string, body []byte) bool {
		var other waiting
		if json.Unmarshal(body, &other) == nil && other.Released != nil && heirAt == "" {
			heir, heirAt = other, at
		}
		return heirAt == ""
	})
	if err != nil {
		return err
	}
	if o, released := heir.Released.(map[string]any); released {
		o["last"] = true
		return saveRow(rows, waiterSpace(point), heirAt, heir)
	}
	var m meeting
	if err := loadRow(rows, syncSpace(point), meetingKey, &m); err != nil {
		return err
	}
	if m.Given = false; m.Parties == 0 { // the point was removed meanwhile
		return nil
	}
	return saveRow(rows, syncSpace(point), meetingKey, m)
}

// Withdraw is Leave of the attempt of a run with a key, wherever it waits. An attempt that was answered already, and was to do what must
// happen once, leaves that to another one. Withdraw does nothing for other attempts.
func Withdraw(rows Rows, run, key string) error {
	var point, last string
	err := loadRow(rows, runHas(run), hasSync+key, &point)
	if err == nil {
		err = loadRow(rows, runHas(run), hasLast+key, &last)
	}
	switch {
	case err != nil:
		return err
	case last != "":
		if err := rows.Delete(runHas(run), hasLast+key); err != nil {
			return err
		}
		return handOn(rows, last)
	case point != "":
		return Leave(rows, point, Waiter{Key: key, Run: run})
	}
	return nil
}

// listPoints lists the sync points of the store, as objects by name.
func listPoints(rows Rows) (value.Value, error) {
	var names []string
	err := rows.Scan(pointSpace, "", func(point string, _ []byte) bool {
		names = append(names, point)
		return len(names) < MaxListed
	})
	points := map[string]value.Value{}
	for _, point := range names {
		if err != nil {
			return nil, err
		}
		points[point], err = describePoint(rows, point)
	}
	return points, err
}

func describePoint(rows Rows, point string) (value.Value, error) {
	var m meeting
	if err := loadRow(rows, syncSpace(point), meetingKey, &m); err != nil {
		return nil, err
	}
	parties := map[string]value.Value{}
	err := rows.Scan(syncSpace(point), partyKey(""), func(key string, body []byte) bool {
		name, is := strings.CutPrefix(key, partyKey(""))
		if is {
			var p party
			_ = json.Unmarshal(body, &p) // a damaged row reads as a party that is not ready
			parties[name] = map[string]value.Value{"ready": p.Ready, "reason": p.Reason}
		}
		return is
	})
	if err != nil {
		return nil, err
	}
	needs, waits := []value.Value{}, []value.Value{}
	for _, name := range m.Needs {
		needs = append(needs, name)
	}
	list, err := waiters(rows, point, "")
	for _, w := range list {
		waits = append(waits, map[string]value.Value{"run": w.Run, "node": w.Node})
	}
	return map[string]value.Value{"needs": needs, "parties": parties, "waiting": waits, "met": len(m.Needs) > 0 && m.Missing == 0}, err
}
