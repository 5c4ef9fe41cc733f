package app

import (
	"context"
	"io"
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
	f.StringVar(&e.ID, "id", "", "its `id` (default: one is made)")
	f.StringVar(&e.Agent, "agent", "", "whose it is, by `name`: only this agent sees it (default: everybody does)")
	f.StringVar(&e.Type, "type", "", "what `kind` it is: success, failure, insight, pattern, note, decision, message or summary (default note; with --lesson insight)")
	f.StringVar(&e.Context, "context", "", "where it was learned, a `text`")
	f.StringVar(&e.Observation, "observation", "", "what was seen, a `text`")
	f.StringVar(&e.Lesson, "lesson", "", "what follows from it, a `text`")
	f.StringVar(&e.Session, "session", "", "the conversation or piece of work that it belongs to")
	f.StringArrayVar(&e.Tags, "tag", nil, "a `tag`; can be repeated")
	f.Float64Var(&e.Importance, "importance", 0, "from 0 to 1 (default: by its kind)")
	f.BoolVar(&e.JSON, "json", false, "as JSON")
	embedderFlags(c, &e.Embedder)
}

func (a *app) newMemoryAddCommand() *cobra.Command {
	var e args.MemoryEntry
	c := &cobra.Command{
		Use: "add [TEXT]", Short: "Remember something", Args: between(0, 1000, "[TEXT]"),
		Long: `add remembers a text, or what --context, --observation and --lesson say, and prints its id. TEXT may be - for standard input. A learning
that was written before, word for word, is counted once more instead.`,
		RunE: func(_ *cobra.Command, words []string) error {
			if err := a.typed(&e, words); err != nil {
				return err
			}
			return a.onMemory(toMake, &e.Embedder, func(ctx context.Context, m *memory.Memory) error {
				added, err := m.Add(ctx, a.entryOf(&e))
				if err != nil {
					return err
				}
				ui.Added(a.out, a.err, addedOf(&added[0]), e.JSON)
				return nil
			})
		},
	}
	entryFlags(c, &e)
	return c
}

func addedOf(d *memory.Added) ui.AddedMemory {
	return ui.AddedMemory{ID: d.ID, Known: d.Known, Repeat: d.Repeat, Recalled: d.Recalled, Linked: d.Linked, Consolidated: d.Consolidated}
}

// typed takes the text of an entry from the command line or standard input, and checks the entry.
func (a *app) typed(e *args.MemoryEntry, words []string) error {
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

// entryOf returns the entry that the flags describe.
func (a *app) entryOf(e *args.MemoryEntry) entry.Entry {
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

func (a *app) newMemorySupersedeCommand() *cobra.Command {
	var e args.MemoryEntry
	c := &cobra.Command{
		Use: "supersede ID… TEXT", Short: "Say something better in place of entries", Args: between(1, 1000, "ID… TEXT"),
		Long: `supersede writes a new entry that stands for others, and prints its id. The others are hidden, unless --all asks for them, and are never
removed. The last word is the text of the new one (-: standard input), unless --lesson, --observation or --context say what it says.`,
		RunE: func(_ *cobra.Command, words []string) error {
			ids := words
			var text []string
			if !e.Described() {
				ids, text = words[:len(words)-1], words[len(words)-1:]
			}
			if len(ids) == 0 {
				return &args.Error{Message: "which entry, and by what?", Hint: "Write the ids and then the new text, or give the text as --lesson."}
			}
			if err := a.typed(&e, text); err != nil {
				return err
			}
			return a.onMemory(toChange, &e.Embedder, func(ctx context.Context, m *memory.Memory) error {
				ids, err := wholeIDs(ctx, m, ids)
				if err != nil {
					return err
				}
				by, err := a.inPlaceOf(ctx, m, ids[0], &e)
				if err != nil {
					return err
				}
				id, err := m.Supersede(ctx, ids, by, a.person())
				if err != nil {
					return err
				}
				ui.Added(a.out, a.err, ui.AddedMemory{ID: id, Supersedes: ids}, e.JSON)
				return nil
			})
		},
		ValidArgsFunction: a.completeIDs,
	}
	entryFlags(c, &e)
	return c
}

// inPlaceOf returns the entry that the flags describe. Fields without a flag are taken from the
// entry that it replaces.
func (a *app) inPlaceOf(ctx context.Context, m *memory.Memory, old string, e *args.MemoryEntry) (entry.Entry, error) {
	was, _, err := m.Show(ctx, old)
	by := a.entryOf(e)
	if e.Agent == "" {
		by.Agent, by.Scope = was.Agent, was.Scope
	}
	if e.Type == "" {
		by.Type = was.Type
	}
	if len(e.Tags) == 0 {
		by.Tags = was.Tags
	}
	if e.Importance == 0 {
		by.Importance = was.Importance
	}
	return by, err
}
