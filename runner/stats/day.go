package stats

import "github.com/flowrun/flowrun/runner/event"

// Day are the figures of one of several spans that follow each other, such as days. Live, Busy and Queue are 0 but in the last one: they are
// about the present.
type Day struct {
	From  event.Time
	Until event.Time
	Total Figures
	// Groups are the members of the group that did something in the span, by name.
	Groups []Named
}

// Days adds up what happened from each bound to the next. Runs counts those that were there at some time of the span.
func Days(runs []*Run, bounds []event.Time, by Group) (days []Day) {
	for i := 1; i < len(bounds); i++ {
		d := Day{From: bounds[i-1], Until: bounds[i]}
		var there []*Run
		for _, r := range runs {
			if r.began <= d.Until && (!r.ended || r.last > d.From) {
				there = append(there, r)
			}
		}
		d.Total, d.Groups = Compute(there, d.From, d.Until, by)
		if i < len(bounds)-1 {
			d.Total.forgetPresent()
			for j := range d.Groups {
				d.Groups[j].forgetPresent()
			}
		}
		days = append(days, d)
	}
	return days
}

func (f *Figures) forgetPresent() { f.Live, f.Busy, f.Queue = 0, 0, 0 }
