package event

import "github.com/flowrun/flowrun/dsl/value"

// Usage is what attempts used. The zero value is nothing.
type Usage struct {
	Attempts     int     `json:"attempts,omitempty"` // that ended; 0 in an AttemptFinished, which is one
	InputTokens  int64   `json:"input_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens,omitempty"`
	OtherTokens  int64   `json:"other_tokens,omitempty"` // of which nobody said whether they are input or output
	CostUSD      float64 `json:"cost_usd,omitempty"`
}

// Add adds what other attempts used.
func (u *Usage) Add(other Usage) {
	u.Attempts += other.Attempts
	u.InputTokens += other.InputTokens
	u.OutputTokens += other.OutputTokens
	u.OtherTokens += other.OtherTokens
	u.CostUSD += other.CostUSD
}

// Object returns the usage as expressions read it: with tokens, the sum of all.
func (u *Usage) Object() map[string]any {
	return map[string]any{
		"attempts": float64(u.Attempts), "input_tokens": float64(u.InputTokens), "output_tokens": float64(u.OutputTokens),
		"tokens": float64(u.InputTokens + u.OutputTokens + u.OtherTokens), "cost_usd": u.CostUSD,
	}
}

// Bounds bound what attempts use, or are the rest of such bounds. A field that is 0 bounds nothing.
type Bounds struct {
	Attempts int64   `json:"attempts,omitempty"` // that start
	Tokens   float64 `json:"tokens,omitempty"`
	CostUSD  float64 `json:"cost_usd,omitempty"`
}

// Less returns what is left of b beyond used. None of the bounds may be reached.
func (b Bounds) Less(used Bounds) Bounds {
	if b.Attempts > 0 {
		b.Attempts -= used.Attempts
	}
	if b.Tokens > 0 {
		b.Tokens -= used.Tokens
	}
	if b.CostUSD > 0 {
		b.CostUSD -= used.CostUSD
	}
	return b
}

// Reached reports whether what is used reaches one of the bounds. A bound of 0 is none.
func (b Bounds) Reached(used Bounds) bool {
	return b.Attempts > 0 && used.Attempts >= b.Attempts || b.Tokens > 0 && used.Tokens >= b.Tokens || b.CostUSD > 0 && used.CostUSD >= b.CostUSD
}

// Plus returns the sum of b and more.
func (b Bounds) Plus(more Bounds) Bounds {
	return Bounds{b.Attempts + more.Attempts, b.Tokens + more.Tokens, b.CostUSD + more.CostUSD}
}

// Within returns the bounds of b, none larger than what is used at most. A bound of 0 is none.
func (b Bounds) Within(most Bounds) Bounds {
	all := b.Smallest(most)
	if b.Attempts == 0 {
		all.Attempts = 0
	}
	if b.Tokens == 0 {
		all.Tokens = 0
	}
	if b.CostUSD == 0 {
		all.CostUSD = 0
	}
	return all
}

// Asking is the rest of a budget that asks people for more: each decision to continue adds Step to the bounds that are reached.
type Asking struct {
	Left Bounds `json:"left"`
	Step Bounds `json:"step"`
}

// Smallest takes over those bounds of another budget of which less is left. The zero value has none.
func (a *Asking) Smallest(left, step Bounds) {
	before := a.Left
	a.Left = before.Smallest(left)
	if a.Left.Attempts != before.Attempts {
		a.Step.Attempts = step.Attempts
	}
	if a.Left.Tokens != before.Tokens {
		a.Step.Tokens = step.Tokens
	}
	if a.Left.CostUSD != before.CostUSD {
		a.Step.CostUSD = step.CostUSD
	}
}

// Smallest returns the smaller one of each bound of b and other.
func (b Bounds) Smallest(other Bounds) Bounds {
	return Bounds{smaller(b.Attempts, other.Attempts), smaller(b.Tokens, other.Tokens), smaller(b.CostUSD, other.CostUSD)}
}

// smaller returns the smaller one of two bounds, of which 0 is none.
func smaller[N int64 | float64](a, b N) N {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// ReadUsage reads what an agent or a test reports: input_tokens, output_tokens, or both together as tokens, and cost_usd. A
// member that is not a number of 0 or more is left out. It returns nil if nothing is left.
func ReadUsage(v value.Value) *Usage {
	m, _ := v.(map[string]any)
	number := func(name string) float64 {
		f, _ := m[name].(float64)
		return min(max(f, 0), value.MaxNumber)
	}
	u := &Usage{InputTokens: int64(number("input_tokens")), OutputTokens: int64(number("output_tokens")), CostUSD: number("cost_usd")}
	u.OtherTokens = max(0, int64(number("tokens"))-u.InputTokens-u.OutputTokens)
	if *u == (Usage{}) {
		return nil
	}
	return u
}
