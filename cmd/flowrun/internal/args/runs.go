package args

import "time"

// Runs is what commands about one run take.
type Runs struct {
	Run  string // an id, a unique prefix, a workflow's name, a file or "latest"
	JSON bool
}

// Resume is what resume takes.
type Resume struct {
	Runs
	Given
	Drive
	DryRun bool
	// NewSecrets are the sensitive variables and inputs that may have another value from now on.
	NewSecrets []string
}

// Retry is what retry takes.
type Retry struct {
	Runs
	Given
	Drive
	From string // a step, or an instance of one
	Only string // a step
}

// Check refuses numbers, and flags that exclude each other.
func (r *Retry) Check() error {
	if r.From != "" && r.Only != "" {
		return Errorf("--from and --only cannot be combined")
	}
	return r.Drive.Check()
}

// Cancel is what cancel takes.
type Cancel struct {
	Runs
	Given
	Reason string
	Wait   bool
	// WithoutSecrets ends a run whose secrets are not to be had.
	WithoutSecrets bool
	// Timeout bounds how long --wait waits; 0 means without end.
	Timeout time.Duration
}

// Check refuses durations and texts.
func (c *Cancel) Check() error {
	if c.Timeout < 0 {
		return Errorf("--timeout %s is below 0", c.Timeout)
	}
	if c.Timeout > 0 && !c.Wait {
		return Errorf("--timeout is for --wait")
	}
	return IsText("--reason", c.Reason)
}

// Replay is what replay takes.
type Replay struct {
	Runs
	File         string // the program to compare with; "" means the run's own
	DetailedExit bool
}
