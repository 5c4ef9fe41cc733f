package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// Forecast compares how long runs were expected to take when they began with how long they took. It counts runs that succeeded, and of which
// earlier runs let expect a time. A figure of no run is nil.
type Forecast struct {
	Runs     int      `json:"runs"`
	Expected *float64 `json:"expected"` // the median, in seconds
	Took     *float64 `json:"took"`     // the median, in seconds
	Ratio    *float64 `json:"ratio"`    // the median of what a run took / what was expected of it
	Close    *float64 `json:"close"`    // the part of the runs whose forecast was wrong by a quarter of what they took at most, 0 to 1
}

// NamedForecast is the Forecast of one workflow.
type NamedForecast struct {
	Name string `json:"name"`
	Forecast
}

// closeTo is how wrong a forecast may be, as a part of what the run took, to count as close.
const closeTo = 0.25

// Forecasts compare forecasts with what came: for all runs that ended in a span, for those of each workflow, and for each day.
type Forecasts struct {
	Total     Forecast        `json:"total"`
	Workflows []NamedForecast `json:"workflows"`      // by name
	Days      []ForecastDay   `json:"days,omitempty"` // where days are asked for, the oldest first
}

// ForecastDay compares the forecasts for the runs that ended on a day with what came. Its bounds are in RFC 3339.
type ForecastDay struct {
	From      string          `json:"from"`
	Until     string          `json:"until"`
	Total     Forecast        `json:"total"`
	Workflows []NamedForecast `json:"workflows"`
}

// Expect gives a run the function that computes how long it was expected to take when it began; false if nobody can know. The function is
// called each time that a forecast is asked for.
func (r *Run) Expect(compute func() (time.Duration, bool)) { r.expect = compute }

// CompareForecasts compares forecasts with what came, for the runs that succeeded from since to until: for all of them, and for each
// workflow in the order of their names.
func CompareForecasts(runs []*Run, since, until event.Time) (total Forecast, workflows []NamedForecast) {
	var all pairs
	by := map[string]*pairs{}
	for _, r := range runs {
		if !r.succeeded || r.last <= since || r.last > until || r.expect == nil {
			continue
		}
		expected, known := r.expect()
		if !known || expected <= 0 {
			continue
		}
		if by[r.Workflow] == nil {
			by[r.Workflow] = &pairs{}
		}
		for _, p := range []*pairs{&all, by[r.Workflow]} {
			p.add(expected, r.last.Sub(r.began))
		}
	}
	workflows = []NamedForecast{}
	for name, p := range by { // any order: sorted below
		workflows = append(workflows, NamedForecast{name, p.forecast()})
	}
	slices.SortFunc(workflows, func(a, b NamedForecast) int { return cmp.Compare(a.Name, b.Name) })
	return all.forecast(), workflows
}

// pairs are what was expected of runs, and what they took, in seconds.
type pairs struct {
	expected, took, ratio []float64
	close                 int
}

func (p *pairs) add(expected, took time.Duration) {
	e, t := expected.Seconds(), took.Seconds()
	p.expected, p.took, p.ratio = append(p.expected, e), append(p.took, t), append(p.ratio, t/e)
	if off := e - t; max(off, -off) <= float64(closeTo*t) {
		p.close++
	}
}

func (p *pairs) forecast() Forecast {
	return Forecast{Runs: len(p.ratio), Expected: median(p.expected), Took: median(p.took), Ratio: median(p.ratio), Close: rate(p.close, len(p.ratio))}
}

// median sorts a list; of an even number it is the mean of the middle two.
func median(list []float64) *float64 {
	n := len(list)
	if n == 0 {
		return nil
	}
	slices.Sort(list)
	m := float64((list[(n-1)/2] + list[n/2]) / 2)
	return &m
}
