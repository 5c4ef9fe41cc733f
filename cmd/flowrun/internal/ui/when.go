package ui

import "github.com/flowrun/flowrun/runner/event"

// clockForm is how a person reads a time; programs get RFC 3339.
const clockForm = "2006-01-02 15:04:05"

// Clock writes a time for a person, in the local time zone, or in UTC if the terminal is set so; "" for 0.
func (t *Term) Clock(at event.Time) string {
	switch {
	case at == 0:
		return ""
	case t.UTC:
		return at.Go().Format(clockForm + " UTC")
	}
	return at.Go().Local().Format(clockForm)
}

// When writes a time and how long ago it was: "2026-11-22 03:14:07 (3h ago)".
func (t *Term) When(at, now event.Time) string {
	if at == 0 {
		return ""
	}
	return t.Clock(at) + " (" + Ago(at.Go(), now.Go()) + ")"
}
