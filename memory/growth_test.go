package memory

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

var grown = flag.Int("memory.entries", 10_000, "beside how many entries TestCostOfOneEntryDoesNotGrow adds and recalls, compared with 1,000")

// TestCostOfOneEntryDoesNotGrow adds entries and recalls for tasks beside few and beside many entries. The cheapest of several rounds
// counts, in CPU time, so that other work on the machine and the garbage collector matter little. A task in words that few entries share
// costs the same beside many entries. For a task in common words the cost grows with the entries that share them, about 100 ns each.
func TestCostOfOneEntryDoesNotGrow(t *testing.T) {
	few, many := costsBeside(t, 1000), costsBeside(t, *grown)
	t.Logf("beside 1,000 entries: %+v", few)
	t.Logf("beside %d entries: %+v", *grown, many)
	for what, c := range map[string]struct{ few, many, most time.Duration }{
		"adding an entry":                   {few.add, many.add, 2 * few.add},
		"recalling for rare words":          {few.rare, many.rare, 2 * few.rare},
		"recalling for words of many texts": {few.common, many.common, few.common * time.Duration(*grown) / 2000},
	} {
		if c.many > c.most {
			t.Errorf("%s costs %v beside 1,000 entries, and %v beside %d", what, c.few, c.many, *grown)
		}
	}
}

type costs struct{ add, rare, common time.Duration }

func costsBeside(t *testing.T, n int) costs {
	t.Helper()
	ctx := context.Background()
	m, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 20000)
	words := func(n int) string {
		var s strings.Builder
		for range n {
			fmt.Fprintf(&s, "w%d ", zipf.Uint64())
		}
		return s.String()
	}
	made := 0
	lesson := func() entry.Entry {
		made++
		return entry.Entry{Agent: fmt.Sprint("a", made%5), Type: entry.Insight, Lesson: words(25), By: entry.Source{Run: fmt.Sprint("r", made), Trust: entry.ByPerson}}
	}
	all := make([]entry.Entry, n)
	for i := range all {
		all[i] = lesson()
	}
	if _, err := m.Add(ctx, all...); err != nil {
		t.Fatal(err)
	}
	recalled := 0
	recall := func(task func(lesson string) string) func(int) {
		return func(i int) {
			found, err := m.Recall(ctx, Ask{Task: task(all[i*7919%n].Lesson)})
			if err != nil {
				t.Fatal(err)
			}
			recalled += len(found.IDs)
		}
	}
	add := func(int) {
		if _, err := m.Add(ctx, lesson()); err != nil {
			t.Fatal(err)
		}
	}
	c := costs{time.Hour, time.Hour, time.Hour}
	i := 0
	for range 8 {
		for of, f := range map[*time.Duration]func(int){&c.add: add, &c.rare: recall(rarest), &c.common: recall(strings.Clone)} {
			const times = 20
			begin := cpuTime(t)
			for range times {
				i++
				f(i)
			}
			*of = min(*of, (cpuTime(t)-begin)/times)
		}
	}
	if recalled < 8*20 {
		t.Errorf("beside %d entries the recalls found %d", n, recalled)
	}
	return c
}

// rarest are the six words of a lesson that the fewest others have: those of the highest numbers.
func rarest(lesson string) string {
	words := strings.Fields(lesson)
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(b, a)) })
	return strings.Join(words[:6], " ")
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
