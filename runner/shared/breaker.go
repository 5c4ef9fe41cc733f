package shared

import (
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// Breaker stops asking something that fails. It is closed at first. Failures consecutive failures open it; while it is
// open nothing starts. After Reset it is half-open: one attempt starts as the probe, and the others wait for its end.
// A probe that succeeds closes the breaker, and one that fails or is lost opens it again.
//
// Only the probe counts while the breaker is not closed: an attempt that started before says nothing new.
type Breaker struct {
	Name     string
	Failures int // at least 1
	Reset    time.Duration
}

// Health is the state of a breaker.
type Health string

// The states.
const (
	Closed   Health = "closed"
	Open     Health = "open"
	HalfOpen Health = "half_open"
)

// Healths lists all states.
var Healths = []Health{Closed, Open, HalfOpen}

// Ending is how an attempt ended, as a breaker sees it.
type Ending string

// The endings.
const (
	Good      Ending = "good"      // it succeeded
	Bad       Ending = "bad"       // it ended in an error that counts, or fell silent
	Lost      Ending = "lost"      // its driver died, which says nothing about the agent; a probe opens the breaker again
	Uncounted Ending = "uncounted" // cancelled, refused, or an error that does not count
)

// Endings lists all endings.
var Endings = []Ending{Good, Bad, Lost, Uncounted}

// circuit is the row of a breaker. The zero value is closed.
type circuit struct {
	Failed int        `json:"failed,omitempty"` // consecutive failures, while it is closed
	Until  event.Time `json:"until,omitempty"`  // it is open before, and half-open from then on; 0: closed
	Probe  string     `json:"probe,omitempty"`  // the key of the attempt that probes
}

const breakerSpace = "breaker"

func (c *circuit) health(now event.Time) Health {
	switch {
	case c.Until == 0:
		return Closed
	case now < c.Until:
		return Open
	}
	return HalfOpen
}

// MayStart reports whether the attempt with an idempotency key may start. If it may not, next is the moment at which asking
// again makes sense; 0 if nobody knows it, because a probe is under way: its end is reported. It changes nothing.
func (b *Breaker) MayStart(rows Rows, key string, now event.Time) (may bool, next event.Time, err error) {
	var c circuit
	if err := loadRow(rows, breakerSpace, b.Name, &c); err != nil {
		return false, 0, err
	}
	switch c.health(now) {
	case Open:
		return false, c.Until, nil
	case HalfOpen:
		return c.Probe == "" || c.Probe == key, 0, nil
	case Closed:
	}
	return true, 0, nil
}

// Start starts an attempt if it may start: see MayStart. The first one after the reset is the probe. The probe asks again with
// its key, for instance after its driver died.
func (b *Breaker) Start(rows Rows, key string, now event.Time) (starts bool, next event.Time, err error) {
	starts, next, err = b.MayStart(rows, key, now)
	var c circuit
	if err == nil && starts {
		err = loadRow(rows, breakerSpace, b.Name, &c)
	}
	if err != nil || !starts || c.health(now) == Closed || c.Probe == key {
		return starts, next, err
	}
	c.Probe = key
	return true, 0, saveRow(rows, breakerSpace, b.Name, &c)
}

// Report takes the end of an attempt that started. from and to are the state before and after; if to is Closed and from
// is not, or if the probe ended without a result, those that wait may ask again.
func (b *Breaker) Report(rows Rows, key string, how Ending, now event.Time) (from, to Health, err error) {
	if b.Failures < 1 || b.Reset <= 0 {
		return "", "", refuse("a breaker of %d failures and a reset of %s; it needs at least 1 and more than no time", b.Failures, b.Reset)
	}
	var c circuit
	if err := loadRow(rows, breakerSpace, b.Name, &c); err != nil {
		return "", "", err
	}
	before := c
	from = c.health(now)
	if from == Closed {
		switch how {
		case Good:
			c.Failed = 0
		case Bad:
			if c.Failed++; c.Failed >= b.Failures {
				c = circuit{Until: now.Add(b.Reset)}
			}
		case Lost, Uncounted:
		}
	} else if c.Probe == key && key != "" {
		switch how {
		case Good:
			c = circuit{}
		case Bad, Lost:
			c = circuit{Until: now.Add(b.Reset)}
		case Uncounted:
			c.Probe = ""
		}
	}
	to = c.health(now)
	switch {
	case c == before:
		return from, to, nil
	case c == circuit{}:
		return from, to, rows.Delete(breakerSpace, b.Name)
	}
	return from, to, saveRow(rows, breakerSpace, b.Name, &c)
}

// Health returns the state of the breaker.
func (b *Breaker) Health(rows Rows, now event.Time) (Health, error) {
	h, _, _, err := b.State(rows, now)
	return h, err
}

// State returns the state of the breaker, the failures in a row while it is closed, and until when it is open; 0: it is not.
func (b *Breaker) State(rows Rows, now event.Time) (h Health, failed int, until event.Time, err error) {
	var c circuit
	err = loadRow(rows, breakerSpace, b.Name, &c)
	if h = c.health(now); h == Open {
		until = c.Until
	}
	return h, c.Failed, until, err
}

// Close closes the breaker, as a person asks for.
func (b *Breaker) Close(rows Rows) error { return rows.Delete(breakerSpace, b.Name) }
