package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/loop/backlog"
)

func (a *app) newBacklogListCommand() *cobra.Command {
	var r args.BacklogList
	c := &cobra.Command{
		Use: "list", Short: "List the items of a file", Args: between(0, 0, ""),
		Long: `list prints the items of a Markdown or JSONL file in the order of the file.

In Markdown an item is a task ("- [ ] text"), a bullet that begins or ends with the emoji of a status, a bullet that begins with a word such
as TODO or DONE, a bullet below a heading that is a status ("## Done", "In progress:"), or a row of a table with such a column. Boxes: [ ]
todo, [/] and [~] doing, [!] blocked, [>] deferred, [?] question, [x] done, [-] cancelled; a legend in the file goes before this. Text in
code, comments, quotes and front matter is left out.

With --json it is an array of objects with line, title, status, section, parent, id, owner, priority, due, depends_on and tags. line counts
from 1. status is one of todo, doing, blocked, deferred, question, done and cancelled. section is the text of the nearest heading. parent is
the id of the item around this one. id is what the file says (#12, [ABC-12], ^id, {#id}, without these signs), or else a hash of the path,
the headings and the title. priority is a number, and a higher one goes first: P0 and critical are 3, P1 and high 2, P2 and medium 1, P3 and
normal 0, low is -1; in JSONL a number stays as it is. due is YYYY-MM-DD. depends_on has ids, or texts that are the id or title of no item.
section, parent, owner, priority and due are null if the file does not say them.`,
		RunE: func(*cobra.Command, []string) error {
			if err := r.Check(ir.Texts(backlog.Statuses)); err != nil {
				return err
			}
			return a.runBacklogList(&r)
		},
	}
	c.Flags().StringVar(&r.File, "file", "", "the `file`; - for standard input")
	c.Flags().StringSliceVar(&r.Status, "status", nil, "only items with one of these `statuses`, such as todo,doing")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runBacklogList(r *args.BacklogList) error {
	in, _, err := a.openInput(context.Background(), r.File)
	if err != nil {
		return err
	}
	defer in.Close()
	source, err := io.ReadAll(io.LimitReader(in, backlog.MaxFile+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", r.File, err)
	}
	d, err := backlog.Read(source, backlog.Options{Path: backlogListPath(r.File), Today: time.Now()})
	if err != nil {
		return err
	}
	items := []*backlog.Item{}
	for i := range d.Items {
		if len(r.Status) == 0 || slices.Contains(r.Status, string(d.Items[i].Status)) {
			items = append(items, &d.Items[i])
		}
	}
	if r.JSON {
		return ui.WriteJSON(a.out, items)
	}
	ui.Backlog(a.out, items)
	if len(items) == 0 {
		a.err.Printf("No item found in %s.\n", ui.Clean(r.File))
	}
	return nil
}

// backlogListPath is the path of a file as the ids of its items take it: from the current folder if the file lies in it.
func backlogListPath(file string) string {
	if dir, err := os.Getwd(); err == nil && filepath.IsAbs(file) {
		if rel, err := filepath.Rel(dir, file); err == nil && !strings.HasPrefix(rel, "..") {
			file = rel
		}
	}
	return filepath.ToSlash(filepath.Clean(file))
}
