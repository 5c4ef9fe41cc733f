// Package schedule says when something is due: by five cron fields in a time zone, or every so often.
//
// It is pure: a schedule and a moment give the next moment. It knows nothing of routines, runs or clocks. Enter at Parse, Every
// and Schedule.Next.
//
// Daylight saving follows one rule. A wall time that does not exist is due once, at the first minute after the gap. A wall time that
// comes twice is due the first time. Both together say: a wall time is due at the first minute at which the clock on the wall shows
// it or a later time. Schedules whose minute or hour begins with "*", and those of Every, follow real time instead: what they name
// is due as often as it comes, and not at all where it does not come.
package schedule

import (
	"math/bits"
	"time"

	"github.com/flowrun/flowrun/loop/zone"
)

// Horizon is how many years Next looks ahead. The longest time between two leap days is eight years.
const Horizon = 9

// MinEvery is the shortest interval of Every.
const MinEvery = time.Second

// A Schedule is a set of moments. The zero value has none; Parse and Every return others.
type Schedule struct {
	minute, hour, day, month, weekday uint64 // bit n stands for the number n; Sunday is 0
	bothDays                          bool   // day and weekday must both match, because one of them begins with "*"
	real                              bool   // it follows real time, not the clock on the wall
	every                             time.Duration
	zone                              *time.Location
}

// Every returns the schedule of the moments that are a whole number of intervals after 1970-01-01T00:00:00Z, so that it is the same for
// each who asks. The interval is at least MinEvery. The zone is that in which moments are shown; nil is UTC.
func Every(interval time.Duration, zone *time.Location) Schedule {
	return Schedule{every: max(interval, MinEvery), zone: zone}
}

// Zone returns the zone of the schedule.
func (s Schedule) Zone() *time.Location {
	if s.zone == nil {
		return time.UTC
	}
	return s.zone
}

// Next returns the first moment after another one, in the zone of the schedule. It reports false if there is none within Horizon years.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	last := after.AddDate(Horizon, 0, 0).Unix()
	var next int64
	found := false
	switch {
	case s.every > 0:
		return s.nextInterval(after), true
	case s.real:
		next, found = s.nextReal(after.Unix(), last)
	default:
		next, found = s.nextWall(after.Unix(), last)
	}
	return time.Unix(next, 0).In(s.Zone()), found && next <= last
}

// nextInterval reckons in seconds and nanoseconds of their own, because the nanoseconds since 1970 overflow in 2262.
func (s Schedule) nextInterval(after time.Time) time.Time {
	whole, part := int64(s.every/time.Second), s.every%time.Second
	if part == 0 {
		return time.Unix((floor(after.Unix(), whole)+1)*whole, 0).In(s.Zone())
	}
	return time.Unix(0, (floor(after.UnixNano(), int64(s.every))+1)*int64(s.every)).In(s.Zone())
}

func floor(a, b int64) int64 {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}

// Wall times are seconds since 1970-01-01 00:00 on the wall, as if the wall were in UTC.
const (
	minute = 60
	day    = 24 * 60 * minute
)

// nextReal goes from one offset of the zone to the next; within one, the clock on the wall and real time go alike.
func (s Schedule) nextReal(after, last int64) (int64, bool) {
	for from := after + 1; from <= last; {
		offset, end := s.span(from)
		until := min(end-1, last)
		wall := (floor(from+offset-1, minute) + 1) * minute // the first whole minute
		if found, ok := s.match(wall, until+offset); ok {
			return found - offset, true
		}
		from = until + 1
	}
	return 0, false
}

// nextWall asks for one wall time after the other until one is due after the moment. Those that are not are in an hour that comes
// twice: at most 24 of them, at the date line.
func (s Schedule) nextWall(after, last int64) (int64, bool) {
	offset, _ := s.span(after)
	wall := (floor(after+offset, minute) + 1) * minute
	for {
		found, ok := s.match(wall, last+offset+day)
		if !ok {
			return 0, false
		}
		if due := s.reached(found); due > after {
			return due, true
		}
		wall = found + minute
	}
}

// reached returns the first whole minute at which the wall shows this time or a later one.
func (s Schedule) reached(wall int64) int64 {
	const farthest = 17 * 60 * minute // no zone has been farther from UTC
	for from := wall - farthest; ; {
		offset, end := s.span(from)
		switch at := max(from, wall-offset); {
		case at >= end:
			from = end
		case (at+offset)%minute != 0: // a gap that ends within a minute
			wall = (floor(at+offset, minute) + 1) * minute
		default:
			return at
		}
	}
}

// span returns the offset from UTC that the zone has at a moment, in seconds, and a later moment up to which it has no other.
// After the last transition of a zone's table package time ends the last part of a year after 365 days (tzset in zoneinfo.go),
// which on the last day of a leap year has already been; that part ends with the year.
func (s Schedule) span(at int64) (offset, end int64) {
	t := time.Unix(at, 0).In(s.Zone())
	_, seconds := t.Zone()
	_, e := t.ZoneBounds()
	switch {
	case e.IsZero():
		return int64(seconds), 1 << 62
	case !e.After(t):
		e = time.Date(t.UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return int64(seconds), e.Unix()
}

// match returns the first wall time from one to another that the fields name.
func (s Schedule) match(from, to int64) (int64, bool) {
	for today := floor(from, day); today*day <= to; today++ {
		date := time.Unix(today*day, 0).UTC()
		switch {
		case s.month&(1<<date.Month()) == 0:
			today = floor(time.Date(date.Year(), date.Month()+1, 1, 0, 0, 0, 0, time.UTC).Unix(), day) - 1
			continue
		case !s.matchDay(date):
			continue
		}
		begin := max(from-today*day, 0) / minute // from is a whole minute
		if m, ok := s.matchMinute(int(begin)); ok {
			found := today*day + int64(m)*minute
			return found, found <= to
		}
	}
	return 0, false
}

func (s Schedule) matchDay(date time.Time) bool {
	inMonth, inWeek := s.day&(1<<date.Day()) != 0, s.weekday&(1<<date.Weekday()) != 0
	if s.bothDays {
		return inMonth && inWeek
	}
	return inMonth || inWeek
}

// matchMinute returns the first minute of a day, not before another one.
func (s Schedule) matchMinute(begin int) (int, bool) {
	hour, least := begin/60, begin%60
	if s.hour&(1<<hour) != 0 {
		if m, ok := lowest(s.minute, least); ok {
			return hour*60 + m, true
		}
	}
	h, ok := lowest(s.hour, hour+1)
	m, _ := lowest(s.minute, 0)
	return h*60 + m, ok
}

// lowest returns the smallest number of a set that is at least so large.
func lowest(set uint64, least int) (int, bool) {
	n := bits.TrailingZeros64(set >> least << least)
	return n, n < 64
}

// Of returns the schedule of a routine: by its cron expression, or if that is empty by its interval. An error is that of [Parse].
func Of(text string, every time.Duration, timezone string) (Schedule, error) {
	if text != "" || every == 0 {
		return Parse(text, timezone)
	}
	location, ok := zone.Load(timezone)
	if !ok {
		return Schedule{}, unknownZone(timezone, 0, 0)
	}
	return Every(every, location), nil
}
