package args

import "time"

// Runs is what commands about one run take.
type Runs struct {
	Global
	Run    string // an id, a unique prefix, a workflow's name or "latest"
	Step   string // logs
	JSON   bool
	Reason string // cancel
	From   string // retry: a step, or an instance of one
	Only   string // retry: a step
	File   string // replay: the program to compare with; "" means the run's own
	// DetailedExit is replay's --detailed-exitcode.
	DetailedExit bool
	DryRun       bool // resume
	Wait         bool // cancel
	// WithoutSecrets ends a run whose secrets are not to be had.
	WithoutSecrets bool
	// Timeout bounds how long cancel --wait waits; 0 means without end.
	Timeout time.Duration
	Given   // resume, retry, cancel
	Drive
}

// Check refuses numbers and texts.
func (r *Runs) Check() error {
	if r.From != "" && r.Only != "" {
		return Errorf("--from and --only exclude each other")
	}
	if r.Timeout < 0 {
		return Errorf("--timeout %s is below 0", r.Timeout)
	}
	if r.Timeout > 0 && !r.Wait {
		return Errorf("--timeout is for --wait")
	}
	if err := IsText("--reason", r.Reason); err != nil {
		return err
	}
	return r.Drive.Check()
}
