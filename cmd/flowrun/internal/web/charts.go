package web

import (
	"fmt"
	"strconv"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/runner/stats"
)

// chart is a figure over the days of a span, as bars. The server draws it: it needs no script, and no style.
type chart struct {
	Name, Unit string
	Most       string // the largest value, as text
	Sum        string // of all days; "" where a sum says nothing
	Bars       []dayBar
	Labels     []tick
}

// dayBar is a day of a chart. X and Width are parts of the width, in percent; the rest counts pixels from above.
type dayBar struct {
	X, Width              string
	Y, Height             string
	FailedY, FailedHeight string // what failed of it; "" where nothing did
	Words                 string // the day and its figure
}

// chartHeight is the height of the bars, in pixels.
const chartHeight = 90

// measure is a figure of a day.
type measure struct {
	name, unit string
	of         func(*stats.Figures) (value, failed float64, has bool)
	words      func(value float64) string
	sums       bool
}

func rateOf(x *float64) (float64, float64, bool) {
	if x == nil {
		return 0, 0, false
	}
	return *x, 0, true
}

func percentWords(v float64) string { return percent(&v) }
func spanWords(v float64) string    { return span(&v) }
func plainWords(v float64) string   { return strconv.FormatFloat(v, 'f', 0, 64) }
func moneyWords(v float64) string   { return strconv.FormatFloat(v, 'f', 2, 64) }

// measures are what the charts show.
var measures = []measure{
	{"Tasks", "failed ones in red", func(f *stats.Figures) (float64, float64, bool) { return float64(f.Tasks), float64(f.Failed), true }, plainWords, true},
	{"Success rate", "", func(f *stats.Figures) (float64, float64, bool) { return rateOf(f.SuccessRate) }, percentWords, false},
	{"Mean time of a task", "", func(f *stats.Figures) (float64, float64, bool) { return rateOf(f.MeanTime) }, spanWords, false},
	{"Cost", "in dollars", func(f *stats.Figures) (float64, float64, bool) { return f.CostUSD, 0, true }, moneyWords, true},
	{"Tokens", "", func(f *stats.Figures) (float64, float64, bool) { return f.Tokens, 0, true }, plainWords, true},
	{"Retry rate", "", func(f *stats.Figures) (float64, float64, bool) { return rateOf(f.RetryRate) }, percentWords, false},
	{"Utilization", "of the agents that worked", func(f *stats.Figures) (float64, float64, bool) { return rateOf(f.Utilization) }, percentWords, false},
	{"Runs", "", func(f *stats.Figures) (float64, float64, bool) { return float64(f.Runs), 0, true }, plainWords, false},
}

// figuresOf are the figures of a day, or of one member of its groups; nil where that did nothing.
func figuresOf(d *serve.Day, member string) *stats.Figures {
	if member == "" {
		return &d.Total
	}
	for i := range d.Groups {
		if d.Groups[i].Name == member {
			return &d.Groups[i].Figures
		}
	}
	return nil
}

// newCharts draws the days; member "" is all.
func newCharts(days []serve.Day, member string) (list []chart) {
	if len(days) == 0 {
		return nil
	}
	step := 100 / float64(len(days))
	part := func(x float64) string { return fmt.Sprintf("%.3f%%", x) }
	for i := range measures {
		m := &measures[i]
		c := chart{Name: m.name, Unit: m.unit}
		most, sum := 0.0, 0.0
		for i := range days {
			if f := figuresOf(&days[i], member); f != nil {
				v, _, _ := m.of(f)
				most, sum = max(most, v), sum+v
			}
		}
		if c.Most = m.words(most); m.sums {
			c.Sum = m.words(sum)
		}
		for i := range days {
			b := dayBar{X: part(step*float64(i) + step*0.08), Width: part(step * 0.84), Words: days[i].From[:len("2026-01-02")] + ": nothing"}
			if f := figuresOf(&days[i], member); f != nil {
				if v, failed, has := m.of(f); has {
					height := chartHeight * v / max(most, 1e-12)
					b.Y, b.Height = pixels(chartHeight-height), pixels(height)
					b.Words = days[i].From[:len("2026-01-02")] + ": " + m.words(v)
					if failed > 0 {
						low := chartHeight * failed / most
						b.FailedY, b.FailedHeight = pixels(chartHeight-low), pixels(low)
						b.Words += ", " + m.words(failed) + " failed"
					}
				}
			}
			c.Bars = append(c.Bars, b)
		}
		for _, at := range []int{0, (len(days) - 1) / 2, len(days) - 1} {
			if label := (tick{part(step * float64(at)), days[at].From[len("2026-"):len("2026-01-02")]}); len(c.Labels) == 0 || c.Labels[len(c.Labels)-1] != label {
				c.Labels = append(c.Labels, label)
			}
		}
		list = append(list, c)
	}
	return list
}

func pixels(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
