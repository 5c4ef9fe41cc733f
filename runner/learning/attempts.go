package learning

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/recall"
)

// attempts is a memory as executors see it.
type attempts struct {
	*memory.Memory
	refresh time.Duration         // how long working memory lasts
	settle  func(context.Context) // waits until the memory has learned from the earlier tasks of the tree
}

// maxSettle is how long an attempt waits until the memory has learned from the earlier tasks of its tree.
const maxSettle = 5 * time.Second

func (a attempts) waitForEarlier(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, maxSettle)
	defer done()
	a.settle(ctx)
}

var _ recall.Memory = attempts{}

// viewerOf says which entries an agent in a run sees.
func viewerOf(w recall.Who) memory.Viewer {
	v := memory.Viewer{Scopes: []entry.Scope{entry.OfRun(w.Run)}}
	if w.Agent != "" {
		v.Scopes = append(v.Scopes, entry.OfAgent(w.Agent))
	}
	for _, g := range w.Groups {
		v.Scopes = append(v.Scopes, entry.OfGroup(g))
	}
	return v
}

// sourceOf says who writes or uses an entry: an agent of the file, or flowrun itself.
func sourceOf(w recall.Who, what string) entry.Source {
	s := entry.Source{Run: w.Run, Step: w.Step, Source: what, Author: "flowrun", Trust: entry.ByRule}
	if w.Agent != "" {
		s.Author = "agent:" + w.Agent
	}
	return s
}

// Recall implements recall.Memory.
func (a attempts) Recall(ctx context.Context, q recall.Ask) (recall.Found, error) {
	a.waitForEarlier(ctx)
	a.archiveOld(ctx, q.Run)
	got, err := a.Memory.Recall(ctx, memory.Ask{Task: q.Task, Viewer: viewerOf(q.Who), Session: q.Run, Budget: q.Budget, Most: q.Most, Use: sourceOf(q.Who, "recall")})
	if err != nil {
		return recall.Found{}, err
	}
	out := recall.Found{Text: got.Text}
	for _, h := range got.Hits {
		out.Entries = append(out.Entries, event.Recalled{ID: h.ID, Type: string(h.Kind()), Tags: h.Tags, Score: roundScore(h.Score)})
	}
	return out, nil
}

// archiveOld archives the working memory of a run once it is older than the program wants it.
func (a attempts) archiveOld(ctx context.Context, run string) {
	notes, err := a.Working(ctx, run)
	if err != nil || len(notes) == 0 || time.Since(notes[0].CreatedAt) < a.refresh {
		return // the recall that follows reports an error of the memory
	}
	_ = a.Archive(ctx, run, entry.Source{Run: run, Source: "working.refresh", Author: "flowrun", Trust: entry.ByRule})
}

// roundScore cuts a score to four decimals: that is enough for a person to compare entries.
func roundScore(f float64) float64 { return float64(int(float64(f*10_000)+.5)) / 10_000 }

// Search implements recall.Memory.
func (a attempts) Search(ctx context.Context, q recall.Search) (recall.Result, error) {
	a.waitForEarlier(ctx)
	hits, err := a.Memory.Search(ctx, memory.Query{Text: q.Query, K: q.K, Viewer: viewerOf(q.Who), Agent: q.Agent, Type: entry.Type(q.Type), Tag: strings.ToLower(q.Tag)})
	if err != nil {
		return recall.Result{}, err
	}
	out := recall.Result{Text: memory.Fence(hits, q.Budget)}
	for _, h := range hits {
		tags := make([]any, len(h.Tags))
		for i, t := range h.Tags {
			tags[i] = t
		}
		out.Items = append(out.Items, map[string]any{"id": h.ID, "type": string(h.Kind()), "agent": h.Agent, "text": h.Text, "lesson": h.Lesson, "tags": tags,
			"created_at": event.At(h.CreatedAt).String(), "score": roundScore(h.Score)})
	}
	return out, nil
}

// Remember implements recall.Memory. The key makes the id of the entry; the first entry of a key stays.
func (a attempts) Remember(ctx context.Context, e recall.Entry) (id string, known bool, err error) {
	w := entry.Entry{ID: learn.ID("key", e.Key), Agent: e.Agent, Type: entry.Type(e.Type), Text: e.Text, Context: e.Context, Observation: e.Observation,
		Lesson: e.Lesson, Tags: e.Tags, Importance: e.Importance, Scope: entry.Scope(e.Scope), By: sourceOf(e.Who, "remember")}
	if e.Scope == "run" {
		w.Scope = entry.OfRun(e.Run)
	}
	if e.Note {
		w.ID, w.Working, w.Session, w.Scope = learn.ID("note", e.Key, e.Type, e.Text, e.Lesson), true, e.Run, entry.OfRun(e.Run)
		if w.By.Source, w.By.Trust = "note", entry.Untrusted; e.Trusted {
			w.By.Trust = entry.ByAgent
		}
	}
	added, err := a.Add(ctx, w)
	switch {
	case errors.Is(err, memory.ErrExists):
		return w.ID, true, nil
	case err != nil:
		return "", false, err
	}
	if added[0].Recalled {
		return "", false, fmt.Errorf("what was recalled is not remembered again")
	}
	return added[0].ID, added[0].Known || added[0].Repeat, nil
}
