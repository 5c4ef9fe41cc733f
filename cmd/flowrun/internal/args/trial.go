package args

import (
	"encoding/json"
	"time"
)

// MaxTrial is the longest time of a call that tries an agent.
const MaxTrial = 24 * time.Hour

// Trial is what agents test takes.
type Trial struct {
	Name    string
	Path    string
	Task    string
	With    string // JSON; "": the agent gets no value
	Timeout time.Duration
	JSON    bool
	Given
}

// Check refuses what no call can have.
func (o *Trial) Check() error {
	switch {
	case o.Timeout <= 0 || o.Timeout > MaxTrial:
		return Errorf("--timeout %s is not from 1ms to 24h", o.Timeout)
	case o.With != "" && !json.Valid([]byte(o.With)):
		return &Error{"--with is not JSON", "Write a value such as  --with '{\"depth\": 3}'."}
	}
	return nil
}
