package ir

import "time"

// Quota is a bound that all runs of a store share. Its expressions read var and local only.
type Quota struct {
	Name      string     `json:"name"`
	Capacity  *Expr      `json:"capacity,omitempty"` // how many units there are; nil: it has none
	RateLimit *RateLimit `json:"rate_limit,omitempty"`
	Breaker   *Breaker   `json:"circuit_breaker,omitempty"`
	Spending  *Spending  `json:"spending,omitempty"`
}

// Spending bounds what attempts use in any span of Per, whole numbers of Attempts, Tokens and dollars. nil: no bound.
type Spending struct {
	Attempts *Expr `json:"attempts,omitempty"`
	Tokens   *Expr `json:"tokens,omitempty"`
	CostUSD  *Expr `json:"cost_usd,omitempty"`
	Per      Expr  `json:"per"`
}

// RateLimit allows so many Requests to start in any span of Per.
type RateLimit struct {
	Requests Expr `json:"requests"`
	Per      Expr `json:"per"`
}

// The numbers of a breaker that the file does not give.
const (
	DefaultFailures = 5
	DefaultReset    = 30 * time.Second
)

// Breaker lets nothing start for Reset after so many Failures in a row.
type Breaker struct {
	Failures *Expr    `json:"failures,omitempty"` // nil: DefaultFailures
	Reset    *Expr    `json:"reset,omitempty"`    // nil: DefaultReset
	When     *Expr    `json:"when,omitempty"`     // a condition over result, error, attempt and elapsed; nil: every error counts
	Notify   []string `json:"notify,omitempty"`   // channels that are told when it opens and closes
}

// QuotaUse is what a node or an agent takes of a quota.
type QuotaUse struct {
	Quota string `json:"quota"`
	Units *Expr  `json:"units,omitempty"` // a whole number of 0 or more; nil: 1, where the quota has units
}

// Agent returns the agent of a name, or nil.
func (p *Program) Agent(name string) *Agent {
	for i := range p.Agents {
		if p.Agents[i].Name == name {
			return &p.Agents[i]
		}
	}
	return nil
}

// Quota returns the quota of a name, or nil.
func (p *Program) Quota(name string) *Quota {
	for i := range p.Quotas {
		if p.Quotas[i].Name == name {
			return &p.Quotas[i]
		}
	}
	return nil
}
