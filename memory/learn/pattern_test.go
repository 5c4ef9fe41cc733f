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

// like makes a likeness of a table: everything that it does not name is not alike.
func like(items []entry.Item, table map[string]float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		a, b := items[i].ID, items[j].ID
		return max(table[a+b], table[b+a])
	}
}

func TestGroup(t *testing.T) {
	items := []entry.Item{
		item("a", entry.Failure, 0, "", "db"), item("b", entry.Failure, 1, "", "db"), item("c", entry.Failure, 2, "", "db"),
		item("d", entry.Failure, 3, "", "ui"), item("e", entry.Failure, 4, "", "ui"), item("f", entry.Failure, 5, "", "ui"), item("g", entry.Failure, 6, "", "web"),
	}
	items[5].Scope = "run:1"
	table := map[string]float64{
		"ab": .7, "ac": .5, "bc": .7, // c is .6 from a and b on average: below
		"de": Alike,          // at the bound
		"df": .99, "ef": .99, // another scope
		"ag": .99, "bg": .99, // no tag in common
	}
	got := Group(items, like(items, table), func(int) []string { return nil })
	if diff := cmp.Diff([][]int{{0, 1}, {3, 4}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	rare := func(i int) []string {
		return map[string][]string{"a": {"lock", "pg", "vacuum"}, "g": {"lock", "pg", "vacuum"}}[items[i].ID]
	}
	table["ab"] = 0
	if diff := cmp.Diff([][]int{{0, 6}, {1, 2}, {3, 4}}, Group(items, like(items, table), rare)); diff != "" {
		t.Errorf("with rare terms (-want +got)\n%s", diff)
	}
	items[0].Repeats, items[6].Repeats = []string{"g"}, []string{"a"}
	none := func(int) []string { return nil }
	if diff := cmp.Diff([][]int{{0, 6}, {1, 2}, {3, 4}}, Group(items, like(items, table), none)); diff != "" {
		t.Errorf("near repeats (-want +got)\n%s", diff)
	}
}

func TestGroupsKeepTheirBounds(t *testing.T) {
	var items []entry.Item
	for i := range MaxItems + 1 {
		items = append(items, item(fmt.Sprintf("%03d", i), entry.Insight, 0, "", "x"))
	}
	in := map[int]bool{}
	for _, g := range Group(items, func(int, int) float64 { return 1 }, func(int) []string { return nil }) {
		if len(g) > MaxGroup {
			t.Errorf("a group of %d", len(g))
		}
		for _, i := range g {
			in[i] = true
		}
	}
	if len(in) != MaxItems || in[MaxItems] {
		t.Errorf("%d of %d items are in groups", len(in), len(items))
	}
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
		if got := Contradict(item("a", entry.Insight, 0, c.a).Entry, item("b", entry.Insight, 0, c.b).Entry); got != c.want {
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

// store is a memory just large enough to consolidate in.
type store map[string]entry.Item

func (s store) pile(ids ...string) Pile {
	var items []entry.Item
	for _, id := range ids {
		items = append(items, s[id])
	}
	return Pile{Items: items, Similar: func(int, int) float64 { return .8 }, Rare: func(int) []string { return nil },
		Get: func(id string) (entry.Item, bool) { e, ok := s[id]; return e, ok }}
}

func (s store) apply(made []Made) {
	for _, m := range made {
		s[m.Pattern.ID] = entry.Item{Entry: m.Pattern, Count: 1}
		for _, id := range m.Supersedes {
			e := s[id]
			e.SupersededBy = m.Pattern.ID
			s[id] = e
		}
	}
}

func TestConsolidateAgainChangesNothing(t *testing.T) {
	s := store{"a": item("a", entry.Failure, 0, "one", "x"), "b": item("b", entry.Failure, 1, "two", "x"), "c": item("c", entry.Failure, 2, "three", "x")}
	first := Consolidate(s.pile("a", "b"))
	if len(first) != 1 || !slices.Equal(first[0].Supersedes, []string{"a", "b"}) {
		t.Fatalf("%+v", first)
	}
	if diff := cmp.Diff(first, Consolidate(s.pile("a", "b"))); diff != "" {
		t.Errorf("after a crash before it was written (-first +again)\n%s", diff)
	}
	s.apply(first)
	old := first[0].Pattern.ID
	if again := Consolidate(s.pile("a", "b", old)); len(again) != 0 {
		t.Errorf("nothing is new, and it makes %+v", again)
	}
	next := Consolidate(s.pile(old, "c"))
	want := []string{old, "c"}
	slices.Sort(want)
	if len(next) != 1 || !slices.Equal(next[0].Supersedes, want) || !slices.Equal(next[0].Pattern.DerivedFrom, []string{"a", "b", "c"}) {
		t.Errorf("with one more: %+v", next)
	}
	if !strings.HasPrefix(next[0].Pattern.Text, "Seen 3 times") {
		t.Error(next[0].Pattern.Text)
	}
}

func TestOfAConflictBothStayInSight(t *testing.T) {
	s := store{"a": item("a", entry.Failure, 0, "old", "x"), "b": item("b", entry.Failure, 1, "two", "x"), "c": item("c", entry.Success, 2, "three", "x")}
	got := Consolidate(s.pile("a", "b", "c"))
	if len(got) != 1 || !got[0].Pattern.Conflict || !slices.Equal(got[0].Supersedes, []string{"a"}) {
		t.Fatalf("%+v", got)
	}
	s.apply(got)
	if again := Consolidate(s.pile("b", "c", got[0].Pattern.ID)); len(again) != 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestASubjectWithManySourcesStartsAnew(t *testing.T) {
	s := store{}
	var full []entry.Item
	for i := range MaxSources {
		e := item(fmt.Sprintf("s%03d", i), entry.Insight, i, fmt.Sprint("lesson ", i), "x")
		s[e.ID], full = e, append(full, e)
	}
	p := PatternOf(full)
	s[p.ID] = entry.Item{Entry: p, Count: 1}
	s["a"], s["b"] = item("a", entry.Insight, 1, "one", "x"), item("b", entry.Insight, 2, "two", "x")
	if got := Consolidate(s.pile(p.ID, "a", "b")); len(got) != 1 || !slices.Equal(got[0].Pattern.DerivedFrom, []string{"a", "b"}) {
		t.Errorf("%+v", got)
	}
	if got := Consolidate(s.pile(p.ID, "a")); len(got) != 0 {
		t.Errorf("one alone beside it: %+v", got)
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
		"it is no text":              {p, "\xff", []int{1}, nil},
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
