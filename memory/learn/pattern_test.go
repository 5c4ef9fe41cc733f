package learn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/memory/entry"
)

func item(id string, typ entry.Type, day int, lesson string, tags ...string) entry.Item {
	at := noon.AddDate(0, 0, day)
	return entry.Item{Count: 1, Last: at, Entry: entry.Entry{ID: id, Type: typ, Scope: "agent:a", Agent: "a", Context: "ctx " + id,
		Lesson: lesson, Tags: tags, Importance: Importance(typ, tags), CreatedAt: at, By: entry.Source{Trust: entry.ByAgent}}}
}

func TestPattern(t *testing.T) {
	group := []entry.Item{
		item("M-3", entry.Failure, 4, "The migration waits for the lock of the backup: run it after the backup.", "db"),
		item("M-1", entry.Failure, 0, "Run the migration after the backup, as the backup holds the lock.", "db", "backup"),
		item("M-2", entry.Insight, 1, "Backups start at two and take an hour.", "db"),
	}
	group[1].Count, group[1].Last = 3, noon.AddDate(0, 0, 9)
	got := PatternOf(group)
	want := entry.Entry{
		ID: ID("pattern", "M-1", "M-2", "M-3"), Scope: "agent:a", Agent: "a", Type: entry.Pattern, Auto: true,
		Text: "Seen 5 times (4 failures, 0 successes), last 2026-11-11: The migration waits for the lock of the backup: run it after the backup. " +
			"Also: Backups start at two and take an hour. Run the migration after the backup, as the backup holds the lock.",
		Context: "ctx M-3", Tags: []string{"backup", "db"}, Importance: 0.9, CreatedAt: noon.AddDate(0, 0, 9),
		By: entry.Source{Source: "consolidate", Author: "flowrun", Trust: entry.ByAgent}, DerivedFrom: []string{"M-1", "M-2", "M-3"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
	if diff := cmp.Diff(want, PatternOf(group)); diff != "" {
		t.Errorf("in another order (-want +got)\n%s", diff)
	}
}

func TestAConflictTellsBothSides(t *testing.T) {
	got := PatternOf([]entry.Item{
		item("a", entry.Failure, 0, "Deploying with the cache on failed.", "deploy"),
		item("b", entry.Success, 1, "Deploying with the cache on worked.", "deploy"),
	})
	if !got.Conflict || got.Text != "Seen 2 times (1 failure, 1 success), last 2026-11-03, contradicting each other: Deploying with the cache on worked. But: Deploying with the cache on failed." {
		t.Errorf("%t %q", got.Conflict, got.Text)
	}
}

func TestContradict(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Always use the build cache for releases.", "Never use the build cache for releases.", true},
		{"Don't restart the worker during a deploy.", "Restart the worker during a deploy!", true},
		{"Do not skip the linter.", "Never skip the linter.", false},
		{"Never use the build cache.", "Write the changelog first.", false},
	} {
		a, b := stanceOf(item("a", entry.Insight, 0, c.a).Entry), stanceOf(item("b", entry.Insight, 0, c.b).Entry)
		if got := a.contradicts(&b); got != c.want {
			t.Errorf("%q and %q: %t", c.a, c.b, got)
		}
	}
}

func TestAPatternKeepsItsBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var group []entry.Item
		for i := range 1 + r.IntN(8) {
			typ := []entry.Type{entry.Success, entry.Failure, entry.Insight}[r.IntN(3)]
			e := item(fmt.Sprint(i), typ, i, strings.Repeat([]string{"ä", "wort ", "fehler. ", "x"}[r.IntN(4)], r.IntN(400)))
			e.Count = r.IntN(1_000_000)
			group = append(group, e)
		}
		if got := PatternOf(group).Text; len(got) > MaxPattern || !utf8.ValidString(got) {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
	}
}

// A pattern of as many long learnings as there may be is made in well under a second.
func TestPatternOfMany(t *testing.T) {
	var group []entry.Item
	for i := range MaxSources {
		text := fmt.Sprintf("case%d", i)
		for k := range 60 {
			text += fmt.Sprintf(" word%d", (i*7+k*k)%211)
		}
		group = append(group, item(fmt.Sprintf("s%03d", i), entry.Insight, i, text, "x"))
	}
	start := cpu(t)
	if p := PatternOf(group); len(p.DerivedFrom) != MaxSources {
		t.Errorf("it cites %d", len(p.DerivedFrom))
	}
	if took := cpu(t) - start; took > 3*time.Second { // 0.1 s; comparing the texts anew for each pair took 20
		t.Errorf("it took %v", took)
	}
}

// cpu is the time that this process has had: others that keep the machine busy do not count.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

type worder func([]string) (string, []int, error)

func (w worder) Word(lessons []string) (string, []int, error) { return w(lessons) }

func TestReword(t *testing.T) {
	group := []entry.Item{item("a", entry.Failure, 0, "The backup holds the lock at two.", "db"), item("b", entry.Failure, 1, "Migrate after the backup.", "db")}
	p := PatternOf(group)
	got, err := Reword(p, group, worder(func(lessons []string) (string, []int, error) {
		if !slices.Equal(lessons, []string{"The backup holds the lock at two.", "Migrate after the backup."}) {
			t.Errorf("it is given %q", lessons)
		}
		return "Migrate once the backup is over.", []int{1, 2}, nil
	}))
	if err != nil || got.Auto || got.Text != "Seen 2 times (2 failures, 0 successes), last 2026-11-03: Migrate once the backup is over." {
		t.Errorf("%q, %v", got.Text, err)
	}
	conflict := PatternOf(append([]entry.Item{item("c", entry.Success, 2, "x", "db")}, group...))
	for name, c := range map[string]struct {
		p     entry.Entry
		text  string
		cites []int
		err   error
	}{
		"it cites nothing":           {p, "Fine.", nil, nil},
		"it cites what is not there": {p, "Fine.", []int{3}, nil},
		"it cites the one before":    {p, "Fine.", []int{0}, nil},
		"it is empty":                {p, " \n", []int{1}, nil},
		"it is longer":               {p, strings.Repeat("long ", 40), []int{1}, nil},
		"it is not text":             {p, "\xff", []int{1}, nil},
		"it fails":                   {p, "", nil, errors.New("no network")},
		"one side of a conflict":     {conflict, "Fine.", []int{1, 1}, nil},
	} {
		got, err := Reword(c.p, group, worder(func([]string) (string, []int, error) { return c.text, c.cites, c.err }))
		if diff := cmp.Diff(c.p, got); diff != "" || err == nil || errors.Is(err, ErrRefused) != (c.err == nil) {
			t.Errorf("%s: error %v, and it changes\n%s", name, err, diff)
		}
	}
}

func TestTimesAreTold(t *testing.T) {
	one := item("a", entry.Success, 0, "x")
	one.Last = time.Time{}
	if got := head([]entry.Item{one}, false); got != "Seen 1 time (0 failures, 1 success), last 2026-11-02: " {
		t.Error(got)
	}
}
