package executor

import (
	"context"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

// An attempt goes to the executor of its kind, and to no other one.
func TestRegistryFindsTheExecutorOfAKind(t *testing.T) {
	var asked []string
	named := func(name string) Executor {
		return Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
			asked = append(asked, name+" "+string(a.Kind))
			return Answer(a)
		})
	}
	r := Registry{}
	r.Register(named("programs"), event.RunAttempt, event.ExecAgentAttempt)
	r.Register(named("requests"), event.HTTPAttempt)
	for _, k := range []event.AttemptKind{event.HTTPAttempt, event.ExecAgentAttempt, event.RunAttempt} {
		r.Execute(context.Background(), event.Attempt{Kind: k})
	}
	if got := strings.Join(asked, ", "); got != "requests http, programs agent.exec, programs run" {
		t.Errorf("asked were: %s", got)
	}
}

// An attempt that nothing here can carry out fails, once and with a message that names its kind. No program is started for it.
func TestAttemptOfAnUnknownKindIsFatal(t *testing.T) {
	r := Registry{}
	r.Register(Func(func(context.Context, event.Attempt) event.AttemptFinished {
		t.Error("another kind's executor was asked")
		return event.AttemptFinished{}
	}), event.RunAttempt)
	for _, k := range []event.AttemptKind{"emit", ""} {
		ans := r.Execute(context.Background(), event.Attempt{Ticket: 7, Node: "n[1]", Attempt: 2, Kind: k, Argv: []string{"true"}})
		if ans.Ticket != 7 || ans.Node != "n[1]" || ans.Attempt != 2 || ans.Outcome != event.Failed || ans.StartedAt == 0 {
			t.Errorf("%q: the answer is %+v", k, ans)
		}
		if e := ans.Error; e == nil || e.Kind != event.Fatal || !strings.Contains(e.Message, `kind "`+string(k)+`"`) {
			t.Errorf("%q: the error is %+v", k, e)
		}
	}
}

func TestRegistryRefusesTwoExecutorsOfAKind(t *testing.T) {
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, `"agent.null"`) {
			t.Errorf("the panic says %q", got)
		}
	}()
	r := Registry{}
	none := Func(func(context.Context, event.Attempt) (f event.AttemptFinished) { return f })
	r.Register(none, event.NullAgentAttempt)
	r.Register(none, event.NullAgentAttempt)
}
