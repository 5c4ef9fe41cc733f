package schedule

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/loop/zone"
)

func parse(t *testing.T, text, timezone string) Schedule {
	t.Helper()
	s, err := Parse(text, timezone)
	if err != nil {
		t.Fatalf("%q in %q: %v", text, timezone, err)
	}
	return s
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	m, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMoments compares with moments of another program.
func TestMoments(t *testing.T) {
	f, err := os.Open("testdata/moments.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var s Schedule
	var at time.Time
	title, moments, zones := "", 0, map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		if want, isMoment := strings.CutPrefix(line, "\t"); isMoment {
			next, ok := s.Next(at)
			if got := next.Format(time.RFC3339); !ok || !moment(t, want).Equal(next) {
				t.Errorf("%s: after %s comes %s (%v), want %s", title, at.Format(time.RFC3339), got, ok, want)
			}
			at, moments = moment(t, want), moments+1
			continue
		}
		part := strings.Split(line, " | ")
		title, s, at = line, parse(t, part[0], part[1]), moment(t, part[2])
		zones[part[1]] = true
	}
	if moments < 200 || len(zones) < 20 {
		t.Errorf("%d moments in %d zones, want 200 in 20", moments, len(zones))
	}
}

// clock walks through real time minute by minute and keeps what the wall has shown. It is the rule in the words of the
// reference, written without the code under test.
type clock struct {
	zone  *time.Location
	at    time.Time
	shown time.Time // the latest wall time so far, as if it were in UTC
}

func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
}

func newClock(location *time.Location, at time.Time) *clock {
	c := &clock{zone: location, at: at.Truncate(time.Minute).Add(-30 * time.Hour)}
	c.shown = wallOf(c.at.In(location))
	for c.at.Before(at.Truncate(time.Minute)) {
		c.tick()
	}
	return c
}

// tick goes on by a minute and returns the wall times that are reached with it.
func (c *clock) tick() (reached []time.Time) {
	c.at = c.at.Add(time.Minute)
	for now := wallOf(c.at.In(c.zone)); c.shown.Before(now); {
		c.shown = c.shown.Add(time.Minute)
		reached = append(reached, c.shown)
	}
	return reached
}

// draft is a schedule as lists of numbers.
type draft struct {
	minutes, hours, days, months, weekdays map[int]bool
	text                                   [5]string
}

func drawField(r *rand.Rand, least, most int) (map[int]bool, string) {
	set, text := map[int]bool{}, ""
	switch r.IntN(6) {
	case 0:
		text = "*"
		for n := least; n <= most; n++ {
			set[n] = true
		}
	case 1:
		step := 1 + r.IntN((most-least)/2)
		text = fmt.Sprintf("*/%d", step)
		for n := least; n <= most; n += step {
			set[n] = true
		}
	case 2:
		low := least + r.IntN(most-least)
		high, step := low+r.IntN(most-low+1), 1+r.IntN(3)
		text = fmt.Sprintf("%d-%d/%d", low, high, step)
		for n := low; n <= high; n += step {
			set[n] = true
		}
	default:
		for range 1 + r.IntN(3) {
			n := least + r.IntN(most-least+1)
			text, set[n] = text+fmt.Sprintf(",%d", n), true
		}
		text = text[1:]
	}
	return set, text
}

func drawDraft(r *rand.Rand) *draft {
	d := &draft{}
	d.minutes, d.text[0] = drawField(r, 0, 59)
	d.hours, d.text[1] = drawField(r, 0, 23)
	d.days, d.text[2] = drawField(r, 1, 31)
	d.months, d.text[3] = drawField(r, 1, 12)
	d.weekdays, d.text[4] = drawField(r, 0, 6)
	if r.IntN(3) > 0 { // most schedules name no days
		for i := 2; i < 5; i++ {
			d.text[i] = "*"
		}
		for n := range 32 {
			d.days[n], d.months[n], d.weekdays[n] = true, true, true
		}
	}
	return d
}

func (d *draft) matches(wall time.Time) bool {
	day, weekday := d.days[wall.Day()], d.weekdays[int(wall.Weekday())]
	right := day || weekday
	if d.text[2][0] == '*' || d.text[4][0] == '*' {
		right = day && weekday
	}
	return d.minutes[wall.Minute()] && d.hours[wall.Hour()] && d.months[int(wall.Month())] && right
}

func (d *draft) followsRealTime() bool { return d.text[0][0] == '*' || d.text[1][0] == '*' }

// shifts are days around which clocks were put forward or back, or left out a day.
var shifts = []struct{ zone, day string }{
	{"America/New_York", "2026-03-08"}, {"America/New_York", "2026-11-01"}, {"Europe/Berlin", "2031-03-30"}, {"Europe/Berlin", "2044-10-30"},
	{"Australia/Lord_Howe", "2026-04-05"}, {"Australia/Lord_Howe", "2026-10-04"}, {"Antarctica/Troll", "2026-03-29"}, {"Antarctica/Troll", "2026-10-25"},
	{"Pacific/Apia", "2011-12-30"}, {"Pacific/Kwajalein", "1993-08-21"}, {"America/St_Johns", "2006-10-29"}, {"Africa/Monrovia", "1972-01-07"},
	{"Asia/Kathmandu", "1986-01-01"}, {"Pacific/Chatham", "2026-04-05"}, {"America/Sao_Paulo", "2018-11-04"}, {"Africa/Casablanca", "2026-02-15"},
	{"Asia/Pyongyang", "2018-05-05"}, {"America/Caracas", "2016-05-01"}, {"Asia/Manila", "1844-12-31"}, {"America/Juneau", "1867-10-19"}, {"UTC", "2026-06-30"},
}

// TestAgainstTheClockOnTheWall compares random schedules around the shifts with the walk.
func TestAgainstTheClockOnTheWall(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 20))
	for range 120 {
		shift, d := shifts[r.IntN(len(shifts))], drawDraft(r)
		location, _ := zone.Load(shift.zone)
		begin := moment(t, shift.day+"T00:00:00Z").Add(time.Duration(r.IntN(40*3600)-30*3600) * time.Second)
		text := strings.Join(d.text[:], " ")
		s := parse(t, "CRON_TZ="+shift.zone+" "+text, "")
		at := begin
		for c := newClock(location, begin); c.at.Before(begin.Add(50 * time.Hour)); {
			due := false
			_, seconds := c.at.Add(time.Minute).In(location).Zone()
			for _, wall := range c.tick() {
				due = due || d.matches(wall)
			}
			if d.followsRealTime() {
				due = d.matches(wallOf(c.at.In(location)))
			}
			if seconds%60 != 0 {
				break // before its zone had whole minutes, the walk does not see the minutes of the wall
			}
			if !due || !c.at.After(begin) {
				continue
			}
			next, ok := s.Next(at)
			if !ok || !next.Equal(c.at) {
				t.Fatalf("%q in %s after %s: %s, and the wall says %s", text, shift.zone, at.UTC(), next.UTC(), c.at.UTC())
			}
			at = next
		}
		if next, ok := s.Next(at); ok && next.Before(begin.Add(50*time.Hour)) && at != begin {
			if _, seconds := next.Zone(); seconds%60 == 0 {
				t.Fatalf("%q in %s after %s: %s, and the wall has nothing", text, shift.zone, at.UTC(), next.UTC())
			}
		}
	}
}

// TestNextIsBounded takes the schedules that look farthest, in the zones with the most shifts. Of several measurements the fastest
// counts, so that a busy machine does not matter.
func TestNextIsBounded(t *testing.T) {
	for _, c := range []struct{ text, zone, from string }{
		{"0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z"},
		{"* * 31 2 *", "Africa/Casablanca", "2026-01-01T00:00:00Z"},
		{"* * 29 2 *", "Africa/Cairo", "2096-03-01T00:00:00Z"},
		{"0 0 29 2 */2", "Africa/Casablanca", "2027-01-01T00:00:00Z"},
		{"0-59 0-23 * * *", "America/Juneau", "1867-10-19T00:00:00Z"},
		{"0-59 0-23 * * *", "Asia/Manila", "1844-12-31T15:00:00Z"},
		{"0-59 0-23 * * *", "Pacific/Apia", "2011-12-30T09:59:00Z"},
		{"59 23 31 12 *", "Antarctica/Troll", "2026-12-31T23:59:00Z"},
	} {
		s, from, fastest := parse(t, c.text, c.zone), moment(t, c.from), time.Hour
		for range 20 {
			began := time.Now()
			s.Next(from)
			fastest = min(fastest, time.Since(began))
		}
		if fastest > time.Millisecond {
			t.Errorf("%q in %s: %s", c.text, c.zone, fastest)
		}
	}
}

func TestNoNextMoment(t *testing.T) {
	for _, text := range []string{"0 0 30 2 *", "0 0 31 4,6,9,11 *", "* * 31 2 *"} {
		if next, ok := parse(t, text, "Europe/Berlin").Next(moment(t, "2026-01-01T00:00:00Z")); ok {
			t.Errorf("%q: %s", text, next)
		}
	}
	if _, ok := parse(t, "0 0 29 2 *", "").Next(moment(t, "2096-03-01T00:00:00Z")); !ok {
		t.Error("the leap day after 2096 is within the horizon")
	}
	if _, ok := (Schedule{}).Next(time.Unix(0, 0)); ok {
		t.Error("the zero schedule has a moment")
	}
}

func TestEvery(t *testing.T) {
	for _, c := range []struct{ every, after, want string }{
		{"15m", "2026-01-05T08:00:00Z", "2026-01-05T08:15:00Z"},
		{"15m", "2026-01-05T08:14:59Z", "2026-01-05T08:15:00Z"},
		{"24h", "2026-01-05T08:00:00Z", "2026-01-06T00:00:00Z"},
		{"1s", "1969-12-31T23:59:58Z", "1969-12-31T23:59:59Z"},
		{"24h", "2300-01-01T00:00:00Z", "2300-01-02T00:00:00Z"},
	} {
		s := parse(t, "@every "+c.every, "")
		if next, ok := s.Next(moment(t, c.after)); !ok || next.Format(time.RFC3339) != c.want {
			t.Errorf("every %s after %s: %s, want %s", c.every, c.after, next.Format(time.RFC3339), c.want)
		}
	}
	fine := Every(1500*time.Millisecond, nil)
	if next, _ := fine.Next(time.Unix(3, 0)); !next.Equal(time.Unix(4, 500_000_000)) {
		t.Errorf("every 1.5s after 3 s: %s", next)
	}
}

func TestNames(t *testing.T) {
	for name, same := range daily {
		from := moment(t, "2026-03-01T12:34:56Z")
		a, _ := parse(t, name, "Asia/Tokyo").Next(from)
		b, _ := parse(t, "TZ=Asia/Tokyo "+same, "").Next(from)
		if !a.Equal(b) || len(dailyNames) != len(daily)+1 {
			t.Errorf("%s: %s, and %q: %s", name, a, same, b)
		}
	}
}

// TestErrors has each sort of mistake; the part between brackets is what the error points at.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "there is no schedule"},
		{"[TZ=]", "there is no time zone after TZ="},
		{"[CRON_TZ=] 0 0 * * *", "there is no time zone"},
		{"TZ=UTC", "there is no schedule"},
		{"TZ=[Europe/Berln] 0 0 * * *", `unknown time zone "Europe/Berln". Did you mean "Europe/Berlin"?`},
		{"TZ=[Local] 0 0 * * *", "differs from machine to machine"},
		{"[0 2 * *]", "a schedule has five fields, and this one has 4"},
		{"[0] 0 12 * * ?", `Without seconds it is "0 12 * * *".`},
		{"[*/30] * * * * *", `every = "30s"`},
		{"0 12 1 1 * [2030]", "without a year"},
		{"0 12 1 1 * [1 2 3]", "this one has 8"},
		{"[61] * * * *", `"61" is not a minute: 0 to 59`},
		{"0 [24] * * *", `"24" is not an hour: 0 to 23`},
		{"0 0 [0] * *", `"0" is not a day of the month: 1 to 31`},
		{"0 0 * [13] *", `"13" is not a month: 1 to 12`},
		{"0 0 * [JANUARY] *", `Did you mean "JAN"?`},
		{"0 0 * * [8]", "0 to 7, where 0 and 7 are Sunday"},
		{"0 0 * * [MOM]", `"MOM" is not a day of the week: 0 to 6, or SUN to SAT. Did you mean "MON"?`},
		{"0 0 * * MON,[FOO]", `"FOO" is not a day`},
		{"0 0 * * [TZ=]", `"TZ=" is not a day`},
		{"0 0 [?] * *", `Write "*".`},
		{"0 0 [L] * *", `Write "28-31"`},
		{"0 0 [15W] * *", "nearest working day"},
		{"0 0 [LW] * *", "nearest working day"},
		{"0 0 * * [FRI#2]", `"8-14"`},
		{"0 0 * * [5L]", "the last one"},
		{"[*/0] * * * *", `"0" is not a step of a minute: 1 to 59`},
		{"[*/90] * * * *", `Write every = "90m".`},
		{"0 [*/25] * * *", `Write every = "25h".`},
		{"[*/+5] * * * *", `"+5" is not a step`},
		{"[*/] * * * *", `"" is not a step`},
		{"[*-5] * * * *", `"*" is not a minute`},
		{"[+5] * * * *", `"+5" is not a minute`},
		{"[-5] * * * *", `"" is not a minute`},
		{"[5-1] * * * *", `ends before it begins. Write "5-59,0-1".`},
		{"0 0 * * [FRI-MON]", `Write "5-6,0-1".`},
		{"0 0 * * [7-2]", "Sunday is 0 where a range begins."},
		{"[1,2,,3] * * * *", "is empty"},
		{"[1-2-3] * * * *", `"2-3" is not a minute`},
		{"[１] * * * *", "is not a minute"},
		{"0\u00a00 * * *", "this one has 4"},
		{"[@dayly]", `Did you mean "@daily"?`},
		{"[@reboot]", "@reboot is not supported"},
		{"@daily [x]", "nothing may follow @daily"},
		{"[@every]", "there is no duration"},
		{"@every [5]", "is not a duration"},
		{"@every [-1h]", "the shortest interval is 1s"},
		{"@every [1ms]", "the shortest interval is 1s"},
		{"@every 1h [2m]", "nothing may follow"},
		{strings.Repeat("1,", 500) + "1 * * * *", "at most 1000 bytes"},
	} {
		text := strings.NewReplacer("[", "", "]", "").Replace(c.text)
		_, err := Parse(text, "")
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%q: %v, want %q", text, err, c.want)
			continue
		}
		if marked := text[:e.Start] + "[" + text[e.Start:e.End] + "]" + text[e.End:]; strings.Contains(c.text, "[") && marked != c.text {
			t.Errorf("%s: the error points at %s", c.text, marked)
		}
	}
	if _, err := Parse("CRON_TZ=Asia/Tokyo @daily", "Europe/Berlin"); err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("two zones: %v", err)
	}
	if _, err := Parse("@daily", "Mars"); err == nil || !strings.Contains(err.Error(), "unknown time zone") {
		t.Errorf("an unknown zone: %v", err)
	}
}

// FuzzParse holds that no text makes it panic, and that what is accepted has moments that go on.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0 2 * * MON-FRI", "TZ=", "CRON_TZ=UTC @daily", "@every 1h", "*/5 0-6/2 1,15 JAN 7", "0 0 29 2 */2"} {
		f.Add(s, int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, at int64) {
		s, err := Parse(text, "")
		if err != nil || at < -5_000_000_000 || at > 10_000_000_000 {
			return
		}
		from := time.Unix(at, 0)
		if next, ok := s.Next(from); ok && !next.After(from) {
			t.Errorf("%q: %s is not after %s", text, next, from)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	s, _ := Parse("30 2 * * *", "America/New_York")
	at := time.Unix(1_700_000_000, 0)
	for b.Loop() {
		at, _ = s.Next(at)
	}
}
