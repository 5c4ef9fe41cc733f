package learn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/memory/entry"
)

// table is the nearness of pairs of items, by their ids; what it does not name is not alike. What is missing has no vectors.
type table struct {
	items   []entry.Item
	of      map[string]float64
	groups  map[int][]int
	missing bool
}

func (n *table) Join(members []int) { n.groups[members[0]] = members }

func (n *table) Mean(a, b int) (float64, bool) {
	sum, pairs := 0.0, 0.0
	for _, i := range n.members(a) {
		for _, j := range n.members(b) {
			x, y := n.items[i].ID, n.items[j].ID
			sum, pairs = sum+max(n.of[x+y], n.of[y+x]), pairs+1
		}
	}
	return sum / pairs, !n.missing
}

func (n *table) members(first int) []int {
	if g := n.groups[first]; g != nil {
		return g
	}
	return []int{first}
}

func grouped(items []entry.Item, of map[string]float64) [][]int {
	return Group(items, nil, nil, &table{items: items, of: of, groups: map[int][]int{}})
}

func TestGroup(t *testing.T) {
	var items []entry.Item
	for _, id := range strings.Fields("a b c d e f g") {
		items = append(items, item(id, entry.Failure, 0, "the lock of the nightly vacuum"))
	}
	items[5].Scope, items[6].Lesson = "run:1", "whales sing at dawn"
	of := map[string]float64{
		"ab": .7, "ac": .5, "bc": .7, // c is .6 from a and b on average: below
		"de": Alike,          // at the bound
		"df": .99, "ef": .99, // another scope
		"ag": .99, "bg": .99, // no word in common
	}
	if diff := cmp.Diff([][]int{{0, 1}, {3, 4}}, grouped(items, of)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for first := range items { // c alone looks for others, and then the others alone
		fresh := func(i int) bool { return (i == 2) == (first == 2) }
		near := &table{items: items, of: map[string]float64{"ab": .7, "ac": .8, "bc": .8}, groups: map[int][]int{}}
		want := [][]int{{0, 1, 2}}
		if got := Group(items, [][]int{{0, 1}}, fresh, near); !cmp.Equal(want, got) {
			t.Errorf("what is together already does not take c in: %v", got)
		}
	}
	near := &table{items: items, of: map[string]float64{"ab": .7}, groups: map[int][]int{}}
	if got := Group(items, nil, func(i int) bool { return i > 1 }, near); got != nil {
		t.Errorf("neither of a and b looks for others, and they are joined: %v", got)
	}
	if got := Group(items, nil, nil, &table{items: items, groups: map[int][]int{}, missing: true}); !cmp.Equal([][]int{{0, 1, 2, 3, 4}}, got) {
		t.Errorf("without vectors the words decide, and it gives %v", got)
	}
}

// Three who say the same are a subject at any size of the past; three who share a word are none, nor what all have.
func TestWhatTellsASubject(t *testing.T) {
	same := []string{"The nightly vacuum locks the orders table.", "Migrate orders after the nightly vacuum, it locks the table.", "Orders: the vacuum's nightly lock blocks the table."}
	other := []string{"The proxy stalls on large uploads.", "The invoice font lacks Polish letters.", "The mobile runner wants another compiler."}
	for _, c := range []struct {
		name  string
		say   []string
		tags  []string
		auto  bool
		alike bool
	}{
		{"the same", same, nil, false, true},
		{"other things", other, nil, false, false},
		{"other things under one tag", other, []string{"ops"}, false, false},
		{"a word in common under one tag", []string{"The proxy stalls on large uploads.", "Invoice fonts are fetched by the proxy.", "The mobile runner has another proxy."}, []string{"ops"}, false, true},
		{"a word in common", []string{"The proxy stalls on large uploads.", "Invoice fonts are fetched by the proxy.", "The mobile runner has another proxy."}, nil, false, false},
		{"templates", []string{"See to this first: undefined: loadConfig.", "See to this first: no space left.", "See to this first: connection reset."}, []string{"build"}, true, false},
		{"numbers", []string{"See to this first: ./a.go:12: 80 of 81.", "See to this first: ./b.py:12: 80 of 81.", "See to this first: ./c.rs:12: 80 of 81."}, nil, true, false},
		{"an error in other lines", []string{"See to this first: ./a.go:12: undefined: loadConfig.", "See to this first: ./a.go:81: undefined: loadConfig.", "See to this first: ./a.go:7: undefined: loadConfig."}, nil, true, true},
	} {
		for _, past := range []int{0, 7, 97, 997} {
			var items []entry.Item
			for n := range past {
				items = append(items, item(fmt.Sprint("p", n), entry.Failure, 0, fmt.Sprintf("subject%da of matter%db", n, n)))
			}
			for n, s := range c.say {
				e := item(fmt.Sprint("n", n), entry.Failure, n, s, c.tags...)
				e.Auto = c.auto
				items = append(items, e)
			}
			want := [][]int(nil)
			if c.alike {
				want = [][]int{{past, past + 1, past + 2}}
			}
			if got := Group(items, nil, nil, alike{}); !cmp.Equal(want, got) {
				t.Errorf("%s, after %d others: %v", c.name, past, got)
			}
		}
	}
}

// Where all are of one subject its words are in all of them; what else they say differs.
func TestAllOfOneSubject(t *testing.T) {
	var items []entry.Item
	for n := range 10 {
		items = append(items, item(fmt.Sprint(n), entry.Insight, n, fmt.Sprintf("The vacuum locks the orders table: one%[1]da two%[1]da three%[1]da four%[1]da.", n)))
		if n > 0 {
			items[n].Repeats, items[n-1].Repeats = append(items[n].Repeats, fmt.Sprint(n-1)), append(items[n-1].Repeats, fmt.Sprint(n))
		}
	}
	if got := Group(items, nil, nil, alike{}); len(got) != 1 || len(got[0]) != 10 {
		t.Errorf("near repeats: %v", got)
	}
	for n := range items {
		items[n].Auto = true
	}
	if got := Group(items, nil, nil, alike{}); got != nil {
		t.Errorf("near repeats of the recorder, with its task in common: %v", got)
	}
}

func TestGroupsKeepTheirBounds(t *testing.T) {
	var items []entry.Item
	for i := range 2*MaxSources + 1 {
		items = append(items, item(fmt.Sprintf("%03d", i), entry.Insight, 0, "the nightly vacuum"))
	}
	var sizes []int
	groups := Group(items, nil, nil, alike{})
	for _, g := range groups {
		sizes = append(sizes, len(g))
	}
	if slices.Sort(sizes); !slices.Equal(sizes, []int{MaxSources, MaxSources}) {
		t.Errorf("groups of %v", sizes)
	}
	if again := Group(items, groups, nil, alike{}); !cmp.Equal(groups, again) {
		t.Errorf("again: %v", again)
	}
}

func TestTheOldestBeyondTheBoundAreLeftAlone(t *testing.T) {
	var items []entry.Item
	for i := range MaxItems + 2 {
		items = append(items, item(fmt.Sprint(i), entry.Insight, 0, fmt.Sprintf("subject%da", i/2)))
	}
	groups := Group(items, nil, nil, alike{})
	if len(groups) != MaxItems/2 || groups[0][0] != 2 {
		t.Errorf("%d groups, the first %v", len(groups), groups[0])
	}
}

// TestTemplatesAreTold holds the list of the recorder's words against what it says.
func TestTemplatesAreTold(t *testing.T) {
	for reason := range strings.FieldsSeq("exit timeout lost deadline not_found start gate bad_json signal poison require") {
		e := entry.Item{Entry: FromTask(task(&Problem{Reason: reason, Message: "xyzzy"}))}
		if got := subjectOf(&e); !slices.Equal(got, []string{"xyzzy"}) && reason != "exit" {
			t.Errorf("%s: %q is about %q", reason, e.Lesson, got)
		}
	}
}
