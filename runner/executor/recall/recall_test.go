package recall_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mask"
	"github.com/flowrun/flowrun/runner/executor/recall"
)

// book is a memory that writes down what it is asked.
type book struct {
	asked []string
	err   error
}

func (b *book) Recall(_ context.Context, q recall.Ask) (recall.Found, error) {
	b.asked = append(b.asked, fmt.Sprintf("recall %+v", q))
	return recall.Found{Text: "<memory>\nM-1\n</memory>", Entries: []event.Recalled{{ID: "M-1"}}}, b.err
}

func (b *book) Search(_ context.Context, q recall.Search) (recall.Result, error) {
	b.asked = append(b.asked, fmt.Sprintf("search %+v", q))
	return recall.Result{Items: []map[string]any{{"id": "M-1"}}, Text: "<memory>"}, b.err
}

func (b *book) Remember(_ context.Context, e recall.Entry) (string, bool, error) {
	b.asked = append(b.asked, fmt.Sprintf("remember %+v", e))
	return "M-2", false, b.err
}

func opened(b *book, err error) func(string) (recall.Memory, error) {
	return func(string) (recall.Memory, error) { return b, err }
}

// told is an agent that answers with what it was told, and notes as much as is asked for.
func told(notes int) executor.Executor {
	return executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		ans := executor.Answer(a)
		ans.Outcome = event.OK
		if a.Agent != nil {
			ans.Output = a.Agent.Recalled
		}
		for i := range notes {
			executor.Note(ctx, event.Learned{Text: fmt.Sprintf("note %d of ghp_hunter22", i), Type: "note"})
		}
		return ans
	})
}

func task() event.Attempt {
	return event.Attempt{Ticket: 3, Run: "r1", Node: "fix[0]", Name: "fix", Attempt: 1, Key: "k",
		Agent: &event.AgentRequest{Name: "coder", Task: "Fix it with ghp_hunter22.", Memory: &event.MemoryUse{Recall: true, Budget: 300, Most: 4, Groups: []string{"backend"}}}}
}

// The agent is told what was recalled, the answer says what that was, and the machine's attempt stays as it is. A secret in a
// task is not looked for.
func TestAgentIsTold(t *testing.T) {
	b, a := &book{}, task()
	ctx := executor.WithMask(context.Background(), mask.New([]string{"ghp_hunter22"}))
	ans := recall.New(told(1), opened(b, nil)).Execute(ctx, a)
	want := event.AttemptFinished{Ticket: 3, Node: "fix[0]", Attempt: 1, Outcome: event.OK, Output: "<memory>\nM-1\n</memory>", Recalled: []event.Recalled{{ID: "M-1"}}}
	if d := cmp.Diff(want, ans); d != "" {
		t.Error(d)
	}
	if a.Agent.Recalled != "" {
		t.Error("the machine's attempt was changed")
	}
	asked := strings.Join(b.asked, "\n")
	for _, part := range []string{"recall {Who:{Run:r1 Step:fix[0] Agent:coder Groups:[backend]} Task:Fix it with (sensitive). Budget:300 Most:4}", "note 0 of (sensitive)", "Key:k Scope:run", "Note:true"} {
		if !strings.Contains(asked, part) {
			t.Errorf("%q was not asked:\n%s", part, asked)
		}
	}
	if strings.Contains(asked, "hunter22") {
		t.Errorf("a secret reaches the memory:\n%s", asked)
	}
}

// Who has no memory is not asked about; whose memory gives nothing unasked still can note.
func TestWhoIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*event.Attempt)
		asked  int
	}{
		"no memory": {func(a *event.Attempt) { a.Agent.Memory = nil }, 0},
		"no recall": {func(a *event.Attempt) { a.Agent.Memory.Recall = false }, 2},
		"no task":   {func(a *event.Attempt) { a.Agent.Task = "" }, 3},
		"program":   {func(a *event.Attempt) { a.Agent = nil }, 0},
	} {
		b, a := &book{}, task()
		c.change(&a)
		if recall.New(told(2), opened(b, nil)).Execute(context.Background(), a); len(b.asked) != c.asked {
			t.Errorf("%s: %q", name, b.asked)
		}
		if name == "no task" && !strings.Contains(b.asked[0], "Task:fix ") {
			t.Errorf("it asks %s", b.asked[0])
		}
	}
}

// What the agent's own executor warns of stands beside what the memory does.
func TestWarningsStandTogether(t *testing.T) {
	next := executor.Func(func(context.Context, event.Attempt) event.AttemptFinished {
		return event.AttemptFinished{Outcome: event.OK, Warning: "of 17 learnings 1 was not kept"}
	})
	ans := recall.New(next, opened(&book{err: errors.New("disk I/O error")}, nil)).Execute(context.Background(), task())
	if want := "of 17 learnings 1 was not kept; nothing was recalled: disk I/O error"; ans.Warning != want {
		t.Errorf("it warns of %q, want %q", ans.Warning, want)
	}
}

// However the memory fails, the agent works, and its answer warns.
func TestMemoryThatFails(t *testing.T) {
	broken := errors.New("disk I/O error")
	for name, x := range map[string]*recall.Executor{
		"it has no memory: disk I/O error":            recall.New(told(0), opened(nil, broken)),
		"nothing was recalled: disk I/O error":        recall.New(told(0), opened(&book{err: broken}, nil)),
		"its notes were not kept: of 2 notes: disk I": recall.New(told(2), opened(&book{err: broken}, nil)),
	} {
		if ans := x.Execute(context.Background(), task()); ans.Outcome != event.OK || !strings.Contains(ans.Warning, name) {
			t.Errorf("%+v, want the warning %q", ans, name)
		}
	}
	for _, a := range []event.Attempt{{Kind: event.RememberAttempt, Remember: &event.Remember{Text: "x"}}, {Kind: event.RecallAttempt, Recall: &event.Recall{Query: "x"}}} {
		want := map[string]any{"count": 0.0, "items": []any{}, "text": ""}
		if a.Remember != nil {
			want = map[string]any{"id": nil, "known": false}
		}
		ans := recall.NewSteps(opened(&book{err: broken}, nil)).Execute(context.Background(), a)
		if ans.Outcome != event.OK || ans.Warning != "it has no memory: disk I/O error" || !cmp.Equal(ans.Output, any(want)) {
			t.Errorf("%+v", ans)
		}
	}
}

func TestSteps(t *testing.T) {
	b := &book{}
	x := recall.NewSteps(opened(b, nil))
	a := event.Attempt{Ticket: 4, Run: "r1", Node: "note", Key: "k", Kind: event.RememberAttempt, Remember: &event.Remember{Lesson: "Tag first.", Type: "insight", Agent: "coder", Scope: "agent:coder"}}
	if out := x.Execute(context.Background(), a).Output; !cmp.Equal(out, any(map[string]any{"id": "M-2", "known": false})) {
		t.Error(out)
	}
	a = event.Attempt{Run: "r1", Node: "look", Kind: event.RecallAttempt, Recall: &event.Recall{Query: "tags?", K: 5, Budget: 100, Agent: "coder", Groups: []string{"backend"}}}
	want := map[string]any{"count": 1.0, "items": []any{map[string]any{"id": "M-1"}}, "text": "<memory>"}
	if out := x.Execute(context.Background(), a).Output; !cmp.Equal(out, any(want)) {
		t.Error(out)
	}
	asked := strings.Join(b.asked, "\n")
	for _, part := range []string{"Agent:coder", "Key:k Scope:agent:coder Trusted:false Note:false", "Query:tags?", "K:5 Budget:100", "Groups:[backend]"} {
		if !strings.Contains(asked, part) {
			t.Errorf("%q was not asked:\n%s", part, asked)
		}
	}
}

// slow is a memory that waits for its caller to give up.
type slow struct{ book }

func (s *slow) Search(ctx context.Context, _ recall.Search) (recall.Result, error) {
	<-ctx.Done()
	return recall.Result{}, ctx.Err()
}

// A step keeps its timeout, and ends when it is cancelled.
func TestStepEnds(t *testing.T) {
	x := recall.NewSteps(func(string) (recall.Memory, error) { return &slow{}, nil })
	a := event.Attempt{Kind: event.RecallAttempt, Recall: &event.Recall{Query: "x"}, Timeout: time.Millisecond}
	if ans := x.Execute(context.Background(), a); ans.Error == nil || ans.Error.Reason != event.ReasonTimeout || ans.Error.Kind != event.Transient {
		t.Errorf("%+v", ans)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	a.Timeout = 0
	go cancel(executor.Cancelled)
	if ans := x.Execute(ctx, a); ans.Error == nil || ans.Error.Reason != event.ReasonCancelled {
		t.Errorf("%+v", ans)
	}
	if ans := x.Execute(ctx, a); ans.Error == nil || ans.Error.Reason != event.ReasonCancelled {
		t.Errorf("%+v", ans)
	}
}

// No agent makes more of the memory than the bound says.
func TestNotesAreBounded(t *testing.T) {
	for _, n := range []int{100, 101} {
		b, a := &book{}, task()
		a.Agent.Memory.Recall = false
		if recall.New(told(n), opened(b, nil)).Execute(context.Background(), a); len(b.asked) != 100 {
			t.Errorf("%d notes: %d are kept", n, len(b.asked))
		}
	}
}
