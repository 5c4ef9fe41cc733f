package rank_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/memory/rank"
)

var vocabulary = strings.Fields(`build deploy test flaky timeout database lock migration retry cache secret token the a of
	builds testing tests was where customer invoice orders staging kubectl gRPC parseDate café 42`)

// texts draws a store: some texts in sessions, which interleave, some alone.
func texts(t *rapid.T) []stored {
	word := rapid.SampledFrom(vocabulary)
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	all := make([]stored, rapid.IntRange(0, 25).Draw(t, "texts"))
	for i := range all {
		all[i] = stored{
			Doc: rank.Doc{
				ID:      fmt.Sprint("m", rapid.IntRange(0, 9).Draw(t, "id"), "-", i),
				Text:    strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "text"), " "),
				Session: rapid.SampledFrom([]string{"", "", "s1", "s2", "s3"}).Draw(t, "session"),
				At:      day.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "day")) * 24 * time.Hour),
			},
			Facts: rank.Facts{
				Importance: float64(rapid.IntRange(0, 10).Draw(t, "importance")) / 10,
				Uses:       rapid.IntRange(0, 40).Draw(t, "uses"),
				Superseded: rapid.IntRange(0, 9).Draw(t, "superseded") == 0,
			},
			meaning: float64(rapid.IntRange(-5, 10).Draw(t, "meaning")) / 10,
			vectors: float64(rapid.IntRange(-5, 10).Draw(t, "vectors")) / 10,
		}
	}
	return all
}

func query(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(vocabulary, "unheard")), 0, 5).Draw(t, "query"), " ")
}

// TestTheFormula compares with the model, which is the formula written down, for a viewer who does not see everything: what
// is hidden must be as if it were not there, in every part of every score.
func TestTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, q := texts(t), query(t)
		hidden := map[string]bool{}
		for _, d := range all {
			hidden[d.ID] = rapid.IntRange(0, 3).Draw(t, "hidden") == 0
		}
		got := ask(all, q, func(id string) bool { return !hidden[id] }, 0)
		want := model(without(all, func(d stored) bool { return hidden[d.ID] }), q)
		if len(got) != len(want) {
			t.Fatalf("%d hits, want %d", len(got), len(want))
		}
		for i, h := range got {
			if p, ok := want[h.ID]; !ok || !close(p, h.Parts) || math.Abs(h.Score-sum(p)) > 1e-9 {
				t.Fatalf("%s has %+v, want %+v", h.ID, h.Parts, p)
			}
			if i > 0 && (got[i-1].Score < h.Score || got[i-1].Score == h.Score && got[i-1].ID >= h.ID) {
				t.Fatalf("%s (%v) stands before %s (%v)", got[i-1].ID, got[i-1].Score, h.ID, h.Score)
			}
		}
	})
}

// sum adds up all parts.
func sum(p rank.Parts) (sum float64) {
	for v, i := reflect.ValueOf(p), 0; i < v.NumField(); i++ {
		sum += v.Field(i).Float()
	}
	return sum
}

func close(x, y rank.Parts) bool {
	a, b := reflect.ValueOf(x), reflect.ValueOf(y)
	for i := range a.NumField() {
		if math.Abs(a.Field(i).Float()-b.Field(i).Float()) > 1e-9 {
			return false
		}
	}
	return true
}

// TestHiddenTextsLeaveNoTrace compares to the last bit with a corpus in which the hidden texts never were.
func TestHiddenTextsLeaveNoTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, q := texts(t), query(t)
		foreign := func(d stored) bool { return d.ID[1] < '5' }
		got := ask(all, q, func(id string) bool { return id[1] >= '5' }, 0)
		want := ask(without(all, foreign), q, nil, 0)
		for i := range got {
			got[i].Slot = 0
		}
		for i := range want {
			want[i].Slot = 0
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-never there +hidden)\n%s", diff)
		}
	})
}

func TestRemovedTextsLeaveNoTrace(t *testing.T) {
	var c, never rank.Corpus
	for i, s := range []string{"the build broke", "the build broke again", "who broke the build", "the deploy"} {
		d := rank.Doc{ID: fmt.Sprint(i), Text: s, Session: "s"}
		c.Add(d)
		if i != 1 {
			never.Add(d)
		}
	}
	c.Remove("1")
	c.Remove("no such id")
	got, want := c.Rank(rank.Query{Text: "build again"}), never.Rank(rank.Query{Text: "build again"})
	if !slices.Equal(ids(got), ids(want)) || got[0].Parts != want[0].Parts {
		t.Errorf("removed: %+v, never there: %+v", got, want)
	}
	if slot := c.Add(rank.Doc{ID: "1", Text: "build again"}); slot != 4 || c.Rank(rank.Query{Text: "again"})[0].Slot != 4 {
		t.Errorf("it comes back in slot %d", slot)
	}
	if slot := c.Add(rank.Doc{ID: "1", Text: "other words"}); slot != 4 || len(c.Rank(rank.Query{Text: "other"})) != 0 {
		t.Error("a second text of one id is taken in")
	}
}

// TestAFilterOnlyTakesLinesOut compares the answers with and without a filter.
func TestAFilterOnlyTakesLinesOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, q := texts(t), query(t)
		var c rank.Corpus
		for _, d := range all {
			c.Add(d.Doc)
		}
		odd := func(slot int) bool { return slot%2 == 1 }
		got := c.Rank(rank.Query{Text: q, Wanted: odd})
		want := slices.DeleteFunc(c.Rank(rank.Query{Text: q}), func(h rank.Hit) bool { return !odd(h.Slot) })
		if diff := cmp.Diff(slices.Clip(want), got); len(want)+len(got) > 0 && diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

func TestTheFirstK(t *testing.T) {
	var all []stored
	for i := range 10 {
		all = append(all, stored{Doc: rank.Doc{ID: fmt.Sprintf("m%02d", 9-i), Text: "equal texts"}})
	}
	for k, want := range map[int]int{0: 10, 1: 1, 9: 9, 10: 10, 11: 10} {
		got := ids(ask(all, "text", nil, k))
		if len(got) != want || !slices.IsSorted(got) {
			t.Errorf("k %d: %q", k, got)
		}
	}
	if got := ask(all, "nothing of it", nil, 5); len(got) != 0 {
		t.Errorf("without evidence: %v", got)
	}
	if got := ask(nil, "text", nil, 5); len(got) != 0 {
		t.Errorf("an empty corpus: %v", got)
	}
}

// TestSmallPartsPartTies checks that age, importance and use decide between equals and against nothing more.
func TestSmallPartsPartTies(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	old := stored{Doc: rank.Doc{ID: "a", Text: "the linker fails without cgo", At: day}}
	young := old
	young.ID, young.At = "b", day.Add(60*24*time.Hour)
	important := old
	important.ID, important.Importance = "c", 0.9
	better := old
	better.ID, better.Text = "d", "the linker fails without cgo on windows"
	got := ids(ask([]stored{old, young, important, better}, "linker fails on windows", nil, 0))
	if diff := cmp.Diff([]string{"d", "c", "b", "a"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestALongQueryIsCutAtItsBound(t *testing.T) {
	var c rank.Corpus
	for i := range rank.MaxTerms + 1 {
		c.Add(rank.Doc{ID: fmt.Sprintf("m%04d", i), Text: fmt.Sprintf("w%dx", i)})
	}
	var q []string
	for i := range rank.MaxTerms + 1 {
		q = append(q, fmt.Sprintf("w%dx", i), "w0x")
	}
	got := c.Rank(rank.Query{Text: strings.Join(q, " ")})
	if len(got) != rank.MaxTerms || got[0].ID != "m0000" || slices.Contains(ids(got), fmt.Sprintf("m%04d", rank.MaxTerms)) {
		t.Errorf("%d terms find %d texts, first %s", rank.MaxTerms+1, len(got), got[0].ID)
	}
}

func TestNotANumberSaysNothing(t *testing.T) {
	got := ask([]stored{{Doc: rank.Doc{ID: "a", Text: "x"}, meaning: math.NaN(), vectors: -1}}, "x", nil, 0)
	if len(got) != 1 || got[0].Parts.Meaning != 0 || got[0].Parts.WordVectors != 0 {
		t.Errorf("%+v", got)
	}
}

// corpus is n texts of about 30 words with the frequencies of a natural vocabulary, in sessions of 20.
func corpus(n int) (*rank.Corpus, []string) {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 20000)
	var c rank.Corpus
	var texts []string
	for i := range n {
		var s strings.Builder
		for range 30 {
			fmt.Fprintf(&s, "w%d ", zipf.Uint64())
		}
		texts = append(texts, s.String())
		c.Add(rank.Doc{ID: fmt.Sprint("entry-", i), Text: s.String(), Session: fmt.Sprint(i / 20)})
	}
	return &c, texts
}

func BenchmarkRank(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		c, texts := corpus(n)
		vectors := make([]float64, n)
		for i := range vectors {
			vectors[i] = float64(i%100) / 100
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				c.Rank(rank.Query{Text: texts[i%n][:40], Meaning: vectors, WordVectors: vectors, K: 10})
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	_, texts := corpus(1000)
	for b.Loop() {
		var c rank.Corpus
		for i, s := range texts {
			c.Add(rank.Doc{ID: fmt.Sprint(i), Text: s})
		}
	}
}

// TestKeptViews asks a corpus again and again, with views that are made longer as texts come: the answers are those of a search that
// keeps nothing, to the last bit.
func TestKeptViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := texts(t)
		var c rank.Corpus
		hidden := map[int]bool{}
		seen := map[string]func(int) bool{"all": nil, "some": func(slot int) bool { return !hidden[slot] }}
		views := map[string]*rank.View{"all": {}, "some": {}}
		var scratch rank.Scratch
		for _, d := range all {
			slot := c.Add(d.Doc)
			hidden[slot] = rapid.Bool().Draw(t, "hidden")
			q := rank.Query{Text: query(t), K: rapid.IntRange(0, 4).Draw(t, "k")}
			for _, viewer := range []string{"all", "some"} {
				if rapid.IntRange(0, 3).Draw(t, "stays behind") == 0 {
					continue
				}
				want := c.Rank(rank.Query{Text: q.Text, K: q.K, Seen: seen[viewer]})
				views[viewer].Extend(&c, seen[viewer])
				q.View, q.Scratch = views[viewer], &scratch
				if diff := cmp.Diff(want, c.Rank(q)); diff != "" {
					t.Fatalf("%s (-keeps nothing +keeps)\n%s", viewer, diff)
				}
			}
		}
	})
}

// TestTheBestAreTheFirstOfAll compares the few answers that are wanted with the first of all.
func TestTheBestAreTheFirstOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, q := texts(t), query(t)
		every, k := ask(all, q, nil, 0), rapid.IntRange(1, 5).Draw(t, "k")
		if diff := cmp.Diff(every[:min(k, len(every))], ask(all, q, nil, k)); diff != "" {
			t.Fatalf("(-first of all +best)\n%s", diff)
		}
	})
}
