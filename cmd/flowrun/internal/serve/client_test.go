package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// described is a client that knows nothing but the OpenAPI document of the server: it finds an operation by its id, builds the request as the
// document says, and refuses answers that are not as the document says.
type described struct {
	client
	schemas    *jsonschema.Compiler
	operations map[string]*operation
	called     map[string]bool
}

// operation is one of the document.
type operation struct {
	method, path string
	where        string // the JSON pointer
	OperationID  string `json:"operationId"`
	Parameters   []struct {
		Name, In string
		Required bool
		Schema   struct{ Type string }
	}
	RequestBody *struct {
		Required bool
		Content  map[string]any
	} `json:"requestBody"`
	Responses map[string]struct{ Content map[string]map[string]any }
}

const documentURL = "http://test/openapi.json"

// describe reads the document from the server.
func (c client) describe() *described {
	c.t.Helper()
	_, text := c.ask("GET", "/api/v1/openapi.json", "")
	d := &described{c, jsonschema.NewCompiler(), map[string]*operation{}, map[string]bool{}}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		d.schemas.DefaultDraft(jsonschema.Draft2020)
		d.schemas.AssertFormat()
		err = d.schemas.AddResource(documentURL, whole)
	}
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]*operation
	}
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil || doc.OpenAPI != "3.1.0" {
		c.t.Fatal(err, doc.OpenAPI)
	}
	for path, methods := range doc.Paths { // any order: it fills a map
		for method, o := range methods { // any order: likewise
			o.method, o.path = strings.ToUpper(method), path
			o.where = "/paths/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path) + "/" + method
			if d.operations[o.OperationID] != nil || o.OperationID == "" {
				c.t.Errorf("two operations have the id %q", o.OperationID)
			}
			if d.operations[o.OperationID] = o; (o.RequestBody != nil) != (method == "post") {
				c.t.Errorf("%s %s: a request with a body changes something, and is a POST", o.method, path)
			}
		}
	}
	return d
}

// check validates a value against the schema at a pointer.
func (d *described) check(what, pointer string, v any) {
	d.t.Helper()
	s, err := d.schemas.Compile(documentURL + "#" + pointer)
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		d.t.Errorf("%s: %v", what, err)
	}
}

// args are the parameters of a request, and its body, as "body".
type args map[string]any

// call carries out an operation, and returns the body of the answer. The status must be the wanted one.
func (d *described) call(id string, want int, a args) string {
	d.t.Helper()
	o := d.operations[id]
	if o == nil {
		d.t.Fatalf("the document has no operation %s", id)
	}
	d.called[id] = true
	path, query, header, a := o.path, url.Values{}, http.Header{}, maps.Clone(a)
	for _, p := range o.Parameters {
		v, given := a[p.Name]
		delete(a, p.Name)
		switch text := fmt.Sprint(v); {
		case !given && p.Required:
			d.t.Fatalf("%s needs %s", id, p.Name)
		case !given:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(text))
		case p.In == "query":
			query.Set(p.Name, text)
		case p.In == "header":
			header.Set(p.Name, text)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var send io.Reader
	if o.RequestBody != nil {
		body, err := json.Marshal(a["body"])
		if err != nil {
			d.t.Fatal(err)
		}
		sent, _ := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		d.check(id+": the request", o.where+"/requestBody/content/application~1json/schema", sent)
		send = bytes.NewReader(body)
		header.Set("Content-Type", "application/json")
		delete(a, "body")
	}
	if len(a) > 0 {
		d.t.Fatalf("%s has no parameters %v", id, a)
	}
	r, err := http.NewRequest(o.method, d.at+path, send)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header = header
	r.Header.Set("Authorization", "Bearer "+secretToken)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	if got.StatusCode != want {
		d.t.Fatalf("%s answers %d %s, want %d", id, got.StatusCode, text, want)
	}
	status := fmt.Sprint(got.StatusCode)
	if _, has := o.Responses[status]; !has {
		status = "default"
	}
	kind, _, _ := strings.Cut(got.Header.Get("Content-Type"), ";")
	described, has := o.Responses[status].Content[kind]
	if !has {
		d.t.Errorf("%s answers %s with %q, and the document has %v", id, status, kind, slices.Sorted(maps.Keys(o.Responses[status].Content)))
	}
	if described["schema"] != nil {
		answer, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			d.t.Fatalf("%s answers %.200s: %v", id, text, err)
		}
		d.check(id+": the answer "+string(text), o.where+"/responses/"+status+"/content/application~1json/schema", answer)
	}
	return string(text)
}

// has calls an operation, and looks for texts in its answer.
func (d *described) has(id string, a args, texts ...string) string {
	d.t.Helper()
	answer := d.call(id, 200, a)
	for _, text := range texts {
		if !strings.Contains(answer, text) {
			d.t.Errorf("%s answers %.2000s, without %s", id, answer, text)
		}
	}
	return answer
}

// wait waits until a run has a status.
func (d *described) wait(run, status string) {
	d.t.Helper()
	until(d.t, "the run is "+status, func() bool { return strings.Contains(d.call("getRuns", 200, args{"status": status}), `"run":"`+run) })
}

// field reads a text of an answer.
func field(t *testing.T, answer, name string) string {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(answer), &o); err != nil {
		t.Fatal(err)
	}
	text, _ := o[name].(string)
	return text
}

// learn writes entries to the memory of a store's folder.
func (d *described) learn(dir string, list ...entry.Entry) {
	d.t.Helper()
	for i := range list {
		list[i].By = entry.Source{Author: "user:test", Trust: entry.ByPerson}
	}
	m, err := memory.Open(dir, memory.Options{})
	if err == nil {
		_, err = m.Add(d.t.Context(), list...)
		err = errors.Join(err, m.Close())
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// letters are the dead letters, each as text.
func (d *described) letters() (list []string) {
	d.t.Helper()
	var o struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(d.call("getDeadLetters", 200, nil)), &o); err != nil {
		d.t.Fatal(err)
	}
	for _, x := range o.Items {
		list = append(list, string(x))
	}
	return list
}

// TestEveryOperation calls each operation of the OpenAPI document by nothing but the document, and validates each answer against its schema.
func TestEveryOperation(t *testing.T) {
	dir := t.TempDir()
	s, start := openTestStore(t, dir)
	_, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	d := client{t, at}.describe()
	for i := range routes {
		if o := d.operations[operationID(&routes[i])]; o == nil || o.method != routes[i].method || o.path != routes[i].path {
			t.Errorf("%s %s is not in the document", routes[i].method, routes[i].path)
		}
	}
	if len(d.operations) != len(routes) {
		t.Errorf("%d operations, %d routes", len(d.operations), len(routes))
	}
	d.has("getHealthz", nil, `"done":true`)
	until(t, "the daemon is ready", func() bool { status, _ := d.ask("GET", "/readyz", ""); return status == 200 })
	d.has("getReadyz", nil, `"done":true`)
	d.has("getOpenapiJson", nil, `"openapi": "3.1.0"`)

	held, long, ship, failed := start("hold"), start("long"), start("ship"), start("fails")
	until(t, "the runs wait", func() bool {
		waiting := d.call("getRuns", 200, args{"status": "waiting"})
		return !slices.ContainsFunc([]string{held, long, ship}, func(run string) bool { return !strings.Contains(waiting, run) })
	})
	d.has("getInbox", nil, held, ship)
	d.has("getMetrics", nil, `flowrun_runs{status="waiting"} 3`)
	d.has("getRuns", args{"limit": 1, "since": "1h"}, `"runs":[{`)
	if text := d.call("getRuns", 200, args{"since": "1ms"}); !strings.Contains(text, `"runs":[]`) {
		t.Errorf("the runs of the last millisecond are %s", text)
	}
	d.call("getRuns", 400, args{"since": "soon"})
	d.has("getRuns", args{"limit": 1, "cause": "manual"}, `"runs":[{`)
	if text := d.call("getRuns", 200, args{"cause": "routine"}); !strings.Contains(text, `"runs":[]`) {
		t.Errorf("no routine has started a run: %s", text)
	}
	d.call("getRuns", 400, args{"cause": "luck"})
	d.has("getRunsRun", args{"run": long}, `"workflow":"long"`)
	d.call("getRunsRun", 404, args{"run": "r-none"})
	d.has("getRunsRunNode", args{"run": ship, "path": "day"}, `"id":"day"`, `"dependents":["say"]`)
	d.call("getRunsRunNode", 404, args{"run": ship, "path": "none"})
	d.has("getRunsRunNode", args{"run": ship, "path": view.Short("day")}, `"id":"day"`)
	d.call("getRunsRunNode", 404, args{"run": ship, "path": view.Short("none")})
	d.has("getRunsRunLogs", args{"run": ship, "node": view.Short("day")}, `"attempts":[]`)
	d.call("getRunsRunLogs", 404, args{"run": ship, "node": view.Short("none")})
	d.has("getRunsRunGraph", args{"run": ship}, `"workflow":"ship"`, `"from":"day"`)
	d.has("getRunsRunDefinition", args{"run": ship}, `"files":`)
	d.has("getInboxForm", args{"run": ship, "node": "day"}, `"name":"day","type":"string","required":true`)
	d.has("getInboxForm", args{"run": ship, "node": view.Short("day")}, `"name":"day"`)
	d.has("getStats", args{"since": "7d", "by": "workflow"}, `"by":"workflow"`, `"success_rate":`)
	d.call("getStats", 400, args{"since": "yesterday"})
	d.call("getStats", 400, args{"by": "colour"})
	d.has("getStats", args{"since": "7d", "daily": true}, `"days":[{"from":"`)
	d.call("getStats", 400, args{"since": "900d", "daily": true})
	d.has("getStats", args{"since": "7d", "daily": true, "forecasts": true}, `"forecasts":{"total":{"runs":`, `"workflows":[`, `"days":[`)
	d.has("getLimits", nil, `"limits":[`)
	d.has("getHeap", nil, "\x1f\x8b") // gzip, which pprof reads
	d.has("postLogin", args{"body": Nothing{}}, `"path":"/login?code=`)

	// People.
	d.has("postRunsRunDecide", args{"run": held, "body": Decide{Node: "ask", Word: "approve", By: "ann"}}, `"outcome":"recorded"`)
	if text := d.call("postRunsRunDecide", 409, args{"run": held, "body": Decide{Node: "ask", Word: "reject", By: "bob"}}); !strings.Contains(text, "ann") {
		t.Errorf("a late decision is not told who has decided: %s", text)
	}
	d.call("postRunsRunDecide", 422, args{"run": ship, "body": Decide{Node: "day", Word: "approve", By: "ann"}})
	monday := map[string]json.RawMessage{"day": json.RawMessage(`"monday"`)}
	d.call("postRunsRunDecide", 422, args{"run": ship, "body": Decide{Node: "day", Word: "approve", By: "ann", Inputs: map[string]json.RawMessage{"hour": monday["day"]}}})
	d.call("postRunsRunDecide", 400, args{"run": ship, "body": Decide{Node: "day", Word: "reject", By: "ann", Inputs: monday}})
	d.has("postRunsRunDecide", args{"run": ship, "body": Decide{Node: "day", Word: "approve", By: "ann", Inputs: monday}}, `"outcome":"recorded"`)
	d.has("getRunsRunEvents", args{"run": held}, "event: end")

	// What attempts wrote.
	d.has("getRunsRunLogsFollow", args{"run": ship, "node": "say"}, "event: lines", "shipped on monday", "careful", "event: attempt", "event: end")
	var logs Logs
	if err := json.Unmarshal([]byte(d.call("getRunsRunLogs", 200, args{"run": ship, "node": "say"})), &logs); err != nil || len(logs.Attempts) != 1 || logs.Attempts[0].Stdout != 18 || logs.Attempts[0].Stderr != 8 {
		t.Fatalf("the logs are %+v (%v)", logs, err)
	}
	log := args{"run": ship, "attempt": logs.Attempts[0].ID, "stream": "stdout"}
	if text := d.call("getRunsRunLogsAttemptStream", 200, log); text != "shipped on monday\n" {
		t.Errorf("the log is %q", text)
	}
	log["Range"] = "bytes=11-"
	if text := d.call("getRunsRunLogsAttemptStream", 206, log); text != "monday\n" {
		t.Errorf("the rest of the log is %q", text)
	}
	log["Range"] = "bytes=100-"
	d.call("getRunsRunLogsAttemptStream", 416, log)
	d.call("getRunsRunLogsAttemptStream", 404, args{"run": ship, "attempt": "0", "stream": "stdout"})
	d.call("getRunsRunLogsAttemptStream", 404, args{"run": ship, "attempt": log["attempt"], "stream": "../serve.token"})

	// Dead letters: a run fails once more, and its letter counts; a message is sent when its folder is there.
	d.wait(failed, "failed")
	letter := field(t, d.letters()[0], "id")
	d.call("postDeadLettersIdRedrive", 404, args{"id": "dl-99", "body": Redrive{}})
	d.call("postDeadLettersIdDrop", 404, args{"id": "../x", "body": Nothing{}})
	d.wait(field(t, d.call("postDeadLettersIdRedrive", 200, args{"id": letter, "body": Redrive{By: "ann"}}), "run"), "failed")
	until(t, "the letter counts two failures", func() bool { return strings.Contains(d.call("getDeadLetters", 200, nil), `"times":2`) })
	d.has("getDeadLetters", nil, `"by":"ann"`)
	d.has("postDeadLettersIdDrop", args{"id": letter, "body": Nothing{}}, `"done":true`)
	d.wait(start("tells"), "succeeded")
	letter = field(t, d.letters()[0], "id")
	d.call("postDeadLettersIdRedrive", 502, args{"id": letter, "body": Redrive{}})
	d.has("getDeadLetters", nil, `"times":2`, `"by":"api"`)
	if err := os.Mkdir(filepath.Join(dir, "work", "late"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.has("postDeadLettersIdRedrive", args{"id": letter, "body": Redrive{}}, `"kind":"notification"`, `"closed":true`)
	if text, err := os.ReadFile(filepath.Join(dir, "work", "late", "messages.jsonl")); err != nil || !strings.Contains(string(text), "it is late") {
		t.Errorf("the message is %q (%v)", text, err)
	}
	if left := d.letters(); len(left) != 0 {
		t.Errorf("letters are left: %v", left)
	}

	// Again.
	d.call("postRunsRunRetry", 409, args{"run": long, "body": Retry{}})
	d.wait(failed, "failed")
	d.has("getRunsRun", args{"run": failed}, `"exit_code":3`)
	d.call("postRunsRunRetry", 422, args{"run": failed, "body": Retry{From: "none"}})
	d.call("postRunsRunRetry", 400, args{"run": failed, "body": Retry{Set: []SetOutput{{"then", json.RawMessage(`"x"`)}}}})
	again := field(t, d.call("postRunsRunRetry", 200, args{"run": failed, "body": Retry{Set: []SetOutput{{"then", json.RawMessage(`"by hand"`)}}, By: "ann"}}), "run")
	d.wait(again, "succeeded")
	if text := d.call("getRunsRunLogs", 200, args{"run": again}); !strings.Contains(text, `"attempts":[]`) {
		t.Errorf("the run that repeats the other one ran %s", text)
	}
	d.call("postRunsRunRetry", 422, args{"run": again, "body": Retry{}})
	d.has("getRunsRunCompare", args{"run": again, "with": failed}, `"alike":1`, `"differs":["status",`, `"definition":{"same":true`)
	d.has("getRunsRunCompare", args{"run": again, "with": failed, "all": true}, `"id":"first","differs":[]`)
	d.has("getRunsRunTimeline", args{"run": failed, "from": 0, "to": 3600000, "limit": 1}, `"critical":[{"id":"first"`, `"id":"then"`, `"folded":[{"id":"","nodes":1`)
	d.call("getRunsRunTimeline", 400, args{"run": failed, "from": -1})
	d.has("getRunsRunDefinitionChanges", args{"run": failed}, `"state":"unknown"`, `"files":[]`)
	d.call("getRunsRunCompare", 404, args{"run": again, "with": "none"})

	// Agents and breakers.
	d.has("postAgentsNameStop", args{"name": "sam", "body": Nothing{}}, `"changed":true`)
	d.has("postAgentsNameStop", args{"name": "sam", "body": Nothing{}}, `"changed":false`)
	d.has("getLimits", nil, `"name":"sam"`, `"stopped":true`)
	d.has("postAgentsNameStart", args{"name": "sam", "body": Nothing{}}, `"changed":true`)
	d.has("postLimitsNameReset", args{"name": "sam", "body": Nothing{}}, `"changed":false`)

	// The memory: there is none before somebody writes to it.
	d.has("getMemory", nil, `{"memories":[{"id":"","dir":"`, `"exists":false`)
	d.has("getMemoryEntries", nil, `"entries":[]`)
	d.call("getMemoryEntries", 404, args{"memory": "none"})
	d.call("getMemoryEntry", 404, args{"id": "M-1"})
	d.call("postMemoryPin", 404, args{"body": MemoryChange{IDs: []string{"M-1"}, By: "ann"}})
	d.learn(dir, entry.Entry{ID: "M-1", Type: entry.Insight, Lesson: "Raise the timeout of the flaky parser test.", Tags: []string{"parser"}},
		entry.Entry{ID: "M-2", Type: entry.Note, Text: "Lunch is at noon."}, entry.Entry{ID: "M-3", Type: entry.Note, Text: "The office is closed on Friday.", Agent: "sam", Scope: entry.OfAgent("sam")})
	d.has("getMemoryEntries", args{"limit": 2, "offset": 1}, `"entries":[{"id":"M-2"`, `"total":3`)
	d.has("getMemoryEntries", args{"agent": "kim", "all": true}, `"total":2`)
	d.has("getMemoryEntries", args{"type": "insight", "tag": "Parser", "since": "1h"}, `"total":1`)
	d.call("getMemoryEntries", 400, args{"since": "soon"})
	d.has("getMemorySearch", args{"query": "parser test", "k": 1}, `"results":[{"id":"M-1"`, `"parts":{`, `"words":0.`)
	d.call("getMemorySearch", 422, args{"query": " "})
	d.has("postMemoryPin", args{"body": MemoryChange{IDs: []string{"M-1"}, By: "ann", Reason: "true"}}, `"ids":["M-1"]`)
	d.has("getMemoryEntry", args{"id": "M-1"}, `"pinned":true`, `"op":"pin"`, `"author":"user:ann"`, `"reason":"true"`)
	d.has("postMemoryUnpin", args{"body": MemoryChange{IDs: []string{"M-1"}, By: "ann"}}, `"ids":["M-1"]`)
	d.call("postMemoryUnpin", 400, args{"body": MemoryChange{IDs: []string{"M-1"}, By: " "}})
	d.call("postMemoryForget", 404, args{"body": MemoryChange{IDs: []string{"M-9"}, By: "ann"}})
	newer := strings.Trim(field(t, strings.NewReplacer("[", "", "]", "").Replace(d.call("postMemorySupersede", 200, args{"body": MemorySupersede{IDs: []string{"M-1"}, Lesson: "Mend the parser test.", By: "ann"}})), "ids"), `"`)
	d.has("getMemoryEntry", args{"id": "M-1"}, `"superseded_by":"`+newer)
	d.has("getMemoryEntry", args{"id": newer}, `"tags":["parser"]`, `"type":"insight"`)
	d.call("postMemorySupersede", 422, args{"body": MemorySupersede{IDs: []string{"M-2"}, By: "ann"}})
	d.has("postMemoryRevert", args{"body": MemoryRevert{IDs: []string{newer}, By: "ann"}}, `"ids":["`+newer)
	if text := d.call("getMemoryEntry", 200, args{"id": "M-1"}); strings.Contains(text, "superseded_by") {
		t.Errorf("the entry that was superseded is not back: %s", text)
	}
	d.call("postMemoryRevert", 400, args{"body": MemoryRevert{By: "ann"}})
	d.has("postMemoryForget", args{"body": MemoryChange{IDs: []string{"M-2"}, By: "ann"}}, `"ids":["M-2"]`)
	if text := d.call("getMemoryEntry", 200, args{"id": "M-2"}); strings.Contains(text, "Lunch") || !strings.Contains(text, `"forgotten":true`) {
		t.Errorf("a forgotten entry is %s", text)
	}

	// Work.
	deploy := field(t, d.call("postDispatch", 200, args{"body": Work{Title: "Deploy", Priority: 5, Labels: []string{"now"}, Key: "deploy"}}), "id")
	d.has("postDispatch", args{"body": Work{Title: "Deploy", Key: "deploy"}}, `"duplicate":true`)
	d.call("postDispatch", 422, args{"body": Work{}})
	d.has("getDispatch", nil, `"title":"Deploy"`, `"left":0`)
	d.has("getDispatchId", args{"id": deploy}, `"priority":5`, `"state":"open"`)
	d.call("getDispatchId", 404, args{"id": "ds-999"})
	d.has("getLoops", nil, `"loop":"engineering"`, `"queue":1`)
	d.has("postDispatchIdCancel", args{"id": deploy, "body": Nothing{}}, `"cancelled":true`)
	d.has("postDispatchIdCancel", args{"id": deploy, "body": Nothing{}}, `"cancelled":false`)
	d.call("postDispatchIdCancel", 404, args{"id": "ds-999", "body": Nothing{}})
	d.has("getDispatch", args{"all": true, "tickets": false}, deploy)

	// Loops.
	if _, err := s.Ask(t.Context(), event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimTake, Item: "x/1", Loop: "engineering", Agent: "sam", Lease: 3600e9, Title: "One"}}); err != nil {
		t.Fatal(err)
	}
	d.has("getLoopsLoop", args{"loop": "engineering"}, `"status":"none"`, `"agent":"sam"`)
	d.has("getLoopsLoopItems", args{"loop": "engineering", "all": true}, `"item":"x/1"`)
	d.call("getLoopsLoop", 404, args{"loop": "none"})
	d.has("postLoopsLoopPause", args{"loop": "engineering", "body": LoopPause{Agent: "sam", For: "5m"}}, `"sam":"`)
	d.has("postLoopsLoopPause", args{"loop": "engineering", "body": LoopPause{By: "ann"}}, `"":null`, `"by":"ann"`)
	d.call("postLoopsLoopPause", 400, args{"loop": "engineering", "body": LoopPause{For: "-5m"}})
	d.call("postLoopsLoopStop", 400, args{"loop": "engineering", "body": LoopChange{Agent: "sam"}})
	d.has("postLoopsLoopStop", args{"loop": "engineering", "body": LoopChange{}}, `"stopped":true`)
	d.has("postLoopsLoopResume", args{"loop": "engineering", "body": LoopChange{}}, `"stopped":false`, `"paused":{}`)
	d.call("postLoopsLoopResume", 404, args{"loop": "none", "body": LoopChange{}})

	// Routines.
	d.has("getRoutines", args{"next": 2}, `"name":"nightly"`, `"cron":"0 2 * * *"`)
	d.call("getRoutines", 400, args{"next": 1000})
	d.has("postRoutinesRoutinePause", args{"routine": "nightly", "body": Nothing{}}, `"changed":true`)
	d.has("postRoutinesRoutinePause", args{"routine": "nightly", "body": Nothing{}}, `"changed":false`)
	d.has("postRoutinesRoutineResume", args{"routine": "nightly", "body": Nothing{}}, `"changed":true`)
	d.call("postRoutinesRoutineResume", 404, args{"routine": "none", "body": Nothing{}})
	night := field(t, d.call("postRoutinesRoutineRun", 200, args{"routine": "nightly", "body": Nothing{}}), "run")
	d.wait(night, "succeeded")

	// Deliveries, which are signed: TestWebhook has those that are accepted.
	d.call("postWebhooksName", 404, args{"name": "none", "body": map[string]any{"id": 1}})

	// Events.
	d.has("postEvents", args{"body": Emit{Event: "order.placed", Data: json.RawMessage(`{"id":"x"}`), Key: "k"}}, `"id":"ev-`)
	d.has("getEvents", nil, `"name":"order.placed"`)
	d.has("getPrograms", nil, `"event":"order.*"`)

	// One node of a run, which fails then.
	one := start("long")
	d.call("postRunsRunNodeCancel", 404, args{"run": one, "body": CancelNode{Node: "pauze"}})
	d.call("postRunsRunNodeCancel", 400, args{"run": one, "body": CancelNode{}})
	d.has("postRunsRunNodeCancel", args{"run": one, "body": CancelNode{Node: "pause", By: "ann", Reason: "enough"}}, `"node":"pause"`)
	d.wait(one, "failed")
	d.has("getRunsRunNode", args{"run": one, "path": "pause"}, `"status":"cancelled"`, `ann cancelled it: enough`)
	d.call("postRunsRunNodeCancel", 409, args{"run": one, "body": CancelNode{Node: "pause"}})
	d.has("postRunsRunCancel", args{"run": long, "body": Cancel{Reason: "enough"}}, `"done":true`)
	d.wait(long, "cancelled")

	// A run that no process drives.
	d.call("postRunsRunResume", 409, args{"run": long, "body": Nothing{}})
	left, err := s.RunRoutine(t.Context(), "nightly")
	if err != nil {
		t.Fatal(err)
	}
	d.has("postRunsRunResume", args{"run": left, "body": Nothing{}}, `"done":true`)
	d.wait(left, "succeeded")

	// Each change has its row, with who asked from where.
	var audits Audits
	if err := json.Unmarshal([]byte(d.call("getAudit", 200, nil)), &audits); err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, a := range audits.Items {
		if rows[a.What] = true; a.From != "127.0.0.1" || a.By != "token" {
			t.Errorf("a row of the audit is %+v", a)
		}
	}
	want := []string{"agent.start", "agent.stop", "cancel", "cancel.node", "dead_letter.drop", "dead_letter.redrive", "decide", "dispatch", "dispatch.cancel", "emit", "limit.reset", "login", "loop.pause", "loop.resume", "loop.stop", "memory.forget", "memory.pin", "memory.revert", "memory.supersede", "memory.unpin", "resume", "retry", "routine.pause", "routine.resume", "routine.run"}
	if have := slices.Sorted(maps.Keys(rows)); !slices.Equal(have, want) {
		t.Errorf("the audit has rows of %v, want %v", have, want)
	}
	changes := 0
	for id, o := range d.operations { // any order: each for itself
		if !d.called[id] {
			t.Errorf("the operation %s was not called", id)
		}
		if o.RequestBody != nil && id != "postWebhooksName" { // a delivery is an event, or TestWebhook finds its refusal in the audit
			changes++
		}
	}
	if changes != len(want) {
		t.Errorf("%d operations change something, and the audit knows %d kinds of changes", changes, len(want))
	}
}
