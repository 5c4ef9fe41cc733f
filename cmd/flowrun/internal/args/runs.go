package args

import (
	"strings"
	"time"
)

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
	DryRun   bool
	NoFollow bool // start no run for an event
	// NewSecrets are the sensitive variables and inputs that may have another value from now on.
	NewSecrets []string
}

// Retry is what retry takes.
type Retry struct {
	Runs
	Given
	Drive
	From string   // a step, or an instance of one
	Only string   // a step
	All  bool     // the whole workflow, also where the run was limited to some steps
	Set  []string // STEP=JSON: a step counts as succeeded with this output
	As   string   // who sets the steps; "" means the user of the operating system
	// Changed asks for a run of a file as it is now: File, or the one that the run began with.
	Changed bool
	File    string
	DryRun  bool
}

// Check refuses numbers, and flags that exclude each other.
func (r *Retry) Check() error {
	if r.From != "" && r.Only != "" {
		return Errorf("--from and --only cannot be combined")
	}
	if r.Only != "" && r.All {
		return Errorf("--only and --all cannot be combined")
	}
	if r.Only != "" && r.Changed {
		return Errorf("--only and --file cannot be combined")
	}
	if r.DryRun && !r.Changed {
		return &Error{"--dry-run shows what a changed file reuses, and needs --file", "For the file of the run as it is now:\n  flowrun retry " + r.Run + " --file --dry-run"}
	}
	if r.Only != "" && len(r.Set) > 0 {
		return Errorf("--only and --set cannot be combined")
	}
	if r.As != "" && len(r.Set) == 0 {
		return Errorf("--as says who sets a step, and needs --set")
	}
	for _, text := range append(r.Set, r.As) {
		if err := IsText("--set", text); err != nil {
			return err
		}
		if step, _, ok := strings.Cut(text, "="); text != r.As && (!ok || step == "") {
			return &Error{"--set is not of the form STEP=JSON", "Write --set 'STEP={\"NAME\": 1}' or --set 'STEP=\"TEXT\"'."}
		}
	}
	return r.Drive.Check()
}

// Cancel is what cancel takes.
type Cancel struct {
	Runs
	Given
	// Node is the one node that ends; nil: the run ends.
	Node   *string
	As     string // the person who cancels the node
	Reason string
	Wait   bool
	// WithoutSecrets ends a run whose secrets are not to be had.
	WithoutSecrets bool
	// Timeout bounds how long --wait waits; 0 means without end.
	Timeout time.Duration
	JSON    bool
}

// Check refuses durations and texts.
func (c *Cancel) Check() error {
	if c.Timeout < 0 {
		return Errorf("--timeout %s is below 0", c.Timeout)
	}
	if c.Timeout > 0 && !c.Wait {
		return Errorf("--timeout is for --wait")
	}
	switch {
	case c.Node == nil && c.As != "":
		return Errorf("--as is for a node")
	case c.Node != nil && *c.Node == "":
		return Errorf("the name of the node is empty")
	case c.Node != nil && c.WithoutSecrets:
		return Errorf("--without-secrets is for a whole run")
	}
	if err := IsText("--as", c.As); err != nil {
		return err
	}
	return IsText("--reason", c.Reason)
}

// Replay is what replay takes.
type Replay struct {
	Runs
	File         string // the program to compare with; "" means the run's own
	DetailedExit bool
}
