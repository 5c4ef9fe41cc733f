package eval_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/eval"
	"github.com/flowrun/flowrun/memory/text"
)

func sets(t testing.TB) []eval.Set {
	t.Helper()
	all, err := eval.Sets()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func entries(t *testing.T, s eval.Set) (out []entry.Entry) {
	t.Helper()
	for _, line := range bytes.Split(bytes.TrimSpace(s.Entries), []byte("\n")) {
		var e entry.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// TestTheDataIsSound checks that ids are distinct, that answers exist, and that there is as much as is said.
func TestTheDataIsSound(t *testing.T) {
	count := map[string]int{}
	for _, s := range sets(t) {
		var ids, asked []string
		for _, e := range entries(t, s) {
			ids = append(ids, e.ID)
		}
		for _, q := range s.Questions {
			asked = append(asked, q.ID)
			if len(q.Answers) == 0 || q.Query == "" {
				t.Errorf("question %s asks nothing", q.ID)
			}
			for _, a := range q.Answers {
				if !slices.Contains(ids, a) {
					t.Errorf("question %s: there is no entry %s", q.ID, a)
				}
			}
		}
		count[s.Kind] += len(asked)
		for _, list := range [][]string{ids, asked} {
			slices.Sort(list)
			if n := len(list); len(slices.Compact(list)) < n {
				t.Errorf("%s: an id is there twice", s.Name)
			}
		}
	}
	if count["near"] < 80 || count["far"] != count["near"] || count["turns"] < 40 {
		t.Errorf("questions: %v", count)
	}
}

// TestFarQuestionsAreFar checks what the package comment says of them.
func TestFarQuestionsAreFar(t *testing.T) {
	for _, s := range sets(t) {
		if s.Kind != "far" {
			continue
		}
		stands := map[string]int{} // in how many learnings
		terms := map[string][]string{}
		for _, e := range entries(t, s) {
			list := text.Terms(e.Whole())
			slices.Sort(list)
			terms[e.ID] = slices.Compact(list)
			for _, w := range terms[e.ID] {
				stands[w]++
			}
		}
		for _, q := range s.Questions {
			for _, w := range text.Terms(q.Query) {
				if stands[w] < 5 && slices.Contains(terms[q.Answers[0]], w) {
					t.Errorf("question %s shares %q with its learning, which only %d of them have", q.ID, w, stands[w])
				}
			}
		}
	}
}

func TestMeasure(t *testing.T) {
	asked := []eval.Set{
		{Kind: "a", Name: "x", Questions: []eval.Question{{Answers: []string{"1"}}, {Answers: []string{"2", "3"}}}},
		{Kind: "b", Name: "x", Questions: []eval.Question{{Answers: []string{"absent"}}}},
		{Kind: "a", Name: "y", Questions: []eval.Question{{Answers: []string{"7"}}, {Answers: []string{"11"}}}},
	}
	opened := ""
	got, err := eval.Measure(asked, func(s eval.Set) (func(string, int) ([]string, error), error) {
		opened += s.Name
		return func(_ string, k int) ([]string, error) {
			if k != eval.Depth {
				t.Errorf("k is %d", k)
			}
			return []string{"1", "2", "5", "6", "7", "3", "8", "9", "10", "12", "11"}, nil
		}, nil
	})
	// The answers stand on places 1; 2 and 6; 5; and 11, which is beyond the depth.
	want := []eval.Result{
		{Kind: "a", Questions: 4, R1: 1. / 4, R5: 2.5 / 4, R10: 3. / 4, MRR: (1 + .5 + .2) / 4},
		{Kind: "b", Questions: 1},
	}
	if err != nil || !slices.Equal(got, want) || opened != "xy" {
		t.Errorf("%+v, %v, want %+v; opened %q", got, err, want, opened)
	}
	trouble := errors.New("trouble")
	if _, err := eval.Measure(asked, func(eval.Set) (func(string, int) ([]string, error), error) { return nil, trouble }); !errors.Is(err, trouble) {
		t.Errorf("open fails: %v", err)
	}
	fails := func(string, int) ([]string, error) { return nil, trouble }
	if _, err := eval.Measure(asked, func(eval.Set) (func(string, int) ([]string, error), error) { return fails, nil }); !errors.Is(err, trouble) {
		t.Errorf("a search fails: %v", err)
	}
}
