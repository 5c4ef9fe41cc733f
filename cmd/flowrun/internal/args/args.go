// Package args holds what the command line can say as plain structs, and what is checked of it before anything is
// opened: pairs, files of variables, names of formats.
//
// It knows no command library, no workflow file and no terminal, and imports the standard library only. A wrong word
// is an [Error]; the command line turns it into exit code 2. What always holds: nothing is read or written here but
// through the functions that the caller hands in. Enter at [Pairs].
package args

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Global is what every command takes.
type Global struct {
	Color string // auto | always | never
	Store string // "" means the usual place
	// Limits are those of files, each NAME=SIZE.
	Limits []string
}

// Drive is what commands take that drive a run.
type Drive struct {
	TakeOver bool // resume
	// DeathLimit is how many processes may die in a row over the same attempt before it fails; 0 means the usual 3.
	DeathLimit int
}

// Check refuses numbers.
func (d *Drive) Check() error {
	if d.DeathLimit < 0 {
		return Errorf("--death-limit %d is below 1", d.DeathLimit)
	}
	return nil
}

// Given are the flags that give values to a run, in their order.
type Given struct {
	Inputs   []string
	Vars     []string
	VarFiles []string
	EnvFiles []string
}

// Apply is what apply takes.
type Apply struct {
	Global
	Path     string
	Workflow string // "" means the only one, or the default
	Given
	Parallel int // 0 means what the workflow says
	Targets  []string
	JSON     bool
	Drive
}

// Plan is what plan takes.
type Plan struct {
	Apply
	DetailedExit bool
}

// Fmt is what fmt takes.
type Fmt struct {
	Global
	Paths []string // "-" alone means standard input
	Check bool     // name what would change
	Diff  bool     // show what would change
}

// Verify refuses standard input beside files.
func (f *Fmt) Verify() error {
	for _, p := range f.Paths {
		if p == "-" && len(f.Paths) > 1 {
			return &Error{"- stands beside other paths", "Standard input is laid out alone: flowrun fmt - < FILE."}
		}
	}
	return nil
}

// Graph is what graph takes.
type Graph struct {
	Global
	Path     string // "" only with Run
	Workflow string // "" means the only one, or the default
	Format   string // svg | mermaid | dot | json
	Run      string // "" means no run
}

// Check refuses formats, and nothing to draw.
func (g *Graph) Check() error {
	if g.Path == "" && g.Run == "" {
		return &Error{"something is missing: flowrun graph FILE|DIR|RUN [WORKFLOW]", "See flowrun graph --help."}
	}
	return OneOf("--format", g.Format, "svg", "mermaid", "dot", "json")
}

// Runs is what runs list, show and logs, resume and cancel take.
type Runs struct {
	Global
	Run    string // an id, a unique prefix, a workflow's name or "latest"
	Step   string // logs
	JSON   bool
	Limit  int    // list: at most so many; 0 means all
	Reason string // cancel
	Given         // resume
	Drive
}

// Error is a wrong use of the command line.
type Error struct {
	Message string
	Hint    string // what to do, or ""
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "\n" + e.Hint
}

// Errorf makes an Error.
func Errorf(format string, a ...any) error { return &Error{Message: fmt.Sprintf(format, a...)} }

// MaxFile bounds what @file and standard input may hold as a value, in bytes.
const MaxFile = 1 << 20

// MaxVarFile bounds a file of variables, in bytes.
const MaxVarFile = 16 << 20

// World is how values are read from elsewhere.
type World struct {
	Stdin io.Reader
	// ReadFile reads at most so many bytes of a file, which may be a pipe or a device without end.
	ReadFile func(name string, most int64) ([]byte, error)
	Getenv   func(string) string
}

// Pair is one name=value, with what @file and - stand for already read.
type Pair struct {
	Name, Text string
	From       string // the flag, and " @FILE" where the value was read from a file
}

// IsText refuses what is not UTF-8: a journal could not give it back as it was.
func IsText(what, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return Errorf("%s is not UTF-8 text", what)
}

// Pairs reads the values of a flag. A text "@name" is the content of a file, "-" that of standard input (for one pair at
// most), "@@x" the text "@x". A name that stands twice is an error.
func Pairs(flag string, given []string, w World) ([]Pair, error) {
	var out []Pair
	seen, stdin := map[string]bool{}, false
	for _, g := range given {
		name, text, ok := strings.Cut(g, "=")
		if !ok || name == "" {
			return nil, &Error{fmt.Sprintf("%s %q is not of the form name=value", flag, g), "Write " + flag + " name=value."}
		}
		if seen[name] {
			return nil, Errorf("%s gives %q twice", flag, name)
		}
		seen[name] = true
		from := flag
		switch {
		case text == "-":
			if stdin {
				return nil, Errorf("%s reads standard input twice", flag)
			}
			stdin = true
			b, err := io.ReadAll(io.LimitReader(w.Stdin, MaxFile+1))
			if err != nil {
				return nil, fmt.Errorf("reading standard input for %s %s: %w", flag, name, err)
			}
			text = string(b)
		case strings.HasPrefix(text, "@@"):
			text = text[1:]
		case text == "@":
			return nil, &Error{fmt.Sprintf("%s %s: no file is named behind the @", flag, name),
				"Write " + flag + " " + name + "=@FILE, or @@ for the character itself."}
		case strings.HasPrefix(text, "@"):
			b, err := w.ReadFile(text[1:], MaxFile+1)
			if err != nil {
				return nil, Errorf("%s %s: %v", flag, name, err)
			}
			from, text = flag+" "+text, string(b)
		}
		if len(text) > MaxFile {
			return nil, Errorf("%s %s is larger than %d bytes", flag, name, MaxFile)
		}
		if err := IsText(flag+" "+name, text); err != nil {
			return nil, err
		}
		out = append(out, Pair{name, text, from})
	}
	return out, nil
}

// OneOf checks a flag with few values.
func OneOf(flag, given string, allowed ...string) error {
	for _, a := range allowed {
		if given == a {
			return nil
		}
	}
	return Errorf("%s %q is not known: one of %s", flag, given, strings.Join(allowed, ", "))
}

// Check refuses numbers and texts.
func (r *Runs) Check() error {
	if r.Limit < 0 {
		return Errorf("--limit %d is below 0", r.Limit)
	}
	if err := IsText("--reason", r.Reason); err != nil {
		return err
	}
	return r.Drive.Check()
}

// MaxParallel bounds --parallel, as the machine bounds max_concurrency.
const MaxParallel = 10_000

// Check refuses numbers.
func (o *Apply) Check() error {
	if o.Parallel < 0 || o.Parallel > MaxParallel {
		return Errorf("--parallel %d is not between 1 and %d", o.Parallel, MaxParallel)
	}
	return o.Drive.Check()
}
