package shared

import (
	"bytes"
	"encoding/json"

	"github.com/flowrun/flowrun/runner/event"
)

const (
	declaredSpace = "limits"
	stoppedSpace  = "stopped"
)

// Declare remembers what a program says of an agent or a quota, for people who ask. It reports whether that was news.
func Declare(rows Rows, n *event.Need) (bool, error) {
	told := *n
	told.Units = 0
	if n.Breaker != nil {
		breaker := *n.Breaker
		breaker.When = nil
		told.Breaker = &breaker
	}
	body, err := json.Marshal(told)
	if err != nil {
		return false, err
	}
	key := string(n.Kind) + " " + n.Name
	before, found, err := rows.Get(declaredSpace, key)
	if err != nil || found && bytes.Equal(before, body) {
		return false, err
	}
	return true, rows.Put(declaredSpace, key, body)
}

// Declared returns what Declare remembers.
func Declared(rows Rows) (needs []event.Need, err error) {
	var wrong error
	err = rows.Scan(declaredSpace, "", func(key string, body []byte) bool {
		var n event.Need
		if wrong = json.Unmarshal(body, &n); wrong != nil {
			wrong = refuse("the row %q of %q is damaged: %v", key, declaredSpace, wrong)
			return false
		}
		needs = append(needs, n)
		return true
	})
	if err == nil {
		err = wrong
	}
	return needs, err
}

// IsStopped reports whether an agent was stopped.
func IsStopped(rows Rows, agent string) (bool, error) {
	_, found, err := rows.Get(stoppedSpace, agent)
	return found, err
}

// IsHalted reports whether an agent starts nothing now, whatever its program says of it: it was stopped, or the other side named a later
// moment. It reads 2 rows.
func IsHalted(rows Rows, agent string, now event.Time) (bool, error) {
	stopped, err := IsStopped(rows, agent)
	if err != nil || stopped {
		return stopped, err
	}
	w := Window{Name: string(event.NeedAgent) + " " + agent}
	next, err := w.Next(rows, now, 0)
	return next != 0, err
}

// StoppedAgents lists the agents that were stopped, in the order of their names.
func StoppedAgents(rows Rows) (names []string, err error) {
	err = rows.Scan(stoppedSpace, "", func(name string, _ []byte) bool {
		names = append(names, name)
		return true
	})
	return names, err
}

// LimitChanged is what has changed because a person asked for it.
type LimitChanged struct {
	Changed   bool
	Resources []string // as "agent NAME": their lines may go on
	Posts     []Post   // to the runs that wait for the event of a breaker
}

// ChangeLimit carries out what a person asks for.
func ChangeLimit(rows Rows, c event.LimitChange, now event.Time) (done LimitChanged, err error) {
	if name := c.Stop + c.Start; name != "" {
		stopped, err := IsStopped(rows, name)
		if done.Changed = stopped != (c.Stop != ""); err != nil || !done.Changed {
			return done, err
		}
		if c.Stop != "" {
			return done, rows.Put(stoppedSpace, name, []byte("true"))
		}
		done.Resources = []string{string(event.NeedAgent) + " " + name}
		return done, rows.Delete(stoppedSpace, name)
	}
	for _, kind := range []event.NeedKind{event.NeedAgent, event.NeedQuota} {
		b := Breaker{Name: string(kind) + " " + c.Reset}
		_, found, err := rows.Get(breakerSpace, b.Name)
		if err == nil && found {
			err = done.closeBreaker(rows, &b, &event.Need{Kind: kind, Name: c.Reset}, now)
		}
		held := false
		if err == nil {
			held, err = (&Window{Name: b.Name}).Release(rows)
		}
		if found || held {
			done.Resources, done.Changed = append(done.Resources, b.Name), true
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// closeBreaker closes a breaker. That of n is as a program has declared it last.
func (done *LimitChanged) closeBreaker(rows Rows, b *Breaker, n *event.Need, now event.Time) error {
	was, err := b.Health(rows, now)
	if err == nil {
		err = b.Close(rows)
	}
	if err != nil || was == Closed {
		return err
	}
	if err := loadRow(rows, declaredSpace, b.Name, n); err != nil {
		return err
	}
	posts, err := NoteBreaker(rows, n, Closed, nil, now)
	done.Posts = append(done.Posts, posts...)
	return err
}
