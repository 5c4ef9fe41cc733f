package web

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/runner/view"
)

const (
	// maxExported bounds the rows of an exported file.
	maxExported = 5000
	// maxStories bounds the failed nodes that it shows with their attempts.
	maxStories = 50
)

// exported is what a file shows of a run.
type exported struct {
	runPage
	Stories []view.StoryDoc
	Now     time.Time
	CSS     template.CSS
}

// Export draws a run into one file, for somebody without flowrun: the nodes, the graph, the timeline, each failed node with its attempts, and the
// definition. The file has no scripts and loads nothing. The error is a *serve.Failure.
func Export(ctx context.Context, s *serve.Server, run string) ([]byte, error) {
	p := New(s).(*Pages)
	r, err := http.NewRequestWithContext(ctx, "GET", "/", nil)
	if err != nil {
		return nil, err
	}
	doc, err := get[view.Document](p, r, "/runs/%s", run)
	if err != nil {
		return nil, err
	}
	d := exported{runPage: runPage{Document: &doc, Ended: doc.Status.Terminal()}, Now: p.now()}
	d.CSS = template.CSS(string(p.assets["app.css"].body) + string(p.assets["graph.css"].body)) // our own
	roots, byPath := grow(doc.Nodes)
	d.Tally = tallyOf(roots)
	d.Failures, d.More = failures(doc.Nodes, byPath)
	d.Rows = rowsUpTo(roots, maxExported, maxExported)
	if d.Timeline, err = p.readTimeline(r, run, 0, 0, false); err != nil {
		return nil, err
	}
	if d.Graph, err = p.drawGraph(r, run, func(string) string { return "" }); err != nil {
		d.NoGraph = err.Error()
	}
	for _, n := range d.Failures[:min(len(d.Failures), maxStories)] {
		story, err := get[view.StoryDoc](p, r, "/runs/%s/node?path=%s", run, n.ID)
		if err != nil {
			return nil, err
		}
		d.Stories = append(d.Stories, story)
	}
	if d.Files, err = p.files(r, run); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := p.templates["export"].ExecuteTemplate(&out, "export.html", d); err != nil {
		return nil, fmt.Errorf("drawing run %s: %w", run, err)
	}
	return out.Bytes(), nil
}
