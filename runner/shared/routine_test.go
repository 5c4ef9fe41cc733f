package shared

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

func at(t *testing.T, text string) event.Time {
	t.Helper()
	m, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return event.At(m)
}

func scheduled(r ir.Routine) event.Scheduled {
	spec, _ := json.Marshal(&r)
	return event.Scheduled{Name: r.Name, Spec: string(spec)}
}

func askRoutines(t *testing.T, rows Rows, r event.RoutineRequest, now event.Time) value.Value {
	t.Helper()
	v, err := applyRoutines(rows, &r, now)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// dueMoments asks what is due, and says "NAME MOMENT" of each.
func dueMoments(t *testing.T, rows Rows, now event.Time) (list []event.Occurred) {
	t.Helper()
	o, _ := askRoutines(t, rows, event.RoutineRequest{Operation: event.RoutineDue}, now).(map[string]any)
	due, _ := o["due"].([]any)
	for _, d := range due {
		x, _ := d.(map[string]any)
		name, _ := x["routine"].(string)
		text, _ := x["scheduled_at"].(string)
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, event.Occurred{Routine: name, ScheduledAt: event.Time(n), Run: "r"})
	}
	return list
}

func words(list []event.Occurred) string {
	var out []string
	for _, o := range list {
		out = append(out, o.Routine+" "+o.ScheduledAt.Go().Format("02T15:04"))
	}
	return strings.Join(out, ", ")
}

// row is a routine as it is stored.
func row(t *testing.T, rows Rows, name string) (r Routine) {
	t.Helper()
	if err := loadRow(rows, routineSpace, name, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func register1(t *testing.T, rows Rows, now event.Time, list ...ir.Routine) *changes {
	t.Helper()
	c := &changes{}
	var specs []event.Scheduled
	for _, r := range list {
		specs = append(specs, scheduled(r))
	}
	if err := c.schedule(rows, "/p.hcl", specs, now); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMissedMoments has a routine for each value of missed, and a daemon that is away from the second hour to the sixth.
func TestMissedMoments(t *testing.T) {
	rows := new(Map)
	begin := at(t, "2026-01-05T08:30:00Z")
	register1(t, rows, begin, ir.Routine{Name: "all", Cron: "@hourly", Workflow: "w", Missed: ir.MissedAll},
		ir.Routine{Name: "latest", Cron: "@hourly", Workflow: "w"}, ir.Routine{Name: "none", Cron: "@hourly", Workflow: "w", Missed: ir.MissedNone})
	for _, c := range []struct{ now, due string }{
		{"2026-01-05T08:59:59Z", ""},
		{"2026-01-05T09:00:00Z", "all 05T09:00, latest 05T09:00, none 05T09:00"},
		{"2026-01-05T09:00:30Z", ""},
		{"2026-01-05T13:30:00Z", "all 05T10:00, all 05T11:00, all 05T12:00, all 05T13:00, latest 05T13:00"},
		{"2026-01-05T14:00:59Z", "all 05T14:00, latest 05T14:00, none 05T14:00"},
		{"2026-01-05T16:00:01Z", "all 05T15:00, all 05T16:00, latest 05T16:00, none 05T16:00"}, // what is on time is the latest
	} {
		due := dueMoments(t, rows, at(t, c.now))
		if got := words(due); got != c.due {
			t.Errorf("%s: due is %q, want %q", c.now, got, c.due)
		}
		if again := words(dueMoments(t, rows, at(t, c.now))); again != c.due { // until the runs are made
			t.Errorf("%s: due a second time is %q, want %q", c.now, again, c.due)
		}
		askRoutines(t, rows, event.RoutineRequest{Operation: event.RoutineStarted, Done: due}, at(t, c.now))
	}
	for name, want := range map[string][2]uint64{"all": {8, 0}, "latest": {4, 4}, "none": {3, 5}} {
		if r := row(t, rows, name); r.Started != want[0] || r.Missed != want[1] || len(r.Waiting) != 0 {
			t.Errorf("%s: %d started, %d missed, %d wait; want %d and %d", name, r.Started, r.Missed, len(r.Waiting), want[0], want[1])
		}
	}
}

// TestManyMissedMoments: of many missed moments the latest hundred start runs, and the answer takes no time that grows with the others.
func TestManyMissedMoments(t *testing.T) {
	rows := new(Map)
	begin := at(t, "2020-01-01T00:00:00Z")
	register1(t, rows, begin, ir.Routine{Name: "cron", Cron: "*/5 * * * *", Workflow: "w", Missed: ir.MissedAll},
		ir.Routine{Name: "often", Every: time.Second, Workflow: "w", Missed: ir.MissedAll}, ir.Routine{Name: "some", Cron: "@daily", Workflow: "w", Missed: ir.MissedAll})
	now := at(t, "2026-01-05T09:02:00Z")
	due := dueMoments(t, rows, now)
	if len(due) != 3*MaxMissed {
		t.Fatalf("%d are due, want %d", len(due), 3*MaxMissed)
	}
	for i, latest := range []string{"2026-01-05T09:00:00Z", "2026-01-05T09:02:00Z", "2026-01-05T00:00:00Z"} {
		if got := due[i*MaxMissed+99]; got.ScheduledAt != at(t, latest) {
			t.Errorf("the latest of %s is %s, want %s", got.Routine, got.ScheduledAt, latest)
		}
	}
	if got := row(t, rows, "some").Missed; got != 2196-100 {
		t.Errorf("%d are counted as missed, want %d", got, 2196-100)
	}
	if got := row(t, rows, "cron").Missed; got != MaxCounted-100 {
		t.Errorf("%d are counted as missed, want the bound %d", got, MaxCounted-100)
	}
}

func TestPause(t *testing.T) {
	rows := new(Map)
	begin := at(t, "2026-01-05T08:30:00Z")
	r := ir.Routine{Name: "r", Cron: "@hourly", Workflow: "w", Missed: ir.MissedAll}
	register1(t, rows, begin, r)
	askRoutines(t, rows, event.RoutineRequest{Operation: event.RoutinePause, Name: "r"}, at(t, "2026-01-05T08:40:00Z"))
	if got := words(dueMoments(t, rows, at(t, "2026-01-05T10:30:00Z"))); got != "" {
		t.Errorf("a routine that is paused is due: %s", got)
	}
	if c := register1(t, rows, at(t, "2026-01-05T10:31:00Z"), r); len(c.added)+len(c.changed) != 0 || row(t, rows, "r").Paused == 0 {
		t.Errorf("the same program changes what people have paused: %v", c)
	}
	askRoutines(t, rows, event.RoutineRequest{Operation: event.RoutineResume, Name: "r"}, at(t, "2026-01-05T12:30:00Z"))
	if got := words(dueMoments(t, rows, at(t, "2026-01-05T13:00:00Z"))); got != "r 05T13:00" {
		t.Errorf("after the pause: %q", got)
	}
	if got := row(t, rows, "r").Missed; got != 0 {
		t.Errorf("%d moments of the pause were missed", got)
	}
	if _, err := applyRoutines(rows, &event.RoutineRequest{Operation: event.RoutinePause, Name: "x"}, begin); err == nil {
		t.Error("an unknown routine is paused")
	}
	r.Paused = true
	register1(t, rows, at(t, "2026-01-05T14:30:00Z"), r)
	if _, err := applyRoutines(rows, &event.RoutineRequest{Operation: event.RoutineResume, Name: "r"}, begin); err == nil || !strings.Contains(err.Error(), "paused = true") {
		t.Errorf("a routine that its program has paused goes on: %v", err)
	}
}

func TestRegisteredRoutines(t *testing.T) {
	rows := new(Map)
	now := at(t, "2026-01-05T08:30:00Z")
	a, b := ir.Routine{Name: "a", Cron: "@hourly", Workflow: "w"}, ir.Routine{Name: "b", Every: time.Minute, Workflow: "w"}
	if c := register1(t, rows, now, a, b); !slices.Equal(c.added, []string{"routine a → w", "routine b → w"}) {
		t.Errorf("added %q", c.added)
	}
	dueMoments(t, rows, at(t, "2026-01-05T09:00:00Z")) // a waits
	a.Workflow = "x"
	c := register1(t, rows, at(t, "2026-01-05T09:00:01Z"), a)
	if !slices.Equal(c.changed, []string{"routine a → x"}) || !slices.Equal(c.removed, []string{"routine b → w"}) {
		t.Errorf("changed %q, removed %q", c.changed, c.removed)
	}
	if got := words(dueMoments(t, rows, at(t, "2026-01-05T09:00:02Z"))); got != "a 05T09:00" {
		t.Errorf("what waits of a routine with another workflow: %q", got)
	}
	a.Timezone = "Asia/Kolkata"
	register1(t, rows, at(t, "2026-01-05T09:00:03Z"), a)
	if got := words(dueMoments(t, rows, at(t, "2026-01-05T09:30:00Z"))); got != "a 05T09:30" {
		t.Errorf("after a change of the schedule: %q", got)
	}
	err := (&changes{}).schedule(rows, "/other.hcl", []event.Scheduled{scheduled(a)}, now)
	if err == nil || !strings.Contains(err.Error(), "/p.hcl already") {
		t.Errorf("one routine of two programs: %v", err)
	}
}

// TestRoutinesModel compares random times of looking, restarts, pauses and clocks that are put back with a model that knows the rule in
// other words: a list of all minutes.
func TestRoutinesModel(t *testing.T) {
	begin := at(t, "2026-01-05T08:00:00Z")
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 16))
		spec := ir.Routine{Name: "r", Every: time.Duration(1+r.IntN(90)) * time.Minute, Workflow: "w", Missed: []ir.Missed{ir.MissedNone, ir.MissedLatest, ir.MissedAll}[r.IntN(3)]}
		if r.IntN(2) == 0 {
			spec.Jitter = min(spec.Every-1, time.Duration(r.IntN(300))*time.Second)
		}
		rows := new(Map)
		register1(t, rows, begin, spec)
		p, err := func() (*plan, error) { r := row(t, rows, "r"); return r.plan() }()
		if err != nil {
			t.Fatal(err)
		}
		started, dropped := map[event.Time]int{}, map[event.Time]bool{}
		now, from, paused := begin, begin, false
		for range 40 {
			if now = now.Add(time.Duration(r.IntN(50)) * time.Second); r.IntN(6) == 0 {
				now = now.Add(time.Duration(r.IntN(400)) * time.Minute)
			}
			if r.IntN(12) == 0 {
				operation := event.RoutinePause
				if paused {
					operation = event.RoutineResume
				}
				paused, from = !paused, now
				askRoutines(t, rows, event.RoutineRequest{Operation: operation, Name: "r"}, now)
				continue
			}
			var want, late []event.Time
			for m := begin; m <= now && !paused; m = m.Add(time.Minute) {
				lateness := now.Sub(p.start(m))
				switch {
				case int64(m)%int64(spec.Every) != 0 || m <= from || started[m] > 0 || dropped[m] || lateness < 0:
				case lateness > event.RoutineGrace:
					late = append(late, m)
				default:
					want = append(want, m)
				}
			}
			keep := 0
			if spec.Missed == ir.MissedAll {
				keep = min(len(late), MaxMissed-len(want))
			} else if spec.Missed == ir.MissedLatest && len(want) == 0 {
				keep = min(len(late), 1)
			}
			for _, m := range late[:len(late)-keep] {
				dropped[m] = true
			}
			want = append(late[len(late)-keep:], want...)
			due := dueMoments(t, rows, now)
			got := []event.Time{}
			for _, d := range due {
				got = append(got, d.ScheduledAt)
			}
			if !slices.Equal(got, want) && len(got)+len(want) > 0 {
				t.Fatalf("seed %d, %s, at %s: due %s, the model says %d moments", seed, fmt.Sprint(spec.Missed, " ", spec.Every, " ", spec.Jitter), now, words(due), len(want))
			}
			if r.IntN(3) == 0 {
				continue // the daemon is killed before it says so
			}
			askRoutines(t, rows, event.RoutineRequest{Operation: event.RoutineStarted, Done: due}, now)
			for _, d := range due {
				started[d.ScheduledAt]++
			}
		}
	}
}

func BenchmarkNextOf500Routines(b *testing.B) {
	rows := new(Map)
	var list []event.Scheduled
	for i := range 500 {
		list = append(list, scheduled(ir.Routine{Name: fmt.Sprint("r", i), Cron: "30 2 * * MON-FRI", Timezone: "Europe/Berlin", Workflow: "w"}))
	}
	if err := (&changes{}).schedule(rows, "/p", list, 1); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := applyRoutines(rows, &event.RoutineRequest{Operation: event.RoutineNext}, 2); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMomentsThatCannotStart makes moments a dead letter. Those that are redriven are due however late they are, and the last one that starts its run
// closes the letter.
func TestMomentsThatCannotStart(t *testing.T) {
	rows := new(Map)
	register1(t, rows, at(t, "2026-01-05T08:30:00Z"), ir.Routine{Name: "r", Cron: "@hourly", Workflow: "w", Missed: ir.MissedNone})
	note := func(now event.Time, run, why string) {
		t.Helper()
		due := dueMoments(t, rows, now)
		for i := range due {
			due[i].Run, due[i].Why = run, why
		}
		askRoutines(t, rows, event.RoutineRequest{Operation: event.RoutineStarted, Done: due}, now)
	}
	letter := func() *DeadLetter {
		t.Helper()
		var d DeadLetter
		if err := loadRow(rows, deadSpace, seqKey(1), &d); err != nil {
			t.Fatal(err)
		}
		return &d
	}
	redeliver := func() error {
		_, err := Apply(rows, &event.StoreRequest{Dead: &event.DeadRequest{ID: "dl-1", Redeliver: true}}, Waiter{}, 1)
		return err
	}
	note(at(t, "2026-01-05T09:00:00Z"), "", "no number")
	note(at(t, "2026-01-05T10:00:00Z"), "", "no word")
	if d := letter(); d.Kind != DeadRoutine || d.Routine != "r" || d.Times != 2 || len(d.Moments) != 2 || d.Error != "no word" {
		t.Fatalf("the letter is %+v", d)
	}
	note(at(t, "2026-01-05T11:00:00Z"), "run", "")
	if d := letter(); len(d.Moments) != 2 {
		t.Errorf("another moment closes the letter: %+v", d)
	}
	if err := redeliver(); err != nil {
		t.Fatal(err)
	}
	now := at(t, "2026-01-05T11:30:00Z")
	due := dueMoments(t, rows, now)
	if got := words(due); got != "r 05T09:00, r 05T10:00" {
		t.Fatalf("due are %q", got)
	}
	due[0].Run, due[0].Why, due[1].Run = "", "no word again", "run 2"
	askRoutines(t, rows, event.RoutineRequest{Operation: event.RoutineStarted, Done: due}, now)
	if d, r := letter(), row(t, rows, "r"); len(d.Moments) != 1 || d.Error != "no word again" || d.Times != 3 || r.Started != 2 || r.Missed != 1 || len(r.Again) != 0 {
		t.Fatalf("the letter is %+v, and the routine %+v", d, r)
	}
	askRoutines(t, rows, event.RoutineRequest{Operation: event.RoutinePause, Name: "r"}, now)
	if err := redeliver(); err == nil {
		t.Error("a routine that is paused is redriven")
	}
	askRoutines(t, rows, event.RoutineRequest{Operation: event.RoutineResume, Name: "r"}, now)
	if err := redeliver(); err != nil {
		t.Fatal(err)
	}
	note(now.Add(1), "run 3", "")
	if d, r := letter(), row(t, rows, "r"); d.Seq != 0 || r.Missed != 0 || r.Started != 3 {
		t.Errorf("the letter is %+v, and the routine %+v", d, r)
	}
}
