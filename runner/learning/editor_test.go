package learning

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

func TestAnEditorsAnswerIsRead(t *testing.T) {
	good := map[string]any{"text": "Wait.", "cites": []any{1.0, 3.0}}
	for name, output := range map[string]value.Value{
		"an object":           good,
		"its text":            `{"text": "Wait.", "cites": [1, 3]}`,
		"text around it":      "Here it is:\n```json\n{\"text\": \"Wait.\", \"cites\": [1, 3]}\n```\n",
		"an assistant's":      map[string]any{"result": "```{\"text\": \"Wait.\", \"cites\": [1, 3]}```", "is_error": false},
		"an object inside":    map[string]any{"result": good},
		"an assistant's text": `{"result": "{\"text\": \"Wait.\", \"cites\": [1, 3]}"}`,
	} {
		text, cites, err := readWording(output)
		if err != nil || text != "Wait." || !slices.Equal(cites, []int{1, 3}) {
			t.Errorf("%s: %q %v, %v", name, text, cites, err)
		}
	}
	for name, output := range map[string]value.Value{
		"nothing": nil, "a number": 4.0, "a list": []any{good}, "words": "I am not sure.", "a brace": "} {", "broken": `{"text": `, "broken inside": `{"text" }`,
		"no cites": map[string]any{"text": "Wait."}, "no text": map[string]any{"cites": []any{1.0}}, "half a lesson": map[string]any{"text": "x", "cites": []any{1.5}},
		"a name": map[string]any{"text": "x", "cites": []any{"one"}}, "far too large": map[string]any{"text": "x", "cites": []any{1e300}},
		"boxes in boxes": map[string]any{"result": map[string]any{"result": map[string]any{"result": map[string]any{"result": good}}}},
	} {
		if text, cites, err := readWording(output); !errors.Is(err, learn.ErrRefused) {
			t.Errorf("%s: %q %v, %v", name, text, cites, err)
		}
	}
}

// testEditor is one whose agent is carried out by f.
func testEditor(f func(event.Attempt) event.AttemptFinished) *Editor {
	list := value.List(value.StringType)
	p := &ir.Program{Memory: &ir.Memory{Editor: "ed"}, Agents: []ir.Agent{
		{Name: "coder", Type: ir.AgentExec, Memory: &ir.AgentMemory{Groups: []string{"ops"}}},
		{Name: "ed", Type: ir.AgentExec, Command: ir.Lit([]any{"ed"}, list), Timeout: ir.Lit("20s", value.StringType), Memory: &ir.AgentMemory{Recall: true},
			Retry: &ir.Retry{MaxAttempts: ir.Lit(5.0, value.NumberType)}},
	}}
	e := NewEditor(p, &event.RunStarted{Dir: "/there", Env: map[string]string{"PATH": "/bin"}}, executor.Func(
		func(_ context.Context, a event.Attempt) event.AttemptFinished { return f(a) }))
	e.ctx, e.first.Run, e.until = context.Background(), "r", time.Now().Add(time.Minute)
	return e
}

// TestAnEditorIsAskedOnce: as any agent, but without what it remembers, and once.
func TestAnEditorIsAskedOnce(t *testing.T) {
	var asked []event.Attempt
	e := testEditor(func(a event.Attempt) event.AttemptFinished {
		asked = append(asked, a)
		ans := executor.Answer(a)
		executor.Fail(&ans, &event.Error{Kind: event.Transient, Reason: event.ReasonExit, Message: "the model is busy"})
		return ans
	})
	_, _, err := e.Word([]string{"one lesson", strings.Repeat("long ", 1000)})
	if err == nil || errors.Is(err, learn.ErrRefused) || !strings.Contains(err.Error(), `agent "ed": the model is busy`) {
		t.Error(err)
	}
	if len(asked) != 1 {
		t.Fatalf("asked %d times", len(asked))
	}
	a := asked[0]
	if a.Run != "r" || a.Agent.Name != "ed" || a.Agent.Memory != nil || a.Dir != "/there" || a.Base["PATH"] != "/bin" || a.Timeout != 20*time.Second || len(a.Key) != 32 {
		t.Errorf("%+v %+v", a, a.Agent)
	}
	lessons := a.Agent.With.(map[string]any)["lessons"].([]any)
	if one := lessons[0].(map[string]any); len(lessons) != 2 || one["number"] != 1.0 || one["lesson"] != "one lesson" {
		t.Errorf("%v", lessons)
	}
	if long := lessons[1].(map[string]any)["lesson"].(string); len(long) > maxLessonSent || len(long) < maxLessonSent-10 {
		t.Errorf("a lesson of %d bytes is sent", len(long))
	}
	e.Word([]string{"one lesson", strings.Repeat("long ", 1000)})
	e.Word([]string{"another lesson"})
	if asked[1].Key != a.Key || asked[2].Key == a.Key {
		t.Error("the key is not that of what is asked")
	}
	if len(e.viewer.Scopes) != 3 || e.viewer.All {
		t.Errorf("what is sent: %v", e.viewer)
	}
}

// TestAnEditorHasSoMuchTime: what is left of all of it bounds an attempt, and without any none is made.
func TestAnEditorHasSoMuchTime(t *testing.T) {
	var timeout time.Duration
	e := testEditor(func(a event.Attempt) event.AttemptFinished {
		timeout = a.Timeout
		ans := executor.Answer(a)
		ans.Outcome, ans.Output = event.OK, map[string]any{"text": "Wait.", "cites": []any{1.0}}
		return ans
	})
	e.until = time.Now().Add(10 * time.Second)
	if _, _, err := e.Word([]string{"x"}); err != nil || timeout > 10*time.Second || timeout < 5*time.Second {
		t.Errorf("%v, %v", timeout, err)
	}
	e.until, timeout = time.Now(), 0
	if _, _, err := e.Word([]string{"x"}); err == nil || errors.Is(err, learn.ErrRefused) || timeout != 0 {
		t.Errorf("%v, %v", timeout, err)
	}
}

// TestAnEditorThatCannotStart: the evaluation of its command fails.
func TestAnEditorThatCannotStart(t *testing.T) {
	e := testEditor(func(event.Attempt) event.AttemptFinished { panic("it was started") })
	e.program.Agents[0].Command = ir.Lit("no list", value.StringType)
	if _, _, err := e.Word([]string{"x"}); err == nil || !strings.Contains(err.Error(), `agent "ed" can't be asked: `) || strings.Contains(err.Error(), "does not start") {
		t.Error(err)
	}
}
