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
