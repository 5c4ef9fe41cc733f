package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

// MaxTyped bounds an entry that is read from standard input, in bytes.
const MaxTyped = 1 << 20

// entryFlags declares the flags that describe an entry.
func entryFlags(c *cobra.Command, e *args.MemoryEntry) {
	f := c.Flags()
	f.StringVar(&e.ID, "id", "", "the `id` of the entry (default: a new one)")
	f.StringVar(&e.Agent, "agent", "", "the `name` of the only agent that sees the entry (default: all agents see it)")
	f.StringVar(&e.Type, "type", "", "the `kind` of the entry: success, failure, insight, pattern, note, decision, message or summary (default note; with --lesson insight)")
	f.StringVar(&e.Context, "context", "", "the `text` of the context in which it was learned")
	f.StringVar(&e.Observation, "observation", "", "the `text` of the observation")
	f.StringVar(&e.Lesson, "lesson", "", "the `text` of the lesson")
	f.StringVar(&e.Session, "session", "", "the conversation or piece of work of the entry")
	f.StringArrayVar(&e.Tags, "tag", nil, "a `tag`; can be repeated")
	f.Float64Var(&e.Importance, "importance", 0, "from 0 to 1 (default: by its kind)")
	f.BoolVar(&e.JSON, "json", false, "as JSON")
	embedderFlags(c, &e.Embedder)
}

// readEntry takes the text of an entry from the command line or standard input, and checks the entry.
func (a *app) readEntry(e *args.MemoryEntry, words []string) error {
	e.Text = strings.Join(words, " ")
	if e.Text == stdinName {
		text, err := io.ReadAll(io.LimitReader(a.Stdin, MaxTyped+1))
		if err != nil {
			return err
		}
		if len(text) > MaxTyped {
			return args.Errorf("standard input has more than %d bytes", MaxTyped)
		}
		e.Text = string(text)
	}
	return e.Check()
}

// newEntry returns the entry that the flags describe.
func (a *app) newEntry(e *args.MemoryEntry) entry.Entry {
	kind := entry.Type(e.Type)
	switch {
	case kind == "" && e.Lesson != "":
		kind = entry.Insight
	case kind == "":
		kind = entry.Note
	}
	out := entry.Entry{ID: e.ID, Agent: e.Agent, Type: kind, Text: e.Text, Context: e.Context, Observation: e.Observation, Lesson: e.Lesson,
		Tags: e.Tags, Importance: e.Importance, Session: e.Session, By: a.person()}
	if e.Agent != "" {
		out.Scope = entry.OfAgent(e.Agent)
	}
	return out
}

func newAddedMemory(d *memory.Added) ui.AddedMemory {
	return ui.AddedMemory{ID: d.ID, Known: d.Known, Repeat: d.Repeat, Recalled: d.Recalled, Linked: d.Linked, Consolidated: d.Consolidated}
}

// stdinName is the name of standard input on the command line.
const stdinName = "-"

// openInput opens a file to be read, or standard input for "-". It returns the size in bytes if the
// size is known. A read that blocks is abandoned when ctx ends.
func (a *app) openInput(ctx context.Context, name string) (io.ReadCloser, int64, error) {
	if name == stdinName {
		return untilDone(ctx, a.Stdin), 0, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder: name a file of JSON lines", name)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return untilDone(ctx, f), 0, nil
	}
	return f, info.Size(), nil
}

// untilDone reads until ctx ends, even if the reader blocks: Ctrl-C must not wait for a newline.
func untilDone(ctx context.Context, r io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { out.CloseWithError(ctx.Err()) })
	return out
}

// inputName returns the name of an input in messages.
func inputName(name string) string {
	if name == stdinName {
		return "standard input"
	}
	return name
}
