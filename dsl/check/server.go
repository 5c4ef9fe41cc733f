package check

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// servers checks the MCP servers whose tools an agent may use.
func (c *checker) servers(b *Block, kind string, env *expr.Env) {
	named, count, tools := map[string]*Block{}, 0, 0
	for _, s := range b.Blocks {
		if s.Schema.Kind != "server" {
			continue
		}
		c.expressions(s, func(string) *expr.Env { return env })
		if kind != "chat" && kind != "acp" {
			if contains(b.Schema.Attr("type").Words, kind) {
				c.report(diag.Diagnostic{Code: "F0120", Subject: s.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("Agent of type %s has no server", kind),
					Detail: "It would have no effect. Remove it, or change the type."})
			}
			continue
		}
		if first := named[s.Name]; first != nil {
			c.report(diag.Diagnostic{Code: "F0162", Subject: s.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("Two servers %q in %s", s.Name, b.Words()),
				Detail: "Rename one of them.", Notes: []diag.Note{{Text: "the first one is here", Range: first.Src.Header}}})
		}
		named[s.Name] = s
		c.server(s, kind)
		count++
		if a := s.attr("tools"); a != nil {
			tools += len(a.Strings)
		}
	}
	if count > limits.MaxServers || tools > limits.MaxServerTools {
		c.report(diag.Diagnostic{Code: "F0162", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("%d servers with %d tools in %s", count, tools, b.Words()),
			Detail: fmt.Sprintf("An agent has at most %d servers and %d tools.", limits.MaxServers, limits.MaxServerTools)})
	}
	for _, name := range []string{"max_turns", "context_tokens"} {
		if a := b.attr(name); a != nil && kind == "chat" && count == 0 {
			c.report(diag.Diagnostic{Code: "F0120", Subject: a.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("%s has no effect without server", name),
				Detail: "Without tools, a model is asked once. Remove it, or add the server block."})
		}
	}
}

// server checks one MCP server. An agent of type acp starts it itself.
func (c *checker) server(s *Block, kind string) {
	c.request(s)
	c.ofServer(s)
	if s.attr("command") == nil && s.attr("url") == nil {
		c.report(diag.Diagnostic{Code: "F0119", Subject: s.Src.Header, Context: s.Words(), Summary: fmt.Sprintf("Missing attribute \"command\" in %s", s.Words()),
			Detail: "A server is a program, named by command, or a service, named by url."})
	}
	if kind == "acp" {
		for _, name := range []string{"tools", "pin", "dir", "pass_env"} {
			if a := s.attr(name); a != nil {
				c.report(diag.Diagnostic{Code: "F0120", Subject: a.Src.Range, Context: s.Words(), Summary: fmt.Sprintf("%s has no effect on a server of an agent of type acp", name),
					Detail: "The agent starts the server and calls its tools itself. Remove it. The permission block controls what tools can do."})
			}
		}
		return
	}
	a := s.attr("tools")
	if a == nil {
		c.report(diag.Diagnostic{Code: "F0119", Subject: s.Src.Header, Context: s.Words(), Summary: fmt.Sprintf("Missing attribute \"tools\" in %s", s.Words()),
			Detail: "The model may use no tool of the server that is not named. Name tools of the server:  tools = [\"read_file\"]."})
		return
	}
	say := func(summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0162", Subject: a.span(), Context: s.Words(), Summary: summary, Detail: detail})
	}
	if len(a.Strings) == 0 {
		say("No tool of a server", "The model could not use the server. Name tools of the server:  tools = [\"read_file\"].")
	}
	for i, name := range a.Strings {
		switch {
		case name == "":
			say("A tool without a name", "Name tools of the server:  tools = [\"read_file\"].")
		case slices.Contains(a.Strings[:i], name):
			say(fmt.Sprintf("The tool %.60q is named twice", name), "Remove one of them.")
		}
	}
	c.serverPin(s, a)
}

// serverPin reads the descriptions of the tools of a server. They become the constant of the attribute, in the order of the tools.
func (c *checker) serverPin(s *Block, tools *Attr) {
	a, described := c.readPin(s)
	if a == nil {
		return
	}
	list, isList := described.([]any)
	if !isList {
		c.refusePin(s, a, "The pin is not a list of descriptions of tools", "It is a list of objects, one for each tool. "+makePin)
		return
	}
	byName, names := map[string]value.Value{}, []string(nil)
	for _, one := range list {
		if wrong, detail := wrongPin(one); wrong != "" {
			c.refusePin(s, a, wrong, detail)
			return
		}
		name := value.Text(one.(map[string]any)["name"])
		byName[name], names = one, append(names, name)
	}
	pins := make([]any, len(tools.Strings))
	for i, name := range tools.Strings {
		if pins[i] = byName[name]; pins[i] != nil {
			continue
		}
		detail := "The pin describes " + some(names) + "."
		if near := diag.Nearest(name, names); near != "" {
			detail = fmt.Sprintf("Did you mean %q? ", near) + detail
		}
		c.report(diag.Diagnostic{Code: "F0162", Subject: tools.span(), Context: s.Words(), Summary: fmt.Sprintf("The pin does not describe the tool %.60q", name), Detail: detail,
			Notes: []diag.Note{{Text: "the pin is here", Range: a.span()}}})
	}
	a.Expr = &ir.Expr{Kind: ir.Const, Const: pins, Type: value.AnyType}
}
