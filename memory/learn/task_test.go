package learn

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/memory/entry"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

func task(p *Problem) Task {
	return Task{Agent: "backend", Run: "ship-81", Step: "build/api[2]", Text: "Build the  API\nfor linux", Attempts: 1,
		Problem: p, Tags: []string{"Go"}, Trust: entry.ByAgent, At: noon}
}

func TestAFailedTaskTeachesWhatToSeeTo(t *testing.T) {
	got := FromTask(task(&Problem{Reason: "exit", ExitCode: 1, Command: "go build ./...", Message: "exited with 1",
		Stderr: "# app\n./main.go:12:9: undefined: loadConfig\n"}))
	want := entry.Entry{
		ID: ID("task", "ship-81", "build/api[2]", "outcome"), Scope: "agent:backend", Agent: "backend", Type: entry.Failure,
		Context:     "Build the API for linux",
		Observation: "failed (`go build ./...`, exit code 1): ./main.go:12:9: undefined: loadConfig",
		Lesson:      "See to this first: ./main.go:12:9: undefined: loadConfig.",
		Auto:        true, Tags: []string{"api", "go"}, Importance: 0.7, CreatedAt: noon,
		By: entry.Source{Run: "ship-81", Step: "build/api[2]", Source: "result", Author: "agent:backend", Trust: entry.ByAgent},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheStepIsATag(t *testing.T) {
	for step, want := range map[string]string{"write/i3": "write", `each["x[y"]/i2/fix["]/a"]/i1`: "fix", "group/i12/write": "write", "ship": "ship", "build/api[2]": "api", `build["eu/west"]/api["a/b"]`: "api", `each["x y"]`: "each"} {
		made := task(nil)
		made.Step, made.Tags = step, nil
		if got := FromTask(made).Tags; len(got) != 1 || got[0] != want {
			t.Errorf("step %s: %q", step, got)
		}
	}
}

func TestLessons(t *testing.T) {
	for name, c := range map[string]struct {
		p    *Problem
		want string
	}{
		"an agent's own words": {&Problem{Reason: "agent", Message: "the table orders is locked by a migration", Stderr: "error: exit\n"},
			"See to this first: the table orders is locked by a migration."},
		"out of time":  {&Problem{Reason: "timeout", Message: "it took longer than 30s"}, "It ran out of time: it took longer than 30s. Do less in one go, report progress, or allow more time."},
		"no program":   {&Problem{Reason: "not_found", Message: "command not found: terraform"}, "It could not start: command not found: terraform. Make sure that it is installed before starting."},
		"a gate":       {&Problem{Reason: "gate", Gate: "coverage", Message: "coverage is 61%, below 80%"}, "The result was refused: coverage is 61%, below 80%. Make sure of that before handing in."},
		"credentials":  {&Problem{Reason: "http", Status: 401, Message: "bad token"}, "The other side refused access: bad token. Check the credentials before starting."},
		"too often":    {&Problem{Reason: "http", Status: 429, Message: "slow down"}, "It was too much at once: slow down. Ask less often, or for less."},
		"a wrong form": {&Problem{Reason: "output_type", Message: "output.verdict is missing"}, "The answer had not the declared form: output.verdict is missing. Keep to the form."},
		"an agent without words": {&Problem{Reason: "agent", Message: "the agent failed without a message", Stderr: "no space left on device\n"},
			"See to this first: no space left on device."},
		"a gate's program": {&Problem{Reason: "gate", Gate: "tests", Message: `gate "tests" did not pass: exit code 1`, Stdout: "--- FAIL: TestSum (0.00s)\nFAIL\n"},
			"The result was refused: --- FAIL: TestSum. Make sure of that before handing in."},
		"a gate that is silent": {&Problem{Reason: "gate", Gate: "tests", Message: `gate "tests" did not pass: exit code 1`, Stdout: "bye\n"},
			`The result was refused: gate "tests" did not pass: exit code 1. Make sure of that before handing in.`},
		"a command in a script": {&Problem{Reason: "not_found", Message: "exit code 127: a command was not found", Stderr: "sh: 1: terraform: not found\n"},
			"It could not start: sh: 1: terraform: not found. Make sure that it is installed before starting."},
		"words without an error": {&Problem{Reason: "exit", ExitCode: 1, Message: "exit code 1", Stderr: "one\nno space on disk\n"}, "See to this first: no space on disk."},
		"a late warning":         {&Problem{Reason: "timeout", Message: "timed out after 30s", Stderr: "error: retrying\n"}, "It ran out of time: timed out after 30s. Do less in one go, report progress, or allow more time."},
		"an exit code":           {&Problem{Reason: "exit", ExitCode: 3, Message: "exit code 3"}, "It failed without saying why: find out before trying it the same way."},
		"silence":                {&Problem{Reason: "exit", ExitCode: 3}, "It failed without saying why: find out before trying it the same way."},
		"nothing":                {nil, "It failed without saying why: find out before trying it the same way."},
	} {
		if got := FromTask(task(c.p)).Lesson; got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestASucceededTask(t *testing.T) {
	again := task(&Problem{Reason: "exit", ExitCode: 1, Stderr: "error: port 8080 is already in use\n"})
	again.OK, again.Attempts = true, 2
	e := FromTask(again)
	if e.Type != entry.Success || e.Importance != 0.4 || e.Lesson != "It works once this is seen to: error: port 8080 is already in use." ||
		e.Observation != "succeeded on attempt 2; before: error: port 8080 is already in use" {
		t.Errorf("after a failed attempt: %+v", e)
	}
	first := task(nil)
	first.OK, first.Output = true, Outline(map[string]any{"files": 3.0})
	if e = FromTask(first); e.Lesson != "It works as asked." || e.Observation != "succeeded: files = 3" {
		t.Errorf("at once: %+v", e)
	}
}

func TestWhatAnUntrustedAgentTaughtStaysInItsRun(t *testing.T) {
	untrusted := task(nil)
	untrusted.Trust = entry.Untrusted
	if got := FromTask(untrusted).Scope; got != "run:ship-81" {
		t.Errorf("its scope is %q", got)
	}
	if got := untrusted.Said(0, entry.Entry{Lesson: "x", Scope: entry.Shared, By: entry.Source{Trust: entry.ByPerson}}); got.Scope != "run:ship-81" || got.By.Trust != entry.Untrusted {
		t.Errorf("what it said itself has scope %q and trust %q", got.Scope, got.By.Trust)
	}
}

func TestWhatAnAgentWordsIsCompleted(t *testing.T) {
	got := task(nil).Said(1, entry.Entry{ID: "forged", Agent: "other", Type: entry.Pattern, Lesson: "Run the linter first.", Importance: 7, Tags: []string{"Security"}})
	want := entry.Entry{ID: ID("task", "ship-81", "build/api[2]", "said 1"), Scope: "agent:backend", Agent: "backend", Type: entry.Insight,
		Context: "Build the API for linux", Lesson: "Run the linter first.", Tags: []string{"go", "security"}, Importance: 1, CreatedAt: noon,
		By: entry.Source{Run: "ship-81", Step: "build/api[2]", Source: "result", Author: "agent:backend", Trust: entry.ByAgent}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhatAnAgentSaysOfItsTypeIsBelieved(t *testing.T) {
	for is, want := range map[entry.Type]entry.Type{entry.Success: entry.Success, entry.Failure: entry.Failure, entry.Insight: entry.Insight, entry.Summary: entry.Insight, "": entry.Insight} {
		if got := task(nil).Said(0, entry.Entry{Type: is, Lesson: "x"}); got.Type != want {
			t.Errorf("%q becomes %q, want %q", is, got.Type, want)
		}
	}
}

func TestImportance(t *testing.T) {
	for _, c := range []struct {
		of   entry.Type
		tag  string
		want float64
	}{
		{entry.Failure, "go", .7}, {entry.Insight, "go", .6}, {entry.Success, "go", .4}, {entry.Note, "go", .5}, {entry.Failure, "critical", .8}, {entry.Success, "security", .5},
	} {
		if got := Importance(c.of, []string{c.tag}); got != c.want {
			t.Errorf("%s, %s: %v, want %v", c.of, c.tag, got, c.want)
		}
	}
}

func TestHowOftenATaskFailedIsTold(t *testing.T) {
	for n, want := range map[int]string{1: "failed", 2: "failed 2 times"} {
		w := task(&Problem{Message: "no disk"})
		w.OK, w.Attempts = false, n
		if got := FromTask(w).Observation; !strings.HasPrefix(got, want+":") && !strings.HasPrefix(got, want+" (") {
			t.Errorf("%d attempts: %q", n, got)
		}
	}
}

// TestTextsKeepTheirBounds takes outputs of any length and bytes.
func TestTextsKeepTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.IntRange(0, 3000), func(n int) string { return strings.Repeat("fehlerähnlich error: ä ", n) }))
		made := task(&Problem{Reason: rapid.SampledFrom([]string{"exit", "agent", "timeout", "gate", ""}).Draw(t, "reason"),
			Message: any.Draw(t, "message"), Command: any.Draw(t, "command"), Stderr: any.Draw(t, "stderr")})
		made.Text, made.Output = any.Draw(t, "text"), any.Draw(t, "output")
		made.OK, made.Attempts = rapid.Bool().Draw(t, "ok"), rapid.IntRange(0, 9).Draw(t, "attempts")
		made.Tags = rapid.SliceOf(any).Draw(t, "tags")
		e := FromTask(made)
		for what, text := range map[string]struct {
			s   string
			max int
		}{"context": {e.Context, MaxContext}, "observation": {e.Observation, MaxObservation}, "lesson": {e.Lesson, MaxLesson}} {
			if len(text.s) > text.max || !utf8.ValidString(text.s) || text.s == "" {
				t.Fatalf("the %s has %d bytes: %q", what, len(text.s), text.s)
			}
		}
		if len(e.Tags) > MaxTags {
			t.Fatalf("%d tags", len(e.Tags))
		}
		if diff := cmp.Diff(e, FromTask(made)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"short", 5, "short"}, {"longer", 5, "lo…"}, {"ääää", 7, "ää…"}, {"eins zwei drei vier", 18, "eins zwei drei…"}, {"abc", 2, ""}, {" x ", 1, "x"}, {"ab\xffcd", 9, "ab\uFFFDcd"},
	} {
		if got := Clip(c.s, c.n); got != c.want || len(got) > c.n {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func TestRepeatsAreTold(t *testing.T) {
	a := entry.Entry{ID: "1", Agent: "a", Scope: "agent:a", Type: entry.Failure, Lesson: "Wait for  the lock."}
	same, port, other, line := a, a, a, a
	same.ID, same.Lesson, same.CreatedAt = "2", "wait for the Lock", noon
	port.Lesson = "Wait for port 81."
	other.Scope = entry.Shared
	line.Type, line.Session = "", "talk"
	if Key(a) == "" || Key(a) != Key(same) {
		t.Error("the same lesson in other spelling is not a repeat")
	}
	for name, e := range map[string]entry.Entry{"another lesson": port, "another scope": other, "a line of a conversation": line} {
		if Key(e) == Key(a) {
			t.Errorf("%s is a repeat", name)
		}
	}
	if Key(line) != "" {
		t.Error("lines of a conversation have a key")
	}
	if x, y := Norm("Use port 80, not 81!"), Norm("use port 81, not 80"); x == y {
		t.Errorf("two facts are one: %q", x)
	}
}

// Of what an untrusted agent did, others learn what flowrun knows and what the file says, and nothing that it worded.
func TestFactsHoldNoWordsOfAnAgent(t *testing.T) {
	const canary = "canary"
	say := func(p Problem) *Problem {
		p.Message, p.Stdout, p.Stderr = canary+" error: see "+canary, "error: "+canary, "fatal: "+canary
		return &p
	}
	for name, c := range map[string]struct {
		p           *Problem
		rule        string
		observation string
		lesson      string
	}{
		"an exit code":   {say(Problem{Reason: "exit", ExitCode: 3}), "", "failed (exit code 3)", "It failed (exit code 3): find out why before trying it the same way."},
		"its own error":  {say(Problem{Reason: "agent"}), "", "failed", "It failed (the agent reported an error): find out why before trying it the same way."},
		"out of time":    {say(Problem{Reason: "timeout"}), "", "failed (timeout)", "It ran out of time: timeout. Do less in one go, report progress, or allow more time."},
		"no JSON":        {say(Problem{Reason: "bad_json"}), "", "failed (bad json)", "The answer had not the declared form: bad json. Keep to the form."},
		"a server":       {say(Problem{Reason: "http", Status: 503}), "", "failed (HTTP status 503)", "See to this first: HTTP status 503."},
		"a gate":         {say(Problem{Reason: "gate", Gate: "tests"}), "the tests must pass", `failed (gate "tests"): the tests must pass`, `The result was refused: gate "tests" did not pass: the tests must pass. Make sure of that before handing in.`},
		"a silent gate":  {say(Problem{Reason: "gate", Gate: "tests"}), "", `failed (gate "tests")`, `The result was refused: gate "tests" did not pass. Make sure of that before handing in.`},
		"a round":        {say(Problem{Reason: "round"}), "round 2 did not meet its condition: step.review.output.ok", "was not accepted: round 2 did not meet its condition: step.review.output.ok", "The result was refused: round 2 did not meet its condition: step.review.output.ok. Make sure of that before handing in."},
		"nothing at all": {nil, "", "failed", "It failed without saying why: find out before trying it the same way."},
	} {
		made := task(c.p)
		made.Rule, made.Output = c.rule, canary
		made.Step = `build["canary"]/api["canary ]["]`
		e := Facts(made)
		if e.Observation != c.observation || e.Lesson != c.lesson {
			t.Errorf("%s:\n got %q, %q\nwant %q, %q", name, e.Observation, e.Lesson, c.observation, c.lesson)
		}
		made.OK, made.Attempts = true, 2
		for _, e := range []entry.Entry{e, Facts(made)} {
			if said := e.Lesson + e.Observation + e.Context + strings.Join(e.Tags, " "); strings.Contains(said, canary) || e.ID == FromTask(made).ID {
				t.Errorf("%s: %q", name, said)
			}
		}
	}
}
