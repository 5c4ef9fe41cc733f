package shared

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of claims.
const (
	// MaxClaims is how many items a store remembers that somebody had. Those that nobody has make room for others, the one that
	// changed first before all.
	MaxClaims = 100_000
	// MaxLease is the longest lease.
	MaxLease = 24 * time.Hour
	// MaxItemFailures and MaxItemLosses are how often an item may fail, or be lost with its driver: then it is a dead letter.
	MaxItemFailures = 2
	MaxItemLosses   = 2
	// MaxItemKey is the size of the name of an item over the store, in bytes.
	MaxItemKey = 512
	// sweptPerClaim is how many old rows a new claim looks at, to find one that can go. Those that cannot become the newest.
	sweptPerClaim = 64
)

// Spaces of claims: the claims by item, the order in which they changed, how many there are, and which items the loops have.
const (
	claimSpace      = "claims"
	claimAgeSpace   = "claim-ages"
	claimCountSpace = "claim-count"
)

// claimRow is what is kept of an item that somebody had.
type claimRow struct {
	event.Claim
	Changed event.Time `json:"changed"` // of the row among the ages
	// Lease is how long the newest lease lasts. Doubted is when it was found first that it has run out; 0: nobody has asked since.
	Lease   time.Duration `json:"lease,omitempty"`
	Doubted event.Time    `json:"doubted,omitempty"`
	// Gone, of a closed item: the source called it closed, too. Who finds it open there takes it again.
	Gone bool `json:"gone,omitempty"`
}

// claimCount is how many rows there are. Floor is the highest token of a row that was removed: no token is given twice.
type claimCount struct {
	Rows  int    `json:"rows"`
	Floor uint64 `json:"floor"`
}

// BeginAnew prepares rows that are empty because an operator has removed what was there. No token of a claim is given twice: tokens begin behind the
// number of milliseconds since 1970, which no row that was removed has reached.
func BeginAnew(rows Rows, now event.Time) error {
	return saveRow(rows, claimCountSpace, "", &claimCount{Floor: uint64(now.Go().UnixMilli())})
}

// claimStateAt is how an item stands at a moment: a lease that has run out holds nothing.
func claimStateAt(c *event.Claim, now event.Time) event.ClaimState {
	if c.State == event.ClaimHeld && now >= c.Until {
		return event.ClaimOpen
	}
	return c.State
}

// applyClaim takes an item, or changes its claim, if the token is the newest.
func applyClaim(rows Rows, r *event.ClaimRequest, by Waiter, now event.Time) (a Answer, err error) {
	if err := checkClaim(r); err != nil {
		return a, err
	}
	var c claimRow
	if err := loadRow(rows, claimSpace, r.Item, &c); err != nil {
		return a, err
	}
	if r.Operation == event.ClaimLook {
		c.Item, c.Why, c.At = r.Item, c.refusal(r), now
		c.Won, c.State = c.Why == "", claimStateAt(&c.Claim, now)
		if c.State == "" {
			c.State = event.ClaimOpen
		}
		a.Output = c.Object()
		return a, nil
	}
	isNew := c.Item == ""
	if isNew {
		c.Item, c.State = r.Item, event.ClaimOpen
	}
	before, doubted, buries := c.State, c.Doubted, ""
	c.Won, c.At = true, now
	if r.Operation == event.ClaimTake {
		why, need, until, err := shut(rows, r.Needs, now)
		if err != nil {
			return a, err
		}
		if why != "" {
			answer := c.Claim
			answer.Won, answer.Why, answer.State = false, why, claimStateAt(&c.Claim, now)
			if answer.State == event.ClaimOpen {
				answer.Until, answer.Shut = until, need
			}
			a.Output = answer.Object()
			return a, nil
		}
		buries = c.take(r, now)
	} else if c.Why = c.refusal(r); c.Why == "" {
		buries = c.change(r, now)
	} else {
		c.Won = false
	}
	if !c.Won && buries == "" {
		answer := c.Claim
		if answer.State = claimStateAt(&c.Claim, now); answer.State == event.ClaimOpen && r.Operation == event.ClaimTake {
			answer.Until = c.Doubted.Add(c.grace())
		}
		a.Output = answer.Object()
		if c.Doubted == doubted {
			return a, nil
		}
		c.Won, c.Why, c.At = false, "", 0
		return a, saveRow(rows, claimSpace, c.Item, &c)
	}
	if isNew || r.Operation == event.ClaimTake && c.Won {
		if err := c.number(rows, isNew, now); err != nil {
			return a, err
		}
	}
	if r.Operation == event.ClaimRenew {
		c.Asks, err = waitsForPeople(rows, c.Run)
		if c.Waits = c.Asks; err == nil && !c.Waits {
			c.Waits, err = rests(rows, c.Run, r, now)
		}
		if err != nil {
			return a, err
		}
	}
	a.Output = c.Object()
	c.Won, c.Why, c.Waits, c.Asks, c.At = false, "", false, false, 0
	if err := c.save(rows, now); err != nil {
		return a, err
	}
	if buries != "" {
		if err := buryItem(rows, &c.Claim, r, buries, now); err != nil {
			return a, err
		}
	}
	if c.State == event.ClaimClosed {
		if err := closeItem(rows, &c.Claim, now); err != nil {
			return a, err
		}
	}
	if c.State != before && c.State != event.ClaimHeld && c.State != event.ClaimParked { // others can take it, or what needs it
		a.Posts, err = wakeLoops(rows, by)
	}
	return a, err
}

func checkClaim(r *event.ClaimRequest) error {
	switch {
	case !slices.Contains(event.ClaimOperations, r.Operation):
		return refuse("a claim has no operation %.40q", r.Operation)
	case r.Item == "" || len(r.Item) > MaxItemKey || strings.ContainsRune(r.Item, 0):
		return refuse("%.40q cannot name an item: it has 1 to %d bytes", r.Item, MaxItemKey)
	case len(r.Loop) > limits.MaxSyncName || len(r.Agent) > limits.MaxSyncName || len(r.Run) > limits.MaxSyncName:
		return refuse("the names of a claim have at most %d bytes", limits.MaxSyncName)
	case (r.Operation == event.ClaimTake || r.Operation == event.ClaimRenew) && (r.Lease <= 0 || r.Lease > MaxLease):
		return refuse("a lease of %s is not between 1ns and %s", r.Lease, MaxLease)
	}
	return nil
}

// take gives the item to who asks, if nobody has it. buries says why the item is given up.
func (c *claimRow) take(r *event.ClaimRequest, now event.Time) (buries string) {
	switch c.State {
	case event.ClaimHeld:
		if now < c.Until {
			c.Won, c.Why = false, c.holder()
			return ""
		}
		if c.Doubted == 0 || c.Doubted > now { // or the clock was set back
			c.Doubted = now
		}
		if until := c.Doubted.Add(c.grace()); now < until {
			c.Won, c.Why = false, fmt.Sprintf("the lease of %s ran out at %s, and can be renewed until %s", c.Who(), c.Until, until)
			return ""
		}
		if c.Lost++; c.Lost >= MaxItemLosses {
			c.Won, c.Why = false, fmt.Sprintf("the lease of it ran out %d times; it is a dead letter", c.Lost)
			c.giveUp()
			return fmt.Sprintf("its lease ran out %d times, the last time with %s at %s", c.Lost, c.Who(), c.Until)
		}
	case event.ClaimClosed:
		if !c.Gone {
			c.Won, c.Why = false, c.holder()
			return ""
		}
		c.Gone, c.Failures, c.Lost = false, 0, 0
	case event.ClaimParked, event.ClaimDead:
		c.Won, c.Why = false, c.holder()
		return ""
	case event.ClaimOpen:
	}
	c.State, c.Loop, c.Agent, c.Run = event.ClaimHeld, r.Loop, r.Agent, r.Run
	c.Since, c.Parked = now, 0
	c.lend(r, now)
	if r.Title != "" {
		c.Title = cut(r.Title, limits.MaxWorkTitle)
	}
	return ""
}

// holder says in words who has the item.
func (c *claimRow) holder() string {
	switch c.State {
	case event.ClaimHeld:
		return fmt.Sprintf("%s has it with token %d until %s", c.Who(), c.Token, c.Until)
	case event.ClaimParked:
		return fmt.Sprintf("%s has it with token %d, and its run has waited since %s", c.Who(), c.Token, c.Parked)
	case event.ClaimClosed:
		return fmt.Sprintf("it was closed under token %d", c.Token)
	case event.ClaimDead:
		return fmt.Sprintf("it was given up under token %d, and is a dead letter", c.Token)
	case event.ClaimOpen:
	}
	return fmt.Sprintf("it is free; its newest token is %d", c.Token)
}

// refusal says why a request does not have the claim; "" if it has.
func (c *claimRow) refusal(r *event.ClaimRequest) string {
	if c.Token == r.Token && r.Token != 0 && (c.State == event.ClaimHeld || c.State == event.ClaimParked) {
		return ""
	}
	return fmt.Sprintf("token %d does not have the item: %s", r.Token, c.holder())
}

// change carries out a request of who has the claim. buries says why the item is given up.
func (c *claimRow) change(r *event.ClaimRequest, now event.Time) (buries string) {
	if r.Run != "" {
		c.Run = r.Run
	}
	switch r.Operation {
	case event.ClaimRenew:
		c.State, c.Parked = event.ClaimHeld, 0
		c.lend(r, now)
	case event.ClaimPark:
		if c.State != event.ClaimParked {
			c.State, c.Until, c.Parked = event.ClaimParked, 0, now
		}
	case event.ClaimClose:
		c.State, c.Until, c.Parked, c.Gone = event.ClaimClosed, 0, 0, r.Gone
	case event.ClaimRelease:
		c.State, c.Until, c.Parked = event.ClaimOpen, 0, 0
	case event.ClaimFail:
		if c.Failures++; c.Failures >= MaxItemFailures {
			c.giveUp()
			return strings.TrimSpace(cut(r.Message, limits.MaxKVKey*4) + fmt.Sprintf(" (the work on it failed %d times)", c.Failures))
		}
		c.State, c.Until, c.Parked = event.ClaimOpen, 0, 0
	case event.ClaimTake, event.ClaimLook:
	}
	return ""
}

// lend begins the lease anew.
func (c *claimRow) lend(r *event.ClaimRequest, now event.Time) {
	c.Until, c.Lease, c.Doubted = now.Add(r.Lease), r.Lease, 0
}

// grace is how long a lease can still be renewed after it was found that it has run out: as long as it takes to hear of whoever renews it. A clock
// that was set forward, or a computer that slept, ends all leases at once, and whoever has the items is there all the same.
func (c *claimRow) grace() time.Duration { return c.Lease / 3 }

func (c *claimRow) giveUp() { c.State, c.Until, c.Parked = event.ClaimDead, 0, 0 }

// number gives a claim that was won its token. A new row makes room for itself.
func (c *claimRow) number(rows Rows, isNew bool, now event.Time) error {
	if !isNew {
		c.Token++
		return nil
	}
	var n claimCount
	if err := loadRow(rows, claimCountSpace, "", &n); err != nil {
		return err
	}
	if n.Rows >= MaxClaims {
		if err := dropClaim(rows, &n, now); err != nil {
			return err
		}
	}
	n.Rows++
	c.Token = n.Floor + 1
	return saveRow(rows, claimCountSpace, "", &n)
}

// dropClaim removes the oldest row of an item that nobody has.
func dropClaim(rows Rows, n *claimCount, now event.Time) error {
	var old []string
	err := rows.Scan(claimAgeSpace, "", func(key string, _ []byte) bool {
		old = append(old, key)
		return len(old) < sweptPerClaim
	})
	for _, key := range old {
		var c claimRow
		if err == nil {
			err = loadRow(rows, claimSpace, key[17:], &c)
		}
		if state := claimStateAt(&c.Claim, now); err == nil && state != event.ClaimHeld && state != event.ClaimParked {
			n.Rows, n.Floor = n.Rows-1, max(n.Floor, c.Token)
			if err = rows.Delete(claimAgeSpace, key); err == nil {
				err = rows.Delete(claimSpace, c.Item)
			}
			return err
		}
		if err == nil {
			err = c.save(rows, now)
		}
	}
	if err == nil {
		err = refuse("the store remembers the claims of %d items, and no item can be claimed that it does not know", n.Rows)
	}
	return err
}

// save writes the row, and its place among the ages if it became another state.
func (c *claimRow) save(rows Rows, now event.Time) error {
	if c.Changed != now {
		if c.Changed != 0 {
			if err := rows.Delete(claimAgeSpace, ageKey(c.Changed, c.Item)); err != nil {
				return err
			}
		}
		c.Changed = now
		if err := rows.Put(claimAgeSpace, ageKey(now, c.Item), nil); err != nil {
			return err
		}
	}
	return saveRow(rows, claimSpace, c.Item, c)
}

// closeItem ends what else the store has of an item that is done: its place in a queue, and its dead letter.
func closeItem(rows Rows, c *event.Claim, now event.Time) error {
	queue, id, _ := strings.Cut(c.Item, "/")
	if q := event.Queue(queue); slices.Contains(event.Queues, q) {
		var w work
		if err := loadRow(rows, workSpace(q), id, &w); err != nil {
			return err
		}
		if w.ID != "" && w.State == event.ClaimOpen {
			if err := endWork(rows, q, &w, false, now); err != nil {
				return err
			}
		}
	}
	var seq uint64
	if err := loadRow(rows, deadAboutSpace, aboutItem(c.Item), &seq); err != nil || seq == 0 {
		return err
	}
	var d DeadLetter
	if err := loadRow(rows, deadSpace, seqKey(seq), &d); err != nil || d.Seq == 0 {
		return err
	}
	return closeLetter(rows, &d)
}

// closeClaim ends the claim of an item that was closed by other means: who has it is told so at the next request.
func closeClaim(rows Rows, item string, now event.Time) error {
	var c claimRow
	if err := loadRow(rows, claimSpace, item, &c); err != nil || c.Item == "" {
		return err
	}
	c.State, c.Until, c.Parked = event.ClaimClosed, 0, 0
	return c.save(rows, now)
}

// openClaim lets somebody take an item again that was closed.
func openClaim(rows Rows, item string, now event.Time) error {
	var c claimRow
	if err := loadRow(rows, claimSpace, item, &c); err != nil || c.State != event.ClaimClosed {
		return err
	}
	c.State, c.Gone, c.Failures, c.Lost = event.ClaimOpen, false, 0, 0
	return c.save(rows, now)
}

func aboutItem(item string) string { return "item " + item }

// buryItem makes a dead letter of an item.
func buryItem(rows Rows, c *event.Claim, r *event.ClaimRequest, why string, now event.Time) error {
	return bury(rows, &DeadLetter{Kind: DeadItem, Item: c.Item, Title: c.Title, Loop: c.Loop, Agent: c.Agent, Run: c.Run, Error: why, About: aboutItem(c.Item)}, now)
}

// reviveItem lets loops take an item again that was given up.
func reviveItem(rows Rows, item string, now event.Time) ([]Post, error) {
	var c claimRow
	if err := loadRow(rows, claimSpace, item, &c); err != nil {
		return nil, err
	}
	if c.State != event.ClaimDead {
		return nil, nil
	}
	c.State, c.Failures, c.Lost = event.ClaimOpen, 0, 0
	if err := c.save(rows, now); err != nil {
		return nil, err
	}
	return wakeLoops(rows, Waiter{})
}

// listClaims lists the claims of all items, in the order of the items and at most MaxListed.
func listClaims(rows Rows, now event.Time) (value.Value, error) {
	list := []any{}
	var wrong error
	err := rows.Scan(claimSpace, "", func(key string, body []byte) bool {
		var c claimRow
		if wrong = decodeRow(claimSpace, key, body, &c); wrong != nil {
			return false
		}
		c.State = claimStateAt(&c.Claim, now)
		list = append(list, c.Object())
		return len(list) < MaxListed
	})
	if err == nil {
		err = wrong
	}
	return list, err
}

// waitsForPeople reports whether a run asks somebody something.
func waitsForPeople(rows Rows, run string) (waits bool, err error) {
	if run == "" {
		return false, nil
	}
	var wrong error
	err = rows.Scan(asksSpace, askKey(run, ""), func(key string, body []byte) bool {
		if !strings.HasPrefix(key, askKey(run, "")) {
			return false
		}
		var a openAsk
		wrong = decodeRow(asksSpace, key, body, &a)
		waits = wrong == nil && a.Settled == nil // else the run will hear of the decision
		return wrong == nil && !waits
	})
	if err == nil {
		err = wrong
	}
	return waits, err
}

// shut says why work that asks for some agents and quotas cannot begin now, because of which of them, and until when: a breaker is open, or all that may be spent is
// spent. "": nothing is in the way.
func shut(rows Rows, needs []string, now event.Time) (why, need string, until event.Time, err error) {
	for _, key := range needs {
		var n event.Need
		if err := loadRow(rows, declaredSpace, key, &n); err != nil {
			return "", "", 0, err
		}
		if n.Breaker != nil {
			b := Breaker{Name: key, Failures: n.Breaker.Failures, Reset: n.Breaker.Reset}
			health, _, next, err := b.State(rows, now)
			if err != nil {
				return "", "", 0, err
			}
			if health == Open && next > until {
				why, need, until = fmt.Sprintf("the breaker of %s is open", key), key, next
			}
		}
		if n.Spending != nil {
			s := Spending{Name: key, Most: n.Spending.Most, Per: n.Spending.Per}
			_, next, err := s.State(rows, now)
			if err != nil {
				return "", "", 0, err
			}
			if next > max(now, until) {
				why, need, until = fmt.Sprintf("the spending limit of %s is reached", key), key, next
			}
		}
	}
	return why, need, until, nil
}
