package memory_test

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

// What is promoted is in sight where it was promoted to, though a pattern of its agent's had stood for it.
func TestPromotedIsInSight(t *testing.T) {
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{})
	twoOfSam(t, m)
	p := consolidated(t, m)
	if err := m.Promote(ctx, []string{"own"}, entry.Shared, person); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"own", "twin"} {
		if i := item(t, m, id); !i.Visible() {
			t.Errorf("%s lies behind %q", id, i.SupersededBy)
		}
	}
	if i := item(t, m, p); !i.Reverted {
		t.Errorf("the pattern of both stays in %q", i.Scope)
	}
}

// Two of the same words hide one of them, whatever is promoted where, and how often.
func TestPromotedToAndFro(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	m := open(t, dir, memory.Options{})
	for _, id := range []string{"a", "b", "c"} {
		e := failure("sam", "Mind the ladder.")
		e.ID, e.Scope = id, entry.OfRun(id)
		add(t, m, e)
	}
	own, shared, group := entry.OfAgent("sam"), entry.Shared, entry.OfGroup("g")
	for n, step := range []struct {
		id string
		to entry.Scope
	}{{"a", own}, {"b", own}, {"a", shared}, {"a", own}, {"a", group}, {"c", own}, {"a", own}, {"c", shared}, {"c", own}, {"b", shared}} {
		if err := m.Promote(ctx, []string{step.id}, step.to, person); err != nil {
			t.Fatal(err)
		}
		m.Close()
		m = open(t, dir, memory.Options{})
		seen := 0
		for _, id := range []string{"a", "b", "c"} {
			if i := item(t, m, id); i.Visible() && !i.Scope.IsRun() {
				seen++
			}
		}
		if seen == 0 {
			t.Fatalf("after %d times it is nowhere in sight", n+1)
		}
	}
}

// What is said again counts up what is in sight of it, whoever asks: a process that has been there all the time, or a new one.
func TestRepeatsCountWhatIsInSight(t *testing.T) {
	ctx := context.Background()
	for _, reopen := range []bool{false, true} {
		dir := t.TempDir()
		m := open(t, dir, memory.Options{})
		again := func(want string) {
			t.Helper()
			if reopen {
				m.Close()
				m = open(t, dir, memory.Options{})
			}
			e := failure("sam", "Mind the ladder.")
			if got := add(t, m, e)[0]; got.ID != want || !got.Repeat {
				t.Errorf("opened again %t: %+v, want a repeat of %s", reopen, got, want)
			}
		}
		for _, id := range []string{"a", "b", "c"} {
			e := failure("sam", "Mind the ladder.")
			e.ID, e.Scope = id, entry.OfRun(id)
			add(t, m, e)
		}
		for _, id := range []string{"c", "b", "a"} {
			if err := m.Promote(ctx, []string{id}, entry.OfAgent("sam"), person); err != nil {
				t.Fatal(err)
			}
		}
		again("c")
		if _, err := m.Revert(ctx, memory.Selector{IDs: []string{"c"}}, person, ""); err != nil {
			t.Fatal(err)
		}
		again("a")
	}
}
