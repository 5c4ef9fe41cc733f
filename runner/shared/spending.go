package shared

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// Spending bounds what attempts use: in no span of length Per is it more than Most, but for what runs when the bound is reached. Attempts
// count when they start, so their bound is never exceeded; tokens and cost count when an attempt has ended. A span includes its beginning
// and not its end.
//
// The state is a list of entries, a row each, and their sum. Uses within a thousandth of Per share an entry and leave the span with the
// last of them, so that there are few rows and never too much is allowed.
type Spending struct {
	Name string
	Most event.Bounds // 0: no bound
	Per  time.Duration
}

// spendingParts is how many entries a span holds, give or take one.
const spendingParts = 1000

// spentSum is the row with what all entries hold together.
type spentSum struct {
	Entries int          `json:"entries"`
	Sum     event.Bounds `json:"sum"`
	First   event.Time   `json:"first"` // of the newest entry
	Last    event.Time   `json:"last"`  // the newest use
}

// spentEntry is what was used from one moment to another.
type spentEntry struct {
	From event.Time   `json:"from"`
	To   event.Time   `json:"to"`
	Used event.Bounds `json:"used"`
}

func (s *Spending) space() string { return "spending " + s.Name }

const spentKey = "sum" // behind the keys of all entries

func entryKey(from event.Time) string { return fmt.Sprintf("%020d", int64(from)) }

// Next returns the first moment at which an attempt can start if so many others start before it, as far as it is known; 0: now. It
// changes nothing.
func (s *Spending) Next(rows Rows, now event.Time, ahead int) (until event.Time, err error) {
	sum, err := s.load(rows)
	if err != nil {
		return 0, err
	}
	now = max(now, sum.Last)
	left := sum.Sum
	left.Attempts += int64(ahead)
	err = s.scan(rows, func(e *spentEntry) bool {
		if end := e.To.Add(s.Per); end > now {
			if !s.isReached(left) {
				return false
			}
			until = end
		}
		left = minus(left, e.Used)
		return true
	})
	if err != nil || until != 0 || !s.isReached(left) {
		return until, err
	}
	return now.Add(s.Per), nil // those ahead fill the next span
}

// State returns what was used in the span that ends now, and when an attempt can start; 0: now.
func (s *Spending) State(rows Rows, now event.Time) (used event.Bounds, next event.Time, err error) {
	sum, err := s.load(rows)
	if err != nil {
		return used, 0, err
	}
	err = s.scan(rows, func(e *spentEntry) bool {
		if e.To.Add(s.Per) > max(now, sum.Last) {
			used = plus(used, e.Used)
		}
		return true
	})
	if err == nil {
		next, err = s.Next(rows, now, 0)
	}
	return used, next, err
}

// Use adds what was used at a moment. A clock that goes back does not: time is that of the last use then.
func (s *Spending) Use(rows Rows, now event.Time, used event.Bounds) error {
	if used == (event.Bounds{}) {
		return nil
	}
	sum, err := s.load(rows)
	if err == nil {
		now = max(now, sum.Last)
		err = s.expire(rows, sum, now)
	}
	if err != nil {
		return err
	}
	e := spentEntry{From: now}
	if sum.Entries > 0 && now.Sub(sum.First) < max(s.Per/spendingParts, 1) {
		e.From = sum.First
		if err := loadRow(rows, s.space(), entryKey(e.From), &e); err != nil {
			return err
		}
	} else {
		sum.Entries++
		sum.First = now
	}
	e.To, e.Used = now, plus(e.Used, used)
	sum.Last, sum.Sum = now, plus(sum.Sum, used)
	if err := saveRow(rows, s.space(), entryKey(e.From), e); err != nil {
		return err
	}
	return saveRow(rows, s.space(), spentKey, sum)
}

// Return takes back an attempt that started at a moment: the other side did not let it begin.
func (s *Spending) Return(rows Rows, started event.Time) error {
	sum, err := s.load(rows)
	if err != nil {
		return err
	}
	var of *spentEntry
	err = s.scan(rows, func(e *spentEntry) bool {
		if e.Used.Attempts > 0 && (of == nil || e.From <= started) {
			of = e
		}
		return e.From <= started
	})
	if err != nil || of == nil {
		return err
	}
	of.Used.Attempts--
	sum.Sum.Attempts--
	if err := saveRow(rows, s.space(), entryKey(of.From), of); err != nil {
		return err
	}
	return saveRow(rows, s.space(), spentKey, sum)
}

// Settle corrects the entries after a clock was ahead: where the last use lies more than Per in the future, no use counts from later than
// now.
func (s *Spending) Settle(rows Rows, now event.Time) error {
	sum, err := s.load(rows)
	if err != nil || sum.Entries == 0 || sum.Last <= now.Add(s.Per) {
		return err
	}
	if err := rows.Clear(s.space()); err != nil {
		return err
	}
	return s.Use(rows, now, sum.Sum)
}

// expire removes the entries that have left the span.
func (s *Spending) expire(rows Rows, sum *spentSum, now event.Time) error {
	var gone []*spentEntry
	err := s.scan(rows, func(e *spentEntry) bool {
		if e.To.Add(s.Per) > now {
			return false
		}
		gone = append(gone, e)
		return true
	})
	for _, e := range gone {
		if err == nil {
			err = rows.Delete(s.space(), entryKey(e.From))
		}
		sum.Entries--
		sum.Sum = minus(sum.Sum, e.Used)
	}
	if sum.Entries == 0 {
		sum.Sum = event.Bounds{} // without what sums lose in rounding
	}
	return err
}

func (s *Spending) scan(rows Rows, each func(*spentEntry) bool) error {
	var wrong error
	err := rows.Scan(s.space(), "", func(key string, body []byte) bool {
		if key == spentKey {
			return false
		}
		e := new(spentEntry)
		if wrong = decodeRow(s.space(), key, body, e); wrong != nil {
			return false
		}
		return each(e)
	})
	if err == nil {
		err = wrong
	}
	return err
}

func (s *Spending) load(rows Rows) (*spentSum, error) {
	sum := new(spentSum)
	return sum, loadRow(rows, s.space(), spentKey, sum)
}

// isReached allows for what sums lose in rounding.
func (s *Spending) isReached(used event.Bounds) bool {
	reached := func(used, most float64) bool { return most > 0 && used >= float64(most*(1-1e-9)) }
	return s.Most.Attempts > 0 && used.Attempts >= s.Most.Attempts || reached(used.Tokens, s.Most.Tokens) || reached(used.CostUSD, s.Most.CostUSD)
}

func plus(a, b event.Bounds) event.Bounds {
	return event.Bounds{Attempts: a.Attempts + b.Attempts, Tokens: a.Tokens + b.Tokens, CostUSD: a.CostUSD + b.CostUSD}
}

func minus(a, b event.Bounds) event.Bounds {
	return event.Bounds{Attempts: a.Attempts - b.Attempts, Tokens: a.Tokens - b.Tokens, CostUSD: a.CostUSD - b.CostUSD}
}
