package flowtest_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var triggerSeeds = flag.Int("trigger.seeds", 12, "random programs whose runs are started by the clock and by events")

// calendar is a routine, and what it is to do.
type calendar struct {
	name, text string
	at         func(time.Time) bool // whether a minute is a moment
	missed     string
}

// drawCalendar draws a routine of which two moments are 15 minutes apart at least.
func drawCalendar(r *rand.Rand, name string) calendar {
	c := calendar{name: name, missed: []string{"none", "latest", "all"}[r.IntN(3)]}
	schedule := ""
	if r.IntN(3) == 0 {
		every := time.Duration(15+r.IntN(300)) * time.Minute
		schedule = fmt.Sprintf("every = \"%s\"", every)
		c.at = func(t time.Time) bool { return t.UnixNano()%int64(every) == 0 }
	} else {
		offset := []int{0, 330, 540}[r.IntN(3)] // minutes; these zones do not change
		zone := map[int]string{0: "UTC", 330: "Asia/Kolkata", 540: "Asia/Tokyo"}[offset]
		var minutes, hours, days []int
		for m := r.IntN(15); m < 60; m += 15 + r.IntN(60) {
			minutes = append(minutes, m)
		}
		minutes = minutes[:min(len(minutes), 1+r.IntN(2))]
		if len(minutes) == 2 && minutes[0]+60-minutes[1] < 15 {
			minutes = minutes[:1]
		}
		for h := range 24 {
			if r.IntN(3) == 0 {
				hours = append(hours, h)
			}
		}
		for d := range 7 {
			if r.IntN(3) > 0 {
				days = append(days, d)
			}
		}
		field := func(list []int) string {
			if len(list) == 0 {
				return "*"
			}
			return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), ","), "[]")
		}
		schedule = fmt.Sprintf("cron = \"%s %s * * %s\"\n  timezone = \"%s\"", field(minutes), field(hours), field(days), zone)
		has := func(list []int, n int) bool { return len(list) == 0 || slices.Contains(list, n) }
		c.at = func(t time.Time) bool {
			t = t.UTC().Add(time.Duration(offset) * time.Minute)
			return has(minutes, t.Minute()) && has(hours, t.Hour()) && has(days, int(t.Weekday()))
		}
	}
	c.text = fmt.Sprintf("routine \"%s\" {\n  %s\n  workflow = workflow.w0\n  missed = \"%s\"\n  overlap = \"%s\"\n}\n", name, schedule, c.missed, []string{"allow", "queue"}[r.IntN(2)])
	return c
}

// TestTriggersModel draws calendars, chains of events, and processes that die or are away. Each moment, and each event, starts exactly the
// runs that it should. The large test is
//
//	go test ./runner/flowtest -run TestTriggersModel -trigger.seeds 1000
func TestTriggersModel(t *testing.T) {
	moments, late, runs := 0, 0, 0
	for seed := range *triggerSeeds {
		r := rand.New(rand.NewPCG(uint64(seed), 20))
		start := time.Date(2026, 1, 1+r.IntN(300), r.IntN(24), r.IntN(60), 30, 0, time.UTC)
		days := time.Duration(1+r.IntN(4)) * 24 * time.Hour
		var list []calendar
		var program, tests strings.Builder
		for i := range 1 + r.IntN(3) {
			list = append(list, drawCalendar(r, fmt.Sprintf("r%d", i)))
			program.WriteString(list[i].text)
		}
		// Down for a while in each half, at 30 seconds past a minute: no moment is near.
		type gap struct{ from, to time.Time }
		var gaps []gap
		for half := range time.Duration(r.IntN(3)) {
			from := start.Add(half*days/2 + time.Duration(r.IntN(int(days/2/time.Minute)-400))*time.Minute)
			g := gap{from, from.Add(time.Duration(1+r.IntN(360)) * time.Minute)}
			gaps = append(gaps, g)
			fmt.Fprintf(&tests, "  down {\n    after = \"%s\"\n    for = \"%s\"\n  }\n", g.from.Sub(start), g.to.Sub(g.from))
		}
		isDown := func(at time.Time) bool {
			return slices.ContainsFunc(gaps, func(g gap) bool { return at.After(g.from) && at.Before(g.to) })
		}
		for range r.IntN(4) {
			if at := start.Add(time.Duration(r.Int64N(int64(days)))); !isDown(at) {
				fmt.Fprintf(&tests, "  crash { after = \"%s\" }\n", at.Sub(start).Round(time.Millisecond))
			}
		}
		end := start.Add(days)
		for quiet := start; quiet.Before(end.Add(6 * time.Minute)); quiet = quiet.Add(time.Minute) { // what is under way comes to its end
			if slices.ContainsFunc(list, func(c calendar) bool { return c.at(quiet.Truncate(time.Minute)) }) && quiet.After(end.Add(-6*time.Minute)) {
				end = quiet.Add(6 * time.Minute)
			}
		}
		total := 0
		for _, c := range list {
			started, missed := 0, 0
			var lates []time.Time
			onTime := false
			flush := func() { // somebody is there again
				keep := 0
				if c.missed == "all" {
					keep = min(100, len(lates))
				} else if c.missed == "latest" && !onTime {
					keep = min(1, len(lates))
				}
				started, missed, late = started+keep, missed+len(lates)-keep, late+len(lates)
				lates, onTime = nil, false
			}
			for m := start.Truncate(time.Minute).Add(time.Minute); !m.After(end); m = m.Add(time.Minute) {
				for _, g := range gaps {
					if m.Add(-30 * time.Second).Equal(g.to) {
						flush()
					}
				}
				if !c.at(m) {
					continue
				}
				moments++
				switch g := slices.IndexFunc(gaps, func(g gap) bool { return m.After(g.from) && m.Before(g.to) }); {
				case g < 0:
					started++
				case gaps[g].to.Sub(m) > time.Minute:
					lates = append(lates, m)
				default:
					started, onTime = started+1, true
				}
			}
			total += started
			fmt.Fprintf(&tests, "  expect = [\"routines.%s.started == %d && routines.%s.missed == %d\"]\n", c.name, started, c.name, missed)
		}
		count := total
		depth := r.IntN(5)
		for i := range depth + 1 {
			fmt.Fprintf(&program, "workflow \"w%d\" {\n  sequence \"all\" {\n    step \"rest\" {\n      wait { duration = \"%ds\" }\n    }\n    step \"count\" {\n      kv { incr = \"c%d\" }\n    }\n    step \"tell\" {\n      emit {\n        event = \"chain.e%d\"\n        data = { n = step.count.output }\n      }\n    }\n  }\n}\n", i, 1+r.IntN(4), i, i)
			runs += count
			fmt.Fprintf(&tests, "  expect = [\"len(filter(runs, .workflow == 'w%d' && .status == 'succeeded')) == %d && len(filter(runs, .workflow == 'w%d')) == %d && (kv['c%d'] ?? 0) == %d\"]\n", i, count, i, count, i, count)
			if i == depth {
				break
			}
			when := ""
			if r.IntN(2) == 0 {
				when, count = "  when = \"event.n % 2 == 0\"\n", count/2
			}
			fmt.Fprintf(&program, "on \"chain.e%d\" {\n%s  workflow = workflow.w%d\n}\n", i, when, i+1)
		}
		if r.IntN(2) == 0 {
			fmt.Fprintf(&program, "workflow \"all\" {\n  step \"s\" { value = 1 }\n}\non \"chain.*\" { workflow = workflow.all }\n")
		}
		head := fmt.Sprintf("  start_at = \"%s\"\n  run_for = \"%s\"\n", start.Format(time.RFC3339), end.Sub(start))
		text := joinExpectations(test(head + tests.String()))
		if got := outcome(t, program.String(), text); got != "pending" { // the test has no run of its own
			t.Fatalf("seed %d: %s\n%s\n%s", seed, got, program.String(), text)
		}
	}
	t.Logf("%d programs: %d moments, %d of them while nobody was there, %d runs of chains", *triggerSeeds, moments, late, runs)
	if moments < 5**triggerSeeds || late == 0 {
		t.Error("too little happens")
	}
}

// joinExpectations makes one list of the lists of expectations of a test.
func joinExpectations(text string) string {
	var lines, expect []string
	for _, line := range strings.Split(text, "\n") {
		if inner, is := strings.CutPrefix(line, "  expect = ["); is {
			expect = append(expect, strings.TrimSuffix(inner, "]"))
		} else {
			lines = append(lines, line)
		}
	}
	at := slices.Index(lines, "}")
	return strings.Join(slices.Insert(lines, at, "  expect = [\n    "+strings.Join(expect, ",\n    ")+"\n  ]"), "\n")
}
