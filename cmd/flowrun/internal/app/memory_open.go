package app

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	memories "github.com/flowrun/flowrun/memory/store"
	"github.com/flowrun/flowrun/runner/learning"
)

// embedderFlags declares the flags of the commands that make vectors.
func embedderFlags(c *cobra.Command, e *args.Embedder) {
	f := c.Flags()
	f.StringVar(&e.Name, "embedder", "", "the `embedder` of texts: default (offline), openai, ollama, or none (search by words only)")
	f.StringVar(&e.Model, "embedder-model", "", "the `model` of openai or ollama")
	f.StringVar(&e.URL, "embedder-url", "", "the base `URL` of openai, of a compatible server, or of ollama")
	f.StringVar(&e.KeyEnv, "embedder-key-env", "", "the environment `variable` that holds the key")
}

// whichFlags declares the flags of the commands that look at many entries.
func whichFlags(c *cobra.Command, w *args.Which) {
	f := c.Flags()
	f.StringVar(&w.Agent, "agent", "", "only entries that the agent of this `name` sees: its own and shared ones")
	f.StringVar(&w.Type, "type", "", "only entries of this `kind`: success, failure, insight, pattern, note, decision, message or summary")
	f.StringVar(&w.Tag, "tag", "", "only entries with this `tag`")
	f.StringVar(&w.Since, "since", "", "only entries since this `age` or date: 30d, 12h, 2026-11-02")
	f.BoolVar(&w.All, "all", false, "also superseded and archived entries")
}

// viewer returns the reader of entries: the named agent, or a person, who sees everything.
func viewer(agent string) memory.Viewer {
	if agent == "" {
		return memory.Viewer{All: true}
	}
	return memory.Viewer{Scopes: []entry.Scope{entry.OfAgent(agent)}}
}

// The ways in which a command opens the memory.
type opening int

const (
	toRead   opening = iota // fails where there is none, and writes nothing
	toChange                // fails where there is none, and writes: entries, or vectors
	toMake                  // makes it where there is none
)

// openMemory opens the memory, and returns its folder. With e nil no text gets a vector.
func (a *app) openMemory(how opening, e *args.Embedder) (*memory.Memory, string, error) {
	dir, says, err := a.memoryPlace()
	if err != nil {
		return nil, dir, err
	}
	if how != toMake && !memories.Exists(dir) {
		return nil, dir, noMemory(dir)
	}
	switch {
	case e == nil:
		says.Embedder = &ir.Embedder{Provider: "none"}
	case e.Name != "":
		says.Embedder = &ir.Embedder{Provider: e.Name, Model: e.Model, BaseURL: e.URL, KeyEnv: e.KeyEnv}
	}
	o, err := learning.Options(&says)
	if err != nil {
		return nil, dir, &args.Error{Message: err.Error()}
	}
	o.ReadOnly, o.Warn = how == toRead, func(text string) { a.err.Printf("flowrun: %s\n", ui.CleanLines(text)) }
	m, err := memory.Open(dir, o)
	if errors.Is(err, memories.ErrNoStore) {
		err = noMemory(dir)
	}
	return m, dir, err
}

// memoryPlace returns the folder and the settings of the memory; --file's program gives the
// settings, if the flag is given.
func (a *app) memoryPlace() (dir string, says ir.Memory, err error) {
	dir, err = a.storeDir(a.memoryFile)
	if err != nil || a.memoryFile == "" {
		return dir, says, err
	}
	p, err := a.loadProgram(a.memoryFile)
	if err != nil {
		return dir, says, err
	}
	if p.ir.Memory != nil {
		says = *p.ir.Memory
	}
	if a.global.Store == "" {
		dir = learning.Dir(&says, dir, p.dir)
	}
	return dir, says, nil
}

// noMemory explains how a memory is created.
func noMemory(dir string) error {
	return fmt.Errorf("there is no memory in %s yet\nCreate one: flowrun memory import FILE.jsonl, or flowrun memory add TEXT.", dir)
}

// onMemory opens the memory, calls do, and closes the memory. A signal cancels the context of do.
func (a *app) onMemory(how opening, e *args.Embedder, do func(context.Context, *memory.Memory) error) error {
	m, _, err := a.openMemory(how, e)
	if err != nil {
		return err
	}
	ctx, release := process.UntilSignalLooking()
	defer release()
	err = errors.Join(do(ctx, m), m.Close())
	return memoryEnded(ctx, err)
}

// memoryEnded returns the exit code of a signal if the signal caused the error.
func memoryEnded(ctx context.Context, err error) error {
	var stop *process.Interrupted
	if err != nil && errors.As(context.Cause(ctx), &stop) {
		return &ended{process.SignalCode(stop.Signal)}
	}
	return refuseMemory(err)
}

// refuseMemory turns an input that the memory refuses into an error of usage: an unknown entry, a text
// that cannot be kept.
func refuseMemory(err error) error {
	switch {
	case errors.Is(err, memory.ErrNoEntry):
		return &args.Error{Message: plainMessage(err), Hint: "See flowrun memory list --all."}
	case errors.Is(err, memory.ErrExists), errors.Is(err, memory.ErrBad), errors.Is(err, memory.ErrNotAllowed):
		return &args.Error{Message: plainMessage(err)}
	}
	return err
}

// plainMessage returns the message of an error without the prefix that names its kind.
func plainMessage(err error) string {
	return strings.Replace(err.Error(), memory.ErrBad.Error()+": ", "", 1)
}

// person returns the source of an entry that somebody makes at the command line.
func (a *app) person() entry.Source {
	name := a.getenv("USER")
	if name == "" {
		name = "unknown"
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	return entry.Source{Source: "cli", Author: "user:" + name, Trust: entry.ByPerson}
}

// present is the time, for flags that count back from it and for ages.
func present() time.Time { return time.Now().UTC() }
