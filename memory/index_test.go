package memory

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

func stateOf(t *testing.T, texts ...string) *entry.State {
	t.Helper()
	s := &entry.State{}
	for n, text := range texts {
		at := time.Unix(int64(n), 0).UTC()
		e := entry.Entry{ID: text[:1], Text: text, CreatedAt: at}
		if err := s.Apply(entry.Record{Seq: uint64(n + 1), At: at, Op: entry.Put, Entry: &e}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestIndexFollowsAnotherState gives the index a state that is not the one of before with more records, as a store that was
// rebuilt has it: less is there, and another entry where one was.
func TestIndexFollowsAnotherState(t *testing.T) {
	x := newIndex(&vectors{})
	find := func(text string) string {
		f, err := x.search(&Query{Text: text}, nil)
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, h := range f.hits {
			out += h.ID
		}
		return out
	}
	x.sync(stateOf(t, "a proxy", "b vault", "c harbour"))
	if got := find("proxy vault harbour"); len(got) != 3 {
		t.Fatalf("found %q of three", got)
	}
	x.sync(stateOf(t, "a proxy", "c lighthouse"))
	for text, want := range map[string]string{"proxy": "a", "vault": "", "harbour": "", "lighthouse": "c"} { // any order: each is for itself
		if got := find(text); got != want {
			t.Errorf("%s finds %q, want %q", text, got, want)
		}
	}
	if len(x.docs) != 2 || len(x.byID) != 2 {
		t.Errorf("%d entries in order, %d by id; want two", len(x.docs), len(x.byID))
	}
}
