package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// actionWords says in a few words what a step with an action does, by the action's kind.
var actionWords = map[ir.ActionKind]func(ir.Action) string{
	ir.RunAction: func(a ir.Action) string {
		if r := a.(*ir.Run); r.Script == nil {
			return "run " + argv(r.Argv)
		}
		return "run " + firstLine(written(a.(*ir.Run)))
	},
	ir.AgentAction:    func(a ir.Action) string { return assigneeWords(&a.(*ir.AgentTask).Assignee) },
	ir.ValueAction:    func(ir.Action) string { return "value" },
	ir.CallAction:     func(a ir.Action) string { return "call " + a.(*ir.Call).Workflow },
	ir.HTTPAction:     requestWords,
	ir.RememberAction: rememberWords,
	ir.RecallAction:   func(a ir.Action) string { return "recall " + source(&a.(*ir.Recall).Query) },
	ir.KVAction:       func(a ir.Action) string { return "kv " + string(a.(*ir.KV).Operation) + " " + source(&a.(*ir.KV).Key) },
	ir.EmitAction:     func(a ir.Action) string { return "emit " + a.(*ir.Emit).Event },
	ir.SyncAction: func(a ir.Action) string {
		return "sync " + source(&a.(*ir.Sync).Point) + " as " + source(&a.(*ir.Sync).As)
	},
	ir.HandoffAction: func(a ir.Action) string { return "hand over" },
	ir.NotifyAction:  func(a ir.Action) string { return "notify " + strings.Join(a.(*ir.Notify).To, ", ") },
	ir.WaitAction:    waitWords,
	ir.ApproveAction: func(a ir.Action) string { return "approve " + source(&a.(*ir.Approve).Prompt) },
	ir.FailAction:    func(ir.Action) string { return "fail" },
	ir.EndAction:     func(ir.Action) string { return "end the run" },
}

// does says in a few words what a step does; nothing for a group.
func does(n *ir.Node) string {
	if n.Action == nil {
		return ""
	}
	return actionWords[n.Action.Kind()](n.Action)
}

// assigneeWords names an agent, a pool, or the member of a pool that an expression names.
func assigneeWords(a *ir.Assignee) string {
	switch {
	case a.Pool == "":
		return "agent " + a.Agent
	case a.Member != nil:
		return fmt.Sprintf("pool %s[%s]", a.Pool, source(a.Member))
	}
	return "pool " + a.Pool
}

func requestWords(a ir.Action) string {
	h, method := a.(*ir.HTTP), "GET"
	if h.Method != nil {
		method = source(h.Method)
	} else if h.Body != nil {
		method = "POST"
	}
	return method + " " + source(&h.URL)
}

func rememberWords(a ir.Action) string {
	r := a.(*ir.Remember)
	if r.Lesson != nil {
		return "remember " + source(r.Lesson)
	}
	return "remember " + source(r.Text)
}

func waitWords(a ir.Action) string {
	w := a.(*ir.Wait)
	if w.Event != "" {
		return "wait for event " + w.Event
	}
	if w.At != nil {
		return "wait until " + source(w.At)
	}
	return "wait " + source(w.Duration)
}

// written is a script as it stands in the file: with what is in ${}, in place of the variables that hand it to the shell. Quotes
// that were put around these are left out, as are those that the file has around nothing else.
func written(r *ir.Run) string {
	text := source(r.Script)
	for i := range r.Values {
		handed := fmt.Sprintf("${FLOWRUN_V%d}", i)
		for _, quoted := range []string{`'"` + handed + `"'`, `"` + handed + `"`, handed} {
			text = strings.ReplaceAll(text, quoted, "${"+source(&r.Values[i])+"}")
		}
	}
	return text
}

// marks say what else decides whether, how often and how a node runs.
func marks(n *ir.Node) (out []string) {
	say := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if n.TriggerRule != "" {
		say("if %s", n.TriggerRule)
	}
	if n.When != nil {
		say("when %s", n.When.Text)
	}
	if n.ForEach != nil {
		say("for each of %s", source(n.ForEach))
	}
	if r := n.Repeat; r != nil && r.Gated && n.Escalate != "" && isOne(&r.Max) {
	} else if r != nil && r.Gated {
		say("repeated at most %s times if a gate asks for it", source(&r.Max))
	} else if r != nil && r.Until != nil {
		say("repeats at most %s times", source(&r.Max))
		say("until %s", r.Until.Text)
	} else if r != nil {
		say("repeats %s times", source(&r.Max))
	}
	if j := n.Join; j != nil {
		switch {
		case j.Count != nil:
			say("joins at %s successes", source(j.Count))
		case j.Condition != nil:
			say("joins when %s", j.Condition.Text)
		default:
			say("joins at %s", j.Word)
		}
	}
	if n.Retry != nil && n.Retry.MaxAttempts != nil {
		say("at most %s attempts", source(n.Retry.MaxAttempts))
	}
	for _, gate := range n.Gates {
		say("gate %s", gate[strings.LastIndexByte(gate, '/')+1:])
	}
	if b := n.Budget; b != nil {
		say("at most %s in all", bounds(b))
	}
	for _, u := range n.Quotas {
		say("%s", quotaWords(&u))
	}
	if task, is := n.Action.(*ir.AgentTask); is && len(task.Capabilities) > 0 {
		say("needs %s", strings.Join(task.Capabilities, ", "))
	}
	out = append(out, rules(n.Adapt)...)
	if len(n.Fallback) > 0 {
		var others []string
		for i := range n.Fallback {
			others = append(others, assigneeWords(&n.Fallback[i]))
		}
		say("else %s", strings.Join(others, ", "))
	}
	if n.Escalate != "" {
		say("escalates to %s", n.Escalate)
	}
	if n.OnTimeout == ir.OnTimeoutHandIn {
		say("hands in what it has when its time is up")
	}
	if n.Result != nil {
		say("value %s", source(n.Result))
	}
	if n.Winner != nil {
		say("winner %s", source(n.Winner))
	}
	if n.Degrade != nil {
		say("has a default output")
	}
	if n.OnError != "" && n.OnError != ir.OnErrorBlock {
		say("on error: %s", n.OnError)
	}
	if n.Compensate != nil {
		say("can be undone")
	}
	return out
}

// isOne reports whether an expression is the number 1: an escalation alone has the group made again.
func isOne(e *ir.Expr) bool { return e.Kind == ir.Const && e.Const == 1.0 }

// quotaWords say what is taken of a quota.
func quotaWords(u *ir.QuotaUse) string {
	if u.Units == nil {
		return "takes of quota " + u.Quota
	}
	return "takes " + source(u.Units) + " of quota " + u.Quota
}

// rules says what rules of adapt do: while metrics.cpu > 80: at most 2 at once.
func rules(list []ir.Adapt) (out []string) {
	for i := range list {
		r, parts := &list[i], []string{}
		if r.MaxConcurrency != nil {
			parts = append(parts, fmt.Sprintf("at most %s at once", source(r.MaxConcurrency)))
		}
		if r.Call != nil {
			parts = append(parts, "call "+r.Call.Workflow)
		}
		if len(r.Notify) > 0 {
			parts = append(parts, "tell "+strings.Join(r.Notify, ", "))
		}
		out = append(out, fmt.Sprintf("while %s: %s", source(&r.When), strings.Join(parts, ", ")))
	}
	return out
}

// bounds are those of a budget: 20 attempts, 5000 tokens, 2.5 dollars.
func bounds(b *ir.Budget) string {
	var parts []string
	for _, p := range []struct {
		most *ir.Expr
		unit string
	}{{b.Attempts, "attempts"}, {b.Tokens, "tokens"}, {b.CostUSD, "dollars"}} {
		if p.most != nil {
			parts = append(parts, source(p.most)+" "+p.unit)
		}
	}
	return strings.Join(parts, ", ")
}

// source is an expression as a reader would write it; text that is constant without its quotes.
func source(e *ir.Expr) string {
	if e.Kind != ir.Const {
		return strings.Join(strings.Fields(e.Text), " ")
	}
	return value.Text(e.Const)
}

// argv is a command as one would type it: run ["echo", input.name] is echo ${input.name}.
func argv(e *ir.Expr) string {
	var words []string
	if list, ok := e.Const.([]any); ok && e.Kind == ir.Const {
		for _, w := range list {
			words = append(words, value.Text(w))
		}
		return firstLine(strings.Join(words, " "))
	}
	list, ok := strings.CutPrefix(source(e), "[")
	if !ok {
		return source(e)
	}
	for _, w := range members(strings.TrimSuffix(list, "]")) {
		if text, err := strconv.Unquote(w); err == nil {
			w = text
		} else {
			w = "${" + w + "}"
		}
		words = append(words, w)
	}
	return firstLine(strings.Join(words, " "))
}

// members divides what stands between the brackets of a list at its commas, not at those in strings and brackets.
func members(list string) (out []string) {
	depth, quoted, start := 0, false, 0
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ',' && depth == 0:
			out, start = append(out, strings.TrimSpace(list[start:i])), i+1
		}
	}
	if rest := strings.TrimSpace(list[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// firstLine is the first line of a script that says something, with a sign that more follows.
func firstLine(script string) string {
	lines := strings.Split(strings.TrimSpace(script), "\n")
	for len(lines) > 1 && (strings.TrimSpace(lines[0]) == "" || strings.HasPrefix(lines[0], "#")) {
		lines = lines[1:]
	}
	if len(lines) > 1 {
		return strings.TrimSpace(lines[0]) + " …"
	}
	return strings.TrimSpace(lines[0])
}
