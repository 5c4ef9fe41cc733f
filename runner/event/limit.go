package event

// Limit is the state of what bounds the attempts of all runs of a store at an agent or a quota.
type Limit struct {
	Kind NeedKind
	Name string
	Used int // units that attempts have, of Capacity
	// Capacity, Pace, Breaker and Spending are those of the last program that asked; 0 and nil: it has none.
	Capacity int
	Pace     *Pace
	Breaker  *Breaker
	Spending *Spending
	Spent    Bounds // of the span of Spending that ends now
	Started  int    // attempts of the span of Pace that ends now
	Next     Time   // the first moment at which its rate limit, its spending, its breaker or the other side allows a start; 0: now, or a probe decides
	Health   string // of its breaker: closed, open or half_open; "": it has none
	Failed   int    // failures in a row, while the breaker is closed
	Stopped  bool   // a person stopped the agent
	Waiting  []Waiter
}

// BreakerOpen is the health of a breaker that lets nothing start.
const BreakerOpen = "open"

// Waiter is an attempt that waits in a line.
type Waiter struct {
	Run, Node string
	Since     Time
}

// LimitChange is what a person changes. Exactly one of the fields is set.
type LimitChange struct {
	Reset string // closes the breakers of the agent and of the quota of this name, and forgets the moments that the other side named
	Stop  string // stops an agent
	Start string // starts it again
}
