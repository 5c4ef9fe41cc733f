package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// maxExplained is the number of failed runs in a list whose journals are read for the last line that the failed step wrote.
const maxExplained = 10

// listRuns prints the requested runs.
func (a *app) listRuns(r *args.List) error {
	since, err := r.Begin(time.Now())
	if err != nil {
		return err
	}
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	s, err := a.openExisting(dir, nil)
	if errors.Is(err, engine.ErrNoStore) {
		if !r.JSON {
			a.sayNoRuns(dir)
			return nil
		}
		ui.List(a.out, nil, 0, "", true)
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, limit := context.Background(), r.Limit
	if r.Filters() {
		limit = 0
	}
	infos, err := s.List(ctx, limit)
	if err != nil {
		return err
	}
	asked := map[string]bool{}
	if slices.ContainsFunc(infos, func(i engine.Info) bool { return i.Interrupted() && i.Status == event.Waiting }) {
		callers := map[string]string{}
		for i := range infos {
			callers[infos[i].Run] = infos[i].Parent
		}
		for _, q := range openAsks(s) {
			for run := q.Run; run != ""; run = callers[run] {
				asked[run] = true
			}
		}
	}
	var rows []ui.Listed
	explained := 0
	for i := range infos {
		if !since.IsZero() && infos[i].Created.Go().Before(since) {
			continue
		}
		if (r.Takes(infos[i].Workflow, string(infos[i].Status)) || infos[i].Interrupted() && r.Takes(infos[i].Workflow, view.Interrupted)) &&
			(r.Limit == 0 || len(rows) < r.Limit) {
			if r.Cause != "" {
				if kind, err := s.CauseKind(ctx, infos[i].Run); err != nil || string(kind) != r.Cause {
					continue // the cause of a run with a damaged journal is not known
				}
			}
			row := ui.NewListed(&infos[i])
			row.Begun, row.Stands = s.Glance(&infos[i])
			row.Asks = asked[row.Run] && infos[i].Interrupted()
			if row.Failure != "" && explained < maxExplained && !r.JSON {
				explained++
				if said := s.LastWords(ctx, &infos[i]); said != "" {
					row.Failure += ": " + said
				}
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 && len(infos) > 0 && !r.JSON {
		a.err.Printf("None of %s matches.\n", ui.Count(len(infos), "run"))
		return nil
	}
	if len(infos) == 0 && s.Address() == "" && !r.JSON {
		a.sayNoRuns(dir)
		return nil
	}
	ui.List(a.out, rows, event.At(time.Now()), a.sceneOf(s, nil).Flags, r.JSON)
	if s.Address() != "" && !r.JSON {
		a.sayTroubles(infos)
	}
	return nil
}

// sayNoRuns says that nothing has run in a store.
func (a *app) sayNoRuns(dir string) {
	none := a.describeNoRuns(dir)
	a.err.Printf("%s.\n", ui.Clean(strings.ToUpper(none.Message[:1])+none.Message[1:]))
	if none.Hint != "" {
		a.err.Printf("%s\n", ui.CleanLines(none.Hint))
	}
}
