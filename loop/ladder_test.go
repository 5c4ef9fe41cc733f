package loop

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

func item(id string, change func(*Item)) Item {
	i := Item{Item: event.Item{ID: id, Title: id, CreatedAt: 1}}
	if change != nil {
		change(&i)
	}
	return i
}

// taken are the items that each agent takes, in the order of the choices.
func taken(b *Board) string {
	var out []string
	for _, c := range b.Choose() {
		out = append(out, b.Agents[c.Agent].Name+":"+b.Sources[c.Source].Items[c.Item].ID)
	}
	return strings.Join(out, " ")
}

// The order of ties: priority, then how many items need it, then age, then id.
func TestTies(t *testing.T) {
	b := &Board{Agents: []Agent{{Name: "a", Free: 9}}, Sources: []Source{{Items: []Item{
		item("z-oldest", func(i *Item) { i.CreatedAt = 1 }),
		item("needed", func(i *Item) { i.CreatedAt = 5 }),
		item("urgent", func(i *Item) { i.Priority, i.CreatedAt = 10, 9 }),
		item("b-same", func(i *Item) { i.CreatedAt = 3 }),
		item("a-same", func(i *Item) { i.CreatedAt = 3 }),
		item("unknown-age", func(i *Item) { i.CreatedAt = 0 }),
		item("listed-later", func(i *Item) { i.CreatedAt = 0 }),
		item("later", func(i *Item) { i.Needs = []string{"needed"} }),
	}}}}
	if got, want := taken(b), "a:urgent a:needed a:z-oldest a:a-same a:b-same a:unknown-age a:listed-later"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The sources are asked in order, for one agent after the other.
func TestSourcesInOrder(t *testing.T) {
	b := &Board{Agents: []Agent{{Name: "a", Free: 1, Capabilities: []string{"go"}}, {Name: "b", Free: 1}, {Name: "c", Free: 1, Barred: "paused"}, {Name: "d", Free: 2}},
		Sources: []Source{
			{Name: "dispatch", Items: []Item{item("d1", func(i *Item) { i.Capabilities = []string{"go"} }), item("d2", func(i *Item) { i.Assignee = "d" })}},
			{Name: "backlog", Items: []Item{item("b1", func(i *Item) { i.Priority = 99 }), item("b2", func(i *Item) { i.Taken = "other has it" })}},
			{Name: "roadmap", Items: []Item{item("r1", nil), item("r2", nil)}},
		}}
	b.Agents[1].Free = 0
	if got := b.Later(); !slices.Equal(got, []Choice{{1, 1, 0}}) {
		t.Error(got)
	}
	b.Agents[1].Free = 1
	if got, want := taken(b), "a:d1 b:b1 d:d2 d:r1"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := b.Reasons(1, 1); !slices.Equal(got, []string{"other has it"}) {
		t.Error(got)
	}
	if got := b.Reasons(2, 1); !slices.Equal(got, []string{"a has no free place, or takes another item first", "b has no free place, or takes another item first", "c: paused", "d has no free place, or takes another item first"}) {
		t.Error(got)
	}
}

// Items are taken in an order in which each comes after what it needs; those of a circle never are, and are told.
func TestNeeds(t *testing.T) {
	items := []Item{
		item("f", func(i *Item) { i.Needs = []string{"d", "e"} }), item("e", func(i *Item) { i.Needs = []string{"b"} }), item("d", func(i *Item) { i.Needs = []string{"b", "c"} }),
		item("c", func(i *Item) { i.Needs = []string{"a"} }), item("b", func(i *Item) { i.Needs = []string{"a"} }), item("a", func(i *Item) { i.Needs = []string{"done"} }),
		item("done", func(i *Item) { i.Closed = true }),
		item("x", func(i *Item) { i.Needs = []string{"y"} }), item("y", func(i *Item) { i.Needs = []string{"z"} }), item("z", func(i *Item) { i.Needs = []string{"x"} }),
		item("self", func(i *Item) { i.Needs = []string{"self"} }), item("lost", func(i *Item) { i.Needs = []string{"nobody"} }),
	}
	var order []string
	for {
		b := &Board{Agents: []Agent{{Name: "a", Free: 1}}, Sources: []Source{{Items: slices.Clone(items)}}}
		c := b.Choose()
		if len(c) == 0 {
			if got := b.Why(0, 0, 7); got != "its needs form a circle: it needs y, which needs it" {
				t.Error(got)
			}
			break
		}
		items[c[0].Item].Closed = true
		order = append(order, items[c[0].Item].ID)
	}
	if got := strings.Join(order, " "); got != "a b c e d f" && got != "a b c d e f" {
		t.Error(got)
	}
	if got := fmt.Sprint(Circles(items)); got != "[[self] [x y z]]" {
		t.Error(got)
	}
}

// An item for which there is no handle is left, and the next one is taken.
func TestUnhandled(t *testing.T) {
	b := &Board{Agents: []Agent{{Name: "a", Free: 1}}, Sources: []Source{{Items: []Item{item("1", func(i *Item) { i.Priority = 1 }), item("2", nil)}}},
		Handled: func(_ string, _ int, i *event.Item) string {
			if i.ID == "1" {
				return "no handle"
			}
			return ""
		}}
	if got := taken(b); got != "a:2" {
		t.Error(got)
	}
	if got := b.Reasons(0, 0); !slices.Equal(got, []string{"no handle"}) {
		t.Error(got)
	}
}

// Whatever is on the board: no agent gets more than it has places, nothing is taken twice, nothing that somebody cannot take, and no agent with
// a place is left without an item that it could take.
func TestRandomBoards(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		caps := []string{"go", "gpu", "docs"}
		some := func(list []string) (out []string) {
			for _, s := range list {
				if rng.IntN(3) == 0 {
					out = append(out, s)
				}
			}
			return out
		}
		b := &Board{}
		for i := range 1 + rng.IntN(4) {
			a := Agent{Name: fmt.Sprint("agent", i), Capabilities: some(caps), Free: rng.IntN(4)}
			if rng.IntN(5) == 0 {
				a.Barred = "stopped"
			}
			b.Agents = append(b.Agents, a)
		}
		for s := range 1 + rng.IntN(3) {
			var src Source
			for i := range rng.IntN(12) {
				src.Items = append(src.Items, item(fmt.Sprint(s, "-", i), func(it *Item) {
					it.Priority, it.CreatedAt, it.Closed = rng.IntN(3), event.Time(rng.IntN(4)), rng.IntN(4) == 0
					it.Capabilities = some(caps)
					for range rng.IntN(3) {
						it.Needs = append(it.Needs, fmt.Sprint(s, "-", rng.IntN(14)))
					}
					if rng.IntN(6) == 0 {
						it.Assignee = fmt.Sprint("agent", rng.IntN(5))
					}
				}))
			}
			b.Sources = append(b.Sources, src)
		}
		free := map[int]int{}
		for i, a := range b.Agents {
			free[i] = a.Free
		}
		seen := map[[2]int]bool{}
		for _, c := range b.Choose() {
			at := [2]int{c.Source, c.Item}
			it := &b.Sources[c.Source].Items[c.Item]
			it.Taken = ""
			if why := b.Why(c.Agent, c.Source, c.Item); why != "" || seen[at] || b.Agents[c.Agent].Barred != "" {
				t.Fatalf("seed %d: %s takes %s: %s, twice %v", seed, b.Agents[c.Agent].Name, it.ID, why, seen[at])
			}
			it.Taken = "taken"
			seen[at] = true
			if free[c.Agent]--; free[c.Agent] < 0 {
				t.Fatalf("seed %d: %s has no place", seed, b.Agents[c.Agent].Name)
			}
		}
		for a := range b.Agents {
			for s := range b.Sources {
				for i := range b.Sources[s].Items {
					if b.Agents[a].Free > 0 && b.Agents[a].Barred == "" && b.Why(a, s, i) == "" {
						t.Fatalf("seed %d: %s is idle, and could take %s", seed, b.Agents[a].Name, b.Sources[s].Items[i].ID)
					}
				}
			}
		}
	}
}
