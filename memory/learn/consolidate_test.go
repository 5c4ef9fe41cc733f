package learn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/memory/entry"
)

// alike is the nearness of items that are all alike.
type alike struct{}

func (alike) Mean(int, int) (float64, bool) { return .8, true }
func (alike) Join([]int)                    {}

// store is a memory just large enough to consolidate in.
type store map[string]entry.Item

func (s store) pile(ids ...string) Pile {
	p := Pile{Near: alike{}}
	for _, id := range ids {
		if s[id].Type == entry.Pattern {
			p.Patterns = append(p.Patterns, s[id])
		} else {
			p.Items = append(p.Items, s[id])
		}
	}
	return p
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

// about is a learning of the one subject of these tests.
func about(id string, typ entry.Type, day int) entry.Item {
	return item(id, typ, day, "The lock of the backup.", "x")
}

func storeOf(items ...entry.Item) store {
	s := store{}
	for _, i := range items {
		s[i.ID] = i
	}
	return s
}

func TestConsolidateAgainChangesNothing(t *testing.T) {
	s := storeOf(about("a", entry.Failure, 0), about("b", entry.Failure, 1), about("c", entry.Failure, 2))
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
	next := Consolidate(s.pile("a", "b", "c", old))
	want := []string{old, "c"}
	slices.Sort(want)
	if len(next) != 1 || !slices.Equal(next[0].Supersedes, want) || !slices.Equal(next[0].Pattern.DerivedFrom, []string{"a", "b", "c"}) {
		t.Fatalf("with one more: %+v", next)
	}
	if !strings.HasPrefix(next[0].Pattern.Text, "Seen 3 times") {
		t.Error(next[0].Pattern.Text)
	}
}

func TestOfAConflictBothStayInSight(t *testing.T) {
	s := storeOf(about("a", entry.Failure, 0), about("b", entry.Failure, 1), about("c", entry.Success, 2))
	got := Consolidate(s.pile("a", "b", "c"))
	if len(got) != 1 || !got[0].Pattern.Conflict || !slices.Equal(got[0].Supersedes, []string{"a"}) {
		t.Fatalf("%+v", got)
	}
	s.apply(got)
	if again := Consolidate(s.pile("a", "b", "c", got[0].Pattern.ID)); len(again) != 0 {
		t.Errorf("again: %+v", again)
	}
}

// A side of a conflict that lies behind an older pattern is to come out, and all else that does lies behind the new one.
func TestASideOfAConflictComesBackIntoSight(t *testing.T) {
	s := storeOf(about("a", entry.Failure, 0), about("b", entry.Failure, 1), about("c", entry.Success, 2))
	s.apply(Consolidate(s.pile("a", "b")))
	ab := patternID([]string{"a", "b"})
	got := Consolidate(s.pile("a", "b", "c", ab))
	if len(got) != 1 || !slices.Equal(got[0].Shows, []string{"b"}) || !slices.Equal(got[0].Supersedes, []string{ab, "a"}) {
		t.Errorf("%+v", got)
	}
}

// A learning that came back into sight, as an older pattern was reverted, goes behind the one that stands.
func TestWhatAPatternStandsForGoesBehindItAgain(t *testing.T) {
	s := storeOf(about("a", entry.Failure, 0), about("b", entry.Failure, 1))
	s.apply(Consolidate(s.pile("a", "b")))
	s["a"] = about("a", entry.Failure, 0)
	ab := patternID([]string{"a", "b"})
	got := Consolidate(s.pile("a", "b", ab))
	if len(got) != 1 || !got[0].Known || got[0].Pattern.ID != ab || !slices.Equal(got[0].Supersedes, []string{"a"}) {
		t.Fatalf("%+v", got)
	}
	s.apply(got)
	if got := Consolidate(s.pile("a", "b", ab)); len(got) != 0 {
		t.Errorf("again: %+v", got)
	}
}

// What somebody worded as a pattern, and what others made of learnings that are not there, no pattern swallows.
func TestAPatternOfNothingIsLeftAlone(t *testing.T) {
	s := storeOf(about("a", entry.Failure, 0), about("b", entry.Failure, 1), about("by-hand", entry.Pattern, 2), about("of-others", entry.Pattern, 2))
	others := s["of-others"]
	others.DerivedFrom = []string{"z"}
	s["of-others"] = others
	if got := Consolidate(s.pile("a", "b", "by-hand", "of-others")); len(got) != 1 || !slices.Equal(got[0].Supersedes, []string{"a", "b"}) {
		t.Errorf("%+v", got)
	}
}

// A learning that is in sight beside its pattern, as it is one side of a conflict, may have come under a second one.
func TestTwoPatternsOfOneLearningBecomeOne(t *testing.T) {
	s := storeOf(about("a", entry.Failure, 0), about("b", entry.Failure, 1), about("c", entry.Failure, 2))
	for _, of := range [][]string{{"a", "b"}, {"b", "c"}} {
		p := PatternOf([]entry.Item{s[of[0]], s[of[1]]})
		s[p.ID] = entry.Item{Entry: p, Count: 1}
	}
	ab, bc := patternID([]string{"a", "b"}), patternID([]string{"b", "c"})
	got := Consolidate(s.pile("a", "b", "c", ab, bc))
	if len(got) != 1 || !slices.Equal(got[0].Pattern.DerivedFrom, []string{"a", "b", "c"}) || !slices.Contains(got[0].Supersedes, ab) || !slices.Contains(got[0].Supersedes, bc) {
		t.Errorf("%+v", got)
	}
}

func TestASubjectWithManySourcesStartsAnew(t *testing.T) {
	s, ids := store{}, []string{}
	var full []entry.Item
	for i := range MaxSources {
		e := about(fmt.Sprintf("s%03d", i), entry.Insight, i)
		s[e.ID], full, ids = e, append(full, e), append(ids, e.ID)
	}
	p := PatternOf(full)
	s.apply([]Made{{Pattern: p, Supersedes: ids}})
	s["a"], s["b"] = about("a", entry.Insight, 1), about("b", entry.Insight, 2)
	if got := Consolidate(s.pile(append(ids, p.ID, "a")...)); len(got) != 0 {
		t.Errorf("one alone beside it: %+v", got)
	}
	if got := Consolidate(s.pile(append(ids, p.ID, "a", "b")...)); len(got) != 1 || !slices.Equal(got[0].Pattern.DerivedFrom, []string{"a", "b"}) {
		t.Errorf("%+v", got)
	}
}
