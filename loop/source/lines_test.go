package source

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// both gives a source of each kind that answers with a text; asked has the questions.
func both(b *bench, status int, text string) (sources map[ir.SourceKind]map[string]value.Value, asked func() string) {
	b.t.Helper()
	b.write("answer", text)
	_ = os.Remove(b.dir + "/asked")
	program := b.write("tracker", fmt.Sprintf("#!/bin/sh\ncat >> asked\ncat answer\nexit %d\n", status/300))
	if err := os.Chmod(program, 0o755); err != nil {
		b.t.Fatal(err)
	}
	var bodies strings.Builder
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" || r.Header.Get("X-Key") != "k" {
			b.t.Errorf("%s with %v", r.Method, r.Header)
		}
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		bodies.Write(body)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	b.t.Cleanup(s.Close)
	return map[ir.SourceKind]map[string]value.Value{
			ir.SourceExec: {"command": []any{"./tracker"}},
			ir.SourceHTTP: {"url": s.URL, "headers": map[string]any{"X-Key": "k"}},
		}, func() string {
			if bodies.Len() > 0 {
				return bodies.String()
			}
			return b.read("asked")
		}
}

// Programs and services answer lists with a line for each item, with an array, or with an object of items.
func TestLinesList(t *testing.T) {
	for _, text := range []string{
		`{"id": 1, "title": "one", "labels": ["bug"], "priority": 2, "created_at": "2026-01-01T00:00:00Z"}` + "\n\n" + `{"id": "b", "title": "two", "needs": [1]}` + "\n",
		`[{"id": 1, "title": "one", "priority": 2}, {"id": "b", "title": "two", "needs": ["1"]}]`,
		`{"items": [{"id": "1", "title": "one", "priority": 2}, {"id": "b", "title": "two", "needs": ["1"]}]}`,
	} {
		b := newBench(t)
		sources, asked := both(b, 200, text)
		for kind, config := range sources {
			items := b.items(event.SourceRequest{Kind: kind, Config: config})
			if len(items) != 2 || said(items) != "one; two needs [1]" || items[0].ID != "1" || items[0].Priority != 2 {
				t.Errorf("%s: %+v", kind, items)
			}
			if d := cmp.Diff(`{"agent":"sam","idempotency_key":"key","loop":"l","protocol":"flowrun-source/1","source":"work","verb":"list"}`+"\n", asked()); d != "" {
				t.Errorf("%s: %s", kind, d)
			}
		}
	}
}

func TestLinesVerbs(t *testing.T) {
	for _, c := range []struct {
		verb   event.SourceVerb
		answer string
		want   map[string]any
	}{
		{event.SourceLook, `{"ok": true, "closed": false}`, map[string]any{"ok": true, "closed": false, "why": ""}},
		{event.SourceLook, ``, map[string]any{"ok": true, "closed": false, "why": ""}},
		{event.SourceLook, `{"closed": true}`, map[string]any{"ok": false, "closed": true, "why": "the source says that it is closed"}},
		{event.SourceTake, `{"ok": true}`, map[string]any{"ok": true, "closed": false, "why": ""}},
		{event.SourceTake, `{"ok": false, "why": "Leo has it"}`, map[string]any{"ok": false, "closed": false, "why": "Leo has it"}},
		{event.SourceReport, `{"ok": true}`, map[string]any{"ok": true, "closed": true, "why": ""}},
		{event.SourceReport, `{"closed": true}`, map[string]any{"ok": true, "closed": true, "why": "", "gone": true}},
		{event.SourceCreate, `{"id": 77}`, map[string]any{"id": "77", "duplicate": false}},
	} {
		b := newBench(t)
		sources, asked := both(b, 200, c.answer)
		for kind, config := range sources {
			r := event.SourceRequest{Kind: kind, Source: string(kind), Verb: c.verb, Config: config, Item: &event.Item{ID: "1", Title: "one"},
				Outcome: &event.ItemOutcome{Status: event.ItemClosed, Message: "done", Run: "r1"}}
			r.Token = b.claim(r.Source, "1")
			if d := cmp.Diff(c.want, b.output(r)); d != "" {
				t.Errorf("%s %s %s: %s", kind, c.verb, c.answer, d)
			}
			for _, part := range []string{`"verb":"` + string(c.verb) + `"`, `"token":1`, `"agent":"sam"`, `"outcome":{"message":"done","run":"r1","status":"closed"}`, `"id":"1"`, `"idempotency_key":"key"`} {
				q, more, _ := strings.Cut(asked(), "\n")
				if looks := strings.Contains(more, `"verb":"look"`) && strings.Contains(more, `"key-after"`); !strings.Contains(q, part) || looks != (c.verb == event.SourceReport) || looks != (more != "") {
					t.Errorf("%s %s asked %q, without %s", kind, c.verb, q, part)
				}
			}
		}
	}
}

// What a source says of an error reaches the machine; what is not an answer is an error.
func TestLinesErrors(t *testing.T) {
	for _, c := range []struct {
		status int
		answer string
		kind   event.ErrorKind
		want   string
		after  float64
	}{
		{200, `{"error": "the tracker is away", "kind": "blocking", "retry_after": "90s"}`, event.Blocking, "the tracker is away", 90},
		{200, `{"error": "try later", "retry_after": 5}`, event.Transient, "try later", 5},
		{200, `not JSON`, event.Blocking, "line 1 of the answer", 0},
		{200, `7`, event.Blocking, "not a JSON object", 0},
		{200, `{"title": "no id"}`, event.Blocking, "needs id and title", 0},
		{500, `broken`, event.Transient, "", 0},
	} {
		b := newBench(t)
		sources, _ := both(b, c.status, c.answer)
		for kind, config := range sources {
			e := b.answer(event.SourceRequest{Kind: kind, Verb: event.SourceList, Config: config}).Error
			if e == nil || e.Kind != c.kind && c.status == 200 || !strings.Contains(e.Message, c.want) || e.RetryAfter != c.after {
				t.Errorf("%s %q: %+v", kind, c.answer, e)
			}
		}
	}
	b := newBench(t)
	for _, r := range []event.SourceRequest{{Kind: ir.SourceExec, Verb: event.SourceList}, {Kind: ir.SourceHTTP, Verb: event.SourceList}, {Kind: ir.SourceDispatch, Verb: event.SourceList},
		{Kind: ir.SourceExec, Verb: event.SourceLook}} {
		if e := b.answer(r).Error; e == nil || e.Kind == event.Transient {
			t.Errorf("%+v: %+v", r, e)
		}
	}
	// A program that fails may say why in its own words.
	sources, _ := both(b, 500, `{"error": "no such project", "kind": "fatal"}`)
	if e := b.answer(event.SourceRequest{Kind: ir.SourceExec, Verb: event.SourceList, Config: sources[ir.SourceExec]}).Error; e == nil || e.Kind != event.Fatal || e.Message != "no such project" {
		t.Errorf("%+v", e)
	}
}
