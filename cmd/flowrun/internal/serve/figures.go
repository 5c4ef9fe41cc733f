package serve

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/stats"
)

// Stats are the figures of a span of time, in all and by group.
type Stats struct {
	Since  string        `json:"since"`
	Until  string        `json:"until"`
	Total  stats.Figures `json:"total"`
	By     *string       `json:"by"` // null: Groups is empty
	Groups []stats.Named `json:"groups"`
	Days   []Day         `json:"days,omitempty"` // where they are asked for, the oldest first
	// Forecasts compare how long runs were expected to take with how long they took; absent unless they are asked for.
	Forecasts *stats.Forecasts `json:"forecasts,omitempty"`
	Unread    []string         `json:"unread,omitempty"` // runs that cannot be read, and are left out
}

// DescribeForecasts compares forecasts with what came; daily also for each day, in the zone of until.
func DescribeForecasts(runs []*stats.Run, since, until time.Time, daily bool) *stats.Forecasts {
	f := &stats.Forecasts{}
	f.Total, f.Workflows = stats.CompareForecasts(runs, event.At(since), event.At(until))
	if !daily {
		return f
	}
	bounds := daysOf(since, until)
	for i := 1; i < len(bounds); i++ {
		d := stats.ForecastDay{From: dayBound(bounds[i-1], until), Until: dayBound(bounds[i], until)}
		d.Total, d.Workflows = stats.CompareForecasts(runs, bounds[i-1], bounds[i])
		f.Days = append(f.Days, d)
	}
	return f
}

// Day are the figures of a day of the server's time zone. The first one begins with the span, and the last one ends with it.
type Day struct {
	From   string        `json:"from"`
	Until  string        `json:"until"`
	Total  stats.Figures `json:"total"`
	Groups []stats.Named `json:"groups"` // those that did something on the day
}

// MaxDays bounds the days of an answer.
const MaxDays = 400

// daysOf are the bounds of the days of a span, in the zone of until.
func daysOf(since, until time.Time) []event.Time {
	since = since.In(until.Location())
	bounds := []event.Time{event.At(since)}
	for day := since; len(bounds) < MaxDays; {
		if day = time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, day.Location()); !day.Before(until) {
			break
		}
		bounds = append(bounds, event.At(day))
	}
	return append(bounds, event.At(until))
}

func dayBound(at event.Time, until time.Time) string {
	return at.Go().In(until.Location()).Format(time.RFC3339)
}

// DescribeDays computes the figures of each day of a span, in the zone of until.
func DescribeDays(runs []*stats.Run, since, until time.Time, by stats.Group) (list []Day) {
	for _, d := range stats.Days(runs, daysOf(since, until), by) {
		list = append(list, Day{dayBound(d.From, until), dayBound(d.Until, until), d.Total, append([]stats.Named{}, d.Groups...)})
	}
	return list
}

// DescribeStats computes the figures of runs in a span of time; by "" makes no groups.
func DescribeStats(runs []*stats.Run, since, until event.Time, by stats.Group) Stats {
	s := Stats{Since: since.Go().Format(time.RFC3339), Until: until.Go().Format(time.RFC3339), Groups: []stats.Named{}}
	total, groups := stats.Compute(runs, since, until, by)
	if s.Total = total; by != "" {
		text := string(by)
		s.By, s.Groups = &text, append(s.Groups, groups...)
	}
	return s
}

// foldFor is how long a fold of all runs of a span is used again: it reads their whole journals.
const foldFor = 10 * time.Second

// folds keeps the fold of the longest span that was asked for lately.
type folds struct {
	mu     sync.Mutex
	since  event.Time
	at     time.Time
	runs   []*stats.Run
	unread []string
	ended  runner.EndedStats
}

func (s *Server) stats(r *http.Request) (any, error) {
	span := 24 * time.Hour
	if text := r.URL.Query().Get("since"); text != "" {
		d, err := value.ParseDuration(text)
		if span = time.Duration(d); err != nil || span <= 0 {
			return nil, &refusal{http.StatusBadRequest, "query", "since is an age such as 24h or 7d"}
		}
	}
	by := stats.Group(r.URL.Query().Get("by"))
	if by != "" && !slices.Contains(stats.Groups, by) {
		return nil, &refusal{http.StatusBadRequest, "query", "by is workflow, agent, pattern or version"}
	}
	daily, err := readFlag(r, "daily")
	if err != nil {
		return nil, err
	}
	forecasts, err := readFlag(r, "forecasts")
	if err != nil {
		return nil, err
	}
	if daily && span > (MaxDays-1)*24*time.Hour {
		return nil, &refusal{http.StatusBadRequest, "query", fmt.Sprintf("daily figures are for %d days at most", MaxDays-1)}
	}
	now := time.Now()
	since := event.At(now.Add(-span))
	f := &s.folds
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := s.foldRuns(r.Context(), since, now); err != nil {
		return nil, err
	}
	out := DescribeStats(f.runs, since, event.At(now), by)
	out.Unread = f.unread
	if daily {
		out.Days = DescribeDays(f.runs, now.Add(-span), now, by)
	}
	if forecasts {
		out.Forecasts = DescribeForecasts(f.runs, now.Add(-span), now, daily)
	}
	return out, nil
}

// foldRuns makes the fold of the runs of a span, unless a fold of it was made a moment ago. The caller holds the lock of folds.
func (s *Server) foldRuns(ctx context.Context, since event.Time, now time.Time) error {
	f := &s.folds
	if !f.at.IsZero() && now.Sub(f.at) <= foldFor && !now.Before(f.at) && since >= f.since {
		return nil
	}
	unread := []string{}
	runs, err := s.daemon.store.Stats(ctx, since, &f.ended, func(run string, _ error) { unread = append(unread, run) })
	if err == nil {
		f.since, f.at, f.runs, f.unread = since, now, runs, unread
	}
	return err
}

// heap writes a profile of what the memory of the process holds.
func (s *Server) heap(w http.ResponseWriter, _ *http.Request) error {
	runtime.GC() // so that the profile has what lives now
	w.Header().Set("Content-Type", "application/octet-stream")
	return pprof.WriteHeapProfile(w)
}

// Limits are what runs share and what bounds it.
type Limits struct {
	Limits []Limit `json:"limits"`
}

// Limit is an agent or a quota with its bounds. A bound that it does not have is null.
type Limit struct {
	Kind      string     `json:"kind"`
	Name      string     `json:"name"`
	Used      int        `json:"used"`
	Capacity  *int       `json:"capacity"`
	RateLimit *RateLimit `json:"rate_limit"`
	Spending  *Spending  `json:"spending"`
	Breaker   *Breaker   `json:"circuit_breaker"`
	Next      *string    `json:"next"`
	Stopped   bool       `json:"stopped"`
	Waiting   []Waiting  `json:"waiting"`
}

// RateLimit is how many attempts may start in a span of seconds, and how many did in the last one.
type RateLimit struct {
	Requests int     `json:"requests"`
	Per      float64 `json:"per"`
	Started  int     `json:"started"`
}

// Spending is what may be used in a span of seconds, and what was in the last one.
type Spending struct {
	Most event.Bounds `json:"most"`
	Used event.Bounds `json:"used"`
	Per  float64      `json:"per"`
}

// Breaker is the state of a circuit breaker.
type Breaker struct {
	State  string `json:"state"`
	Failed int    `json:"failed"`
}

// Waiting is an attempt that waits, and for how long.
type Waiting struct {
	Run     string  `json:"run"`
	Node    string  `json:"node"`
	Seconds float64 `json:"seconds"`
}

// DescribeLimit describes an agent or a quota.
func DescribeLimit(l *event.Limit, at event.Time) Limit {
	out := Limit{Kind: string(l.Kind), Name: l.Name, Used: l.Used, Stopped: l.Stopped, Waiting: ListWaiting(l, at)}
	if l.Capacity > 0 {
		out.Capacity = &l.Capacity
	}
	if l.Pace != nil {
		out.RateLimit = &RateLimit{l.Pace.Requests, l.Pace.Per.Seconds(), l.Started}
	}
	if s := l.Spending; s != nil {
		out.Spending = &Spending{s.Most, l.Spent, s.Per.Seconds()}
	}
	if l.Breaker != nil {
		out.Breaker = &Breaker{l.Health, l.Failed}
	}
	if l.Next > at {
		text := l.Next.Go().UTC().Format(time.RFC3339Nano)
		out.Next = &text
	}
	return out
}

// ListWaiting lists the attempts that wait for an agent or a quota, the next first.
func ListWaiting(l *event.Limit, now event.Time) []Waiting {
	list := []Waiting{}
	for _, w := range l.Waiting {
		list = append(list, Waiting{w.Run, w.Node, now.Sub(w.Since).Seconds()})
	}
	return list
}

// LimitChanged says whether a change of an agent or a breaker had anything to change.
type LimitChanged struct {
	Changed bool `json:"changed"`
}

// changeLimit carries out the change of the agent or the quota of a name.
func changeLimit(what func(name string) event.LimitChange) func(*Server, *http.Request, string, *Nothing) (any, error) {
	return func(s *Server, r *http.Request, name string, _ *Nothing) (any, error) {
		changed, err := s.daemon.store.ChangeLimit(r.Context(), what(name))
		return LimitChanged{changed}, err
	}
}

func (s *Server) limits(r *http.Request) (any, error) {
	list, err := s.daemon.store.Limits(r.Context())
	out, at := Limits{Limits: []Limit{}}, event.At(time.Now())
	for i := range list {
		out.Limits = append(out.Limits, DescribeLimit(&list[i], at))
	}
	return out, err
}
