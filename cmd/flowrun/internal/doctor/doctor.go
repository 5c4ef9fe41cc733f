// Package doctor looks whether everything that runs need is in order: the store and its disk, the clock, the shells, the memory, and the
// programs that workflows and agents start. Each finding has the advice that mends it.
//
// It changes nothing and creates no store. It knows the commands of flowrun by their names, because advice is what to type; it knows no
// flags of a command. Enter at [Doctor.Examine]; [WayOut] gives the same advice for an error.
package doctor

import (
	"fmt"
	"math"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/value"
)

// Limits; doctor reports a value that exceeds its limit.
const (
	MinFree   = 100 << 20       // bytes free on the disk of the store
	MaxAhead  = 5 * time.Minute // how far a run may seem to have started in the future
	clockFrom = "2026-01-01T00:00:00Z"
)

// Doctor says where to look. All fields but Newest must be set.
type Doctor struct {
	Release string // of this program, in a line
	Getenv  func(name string) string
	StoreOf func(path string) (dir string, err error) // the folder of the store of the program at a path
	// FlagsFor returns what must follow a command so that it finds the store in a folder.
	FlagsFor func(dir string) string
	Load     func(path string) (*dsl.Program, diag.List)
	Screen   *ui.Term
	// Tools asks an MCP server of an agent for descriptions of its tools. server is the name of a server block; "": the agent is of type mcp.
	Tools  func(path, agent, server string) ([]value.Value, error)
	Newest int // the number of runs with a journal that is read; 0 means all
}

// Examine looks at everything, for the program at a path.
func (d *Doctor) Examine(path string) (found []ui.Finding) {
	for _, about := range []func(string) []ui.Finding{d.aboutRelease, aboutRepository, d.aboutStore, d.aboutMemory, aboutClock, d.aboutShells, aboutResources,
		d.aboutPrograms, d.aboutTerminal} {
		found = append(found, about(path)...)
	}
	return found
}

// ExamineMemory looks at the memory in a folder, and names all that it lost.
func (d *Doctor) ExamineMemory(dir string) []ui.Finding { return d.aboutMemoryIn(dir, math.MaxInt) }

func fine(name, text string) ui.Finding { return ui.Finding{Name: name, Level: ui.Fine, Text: text} }

func odd(name, text, fix string) ui.Finding {
	return ui.Finding{Name: name, Level: ui.Odd, Text: text, Fix: fix}
}

func wrong(name, text, fix string) ui.Finding {
	return ui.Finding{Name: name, Level: ui.Wrong, Text: text, Fix: fix}
}

func (d *Doctor) aboutRelease(string) []ui.Finding {
	return []ui.Finding{fine("release", d.Release)}
}

func aboutRepository(path string) []ui.Finding {
	dir, err := disk.Folder(path)
	if err != nil {
		return []ui.Finding{wrong("repository", err.Error(), "Change to a folder that exists.")}
	}
	if root := disk.Repository(dir); root != "" {
		return []ui.Finding{fine("repository", root)}
	}
	return []ui.Finding{odd("repository", "there is none around "+dir,
		"So runs are kept beside the file. In a repository (git init) they are kept at its root.")}
}

// aboutClock reports a clock that cannot be right.
func aboutClock(string) []ui.Finding {
	now := time.Now()
	if from, _ := time.Parse(time.RFC3339, clockFrom); now.Before(from) {
		return []ui.Finding{wrong("clock", "it says "+now.UTC().Format(time.RFC3339)+", which is before this release was made", "Set the clock.")}
	}
	zone, _ := now.Zone()
	return []ui.Finding{fine("clock", now.UTC().Format(time.RFC3339)+", time zone "+zone)}
}

func (d *Doctor) aboutTerminal(string) []ui.Finding {
	text := "standard output is not a terminal: progress is written in lines"
	if d.Screen.Live {
		columns, rows := d.Screen.Size()
		text = fmt.Sprintf("%d columns, %d rows", columns, rows)
	}
	if d.Screen.Color {
		text += ", in colour"
	}
	return []ui.Finding{fine("terminal", text)}
}
