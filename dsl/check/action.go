package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
)

// belongs says which actions an attribute of a step goes with; what is not here goes with all.
var belongs = map[string][]string{
	"task": {"agent"}, "with": {"agent", "call"}, "parse": {"run"}, "shell": {"run"}, "env": {"run", "agent"}, "pass_env": {"run", "agent"}, "stdin": {"run"}, "dir": {"run", "agent"},
	"gates": {"run", "agent", "value", "call", "http", "remember", "recall"}, "output": {"run", "agent", "value", "call", "http", "remember", "recall"},
	"timeout": {"run", "agent", "call", "http", "remember", "recall"}, "on_lost": {"run", "agent", "http", "remember", "recall"}, "fallback": {"agent"},
}

// blockActions are the actions that are blocks of their step.
var blockActions = []string{"http", "remember", "recall", "wait", "fail", "end"}

// attempting are the actions that make attempts.
var attempting = []string{"run", "agent", "call", "http", "remember", "recall"}

// action checks that a step does exactly one thing, and that what stands beside it belongs to it.
func (c *checker) action(n *Node) {
	var found []string
	var places []diag.Range
	for _, name := range []string{"run", "agent", "value", "call"} {
		if a := n.Src.Body.Attr(name); a != nil {
			found, places = append(found, name), append(places, a.Range)
		}
	}
	for _, kind := range blockActions {
		if b := n.Inner(kind); b != nil {
			found, places = append(found, kind), append(places, b.Src.Range)
		}
	}
	switch {
	case len(found) == 0:
		if !n.stray {
			c.report(diag.Diagnostic{Code: "F0125", Subject: n.Src.Header, Context: n.Words(), Summary: fmt.Sprintf("Nothing to do in %s", n.Words()),
				Detail: "A step has exactly one action:  run = [\"PROGRAM\"],  agent = agent.NAME,  value = …,  call = workflow.NAME,  or a block http, remember, recall, wait, fail or end."})
		}
		return
	case len(found) > 1:
		c.report(diag.Diagnostic{Code: "F0126", Subject: places[1], Context: n.Words(), Summary: fmt.Sprintf("More than one action in %s", n.Words()),
			Detail: fmt.Sprintf("A step has exactly one action; here stand %s. Make a step of each; a sequence puts them in order.", list(found)),
			Notes:  []diag.Note{{Text: "the first one", Range: places[0]}}})
		return
	}
	n.Does = ir.ActionKind(found[0])
	for _, src := range n.Src.Body.Attrs {
		actions, ok := belongs[src.Name]
		if ok && n.attr(src.Name) != nil && !contains(actions, found[0]) {
			c.report(diag.Diagnostic{Code: "F0127", Subject: src.Range, Context: n.Words(), Summary: fmt.Sprintf("%s has no effect with %s", src.Name, found[0]),
				Detail: fmt.Sprintf("It belongs to steps with %s. Remove it, or change the action.", either(actions))})
		}
	}
	for _, kind := range []string{"retry", "compensate"} {
		if b := n.Inner(kind); b != nil && !contains(attempting, found[0]) {
			c.report(diag.Diagnostic{Code: "F0127", Subject: b.Src.Range, Context: n.Words(), Summary: fmt.Sprintf("%s has no effect with %s", kind, found[0]),
				Detail: fmt.Sprintf("It belongs to steps that make attempts, and only %s do. Remove it, or change the action.", list(attempting))})
		}
	}
}

// either writes names as a choice: a, b or c.
func either(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
