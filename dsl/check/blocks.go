package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
)

// agentHas says which types of agent have an attribute that not all have.
var agentHas = map[string][]string{
	"input": {"exec", "shell"}, "output_format": {"exec", "shell", "http"}, "dir": {"exec", "shell"}, "env": {"exec", "shell"}, "pass_env": {"exec", "shell"},
	"shell": {"shell"}, "timeout": {"exec", "shell", "http", "chat", "human"}, "heartbeat": {"exec", "shell", "http", "chat"}, "method": {"http"}, "headers": {"http", "chat"}, "concurrency": {"exec", "shell", "http", "chat", "null"}, "soul": {"exec", "shell", "http", "chat", "null"}, "quota": {"exec", "shell", "http", "chat", "null"},
	"new_session": {"exec"}, "resume_session": {"exec"}, "keep_session": {"exec", "shell"},
	"provider": {"chat"}, "api": {"chat"}, "model": {"chat"}, "base_url": {"chat"}, "key": {"chat"}, "key_env": {"chat"}, "max_tokens": {"chat"}, "temperature": {"chat"},
	"max_turns": {"chat"}, "context_tokens": {"chat"},
}

// agentAlso lists more types of agent that have an attribute: those that are spoken to in a protocol of somebody else.
var agentAlso = map[string][]string{
	"command": {"mcp", "acp"}, "url": {"mcp", "a2a"}, "headers": {"mcp", "a2a"}, "dir": {"mcp", "acp"}, "env": {"mcp", "acp"}, "pass_env": {"mcp", "acp"},
	"timeout": {"mcp", "acp", "a2a"}, "heartbeat": {"mcp", "acp", "a2a"}, "concurrency": {"mcp", "acp", "a2a"}, "quota": {"mcp", "acp", "a2a"},
	"soul": {"acp", "a2a"}, "keep_session": {"acp"}, "tool": {"mcp"}, "pin": {"mcp"}, "files": {"acp"},
}

// takesAttr reports whether agents of a type have an attribute that not all have.
func takesAttr(kind, name string) bool {
	return contains(agentHas[name], kind) || contains(agentAlso[name], kind)
}

// agent checks an agent's expressions, and that it has what its type needs.
func (c *checker) agent(b *Block) {
	env := c.env(nil, nil)
	commands(b, "", nil)
	c.takesQuotas(b)
	c.bounds(b, env)
	c.resources(b, env)
	c.expressions(b, func(string) *expr.Env { return env })
	c.retry(b, c.env(failureRoots(),
		map[string]string{"step": "All steps share an agent. If a retry reads a step, put the retry into that step."}), env)
	c.classifies(b, c.env(failureRoots(), map[string]string{"step": "All steps share an agent. If a classify reads a step, put the classify into that step."}))
	needs := map[string]string{"exec": "command", "shell": "run", "http": "url"}
	kind := b.Text("type")
	for _, t := range []string{"exec", "shell", "http"} {
		a := b.attr(needs[t])
		switch {
		case kind == t && a == nil:
			c.report(diag.Diagnostic{Code: "F0119", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("Missing attribute %q in %s", needs[t], b.Words()),
				Detail: fmt.Sprintf("An agent of type %s needs it: %s", t, b.Schema.Attr(needs[t]).Doc) + b.asCommand(t)})
		case kind == "exec" && t == "shell" && a != nil && b.attr("command") == nil: // said of command
		case takesAttr(kind, needs[t]):
		case kind != t && a != nil && contains([]string{"exec", "shell", "http", "chat", "mcp", "acp", "a2a", "null", "human"}, kind):
			c.report(diag.Diagnostic{Code: "F0120", Subject: a.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("Agent of type %s has no %s", kind, needs[t]),
				Detail: fmt.Sprintf("The attribute %s belongs to type = %q. Remove it, or change the type.", needs[t], t)})
		}
	}
	if a := b.attr("command"); a != nil && a.Expr != nil && emptyList(a.Expr.Const) && a.Expr.Kind == ir.Const {
		c.report(diag.Diagnostic{Code: "F0208", Subject: a.span(), Context: b.Words(), Summary: "List without a program",
			Detail: "The first member is the program, the others are its arguments:  command = [\"agent\", \"--json\"]."})
	}
	c.request(b)
	c.chat(b, env)
	c.servers(b, kind, env)
	c.protocolAgent(b, kind)
	if a := b.attr("capabilities"); a != nil {
		c.noCapabilities(b, a)
	}
	if m := b.Inner("memory"); m != nil {
		c.remembers(b, m)
	}
	for _, n := range []string{"input", "output_format", "dir", "env", "pass_env", "shell", "timeout", "heartbeat", "method", "headers", "concurrency", "soul", "quota",
		"new_session", "resume_session", "keep_session", "provider", "api", "model", "base_url", "key", "key_env", "max_tokens", "temperature", "max_turns", "context_tokens", "tool", "pin", "files"} {
		if a := b.attr(n); a != nil && !takesAttr(kind, n) && contains(b.Schema.Attr("type").Words, kind) {
			detail := "It would have no effect. Remove it, or change the type."
			if other := counterpart(b, a.Src); kind == "exec" && (n == "model" || n == "temperature" || n == "max_turns") && other != "" {
				detail = other
			}
			c.report(diag.Diagnostic{Code: "F0120", Subject: a.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("Agent of type %s has no %s", kind, n),
				Detail: detail})
		}
	}
	if a := b.attr("output_format"); a != nil && kind == "http" && b.Text("output_format") == ir.OutputAssistant {
		c.report(diag.Diagnostic{Code: "F0120", Subject: a.span(), Context: b.Words(), Summary: `Agent of type http has no output_format "assistant"`,
			Detail: `The format "assistant" is that of programs on the command line (type exec or shell). The answer of a service is "json" or "text".`})
	}
	c.sessions(b, kind)
	for _, n := range []string{"memory", "circuit_breaker", "rate_limit", "resources"} {
		if i := b.Inner(n); i != nil && (kind == "human" || kind == "mcp" && n == "memory" || kind == "a2a" && n == "resources") {
			c.report(diag.Diagnostic{Code: "F0120", Subject: i.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("Agent of type %s has no %s", kind, n),
				Detail: "It would have no effect. Remove it, or change the type."})
		}
	}
}

// sessions checks how an agent of type exec begins and continues sessions.
func (c *checker) sessions(b *Block, kind string) {
	begin, resume := b.attr("new_session"), b.attr("resume_session")
	has := func(a *Attr) bool { return a != nil && len(a.Strings) > 0 }
	speaks := b.Text("output_format") == "" || b.Text("output_format") == "json" // it may say its session
	if a := b.attr("keep_session"); a != nil && a.Flag && contains(agentHas["keep_session"], kind) && !has(resume) && !speaks {
		c.report(diag.Diagnostic{Code: "F0120", Subject: a.Src.Range, Context: b.Words(), Summary: "keep_session without a session",
			Detail: "It would have no effect: the agent has no resume_session, and does not speak flowrun's protocol, in which it can name its session. Add resume_session, or remove keep_session."})
	}
	if kind != "exec" {
		return
	}
	for _, a := range []*Attr{begin, resume} {
		if has(a) && !slices.ContainsFunc(a.Strings, func(word string) bool { return strings.Contains(word, ir.SessionID) }) {
			c.report(diag.Diagnostic{Code: "F0208", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("%s does not name the session", a.Src.Name),
				Detail: fmt.Sprintf("One of its arguments must have {session}; flowrun writes the id of the session in its place:  %s = [\"--%s\", \"{session}\"].", a.Src.Name, map[bool]string{true: "session-id", false: "resume"}[a == begin])})
		}
	}
	switch {
	case has(begin) && !has(resume):
		c.report(diag.Diagnostic{Code: "F0120", Subject: begin.Src.Range, Context: b.Words(), Summary: "new_session without resume_session",
			Detail: "No attempt would continue the session. Add resume_session, or remove new_session."})
	case has(resume) && !has(begin) && b.Text("output_format") != ir.OutputAssistant:
		c.report(diag.Diagnostic{Code: "F0120", Subject: resume.Src.Range, Context: b.Words(), Summary: "flowrun cannot know the session of the agent",
			Detail: `Add new_session, with which flowrun gives the session its id, or output_format = "assistant" for an agent that prints the id in its first event, as Codex does.`})
	}
}

// asCommand says how the run of an agent of type exec is written as its command.
func (b *Block) asCommand(kind string) string {
	run := b.attr("run")
	if kind != "exec" || run == nil {
		return ""
	}
	if line, ok := literal(run.Src.Expr()); ok {
		if words := commandWords(line); len(words) > 0 && quote(line) != "" {
			return fmt.Sprintf(" Instead of run, write  command = %s, or  type = \"shell\"  for a script.", quotedWords(words))
		}
	}
	return " Instead of run, write  command = [\"PROGRAM\", \"ARGUMENT\"], or  type = \"shell\"  for a script."
}

// classifies checks the classify blocks of an agent or a workflow.
func (c *checker) classifies(b *Block, env *expr.Env) {
	for _, r := range b.Blocks {
		if r.Schema.Kind == "classify" {
			c.expressions(r, func(string) *expr.Env { return env })
		}
	}
}

// retry checks the retry block of b, if it has one: when sees the error, the rest is like any attribute around it.
func (c *checker) retry(b *Block, when, rest *expr.Env) {
	r := b.Inner("retry")
	if r == nil {
		return
	}
	c.expressions(r, func(attr string) *expr.Env {
		if attr == "when" {
			return when
		}
		return rest
	})
}
