package args

import (
	"reflect"
	"strings"
)

// Drive is what commands take that drive a run.
type Drive struct {
	TakeOver bool // resume
	// DeathLimit is how many processes may die in a row over the same attempt before it fails; 0 means the usual 3.
	DeathLimit int
	// MakeDo works with less of the system than a run takes: cancel and prune mostly drive nothing.
	MakeDo bool
	// NoWait says whether to return when all that is left waits for people; nil: only where there is no terminal.
	NoWait *bool
	// Logs prints the output of each attempt when it ends.
	Logs bool
}

// Check refuses numbers.
func (d *Drive) Check() error {
	if d.DeathLimit < 0 {
		return Errorf("--death-limit %d is below 1", d.DeathLimit)
	}
	return nil
}

// Apply is what apply takes.
type Apply struct {
	Path     string
	Workflow string // "" means the only one, or the default
	Given
	Parallel int // 0 means what the workflow says
	Targets  []string
	JSON     bool
	Reports  []string // each FORM=PATH
	Detach   bool     // hand the run to the daemon
	NoFollow bool     // start no run for an event
	Engine   string   // the address of another engine; "" means the store
	Drive
}

// Forms reads the reports that are asked for, each of one of the forms known, to a file.
func (o *Apply) Forms(known []string) (list []Form, err error) {
	for _, r := range o.Reports {
		form, path, _ := strings.Cut(r, "=")
		if err := OneOf("--report", form, known...); err != nil {
			return nil, err
		}
		if path == "" {
			return nil, &Error{"--report " + r + " does not name a file", "Write --report " + form + "=PATH."}
		}
		list = append(list, Form{form, path})
	}
	return list, nil
}

// Plan is what plan takes.
type Plan struct {
	Apply
	DetailedExit bool
	Lowered      bool // print the program in the core language
	// Against is a file, a folder or a revision with other definitions of the programs at Paths; "" means that one workflow is planned.
	Against string
	Paths   []string
	Format  string // of a comparison: "" means text
}

// Check refuses what does not go together.
func (o *Plan) Check() error {
	if o.Lowered && (o.JSON || o.DetailedExit) {
		return Errorf("--lowered prints a program; --json and --detailed-exitcode are about a plan")
	}
	if o.Against == "" && o.Format != "" {
		return &Error{"--format is for --against", "To print a plan as JSON, write --json."}
	}
	return o.Apply.Check()
}

// CheckAgainst refuses what a comparison of programs does not use, and settles its format.
func (o *Plan) CheckAgainst() error {
	switch {
	case o.Against == "":
		return &Error{"--against does not say what to compare with", "Write a file, a folder, or a revision of git, such as main."}
	case o.Lowered || o.Parallel != 0:
		return Errorf("--against compares programs; --lowered and --parallel are about one plan")
	case !reflect.DeepEqual(o.Given, Given{}):
		return Errorf("--against compares all workflows of a program with the defaults of inputs and variables; it takes no values")
	case o.Format != "" && o.JSON:
		return Errorf("--json is the same as --format json; write one of them")
	case o.JSON:
		o.Format = "json"
	case o.Format == "":
		o.Format = "text"
	}
	return OneOf("--format", o.Format, "text", "json", "markdown")
}

// MaxParallel bounds --parallel, as the machine bounds max_concurrency.
const MaxParallel = 10_000

// Check refuses numbers.
func (o *Apply) Check() error {
	if o.Parallel < 0 || o.Parallel > MaxParallel {
		return Errorf("--parallel %d is not between 1 and %d", o.Parallel, MaxParallel)
	}
	if o.Logs && o.JSON {
		return Errorf("--logs and --json cannot be combined; flowrun logs prints the output of a run")
	}
	if err := o.checkEngine(); err != nil {
		return err
	}
	return o.Drive.Check()
}

// checkEngine refuses what only a run of a store has.
func (o *Apply) checkEngine() error {
	if o.Engine == "" {
		return nil
	}
	for _, x := range []struct {
		given bool
		flag  string
	}{
		{o.NoFollow, "--no-follow"}, {o.DeathLimit != 0, "--death-limit"},
	} {
		if x.given {
			return Errorf("%s works with runs of a store; with --engine, workers drive the run", x.flag)
		}
	}
	return nil
}
