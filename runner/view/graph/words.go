package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// does says in a few words what a step does; nothing for a group.
func does(n *ir.Node) string {
	switch {
	case n.Run != nil && n.Run.Script != nil:
		return "run " + firstLine(written(n.Run))
	case n.Run != nil:
		return "run " + argv(n.Run.Argv)
	case n.Agent != nil:
		return "agent " + n.Agent.Agent
	case n.Call != nil:
		return "call " + n.Call.Workflow
	case n.HTTP != nil:
		method := "GET"
		if n.HTTP.Method != nil {
			method = source(n.HTTP.Method)
		} else if n.HTTP.Body != nil {
			method = "POST"
		}
		return method + " " + source(&n.HTTP.URL)
	case n.Remember != nil && n.Remember.Lesson != nil:
		return "remember " + source(n.Remember.Lesson)
	case n.Remember != nil:
		return "remember " + source(n.Remember.Text)
	case n.Recall != nil:
		return "recall " + source(&n.Recall.Query)
	case n.Wait != nil && n.Wait.At != nil:
		return "wait until " + source(n.Wait.At)
	case n.Wait != nil && n.Wait.Duration != nil:
		return "wait " + source(n.Wait.Duration)
	case n.Fail != nil:
		return "fail"
	case n.End != nil:
		return "end the run"
	case n.Value != nil:
		return "value"
	}
	return ""
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
	if r := n.Repeat; r != nil && r.Until != nil {
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
	if len(n.Fallback) > 0 {
		say("else agent %s", strings.Join(n.Fallback, ", "))
	}
	if n.Degrade != nil {
		say("has a stand-in for its output")
	}
	if n.OnError != "" && n.OnError != ir.OnErrorBlock {
		say("on error: %s", n.OnError)
	}
	if n.Compensate != nil {
		say("can be undone")
	}
	return out
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
