package args

import (
	"slices"
	"strings"
	"time"
)

// Stats is what stats takes.
type Stats struct {
	Since string // an age, or a moment in RFC 3339
	By    string // one of Groups, or ""
	Daily bool   // figures for each day, too
	JSON  bool
	// Forecasts compares forecasts with what came, too.
	Forecasts bool

	Groups []string
}

// Check refuses a group that does not exist.
func (r *Stats) Check() error {
	if r.By != "" && !slices.Contains(r.Groups, r.By) {
		return Errorf("--by %q is not one of %s", r.By, strings.Join(r.Groups, ", "))
	}
	return nil
}

// Begin is the moment that --since names.
func (r *Stats) Begin(now time.Time) (time.Time, error) {
	if age, ok := readAge(r.Since); ok {
		return now.Add(-age), nil
	}
	at, err := time.Parse(time.RFC3339, r.Since)
	if err != nil {
		return at, &Error{"--since " + r.Since + " is not an age such as 24h or 7d, and not a moment such as 2026-01-05T08:00:00Z", ""}
	}
	if at.After(now) {
		return at, Errorf("--since %s lies in the future", r.Since)
	}
	return at, nil
}
