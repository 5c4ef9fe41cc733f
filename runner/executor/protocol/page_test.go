package protocol

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/reference"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// examples are the blocks of JSON of the page on the protocol, by what stands behind the word json.
func examples(t *testing.T) map[string]string {
	t.Helper()
	text, _, ok := reference.About("protocol")
	if !ok {
		t.Fatal("the reference has no page on the protocol")
	}
	list := map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^```json (\\w+)\n(.*?)\n```$").FindAllStringSubmatch(text, -1) {
		list[m[1]] = m[2]
	}
	return list
}

// The request on the page is the one that is sent, and each of its members is explained.
func TestPageShowsTheRequest(t *testing.T) {
	got := string(Request(&event.Attempt{Run: "k3v7m2x9q4ta", Node: "build/api[2]", Attempt: 1, Key: "9f2c1e5ab0d34c77a1be9d02f6c83e51",
		Agent: &event.AgentRequest{Task: "Build the API.", With: map[string]any{"spec": "v2"}}}))
	again := string(Request(&event.Attempt{Agent: &event.AgentRequest{Session: "3b3e37e6"}}))
	if !strings.Contains(again, `"session":"3b3e37e6"`) {
		t.Errorf("the request of an attempt that goes on in a session is %s", again)
	}
	if d := cmp.Diff(got, examples(t)["request"]+"\n"); d != "" {
		t.Error(d)
	}
	page, _, _ := reference.About("protocol")
	v, _ := value.Decode([]byte(got))
	for member := range v.(map[string]any) {
		if !regexp.MustCompile("(?m)^\\| [^|]*`" + member + "`[^|]* \\|").MatchString(page) {
			t.Errorf("the member %s of a request is not explained", member)
		}
	}
}

// Each line on the page is understood as the page says.
func TestPageShowsTheLines(t *testing.T) {
	want := map[string]string{
		"progress":  "progress 40% reading the ticket",
		"heartbeat": "heartbeat ",
		"log":       "log three files to go",
		"result":    `{"files":3,"summary":"done"}`,
		"error":     "rate_limited: the model is busy after 30",
		"partial":   `progress half of it, so far {"summary":"half of it"}`,
		"remember":  "note decision: The schema stays as it is: two services read it.",
		"session":   "session 3b3e37e6",
		"learnings": `{"files":3}`,
		"usage":     `{"files":3}, used 1200 and 300 for 0.01`,
		"output":    `{"summary":"done"}`,
		"completed": `{"summary":"done"}`,
		"failed":    "recoverable: the model is busy after 0",
		"assistant": `{"is_error":false,"result":"Done.","session_id":"5d1c","subtype":"success","total_cost_usd":0.03}, used 0 and 0 for 0.03`,
	}
	got := map[string]string{}
	for kind, line := range examples(t) {
		if kind == "request" {
			continue
		}
		live := ""
		l := &Lines{Live: func(kind, text string) { live = kind + " " + text }, Note: func(e event.Learned) { live = "note " + e.Type + ": " + e.Text },
			Session: func(id string) { live = "session " + id }}
		l.Write([]byte(line + "\n"))
		failure := l.End()
		out, _ := l.Output()
		switch {
		case live != "":
			if got[kind] = live; l.Partial() != nil {
				got[kind] += ", so far " + string(value.Append(nil, l.Partial()))
			}
		case failure != nil:
			got[kind] = string(failure.Kind) + ": " + failure.Message + " after " + value.Text(failure.RetryAfter)
		default:
			got[kind] = string(value.Append(nil, out))
			if u := l.Usage(); u != nil {
				got[kind] += fmt.Sprintf(", used %d and %d for %g", u.InputTokens, u.OutputTokens, u.CostUSD)
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The bounds and the kinds of error on the page are those that hold.
func TestPageSaysTheBounds(t *testing.T) {
	page, _, _ := reference.About("protocol")
	if MaxLine != 1<<20 || limits.MaxStream != 64<<10 || Version != "flowrun/1" {
		t.Error("a bound is another than on the page")
	}
	for _, kind := range ir.ErrorKinds {
		if !strings.Contains(page, "`"+string(kind)+"`") {
			t.Errorf("the page does not name the kind %s", kind)
		}
	}
	if !slices.Contains(reference.Topics(), "protocol") {
		t.Error("the page is not a topic")
	}
}

// What assistants print is understood whatever else they print beside it.
func TestAssistants(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"result","is_error":true,"result":"no credit","subtype":"error_during_execution"}`: "recoverable: no credit",
		`{"type":"result","is_error":true}`:               "recoverable: the agent failed without a message",
		`{"type":"result","is_error":false,"result":""}`:  `{"is_error":false,"result":""}`,
		`{"type":"result"}`:                               `null`,
		`{"type":"result","output":null,"result":"x"}`:    `null`,
		"{\"type\":\"result\",\"output\":1,\"result\":2}": `1`,
	} {
		l := &Lines{Live: func(string, string) {}}
		l.Write([]byte("warming up\n" + text))
		got := ""
		if failure := l.End(); failure != nil {
			got = string(failure.Kind) + ": " + failure.Message
		} else {
			v, _ := l.Output()
			got = string(value.Append(nil, v))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
