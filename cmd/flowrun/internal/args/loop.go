package args

import (
	"time"

	"github.com/flowrun/flowrun/dsl/value"
)

// LoopRun is what loop run takes.
type LoopRun struct {
	Name string
	Path string // "" means the current folder
	Given
	Once      bool
	UntilIdle bool
	JSON      bool
	Drive
}

// Check refuses what does not go together.
func (o *LoopRun) Check() error {
	if o.Once && o.UntilIdle {
		return Errorf("--once and --until-idle say two different ends; give one of them")
	}
	return o.Drive.Check()
}

// LoopControl is what the commands take that ask for another behaviour of a loop.
type LoopControl struct {
	Name  string
	Agent string // "" means all
	For   string // a duration; "" means without an end
	JSON  bool
}

// Duration reads --for; 0 where there is none.
func (o *LoopControl) Duration() (time.Duration, error) {
	if o.For == "" {
		return 0, nil
	}
	d, err := value.ParseDuration(o.For)
	if err != nil {
		return 0, Errorf("--for: %v", err)
	}
	return d, nil
}

// LoopItems is what loop items takes.
type LoopItems struct {
	Name string // "" means all loops
	All  bool
	JSON bool
}

// AgentsPin is what agents pin takes.
type AgentsPin struct {
	Name string
	Path string // "" means the current folder
	Given
	Server string // of an agent of type chat; "": its only one
	Out    string // "" prints the description
}

// LoopNext is what loop next takes.
type LoopNext struct {
	Name   string
	Path   string // "" means the current folder
	DryRun bool
	Given
	JSON bool
}

// Check refuses to do more than a dry run.
func (o *LoopNext) Check() error {
	if !o.DryRun {
		return &Error{"loop next shows what would be taken, and takes nothing: say so with --dry-run", "To do it:  flowrun loop run " + o.Name + " --once"}
	}
	return nil
}
