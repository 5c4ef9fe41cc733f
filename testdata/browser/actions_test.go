package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// way is how a person works: with which hands, on which screen.
type way struct {
	name     string
	scripts  bool
	keyboard bool // Tab, Enter, Space and letters, and no mouse
	width    int
}

var ways = []way{{"mouse", true, false, 1200}, {"mouse without scripts", false, false, 360}, {"keyboard", true, true, 800}}

// action is what a person does on a page: the person fills a form and presses one of its buttons.
type action struct {
	name string
	// page makes what the action is about, and returns the page where it is done.
	page   func(s *stage) string
	form   string // the method and the path of the form, with {run} and {id}
	button string // what it says
	within string // the CSS of the part of the page where the form is; {run} and {id} as in form
	fill   []fill // in the order of the page
	says   string // on the page that follows
	shows  string // there, too, at once or soon
	// stored looks at the store: paths of the API, and what each answers in time.
	stored func(s *stage) []answer
	itself bool           // with scripts, the page presses its button by itself
	then   func(s *stage) // looks at the rest
}

// fill is a field of a form, and what is typed there. Of a checkbox, text is a part of its value.
type fill struct{ name, text string }

// answer is what the API says of the store: all texts of has, and none of lacks.
type answer struct {
	path       string
	has, lacks []string
}

// stage is where actions are done: a daemon with a token, a browser, and what the action at hand is about.
type stage struct {
	*house
	b       *browser
	way     way
	number  int // of the way
	token   string
	run, id string
	secrets []string        // runs that nobody can drive, one for each way
	found   map[string]bool // buttons of forms that were seen, as in action: the method, the path and what the button says
	pressed map[string]bool
}

// begin hands a run of a workflow to the daemon, and waits until the API says so of it.
func (s *stage) begin(workflow, status string, words ...string) string {
	s.t.Helper()
	s.run = strings.TrimSpace(s.flowrun("0", append([]string{"apply", "flow.hcl", workflow, "--detach"}, words...)...))
	s.holds(answer{path: "/runs/" + s.run, has: []string{`"workflow":"` + workflow + `","status":"` + status + `"`}}) // of the run, and not of one of its nodes
	return s.run
}

// ask asks the API.
func (s *stage) ask(path string) string {
	s.t.Helper()
	r, err := http.NewRequest("GET", s.at+"/api/v1"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var tight bytes.Buffer
	if json.Compact(&tight, body) != nil {
		return string(body)
	}
	return tight.String()
}

// holds waits until the API gives an answer.
func (s *stage) holds(a answer) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		text, wrong := s.ask(a.path), ""
		for _, part := range a.has {
			if !strings.Contains(text, part) {
				wrong = "lacks " + part
			}
		}
		for _, part := range a.lacks {
			if strings.Contains(text, part) {
				wrong = "has " + part
			}
		}
		if wrong == "" {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s %s:\n%s", a.path, wrong, text)
		}
	}
}

// mend makes the file with which steps succeed, or removes it.
func (s *stage) mend(on bool) {
	s.t.Helper()
	if on {
		s.write("mended", "")
	} else {
		_ = os.Remove(filepath.Join(s.dir, "mended")) // it may not be there
	}
}

// letter is the dead letter of the run at hand.
func (s *stage) letter() string {
	s.t.Helper()
	s.holds(answer{path: "/dead-letters", has: []string{s.run}})
	var list struct {
		Items []struct{ ID, Run string }
	}
	if err := json.Unmarshal([]byte(s.ask("/dead-letters")), &list); err != nil {
		s.t.Fatal(err)
	}
	for _, x := range list.Items {
		if x.Run == s.run {
			return x.ID
		}
	}
	s.t.Fatal("there is no letter of run " + s.run)
	return ""
}

// remember adds an entry of the memory.
func (s *stage) remember(name string) string {
	s.t.Helper()
	s.id = fmt.Sprintf("%s-%d", name, s.number)
	s.flowrun("0", "memory", "add", "--file", "flow.hcl", "--id", s.id, "--lesson", "Raise the timeout of test "+s.id+".")
	return "/memory/entry?id=" + s.id
}

// waits begins a run that waits for people, and returns the inbox.
func waits(workflow string) func(s *stage) string {
	return func(s *stage) string {
		s.mend(false)
		s.begin(workflow, "waiting")
		s.holds(answer{path: "/inbox", has: []string{s.run}})
		return "/inbox"
	}
}

// fails begins a run of parts, of which one fails, and returns the page of it, or of its failed node.
func fails(tail string, words ...string) func(s *stage) string {
	return func(s *stage) string {
		s.mend(false)
		s.begin("parts", "failed", words...)
		return "/runs/" + s.run + tail
	}
}

// repeated waits for the run that repeats the one at hand.
func (s *stage) repeated() (run string) {
	s.t.Helper()
	s.holds(answer{path: "/runs", has: []string{`"retry_of":"` + s.run + `"`}})
	var list struct {
		Runs []struct {
			Run     string
			RetryOf string `json:"retry_of"`
		}
	}
	if err := json.Unmarshal([]byte(s.ask("/runs")), &list); err != nil {
		s.t.Fatal(err)
	}
	for _, x := range list.Runs {
		if x.RetryOf == s.run {
			return x.Run
		}
	}
	s.t.Fatal("no run repeats run " + s.run)
	return ""
}

func repeats(has ...string) func(s *stage) []answer {
	return func(s *stage) []answer { return []answer{{path: "/runs/" + s.repeated(), has: has}} }
}

func ofRun(has ...string) func(s *stage) []answer {
	return func(s *stage) []answer { return []answer{{path: "/runs/" + s.run, has: has}} }
}

func of(path string, has ...string) func(s *stage) []answer {
	return func(s *stage) []answer { return []answer{{path: path, has: has}} }
}

func at(path string) func(s *stage) string { return func(*stage) string { return path } }

const (
	ended   = `"status":"succeeded"`
	broken  = `"status":"failed"`
	stopped = `"status":"cancelled"`
	ann     = "ann"
)

// question is the part of the inbox with the question of a node.
func question(node string) string { return `[id="{run}-` + node + `"]` }

// actions are all actions of all pages.
var actions = []action{
	{name: "log in by the token", page: func(s *stage) string { s.leave(); return "/runs" }, form: "POST /login", button: "Log in", fill: []fill{{"token", "{token}"}}, says: "secretive"},
	{name: "log in by a link", page: func(s *stage) string {
		s.leave()
		return strings.TrimPrefix(strings.TrimSpace(s.flowrun("0", "open", "--print")), s.at)
	}, form: "POST /login", button: "Open the dashboard", itself: true, says: "Look at this:"},

	{name: "cancel a run", page: func(s *stage) string { return "/runs/" + s.begin("long", "waiting") }, form: "POST /runs/{run}/cancel", button: "Cancel the run",
		fill: []fill{{"reason", "enough"}}, says: "The end of the run was asked for.", shows: "cancelled", stored: ofRun(stopped, "enough")},
	{name: "cancel a node", page: func(s *stage) string { return "/runs/" + s.begin("long", "waiting") + "/node?path=pause" }, form: "POST /runs/{run}/node/cancel", button: "Cancel this node",
		fill: []fill{{"by", ann}, {"reason", "too long"}}, says: "The end of the node was asked for.", shows: "ann cancelled it: too long", stored: ofRun(broken, "ann cancelled it: too long")},
	{name: "resume a run", page: func(s *stage) string {
		s.run = s.secrets[s.number]
		s.holds(answer{path: "/runs/" + s.run, has: []string{"cannot drive this run"}})
		s.write(fmt.Sprintf("secret-%d", s.number), "hush")
		return "/runs/" + s.run
	}, form: "POST /runs/{run}/resume", button: "Resume", says: "The daemon drives the run.", stored: ofRun(`"driven":true`)},

	{name: "retry what failed", page: fails(""), form: "POST /runs/{run}/retry", button: "Retry what failed", says: "This run repeats the other one.", shows: "exit code 1", stored: repeats(broken, `"reused":true`)},
	{name: "retry from a step", page: func(s *stage) string { p := fails("")(s); s.mend(true); return p }, form: "POST /runs/{run}/retry", button: "Retry", fill: []fill{{"from", "test"}},
		says: "This run repeats the other one.", shows: "succeeded", stored: repeats(ended, `"reused":true`)},
	{name: "run the other steps", page: func(s *stage) string { p := fails("", "--target", "test")(s); s.mend(true); return p }, form: "POST /runs/{run}/retry", button: "Run the other steps, too",
		says: "This run repeats the other one.", shows: "after", stored: repeats(ended, `"id":"after"`)},
	{name: "retry with the file", page: func(s *stage) string {
		s.mend(false)
		name := fmt.Sprintf("new-%d.hcl", s.number)
		s.write(name, "workflow \"changing\" {\n  step \"a\" { run = \"exit 3\" }\n}\n")
		s.flowrun("1", "apply", name, "changing")
		s.run = s.newest("changing")
		s.write(name, "workflow \"changing\" {\n  step \"a\" { run = \"echo better\" }\n}\n")
		return "/runs/" + s.run + "?tab=definition"
	}, form: "POST /runs/{run}/retry", button: "Retry with the file as it is now", says: "This run repeats the other one.", shows: "succeeded", stored: repeats(ended)},
	{name: "retry from a node", page: func(s *stage) string { p := fails("/node?path=test[1]")(s); s.mend(true); return p }, form: "POST /runs/{run}/retry", button: "Retry from here",
		says: "This run repeats the other one.", shows: "succeeded", stored: repeats(ended)},
	{name: "retry a node alone", page: func(s *stage) string { p := fails("/node?path=test[1]")(s); s.mend(true); return p }, form: "POST /runs/{run}/retry", button: "Retry only this",
		says: "This run repeats the other one.", shows: "succeeded", stored: repeats(ended)},
	{name: "resolve a node by hand", page: fails("/node?path=test[1]"), form: "POST /runs/{run}/retry", button: "Resolve, and run what depends on it", fill: []fill{{"by", ann}, {"output", "12 tests pass"}},
		says: "This run repeats the other one.", shows: "succeeded", stored: repeats(ended, "12 tests pass")},

	{name: "approve", page: waits("approval"), form: "POST /inbox", button: "approve", within: question("ok"), fill: []fill{{"by", ann}, {"input.day", "friday"}, {"input.count", "3"}, {"comment", "go"}},
		says: "Your answer was recorded.", stored: ofRun(ended, `"count":3`, `"day":"friday"`, "ann")},
	{name: "reject", page: waits("approval"), form: "POST /inbox", button: "reject", within: question("ok"), fill: []fill{{"by", ann}, {"comment", "not yet"}},
		says: "Your answer was recorded.", stored: ofRun(broken, "not yet")},
	{name: "revise", page: waits("letter"), form: "POST /inbox", button: "revise", within: question("both/read_rounds/i1/read"), fill: []fill{{"by", ann}, {"comment", "shorter"}},
		says: "Your answer was recorded.", stored: ofRun(`"status":"waiting"`, "both/read_rounds/i2/read", "shorter")},
	{name: "do a task", page: waits("task"), form: "POST /inbox", button: "done", within: question("label"), fill: []fill{{"by", ann}, {"output", `{"label": "cat"}`}},
		says: "Your answer was recorded.", stored: ofRun(ended, `"label":"cat"`)},
	{name: "give up a task", page: waits("task"), form: "POST /inbox", button: "fail", within: question("label"), fill: []fill{{"by", ann}, {"comment", "no picture"}},
		says: "Your answer was recorded.", stored: ofRun(broken, "no picture")},
	{name: "escalation: retry", page: func(s *stage) string { p := waits("escalated")(s); s.mend(true); return p }, form: "POST /inbox", button: "retry", within: question("deploy"), fill: []fill{{"by", ann}},
		says: "Your answer was recorded.", stored: ofRun(ended, `"attempts":2`)},
	{name: "escalation: skip", page: waits("escalated"), form: "POST /inbox", button: "skip", within: question("deploy"), fill: []fill{{"by", ann}},
		says: "Your answer was recorded.", stored: ofRun(ended, `"status":"skipped"`)},
	{name: "escalation: abort", page: waits("escalated"), form: "POST /inbox", button: "abort", within: question("deploy"), fill: []fill{{"by", ann}, {"comment", "not today"}},
		says: "Your answer was recorded.", stored: ofRun(broken, "not today")},
	{name: "escalation: override", page: waits("escalated"), form: "POST /inbox", button: "override", within: question("deploy"), fill: []fill{{"by", ann}, {"output", "by hand"}},
		says: "Your answer was recorded.", stored: ofRun(ended, `"output":"by hand"`)},
	{name: "escalation: look at it", page: waits("escalated"), form: "POST /inbox", button: "ack", within: question("deploy"), fill: []fill{{"by", ann}},
		says: "Your answer was recorded.", shows: "ann: ack", stored: of("/inbox", `"word":"ack"`)},
	{name: "budget: continue", page: waits("budget"), form: "POST /inbox", button: "continue", within: question("."), fill: []fill{{"by", ann}},
		says: "Your answer was recorded.", stored: ofRun(ended)},
	{name: "budget: stop", page: waits("budget"), form: "POST /inbox", button: "stop", within: question("."), fill: []fill{{"by", ann}},
		says: "Your answer was recorded.", stored: ofRun(broken, "ann stopped it")},
	{name: "approve several", page: func(s *stage) string {
		other := s.begin("simple", "waiting")
		p := waits("simple")(s)
		s.id = other
		s.holds(answer{path: "/inbox", has: []string{other}})
		return p
	}, form: "POST /inbox/many", button: "Approve all that are marked", fill: []fill{{"ask", "run={id}&"}, {"ask", "run={run}&"}, {"by", ann}}, says: "Your answers were recorded.",
		stored: func(s *stage) []answer {
			return []answer{{path: "/runs/" + s.run, has: []string{ended}}, {path: "/runs/" + s.id, has: []string{ended}}}
		}},
	{name: "reject several", page: func(s *stage) string { s.id = s.begin("simple", "waiting"); return waits("simple")(s) }, form: "POST /inbox/many", button: "Reject all that are marked",
		fill: []fill{{"ask", "run={run}&"}, {"by", ann}, {"comment", "none of them"}}, says: "Your answers were recorded.",
		stored: func(s *stage) []answer {
			return []answer{{path: "/runs/" + s.run, has: []string{broken, "none of them"}}, {path: "/runs/" + s.id, has: []string{`"status":"waiting"`}}}
		}, then: func(s *stage) { s.flowrun("0", "decide", s.id, "first", "approve") }},

	{name: "pause a loop", page: at("/loops"), form: "POST /loops/engineering/pause", button: "Pause", fill: []fill{{"for", "30m"}}, says: "It is paused.", shows: "paused until", stored: of("/loops", `"paused":{"":"2`)},
	{name: "resume a loop", page: at("/loops"), form: "POST /loops/engineering/resume", button: "Resume", says: "It continues.", stored: of("/loops", `"paused":{}`)},
	{name: "stop a loop", page: at("/loops"), form: "POST /loops/engineering/stop", button: "Stop", says: "It takes nothing more", shows: "stopped", stored: of("/loops", `"stopped":true`),
		then: func(s *stage) {
			s.flowrun("0", "loop", "resume", "engineering")
			s.holds(answer{path: "/loops", has: []string{`"stopped":false`, `"status":"running"`}})
		}},
	{name: "dispatch work", page: at("/loops"), form: "POST /dispatch", button: "Dispatch", fill: []fill{{"title", "Fix it"}, {"to", "nobody"}, {"priority", "3"}, {"body", "Soon."}}, says: "The work was handed in.", shows: "Fix it",
		stored: of("/dispatch", `"title":"Fix it"`, `"priority":3`, "Soon."), then: func(s *stage) { s.id = s.work() }},
	{name: "take work back", page: func(s *stage) string { s.id = s.work(); return "/loops" }, form: "POST /dispatch/{id}/cancel", button: "Take back", says: "The work was cancelled.",
		stored: func(s *stage) []answer {
			return []answer{{path: "/dispatch", lacks: []string{`"id":"` + s.id + `","`}}}
		}},
	{name: "run a routine", page: at("/routines"), form: "POST /routines/nightly/run", button: "Run now", says: "The routine has started a run.", shows: "succeeded",
		stored: func(s *stage) []answer {
			return []answer{{path: "/runs?cause=routine", has: []string{`"workflow":"work"`, ended}}}
		}},
	{name: "pause a routine", page: at("/routines"), form: "POST /routines/nightly/pause", button: "Pause", says: "It is paused.", shows: "Resume", stored: of("/routines", `"paused":true`)},
	{name: "resume a routine", page: at("/routines"), form: "POST /routines/nightly/resume", button: "Resume", says: "It continues.", shows: "Pause", stored: of("/routines", `"paused":false`)},
	{name: "publish an event", page: at("/events"), form: "POST /events", button: "Publish", fill: []fill{{"event", "order.placed"}, {"key", "order {number}"}, {"data", `{"id": "order-{number}"}`}}, says: "The event was published.", shows: "order.placed",
		stored: func(s *stage) []answer {
			return []answer{{path: "/events", has: []string{fmt.Sprintf("order-%d", s.number)}}, {path: "/runs?cause=event", has: []string{`"workflow":"work"`}}}
		}},

	{name: "reset a breaker", page: func(s *stage) string { s.begin("frail", "failed"); return "/limits" }, form: "POST /limits/frail/reset", button: "Reset", says: "The breaker is closed", shows: "closed", stored: of("/limits", `"state":"closed"`)},
	{name: "stop an agent", page: at("/limits"), form: "POST /limits/frail/stop", button: "Stop", says: "No new attempt of the agent starts.", shows: "stopped", stored: of("/limits", `"stopped":true`)},
	{name: "start an agent", page: at("/limits"), form: "POST /limits/frail/start", button: "Start", says: "The agent starts attempts again.", shows: "Stop", stored: of("/limits", `"stopped":false`)},

	{name: "pin an entry", page: func(s *stage) string { return s.remember("P") }, form: "POST /memory/pin", button: "Pin", fill: []fill{{"by", ann}, {"reason", "true"}}, says: "The entry is pinned.", shows: "Unpin", stored: entry(`"pinned":true`)},
	{name: "unpin an entry", page: func(s *stage) string { s.id = fmt.Sprintf("P-%d", s.number); return "/memory/entry?id=" + s.id }, form: "POST /memory/unpin", button: "Unpin", fill: []fill{{"by", ann}},
		says: "The entry is not pinned any more.", stored: entry(`"unpin"`)},
	{name: "supersede a lesson", page: func(s *stage) string { return s.remember("S") }, form: "POST /memory/supersede", button: "Supersede", fill: []fill{{"by", ann}, {"lesson", "Mend the parser test."}, {"observation", "It is slow."}},
		says: "This entry supersedes the other one.", shows: "Mend the parser test.", stored: entry(`"superseded_by":"`)},
	{name: "forget an entry", page: func(s *stage) string { return s.remember("F") }, form: "POST /memory/forget", button: "Forget", fill: []fill{{"by", ann}}, says: "The entry is forgotten.", shows: "forgotten", stored: entry(`"forgotten":true`)},
	{name: "revert an entry", page: func(s *stage) string { return s.remember("R") }, form: "POST /memory/revert", button: "Revert", fill: []fill{{"by", ann}}, says: "as if they had never been written.", shows: "reverted", stored: entry(`"reverted":true`)},
	{name: "revert a run", page: func(s *stage) string {
		s.begin("learner", "succeeded")
		s.holds(answer{path: "/memory/entries?run=" + s.run, has: []string{"Look twice"}})
		return "/memory?run=" + s.run
	}, form: "POST /memory/revert", button: "Revert the entries", fill: []fill{{"by", ann}, {"reason", "wrong"}}, says: "as if they had never been written.",
		stored: func(s *stage) []answer {
			return []answer{{path: "/memory/entries?run=" + s.run, lacks: []string{"Look twice"}}}
		}},

	{name: "redrive a letter of a run", page: func(s *stage) string { fails("")(s); s.mend(true); s.id = s.letter(); return "/letters" }, form: "POST /letters/{id}/redrive", button: "Redrive", says: "This run repeats the other one.", shows: "succeeded",
		stored: func(s *stage) []answer {
			return []answer{{path: "/runs/" + s.repeated(), has: []string{ended}}, {path: "/dead-letters", lacks: []string{`"id":"` + s.id + `"`}}}
		}},
	{name: "redrive a letter of a message", page: func(s *stage) string {
		_ = os.RemoveAll(filepath.Join(s.dir, "late")) // it may not be there
		s.begin("tell", "succeeded")
		s.id = s.letter()
		if err := os.Mkdir(filepath.Join(s.dir, "late"), 0o700); err != nil {
			s.t.Fatal(err)
		}
		return "/letters"
	}, form: "POST /letters/{id}/redrive", button: "Redrive", says: "The message was sent.",
		stored: func(s *stage) []answer {
			return []answer{{path: "/dead-letters", lacks: []string{`"id":"` + s.id + `"`}}}
		},
		then: func(s *stage) {
			if text, err := os.ReadFile(filepath.Join(s.dir, "late", "messages.jsonl")); !bytes.Contains(text, []byte("The build is done.")) {
				s.t.Errorf("the message is %q (%v)", text, err)
			}
		}},
	{name: "drop a letter", page: func(s *stage) string { fails("")(s); s.id = s.letter(); return "/letters" }, form: "POST /letters/{id}/drop", button: "Drop", says: "The letter was removed.",
		stored: func(s *stage) []answer {
			return []answer{{path: "/dead-letters", lacks: []string{`"id":"` + s.id + `"`}}}
		}},

	// Forms that change nothing.
	{name: "filter runs", page: at("/runs"), form: "GET /runs", button: "Filter", fill: []fill{{"status", "cancelled"}, {"text", "long"}}, says: "long", shows: "run"},
	{name: "compare two runs", page: func(s *stage) string { return fails("")(s) }, form: "GET /compare", button: "Compare", fill: []fill{{"a", "{run}"}}, says: "The definitions are the same"},
	{name: "compare on the page", page: func(s *stage) string { fails("")(s); return "/compare" }, form: "GET /compare", button: "Compare", fill: []fill{{"a", "{run}"}, {"b", "{run}"}, {"all", "1"}}, says: "5 nodes do"},
	{name: "find in a log", page: func(s *stage) string {
		fails("")(s)
		return "/runs/" + s.run + "/log?" + url.Values{"attempt": {s.attempt()}, "stream": {"stdout"}}.Encode()
	}, form: "GET /runs/{run}/log", button: "Find", fill: []fill{{"find", "whole"}}, says: "lines found"},
	{name: "numbers", page: at("/numbers"), form: "GET /numbers", button: "Show", fill: []fill{{"since", "30d"}, {"by", "agent"}}, says: "By agent"},
	{name: "search the memory", page: at("/memory"), form: "GET /memory", button: "Find", fill: []fill{{"query", "parser"}}, says: "best first"},
}

func entry(has ...string) func(s *stage) []answer {
	return func(s *stage) []answer { return []answer{{path: "/memory/entry?id=" + s.id, has: has}} }
}

// newest is the newest run of a workflow.
func (s *stage) newest(workflow string) string {
	s.t.Helper()
	run := regexp.MustCompile(`"run":"([^"]+)","workflow":"` + workflow + `"`).FindStringSubmatch(s.ask("/runs"))
	if run == nil {
		s.t.Fatal("no run of " + workflow)
	}
	return run[1]
}

// work is the item that was dispatched last.
func (s *stage) work() string {
	s.t.Helper()
	var list struct{ Items []struct{ ID, Title string } }
	if err := json.Unmarshal([]byte(s.ask("/dispatch")), &list); err != nil || len(list.Items) == 0 {
		s.t.Fatal(list, err)
	}
	return list.Items[len(list.Items)-1].ID
}

// attempt is the last attempt of the run at hand.
func (s *stage) attempt() string {
	s.t.Helper()
	all := regexp.MustCompile(`"id":"([^"]+)"`).FindAllStringSubmatch(s.ask("/runs/"+s.run+"/logs"), -1)
	if len(all) == 0 {
		s.t.Fatal("no attempt")
	}
	return all[len(all)-1][1]
}

// leave logs the browser out.
func (s *stage) leave() {
	s.t.Helper()
	if _, err := chromedp.Call(s.b.ctx, network.ClearBrowserCookies, cdp.Empty{}); err != nil {
		s.t.Fatal(err)
	}
}

// put puts what the action is about into a text.
func (s *stage) put(text string) string {
	return strings.NewReplacer("{run}", s.run, "{id}", s.id, "{token}", s.token, "{number}", strconv.Itoa(s.number)).Replace(text)
}

// buttonsOf are the buttons of all forms of a page, with where each sends its form.
const buttonsOf = `[...document.querySelectorAll("form")].flatMap(form => {
	const list = [...form.elements].filter(e => e.type === "submit" || e.type === "image");
	return (list.length ? list : [null]).map(button => {
		const label = button ? button.cloneNode(true) : document.createElement("b");
		label.querySelectorAll(".hidden").forEach(e => e.remove());
		const path = new URL(button?.getAttribute("formaction") ?? form.getAttribute("action"), document.baseURI).pathname;
		return {form, button, target: (button?.getAttribute("formmethod") ?? form.method).toUpperCase() + " " + path, label: label.textContent.trim()};
	});
})`

// shapes are paths of forms with the names of what they are about.
var shapes = []struct {
	path *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`^(\w+) /runs/[^/]+/`), "$1 /runs/{run}/"},
	{regexp.MustCompile(`^(\w+) /(loops|dispatch|routines|limits|letters)/[^/]+/`), "$1 /$2/{id}/"},
}

// shapeOf is a button of a form without the names of what it is about.
func shapeOf(target, label string) string {
	for _, x := range shapes {
		target = x.path.ReplaceAllString(target, x.as)
	}
	return target + ": " + label
}

// collect keeps the buttons of the page that is open, and returns them.
func (s *stage) collect() string {
	s.t.Helper()
	seen := s.b.says(buttonsOf + `.map(b => b.target + "\t" + b.label + "\n").join("")`)
	for line := range strings.Lines(seen) {
		target, label, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		s.found[shapeOf(target, label)] = true
	}
	if n := s.b.says(`String(document.querySelectorAll("[hx-post], [hx-put], [hx-patch], [hx-delete]").length)`); n != "0" {
		s.t.Errorf("%s elements change something without a form", n)
	}
	return seen
}

// crawl collects the buttons of all pages that links lead to: of pages that differ in names and values only, one.
func (s *stage) crawl() int {
	s.t.Helper()
	names := regexp.MustCompile(`^(/runs/)[^/]+|=[^&]*`)
	known := map[string]bool{}
	todo := []string{"/"}
	for i := 0; i < len(todo); i++ {
		s.b.open(todo[i])
		s.collect()
		for link := range strings.Lines(s.b.says(`[...document.querySelectorAll("a[href]")].map(a => new URL(a.getAttribute("href"), document.baseURI)).filter(u => u.origin === location.origin).map(u => u.pathname + u.search + "\n").join("")`)) {
			link = strings.TrimSuffix(link, "\n")
			shape := names.ReplaceAllString(link, "$1")
			if strings.Contains(link, "tab=") {
				shape = regexp.MustCompile(`^/runs/[^/]+`).ReplaceAllString(link, "/runs/")
			}
			if !known[shape] && !strings.Contains(link, "whole=") {
				known[shape] = true
				todo = append(todo, link)
			}
		}
	}
	return len(todo)
}

// point is a place on the screen.
type point struct{ X, Y float64 }

// reach shows an element, opens what is folded around it, and returns the place in its middle. Nothing may cover it.
func (s *stage) reach(element string) point {
	s.t.Helper()
	at := s.see(element)
	for range 100 { // a new drawing moves the elements: wait until the element stays in its place
		time.Sleep(30 * time.Millisecond)
		now := s.see(element)
		if now == at {
			break
		}
		at = now
	}
	return at
}

// see brings an element onto the screen, and returns its middle.
func (s *stage) see(element string) point {
	s.t.Helper()
	text := s.b.says(`(() => {
		const e = ` + element + `;
		if (!e) return "no such element";
		e.scrollIntoView({block: "center", behavior: "instant"});
		const r = e.getBoundingClientRect(), x = r.left + r.width / 2, y = r.top + r.height / 2, top = document.elementFromPoint(x, y);
		if (r.width < 5 || r.height < 5 || r.left < 0 || r.right > innerWidth) return "not on the screen: " + JSON.stringify(r);
		if (!top || !e.contains(top)) return "covered by " + top?.outerHTML.slice(0, 100);
		return JSON.stringify({x, y});
	})()`)
	var p point
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		s.t.Fatalf("%s: %s", element, text)
	}
	return p
}

// focus goes to an element by Tab alone. Each element on the way must show that it has the focus.
func (s *stage) focus(element string) {
	s.t.Helper()
	for range 400 {
		s.b.do(chromedp.KeyEvent(kb.Tab))
		at, wrong, _ := strings.Cut(s.b.says(`(() => {
			const e = document.activeElement, r = e.getBoundingClientRect(), style = getComputedStyle(e);
			let wrong = "";
			if (e !== document.body) {
				if (style.outlineStyle === "none" || !parseFloat(style.outlineWidth)) wrong = "does not show the focus";
				if (r.bottom < 0 || r.top > innerHeight || r.right < 0 || r.left > innerWidth || r.width < 2 || r.height < 2) wrong = "is not on the screen";
				if (wrong) wrong += ": " + e.outerHTML.slice(0, 200);
			}
			return (e === (`+element+`)) + "|" + wrong;
		})()`), "|")
		if wrong != "" {
			s.t.Errorf("by the keyboard: an element %s", wrong)
		}
		if at == "true" {
			return
		}
	}
	s.t.Fatalf("%s cannot be reached by the keyboard", element)
}

// unfold opens what is folded around an element.
func (s *stage) unfold(element string) {
	s.t.Helper()
	for range 5 {
		if s.b.says(`String(!!(`+element+`)?.closest("details:not([open])"))`) != "true" {
			return
		}
		summary := `(` + element + `).closest("details:not([open])").querySelector("summary")`
		if s.way.keyboard {
			s.focus(summary)
			s.b.do(chromedp.KeyEvent(kb.Enter))
		} else {
			s.click(summary)
		}
	}
}

func (s *stage) click(element string) {
	s.t.Helper()
	p := s.reach(element)
	s.b.do(chromedp.MouseClickXY(p.X, p.Y))
}

// typeInto fills a field.
func (s *stage) typeInto(field, text string) {
	s.t.Helper()
	kind := s.b.says(`(` + field + `).type`)
	switch {
	case s.way.keyboard:
		s.focus(field)
	case kind == "select-one": // a click opens the list of the system
		s.reach(field)
		s.b.do(chromedp.Evaluate[chromedp.Void](`(` + field + `).focus()`))
	default:
		s.click(field)
		for range 5 { // a new drawing can move the field between the look and the click: click again
			if kind == "checkbox" || s.b.says(`String(document.activeElement === (`+field+`))`) == "true" {
				break
			}
			s.click(field)
		}
	}
	switch kind {
	case "checkbox":
		if s.way.keyboard {
			s.b.do(chromedp.KeyEvent(" "))
		}
	case "select-one":
		s.b.do(chromedp.KeyEvent(text))
	default:
		s.b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(text))
	}
	if kind != "checkbox" {
		if now := s.b.says(`(` + field + `).value`); now != text {
			s.t.Fatalf("%s has %q and not %q", field, now, text)
		}
	}
}

// do does an action, and looks at what came of it.
func (s *stage) do(a *action) {
	t := s.t
	t.Helper()
	path := a.page(s)
	s.b.open(path)
	if a.itself && s.way.scripts {
		s.read(a.says)
		return
	}
	seen := s.collect()
	target, _ := json.Marshal(s.put(a.form)) // strings
	label, _ := json.Marshal(a.button)
	within, _ := json.Marshal(s.put(a.within))
	one := buttonsOf + fmt.Sprintf(`.filter(b => b.target === %s && b.label === %s && (!%s || b.form.closest(%[3]s || "form")))`, target, label, within)
	if n := s.b.says(`String(` + one + `.length)`); n != "1" {
		t.Fatalf("%s: %s buttons say %s and send to %s:\n%s", path, n, label, target, seen)
	}
	button := one + "[0].button"
	if s.way.keyboard { // past the navigation
		s.focus(`document.querySelector("a.skip")`)
		s.b.do(chromedp.KeyEvent(kb.Enter))
	}
	s.unfold(button)
	for _, f := range a.fill {
		text, _ := json.Marshal(s.put(f.text))
		name, _ := json.Marshal(f.name)
		s.typeInto(one+fmt.Sprintf(`.flatMap(b => [...b.form.elements]).find(e => e.name === %s && (e.type !== "checkbox" || e.value.includes(%s)))`, name, text), s.put(f.text))
	}
	s.picture(a.name + " 1")
	s.b.do(chromedp.Evaluate[chromedp.Void]("window.old = true"))
	if s.way.keyboard {
		s.focus(button)
		s.b.do(chromedp.KeyEvent(kb.Enter))
	} else {
		s.click(button)
	}
	s.pressed[shapeOf(s.put(a.form), a.button)] = true
	s.read(a.says)
	s.collect()
	s.read(a.shows)
	s.picture(a.name + " 2")
	if wrong := s.b.says(unformatted); wrong != "" {
		t.Errorf("the page says %q", wrong)
	}
	if wide := s.b.says("String(document.documentElement.scrollWidth - innerWidth)"); !strings.HasPrefix(wide, "-") && wide != "0" {
		t.Errorf("the page is %s pixels too wide", wide)
	}
	if a.stored != nil {
		for _, x := range a.stored(s) {
			s.holds(x)
		}
	}
	if a.then != nil {
		a.then(s)
	}
}

// read waits until the page that follows says something. Without scripts, a person loads it again.
func (s *stage) read(text string) {
	s.t.Helper()
	quoted, _ := json.Marshal(text) // a string
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		state, err := chromedp.Run(s.b.ctx, chromedp.Evaluate[string](`window.old || document.readyState !== "complete" ? "old" : String(document.body.innerText.includes(`+string(quoted)+`))`))
		switch {
		case state == "true":
			return
		case time.Now().After(end):
			s.t.Fatalf("the page does not say %q (%v):\n%s", text, err, s.b.says("document.body.innerText"))
		case state == "false" && !s.way.scripts:
			s.b.do(chromedp.Reload())
		}
	}
}

func (s *stage) picture(name string) {
	if *pictures != "" {
		s.b.picture(fmt.Sprintf("%s-%d.png", strings.NewReplacer(" ", "-", ":", "").Replace(name), s.way.width))
	}
}

// TestActions does all actions of all pages as a person does, with the mouse, without scripts, and by the keyboard alone. Each time the page and
// the store say what became of it. No page may have a button that is not in the table, and no template, route or word of an answer either.
func TestActions(t *testing.T) {
	h := newHouse(t, "actions.flow.hcl")
	s := &stage{house: h, found: map[string]bool{}, pressed: map[string]bool{}}
	for i := range ways {
		secret := fmt.Sprintf("secret-%d", i)
		h.write(secret, "hush")
		h.flowrun("4", "apply", "flow.hcl", "secretive", "--var-from", "secret="+secret, "--no-wait")
		run := regexp.MustCompile(`"run": *"([^"]+)"`).FindStringSubmatch(h.flowrun("0", "runs", "list", "--json"))
		s.secrets = append(s.secrets, run[1])
		if err := os.Remove(filepath.Join(h.dir, secret)); err != nil {
			t.Fatal(err)
		}
	}
	h.serves = []string{"flow.hcl"}
	h.serve()
	t.Cleanup(h.stop)
	token, err := os.ReadFile(filepath.Join(h.dir, ".flowrun", "serve.token"))
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
	s.b = newBrowser(t, h.at)
	for i, w := range ways {
		s.way, s.number = w, i
		t.Run(w.name, func(t *testing.T) {
			s.b.scripts(w.scripts)
			s.b.size(w.width)
			begin := time.Now()
			for i := range actions {
				t.Run(actions[i].name, func(t *testing.T) {
					s.t, s.b.t = t, t
					s.do(&actions[i])
					s.b.clean(actions[i].name)
				})
			}
			t.Logf("%d actions in %s", len(actions), time.Since(begin).Round(100*time.Millisecond))
		})
	}
	s.t, s.b.t = t, t
	t.Logf("%d pages beside those of the actions", s.crawl())
	for _, x := range slices.Sorted(maps.Keys(s.found)) {
		if !s.pressed[x] {
			t.Errorf("nobody has pressed the button %s", x)
		}
	}
}

// TestActionsAreAll reads the source of the pages: each route that changes something, each button of a template, and each word of an answer is in
// the table of actions. So an action that no page of the test shows is missed, too.
func TestActionsAreAll(t *testing.T) {
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const web = "cmd/flowrun/internal/web/"
	var paths, labels []string
	for _, a := range actions {
		paths, labels = append(paths, a.form), append(labels, a.button)
	}
	routes := regexp.MustCompile(`pattern: "(POST [^"]+)"`).FindAllStringSubmatch(read(web+"views.go"), -1)
	if len(routes) < 10 {
		t.Errorf("%d routes change something", len(routes))
	}
	for _, r := range routes {
		path := regexp.MustCompile("^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(r[1]), `[^/]+`) + "$")
		if !slices.ContainsFunc(paths, path.MatchString) {
			t.Errorf("no action sends to %s", r[1])
		}
	}
	words := regexp.MustCompile(`\tWord\w+ +Word = "(\w+)"`).FindAllStringSubmatch(read("runner/event/ask.go"), -1)
	if len(words) < 10 {
		t.Errorf("an answer has %d words", len(words))
	}
	for _, w := range words {
		if !slices.Contains(labels, w[1]) {
			t.Errorf("no action answers %s", w[1])
		}
	}
	templates, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(web), "templates", "*.html"))
	if err != nil || len(templates) == 0 {
		t.Fatal(templates, err)
	}
	form, button := regexp.MustCompile(`(?s)<form\b.*?</form>`), regexp.MustCompile(`(?s)<button[^>]*>(.*?)</button>`)
	hidden, code := regexp.MustCompile(`<span class="hidden">.*?</span>`), regexp.MustCompile(`{{.*?}}`)
	buttons := 0
	for _, path := range templates {
		text := read(web + "templates/" + filepath.Base(path))
		if strings.Count(text, "<button") != len(button.FindAllString(strings.Join(form.FindAllString(text, -1), ""), -1)) {
			t.Errorf("%s: a button is in no form", filepath.Base(path))
		}
		for _, b := range button.FindAllStringSubmatch(text, -1) {
			buttons++
			for _, label := range code.Split(hidden.ReplaceAllString(b[1], ""), -1) { // the words of answers are looked at above
				if label != "" && !slices.Contains(labels, label) {
					t.Errorf("%s: no action presses %q", filepath.Base(path), label)
				}
			}
		}
	}
	if buttons < 30 {
		t.Errorf("the templates have %d buttons", buttons)
	}
}
