package args

import "time"

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
	}
	return nil
}
