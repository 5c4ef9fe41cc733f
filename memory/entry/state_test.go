package entry

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// script folds records, numbered from 1, into an empty state.
func script(t testing.TB, records ...Record) *State {
	t.Helper()
	s := &State{}
	for i, r := range records {
		r.Seq, r.At = uint64(i+1), start.Add(time.Duration(i)*time.Minute)
		if err := s.Apply(r); err != nil {
			t.Fatalf("record %d: %v", i+1, err)
		}
	}
	return s
}

func put(id string) Record {
	return Record{Op: Put, Entry: &Entry{ID: id, Text: "text of " + id, CreatedAt: start}}
}

func learning(id, agent string) Record {
	r := put(id)
	r.Entry.Type, r.Entry.Agent = Failure, agent
	return r
}

func about(op Op, other string, ids ...string) Record { return Record{Op: op, Other: other, IDs: ids} }

func item(t testing.TB, s *State, id string) Item {
	t.Helper()
	i, ok := s.Get(id)
	if !ok {
		t.Fatalf("there is no %s", id)
	}
	return i
}

func TestEachOpChangesWhatItSays(t *testing.T) {
	s := script(t, put("a"), put("b"), put("c"),
		about(Repeat, "", "a"), about(Use, "", "a", "b"), about(Pin, "", "a", "b"), about(Unpin, "", "b"),
		about(Link, "a", "c"), Record{Op: Promote, IDs: []string{"b"}, Scope: OfGroup("ops")})
	a, b, c := item(t, s, "a"), item(t, s, "b"), item(t, s, "c")
	if a.Count != 2 || !a.Last.Equal(start.Add(3*time.Minute)) || a.Uses != 1 || !a.Pinned {
		t.Errorf("a: %+v", a)
	}
	if b.Pinned || b.Scope != "group:ops" || b.Uses != 1 {
		t.Errorf("b: %+v", b)
	}
	if !slices.Equal(a.Repeats, []string{"c"}) || !slices.Equal(c.Repeats, []string{"a"}) {
		t.Errorf("near repeats: %v and %v", a.Repeats, c.Repeats)
	}
	if got := s.History("a"); len(got) != 5 || got[4].Op != Link {
		t.Errorf("history of a: %v", got)
	}
	if s.Last() != 9 || s.Len() != 3 || len(s.All()) != 3 || s.All()[2].ID != "c" {
		t.Errorf("last %d, %d entries", s.Last(), s.Len())
	}
}

// TestRepeatsAreTakenBack counts an entry up at minutes 1 to 3, and takes the second and the third back.
func TestRepeatsAreTakenBack(t *testing.T) {
	records := []Record{put("a"), about(Repeat, "", "a"), about(Repeat, "", "a"), about(Repeat, "", "a"), about(Uncount, "3", "a"), about(Uncount, "4", "a"),
		about(Uncount, "2", "a")}
	for n, want := range map[int]struct {
		count  int
		minute time.Duration
	}{4: {4, 3}, 5: {3, 3}, 6: {2, 1}, 7: {1, 0}} {
		if i := item(t, script(t, records[:n]...), "a"); i.Count != want.count || !i.Last.Equal(start.Add(want.minute*time.Minute)) {
			t.Errorf("after %d records it was seen %d times, last at %v; want %d, minute %d", n, i.Count, i.Last, want.count, want.minute)
		}
	}
}

func TestRevertBringsBackWhatWasSuperseded(t *testing.T) {
	s := script(t, put("a"), put("b"), put("c"), about(Supersede, "b", "a"), about(Supersede, "c", "a"))
	if i := item(t, s, "a"); i.SupersededBy != "c" || i.Visible() {
		t.Errorf("a: %+v", i)
	}
	if err := s.Apply(Record{Seq: 6, Op: Revert, IDs: []string{"c"}}); err != nil {
		t.Fatal(err)
	}
	if i := item(t, s, "a"); i.SupersededBy != "b" {
		t.Errorf("after the revert of c, a is superseded by %q", i.SupersededBy)
	}
	if err := s.Apply(Record{Seq: 7, Op: Revert, IDs: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	if i := item(t, s, "a"); !i.Visible() {
		t.Errorf("a is not back: %+v", i)
	}
	again := put("c")
	again.Seq, again.Entry.Text = 8, "other"
	if err := s.Apply(again); err != nil {
		t.Fatal("what was reverted may be put again:", err)
	}
	if a, c := item(t, s, "a"), item(t, s, "c"); !a.Visible() || !c.Visible() || c.Text != "other" || s.Len() != 3 || len(s.History("c")) != 4 {
		t.Errorf("a %+v, c %+v, history %v", a, c, s.History("c"))
	}
}

func TestForgottenTextsAreGone(t *testing.T) {
	p := put("a")
	p.Entry.Text, p.Entry.Lesson, p.Entry.Context = "secret t", "secret l", "secret c"
	p.Entry.Observation, p.Entry.Tags = "secret o", []string{"secret"}
	s := script(t, p, about(Pin, "", "a"), about(Forget, "", "a"))
	told := fmt.Sprintf("%+v", s.All())
	for _, r := range s.History("a") {
		told += fmt.Sprintf("%+v %+v", r, r.Entry)
	}
	if strings.Contains(told, "secret") {
		t.Error("a forgotten text is still told:", told)
	}
	if i := item(t, s, "a"); i.Visible() || i.Pinned || !i.Forgotten {
		t.Errorf("%+v", i)
	}
	if p.Entry.Text == "" {
		t.Error("the caller's entry was changed")
	}
	if err := s.Check(put("a")); !errors.Is(err, ErrExists) {
		t.Error("a forgotten id is put again:", err)
	}
}

func TestRewordedTextsReadOtherwise(t *testing.T) {
	p := put("a")
	p.Entry.Auto, p.Entry.Lesson = true, "kept"
	s := script(t, p, put("b"), about(Reword, "better words", "a"))
	if i := item(t, s, "a"); i.Text != "better words" || i.Auto || i.Lesson != "kept" || i.Count != 1 || i.Seq != 1 {
		t.Errorf("%+v", i)
	}
	if h := s.History("a"); len(h) != 2 || h[0].Entry.Text != "text of a" || !h[0].Entry.Auto || h[1].Other != "better words" {
		t.Errorf("the records before do not stay: %+v", h)
	}
	if err := s.Apply(Record{Seq: 4, Op: Reword, IDs: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	if i := item(t, s, "a"); i.Text != "text of a" || !i.Auto {
		t.Errorf("without a text it does not read as it was put: %+v", i)
	}
	for n, r := range []Record{about(Forget, "", "a"), about(Reword, "words for nothing", "a")} {
		if r.Seq = uint64(5 + n); s.Apply(r) != nil {
			t.Fatal("record", r.Seq)
		}
	}
	if i := item(t, s, "a"); i.Text != "" {
		t.Errorf("what was forgotten reads %q", i.Text)
	}
}

func TestForgettingTakesWhatItWasRewordedTo(t *testing.T) {
	r := about(Reword, "secret words", "a")
	r.Reason = "secret reason"
	s := script(t, put("a"), r, about(Forget, "", "a"))
	if told := fmt.Sprintf("%+v %+v", s.All(), s.History("a")); strings.Contains(told, "secret") {
		t.Error("a forgotten text is still told:", told)
	}
	again := script(t, put("a"), about(Reword, "words of its first life", "a"), about(Revert, "", "a"), put("a"), about(Reword, "", "a"))
	if i := item(t, again, "a"); i.Text != "text of a" {
		t.Errorf("put again, it reads %q", i.Text)
	}
}

func TestWorkingMemoryIsFoundWhenItIsOver(t *testing.T) {
	p := put("a")
	p.Entry.Working = true
	s := script(t, p)
	if i := item(t, s, "a"); i.Visible() {
		t.Error("working memory is visible")
	}
	if err := s.Apply(Record{Seq: 2, Op: Archive, IDs: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	if i := item(t, s, "a"); !i.Visible() {
		t.Error("archived working memory is hidden")
	}
}

func TestSinceCountsFromTheLastConsolidation(t *testing.T) {
	s := script(t, learning("a", "x"), learning("b", "x"), learning("c", "y"), put("note"))
	if s.Since("x") != 2 || s.Since("y") != 1 || s.Since("z") != 0 {
		t.Error(s.Since("x"), s.Since("y"), s.Since("z"))
	}
	for i, r := range []Record{about(Consolidate, "x"), learning("d", "x"), learning("e", "x"), about(Revert, "", "a", "d")} {
		r.Seq = uint64(5 + i)
		if err := s.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	if s.Since("x") != 1 {
		t.Error("since the consolidation:", s.Since("x"))
	}
}

func TestLossesStandForTheMissingNumbers(t *testing.T) {
	s := script(t, put("a"))
	if err := s.Apply(Record{Seq: 4, Op: Pin, IDs: []string{"a"}}); !errors.Is(err, ErrOrder) {
		t.Error("a gap:", err)
	}
	if err := s.Apply(Record{Seq: 4, Op: Lost, IDs: []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	if s.Last() != 4 || !s.IsLost("b") || s.IsLost("a") {
		t.Error(s.Last())
	}
	if d := s.Damage(); len(d) != 1 || d[0].From != 2 || d[0].Seq != 4 {
		t.Errorf("the numbers 2 to 4 are lost: %+v", d)
	}
	if err := s.Apply(Record{Seq: 5, Op: Supersede, IDs: []string{"a"}, Other: "b"}); err != nil {
		t.Error("a record about what damage took:", err)
	}
	if i := item(t, s, "a"); !i.Visible() {
		t.Error("an entry is hidden behind one that is lost")
	}
	p := put("b")
	if p.Seq = 6; s.Apply(p) != nil || s.IsLost("b") {
		t.Error("what is lost can't be put again")
	}
}

func TestRecordsThatMakeNoSense(t *testing.T) {
	s := script(t, put("a"), put("b"))
	for name, c := range map[string]struct {
		r    Record
		want error
	}{
		"unknown id":          {about(Pin, "", "a", "nope"), ErrNoEntry},
		"unknown other":       {about(Supersede, "nope", "a"), ErrNoEntry},
		"by itself":           {about(Supersede, "a", "a"), ErrRecord},
		"no ids":              {about(Use, ""), ErrRecord},
		"no entry":            {Record{Op: Put}, ErrRecord},
		"ids of a put":        {Record{Op: Put, Entry: &Entry{ID: "x"}, IDs: []string{"a"}}, ErrRecord},
		"a text for two":      {about(Reword, "x", "a", "b"), ErrRecord},
		"unknown, reworded":   {about(Reword, "x", "nope"), ErrNoEntry},
		"no such op":          {about("burn", "", "a"), ErrRecord},
		"taken":               {put("a"), ErrExists},
		"no id":               {put(""), ErrRecord},
		"control character":   {put("a\nb"), ErrRecord},
		"not UTF-8":           {put("a\xff"), ErrRecord},
		"an id that is large": {put(strings.Repeat("x", MaxID+1)), ErrRecord},
	} {
		c.r.Seq = 3
		before := s.All()
		if err := s.Apply(c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if s.Last() != 2 || !reflect.DeepEqual(before, s.All()) {
			t.Errorf("%s changed the state", name)
		}
	}
	if err := s.Check(put(strings.Repeat("x", MaxID))); err != nil {
		t.Error(err)
	}
	if err := s.Check(put("c"), about(Pin, "", "c"), put("c")); !errors.Is(err, ErrExists) {
		t.Error("a batch that puts an id twice:", err)
	}
	if err := s.Check(put("c"), about(Supersede, "c", "a")); err != nil {
		t.Error("a batch that names what it puts:", err)
	}
}

// TestFoldIsAFunction draws histories, among them records that are refused, and folds them twice; then it checks what each
// entry shows against what its history says.
func TestFoldIsAFunction(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e"}
	ops := append([]Op{Put, Put, Put, Consolidate, Lost}, aboutEntries...)
	rapid.Check(t, func(t *rapid.T) {
		var one, two State
		seen, upTo := map[string]Item{}, uint64(0) // by who follows the changes
		for range rapid.IntRange(1, 60).Draw(t, "records") {
			r := Record{Op: rapid.SampledFrom(ops).Draw(t, "op"), Seq: one.Last() + 1, At: start.Add(time.Duration(one.Last()))}
			id, other := rapid.SampledFrom(ids).Draw(t, "id"), rapid.SampledFrom(append(ids, "")).Draw(t, "other")
			switch r.Op {
			case Put:
				r.Entry = &Entry{ID: id, Text: "put", Agent: "x", Type: rapid.SampledFrom([]Type{Failure, Note}).Draw(t, "type"), CreatedAt: r.At}
			case Consolidate:
				r.Other = "x"
			default:
				r.IDs, r.Other = []string{id}, other
			}
			errOne, errTwo := one.Apply(r), two.Apply(r)
			if (errOne == nil) != (errTwo == nil) {
				t.Fatalf("%+v: %v and %v", r, errOne, errTwo)
			}
			if rapid.Bool().Draw(t, "follow") {
				one.Changed(upTo, func(i *Item) bool { seen[i.ID] = *i; return true })
				upTo = one.Last()
				for _, i := range one.All() {
					if !reflect.DeepEqual(seen[i.ID], i) {
						t.Fatalf("Changed did not show what became of %s:\n%+v\n%+v", i.ID, seen[i.ID], i)
					}
				}
			}
		}
		if !reflect.DeepEqual(&one, &two) {
			t.Fatal("equal records gave two states")
		}
		checkState(t, &one)
	})
}

func checkState(t *rapid.T, s *State) {
	learnings := 0
	var seq uint64
	for _, i := range s.All() {
		if i.Seq <= seq {
			t.Fatalf("%s is out of order", i.ID)
		}
		seq = i.Seq
		if by, ok := s.Get(i.SupersededBy); i.SupersededBy != "" && (!ok || by.Reverted) {
			t.Fatalf("%s stays hidden behind %q, which is reverted", i.ID, i.SupersededBy)
		}
		for _, id := range i.Repeats {
			if near, _ := s.Get(id); near.Reverted || !slices.Contains(near.Repeats, i.ID) {
				t.Fatalf("%s is a repeat of %s alone", i.ID, id)
			}
		}
		uses, text := 0, ""
		for _, r := range s.History(i.ID) {
			switch {
			case r.Op == Put, r.Op == Reword && r.Other == "":
				text = "put"
			case r.Op == Reword:
				text = r.Other
			}
			if r.Op == Use && r.Seq > i.Seq {
				uses++
			}
			if r.Op == Consolidate {
				t.Fatal("a consolidation is in the history of an entry")
			}
		}
		if text != i.Text && !i.Forgotten {
			t.Fatalf("%s reads %q, its history says %q", i.ID, i.Text, text)
		}
		if uses != i.Uses {
			t.Fatalf("%s: %d uses, its history has %d", i.ID, i.Uses, uses)
		}
		if i.IsLearning() && !i.Reverted {
			learnings++
		}
	}
	if n := s.Since("x"); n < 0 || n > learnings {
		t.Fatalf("%d learnings since the consolidation, of %d", n, learnings)
	}
}
