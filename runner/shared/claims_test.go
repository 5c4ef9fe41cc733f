package shared

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// naiveClaim is an item as the documentation of claims says it.
type naiveClaim struct {
	token, failures, lost   uint64
	held, parked, end, dead bool
	gone                    bool
	until, doubted          event.Time
	lease                   time.Duration
}

// apply returns whether the request does what it asks for.
func (c *naiveClaim) apply(r *event.ClaimRequest, now event.Time) bool {
	if r.Operation == event.ClaimTake {
		if c.end && c.gone {
			c.end, c.gone, c.failures, c.lost = false, false, 0, 0
		}
		switch {
		case c.parked || c.end || c.dead || c.held && now < c.until:
			return false
		case c.held && (c.doubted == 0 || c.doubted > now) && c.lease >= 3:
			c.doubted = now
			return false
		case c.held && c.lease >= 3 && now < c.doubted.Add(c.lease/3):
			return false
		case c.held:
			if c.lost++; c.lost == 2 {
				c.held, c.dead = false, true
				return false
			}
		}
		c.token++
		c.held, c.until, c.lease, c.doubted = true, now.Add(r.Lease), r.Lease, 0
		return true
	}
	if r.Token != c.token || !c.held && !c.parked {
		return false
	}
	if r.Operation == event.ClaimLook {
		return true
	}
	c.held, c.parked = false, false
	switch r.Operation {
	case event.ClaimRenew:
		c.held, c.until, c.lease, c.doubted = true, now.Add(r.Lease), r.Lease, 0
	case event.ClaimPark:
		c.parked = true
	case event.ClaimClose:
		c.end, c.gone = true, r.Gone
	case event.ClaimFail:
		c.failures++
		c.dead = c.failures == 2
	case event.ClaimRelease, event.ClaimTake, event.ClaimLook:
	}
	return true
}

func (c *naiveClaim) state(now event.Time) event.ClaimState {
	switch {
	case c.parked:
		return event.ClaimParked
	case c.end:
		return event.ClaimClosed
	case c.dead:
		return event.ClaimDead
	case c.held && now < c.until:
		return event.ClaimHeld
	}
	return event.ClaimOpen
}

// ask carries a request out for a person, and fails the test if it is refused.
func ask(t *testing.T, rows Rows, r event.StoreRequest, now event.Time) Answer {
	t.Helper()
	a, err := Apply(rows, &r, Waiter{}, now)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	return a
}

func claim(t *testing.T, rows Rows, r event.ClaimRequest, now event.Time) event.Claim {
	t.Helper()
	c, err := event.ClaimOf(ask(t, rows, event.StoreRequest{Claim: &r}, now).Output)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClaimsAgainstModel lets agents take, renew, park and end claims of few items at random moments, with new and old tokens.
func TestClaimsAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		rows, naive, now := &Map{}, map[string]*naiveClaim{}, event.Time(1000)
		for i := range 250 {
			if now = now.Add(time.Duration(rng.IntN(6))); rng.IntN(20) == 0 { // the clock is set back, or forward
				now = max(1000, now.Add(time.Duration(rng.IntN(60)-30)))
			}
			r := event.ClaimRequest{Operation: event.ClaimOperations[rng.IntN(len(event.ClaimOperations))], Item: fmt.Sprint("backlog/", rng.IntN(6)), Loop: "l",
				Agent: fmt.Sprint("agent", rng.IntN(3)), Lease: time.Duration(1 + rng.IntN(20)), Message: "it did not work", Gone: rng.IntN(2) == 0}
			if rng.IntN(3) == 0 {
				r.Operation = event.ClaimTake
			}
			c := naive[r.Item]
			if c == nil {
				c = &naiveClaim{}
				naive[r.Item] = c
			}
			if r.Operation != event.ClaimTake {
				r.Token = c.token - min(c.token, uint64(rng.IntN(4)/2))
			}
			won := c.apply(&r, now)
			got := claim(t, rows, r, now)
			if got.Won != won || got.Token != c.token || got.State != c.state(now) || (got.Why == "") != won || uint64(got.Failures) != c.failures || uint64(got.Lost) != c.lost {
				t.Fatalf("seed %d, request %d at %d: %+v gives\n%+v, want won %v with\n%+v", seed, i, now, r, got, won, *c)
			}
			if rng.IntN(20) == 0 { // somebody looks at the dead letters, and gives each item another chance
				dead := map[string]bool{}
				for _, v := range ask(t, rows, event.StoreRequest{Dead: &event.DeadRequest{}}, now).Output.([]any) {
					d := v.(map[string]any)
					item := d["item"].(map[string]any)["id"].(string)
					n := naive[item]
					if dead[item] = true; d["kind"] != DeadItem || n.end {
						t.Fatalf("seed %d: %s has the dead letter %v, and is %+v", seed, item, d, *n)
					}
					ask(t, rows, event.StoreRequest{Dead: &event.DeadRequest{ID: d["id"].(string), RedrivenBy: "me"}}, now)
					if n.dead {
						n.dead, n.failures, n.lost = false, 0, 0
					}
				}
				for item, n := range naive { // any order: each for itself
					if n.dead && !dead[item] {
						t.Fatalf("seed %d: %s was given up, and has no dead letter", seed, item)
					}
				}
			}
		}
		for _, v := range ask(t, rows, event.StoreRequest{Claims: true}, now).Output.([]any) {
			got, err := event.ClaimOf(v)
			if err != nil {
				t.Fatal(err)
			}
			if c := naive[got.Item]; got.State != c.state(now) || got.Token != c.token {
				t.Errorf("seed %d: the list has %+v, want %+v", seed, got, *c)
			}
		}
	}
}

// TestALoserIsToldWhoHasTheItem also checks that an old token changes nothing.
func TestALoserIsToldWhoHasTheItem(t *testing.T) {
	rows, now := &Map{}, event.At(time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC))
	take := event.ClaimRequest{Operation: event.ClaimTake, Item: "dispatch/ds-1", Loop: "team", Agent: "sam", Lease: time.Minute}
	first := claim(t, rows, take, now)
	take.Agent = "leo"
	lost := claim(t, rows, take, now.Add(time.Second))
	if lost.Won || lost.Agent != "sam" || lost.Why != "sam of team has it with token 1 until 2026-01-05T08:01:00.000Z" {
		t.Errorf("the loser is told %+v", lost)
	}
	// The lease has run out. Whoever has the item can still say so: the clock may have been set forward.
	if early := claim(t, rows, take, now.Add(time.Minute)); early.Won || early.Why != "the lease of sam of team ran out at 2026-01-05T08:01:00.000Z, and can be renewed until 2026-01-05T08:01:20.000Z" || early.Until != now.Add(80*time.Second) {
		t.Errorf("whoever comes at once is told %+v", early)
	}
	renewed := claim(t, rows, event.ClaimRequest{Operation: event.ClaimRenew, Item: take.Item, Token: first.Token, Lease: time.Minute}, now.Add(time.Minute+time.Second))
	if !renewed.Won || renewed.Lost != 0 {
		t.Errorf("the renewal gives %+v", renewed)
	}
	now = now.Add(time.Minute + time.Second)
	for _, after := range []time.Duration{time.Minute, 80*time.Second - 1} {
		if early := claim(t, rows, take, now.Add(after)); early.Won {
			t.Errorf("%s after the renewal: %+v", after, early)
		}
	}
	now = now.Add(20 * time.Second)
	second := claim(t, rows, take, now.Add(time.Minute))
	if !second.Won || second.Token != first.Token+1 || second.Lost != 1 {
		t.Fatalf("after the lease: %+v", second)
	}
	before := rowsOf(rows)
	for _, o := range event.ClaimOperations {
		late := claim(t, rows, event.ClaimRequest{Operation: o, Item: take.Item, Token: first.Token, Lease: time.Hour}, now.Add(2*time.Minute-1))
		if late.Won || !strings.Contains(late.Why, "leo of team has it with token 2") {
			t.Errorf("%s with an old token: %+v", o, late)
		}
	}
	if !slices.Equal(rowsOf(rows), before) {
		t.Error("requests with an old token change rows")
	}
}

// TestTokensRise fills the store, so that a row goes, and takes that item again.
func TestTokensRise(t *testing.T) {
	rows, now := &Map{}, event.Time(1000)
	take := func(item string) event.Claim {
		now++
		return claim(t, rows, event.ClaimRequest{Operation: event.ClaimTake, Item: item, Lease: time.Hour}, now)
	}
	held := take("held")
	for range 4 {
		c := take("often")
		now++
		claim(t, rows, event.ClaimRequest{Operation: event.ClaimRelease, Item: "often", Token: c.Token}, now)
	}
	if err := saveRow(rows, claimCountSpace, "", &claimCount{Rows: MaxClaims}); err != nil {
		t.Fatal(err)
	}
	if c := take("new"); !c.Won || c.Token != 5 { // in place of "often", and not of what somebody has
		t.Errorf("a full store gives %+v", c)
	}
	if c := take("held"); c.Won || c.Token != held.Token {
		t.Errorf("an item that somebody has is forgotten: %+v", c)
	}
	if _, err := Apply(rows, &event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimTake, Item: "often", Lease: 1}}, Waiter{}, now); err == nil {
		t.Error("a store in which all items are held takes one more")
	}
	now = now.Add(2 * time.Hour)
	if c := take("often"); !c.Won || c.Token <= 4 {
		t.Errorf("the item has token %d again", c.Token)
	}
}

func add(t *testing.T, rows Rows, i event.Item, key string, now event.Time) string {
	t.Helper()
	o := ask(t, rows, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &i, Key: key, By: "me"}}, now).Output.(map[string]value.Value)
	return o["id"].(string)
}

func list(t *testing.T, rows Rows, all bool, now event.Time) (ids []string, of map[string]map[string]any) {
	t.Helper()
	o := ask(t, rows, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch, All: all}}, now).Output.(map[string]value.Value)
	of = map[string]map[string]any{}
	for _, v := range o["items"].([]any) {
		i, err := event.ItemOf(v)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, i.ID)
		of[i.ID] = v.(map[string]any)
	}
	return ids, of
}

// TestWorkAgainstModel adds, cancels and closes work at random, by itself and by claims.
func TestWorkAgainstModel(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 8))
		rows, now := &Map{}, event.Time(1000)
		type row struct {
			id, key string
			rank    string
			state   string
		}
		var naive []*row
		for range 120 {
			now = now.Add(time.Duration(rng.IntN(3)))
			switch {
			case rng.IntN(2) == 0 || naive == nil:
				i := event.Item{Title: "work", Priority: rng.IntN(3) - 1}
				key := ""
				if rng.IntN(2) == 0 {
					key = fmt.Sprint("key", rng.IntN(40))
				}
				at := slices.IndexFunc(naive, func(r *row) bool { return key != "" && r.key == key })
				id := add(t, rows, i, key, now)
				if at >= 0 && naive[at].id != id || at < 0 && id != fmt.Sprint("ds-", len(naive)+1) {
					t.Fatalf("seed %d: key %q is added as %s among %d", seed, key, id, len(naive))
				}
				if at < 0 {
					naive = append(naive, &row{id, key, fmt.Sprintf("%02d %09d %s", 9-i.Priority, now, id), "open"})
				}
			case rng.IntN(4) == 0:
				r := naive[rng.IntN(len(naive))]
				o := ask(t, rows, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchReopen, Queue: event.QueueDispatch, ID: r.id}}, now).Output.(map[string]value.Value)
				if o["reopened"] != (r.state == "closed") {
					t.Fatalf("seed %d: reopening %s gives %v", seed, r.state, o)
				}
				if r.state == "closed" {
					r.state = "open"
				}
			default:
				r := naive[rng.IntN(len(naive))]
				request := &event.DispatchRequest{Operation: event.DispatchCancel, Queue: event.QueueDispatch, ID: r.id}
				did, state := "cancelled", "cancelled"
				if rng.IntN(2) == 0 {
					request.Operation, did, state = event.DispatchClose, "closed", "closed"
				}
				if rng.IntN(2) == 0 && r.state == "open" {
					c := claim(t, rows, event.ClaimRequest{Operation: event.ClaimTake, Item: ItemKey(event.QueueDispatch, r.id), Lease: time.Hour}, now)
					if !c.Won {
						t.Fatalf("seed %d: %s cannot be taken: %+v", seed, r.id, c)
					}
					claim(t, rows, event.ClaimRequest{Operation: event.ClaimClose, Item: c.Item, Token: c.Token}, now)
					r.state, state = "closed", "closed"
				}
				o := ask(t, rows, event.StoreRequest{Dispatch: request}, now).Output.(map[string]value.Value)
				if o[did] != (r.state == "open") {
					t.Fatalf("seed %d: %+v of %s gives %v", seed, request, r.state, o)
				}
				if r.state == "open" {
					r.state = state
				}
			}
			var want []string
			slices.SortFunc(naive, func(a, b *row) int { return strings.Compare(a.id, b.id) })
			open := slices.DeleteFunc(slices.Clone(naive), func(r *row) bool { return r.state != "open" })
			slices.SortFunc(open, func(a, b *row) int { return strings.Compare(a.rank, b.rank) })
			for _, r := range open {
				want = append(want, r.id)
			}
			if got, _ := list(t, rows, false, now); !slices.Equal(got, want) {
				t.Fatalf("seed %d: the open work is %v, want %v", seed, got, want)
			}
		}
		if _, all := list(t, rows, true, now); len(all) != len(naive) {
			t.Errorf("seed %d: %d items in all, want %d", seed, len(all), len(naive))
		} else {
			for _, r := range naive {
				if all[r.id]["state"] != r.state {
					t.Errorf("seed %d: %s is %v, want %s", seed, r.id, all[r.id]["state"], r.state)
				}
			}
		}
	}
}

// TestWorkIsShown looks at work that is needed, claimed, parked, handed over, and at what the queue refuses.
func TestWorkIsShown(t *testing.T) {
	rows, now := &Map{}, event.At(time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC))
	needed := add(t, rows, event.Item{ID: "AGT-1", Title: "first"}, "", now)
	id := add(t, rows, event.Item{Title: "second", Needs: []string{needed, "gone"}, Labels: []string{"bug"}, Assignee: "leo",
		Handoff: &event.Handoff{To: "leo", Summary: "half of it", Next: "the rest", Artifacts: map[string]string{"pr": "http://x"}}}, "", now)
	if again := add(t, rows, event.Item{ID: "AGT-1", Title: "other"}, "", now); again != needed {
		t.Errorf("a second item of the id is %s", again)
	}
	ask(t, rows, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchClose, Queue: event.QueueDispatch, ID: needed}}, now)
	ids, of := list(t, rows, false, now)
	if !slices.Equal(ids, []string{id, needed}) || of[needed]["closed"] != true || of[id]["closed"] != nil {
		t.Errorf("the list is %v: what is needed and closed belongs to it", of)
	}
	c := claim(t, rows, event.ClaimRequest{Operation: event.ClaimTake, Item: ItemKey(event.QueueDispatch, id), Loop: "l", Agent: "leo", Lease: time.Minute}, now)
	show := func(now event.Time) map[string]any {
		return ask(t, rows, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchShow, Queue: event.QueueDispatch, ID: id}}, now).Output.(map[string]any)
	}
	if o := show(now); o["state"] != "held" || o["claim"].(map[string]any)["agent"] != "leo" {
		t.Errorf("a claimed item is shown as %v", o)
	}
	if o := show(now.Add(time.Minute)); o["state"] != "open" {
		t.Errorf("an item whose lease has run out is shown as %v", o)
	}
	claim(t, rows, event.ClaimRequest{Operation: event.ClaimPark, Item: c.Item, Token: c.Token}, now)
	o := show(now.Add(time.Hour))
	if i, err := event.ItemOf(o); err != nil || o["state"] != "parked" || i.Handoff.Next != "the rest" || i.Handoff.Artifacts["pr"] != "http://x" {
		t.Errorf("a parked item is shown as %v, %v", o, err)
	}
	for want, r := range map[string]event.DispatchRequest{
		"has no operation":     {Operation: "make", Queue: event.QueueDispatch},
		"no queue":             {Operation: event.DispatchList, Queue: "q"},
		"is missing":           {Operation: event.DispatchAdd, Queue: event.QueueDispatch},
		"one line":             {Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "a\nb"}},
		"not empty":            {Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: " "}},
		"the limit is 500":     {Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: strings.Repeat("x", 501)}},
		"cannot be chosen":     {Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{ID: "ds-9", Title: "a"}},
		"cannot be the id":     {Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{ID: "a b", Title: "a"}},
		"as JSON; the limit":   {Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "a", Body: strings.Repeat("x", limits.MaxHandoff)}},
		"more than 100":        {Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "a", Labels: make([]string, 101)}},
		"priority 1001 is not": {Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "a", Priority: limits.MaxPriority + 1}},
		"has no item":          {Operation: event.DispatchShow, Queue: event.QueueTicket, ID: id},
	} {
		before := rowsOf(rows)
		if _, err := Apply(rows, &event.StoreRequest{Dispatch: &r}, Waiter{}, now); err == nil || !strings.Contains(err.Error(), want) || !slices.Equal(rowsOf(rows), before) {
			t.Errorf("%+v: %v, want %q, and no change", r, err, want)
		}
	}
	if err := saveRow(rows, workCountSpace, string(event.QueueDispatch), &workCount{Last: 5, Open: MaxOpenWork}); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(rows, &event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "a"}}}, Waiter{}, now); err == nil {
		t.Error("a full queue takes an item")
	}
	if err := saveRow(rows, workCountSpace, string(event.QueueDispatch), &workCount{Last: 5, Open: 1, Ended: MaxEndedWork}); err != nil {
		t.Fatal(err)
	}
	ask(t, rows, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchCancel, Queue: event.QueueDispatch, ID: id}}, now.Add(time.Hour))
	if ids, _ := list(t, rows, true, now); !slices.Equal(ids, []string{id}) {
		t.Errorf("after one item too many the queue has %v", ids)
	}
}

// TestLoopsAreWoken counts the messages to runs that listen.
func TestLoopsAreWoken(t *testing.T) {
	rows, now := &Map{}, event.Time(1000)
	listen := func(loop, run string) event.LoopControl {
		a, err := Apply(rows, &event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopListen, Loop: loop}}, Waiter{Run: run}, now)
		if err != nil {
			t.Fatal(err)
		}
		c, err := event.LoopControlOf(a.Output)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	listen("a", "run1")
	listen("ab", "run2")
	woken := func(a Answer) (runs []string) {
		for _, p := range a.Posts {
			if p.Kind != event.ExternalWake {
				t.Errorf("a message %+v", p)
			}
			runs = append(runs, p.Run)
		}
		return runs
	}
	item := &event.Item{Title: "work"}
	added := ask(t, rows, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueTicket, Item: item, Key: "k"}}, now)
	if got := woken(added); !slices.Equal(got, []string{"run1", "run2"}) {
		t.Errorf("new work wakes %v", got)
	}
	again := ask(t, rows, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueTicket, Item: item, Key: "k"}}, now)
	if got := woken(again); got != nil {
		t.Errorf("work that is there already wakes %v", got)
	}
	take := event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimTake, Item: "ticket/tk-1", Lease: time.Hour}}
	if got := woken(ask(t, rows, take, now)); got != nil {
		t.Errorf("a claim wakes %v", got)
	}
	a, err := Apply(rows, &event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimClose, Item: "ticket/tk-1", Token: 1}}, Waiter{Run: "run1"}, now)
	if got := woken(a); err != nil || !slices.Equal(got, []string{"run2"}) {
		t.Errorf("the close of an item wakes %v, %v: not the loop that closes it", got, err)
	}
	control := func(r event.LoopRequest) Answer {
		r.By = "ann"
		return ask(t, rows, event.StoreRequest{Loop: &r}, now)
	}
	if got := woken(control(event.LoopRequest{Operation: event.LoopPause, Loop: "a", Agent: "sam", For: time.Minute})); !slices.Equal(got, []string{"run1"}) {
		t.Errorf("a pause wakes %v", got)
	}
	paused := control(event.LoopRequest{Operation: event.LoopPause, Loop: "a"})
	w, err := event.WakeOf(paused.Posts[0].Data)
	if err != nil || w.Kind != event.WakeControl || w.Control.By != "ann" || w.Control.Paused[""] != event.Forever || len(w.Control.Paused) != 2 {
		t.Errorf("the message of a pause is %+v, %v", w, err)
	}
	now = now.Add(time.Minute)
	if c := listen("a", "run3"); len(c.Paused) != 1 || c.Paused[""] != event.Forever {
		t.Errorf("after the pause of sam: %+v", c)
	}
	control(event.LoopRequest{Operation: event.LoopStop, Loop: "a"})
	read, err := event.LoopControlOf(control(event.LoopRequest{Operation: event.LoopRead, Loop: "a"}).Output)
	if err != nil || !read.Stopped {
		t.Errorf("a stopped loop is read as %+v, %v", read, err)
	}
	resumed, err := event.LoopControlOf(control(event.LoopRequest{Operation: event.LoopResume, Loop: "a"}).Output)
	if err != nil || resumed.Stopped || resumed.Paused != nil {
		t.Errorf("a loop that goes on is read as %+v, %v", resumed, err)
	}
	for _, run := range []string{"run1", "run2", "run3"} {
		if err := Forget(rows, run, 1); err != nil {
			t.Fatal(err)
		}
	}
	if got := woken(control(event.LoopRequest{Operation: event.LoopStop, Loop: "a"})); got != nil {
		t.Errorf("runs that have ended are woken: %v", got)
	}
	for name, r := range map[string]event.LoopRequest{"a person who listens": {Operation: event.LoopListen, Loop: "a"}, "a name with a space": {Operation: event.LoopRead, Loop: "a b"},
		"no name": {Operation: event.LoopRead}, "no operation": {Loop: "a"}, "a long pause": {Operation: event.LoopPause, Loop: "a", For: MaxTTL + 1}} {
		if _, err := Apply(rows, &event.StoreRequest{Loop: &r}, Waiter{}, now); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

// A renewal says that the run waits, if nothing of it is in flight and its first timer is at least a lease away.
func TestRenewalSaysThatTheRunRests(t *testing.T) {
	for i, c := range []struct {
		first event.RunStarted
		due   time.Duration // 0: no timer
		idle  bool
		want  bool
	}{
		{event.RunStarted{Cause: &event.Cause{Kind: event.CauseLoop}}, 0, true, true},
		{event.RunStarted{Cause: &event.Cause{Kind: event.CauseLoop}}, time.Hour, true, true},
		{event.RunStarted{Cause: &event.Cause{Kind: event.CauseLoop}}, time.Hour - 1, true, false},
		{event.RunStarted{Cause: &event.Cause{Kind: event.CauseLoop}}, 0, false, false},
		{event.RunStarted{}, 0, true, false},
	} {
		rows, now := &Map{}, event.Time(1000)
		renew := event.ClaimRequest{Operation: event.ClaimTake, Item: "dispatch/a", Loop: "team", Agent: "leo", Run: "r", Lease: time.Hour}
		renew.Token, renew.Operation = claim(t, rows, renew, now).Token, event.ClaimRenew
		due := event.Time(0)
		if c.due != 0 {
			due = now.Add(c.due)
		}
		if err := NoteRest(rows, "r", RestOf(&c.first, due, c.idle)); err != nil {
			t.Fatal(err)
		}
		if have := claim(t, rows, renew, now); have.Waits != c.want || have.Asks || !have.Won {
			t.Errorf("%d: %+v", i, have)
		}
		if err := Stir(rows, "r"); err != nil {
			t.Fatal(err)
		}
		if have := claim(t, rows, renew, now); have.Waits {
			t.Errorf("%d: a run that has not heard of a message waits: %+v", i, have)
		}
	}
}
