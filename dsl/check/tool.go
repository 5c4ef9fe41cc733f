package check

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// protocolAgent checks an agent of type mcp, acp or a2a beyond what its attributes are.
func (c *checker) protocolAgent(b *Block, kind string) {
	missing := func(name, text string) {
		c.report(diag.Diagnostic{Code: "F0119", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("Missing attribute %q in %s", name, b.Words()),
			Detail: fmt.Sprintf("An agent of type %s needs it: %s", kind, text)})
	}
	doc := func(name string) string { return b.Schema.Attr(name).Doc }
	has := func(name string) bool { return b.Src.Body.Attr(name) != nil }
	for _, p := range b.Blocks {
		if p.Schema.Kind != "permission" {
			continue
		}
		if kind != "acp" && kind != "" {
			c.report(diag.Diagnostic{Code: "F0120", Subject: p.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("Agent of type %s has no permission", kind),
				Detail: "It would have no effect. Remove it, or change the type."})
			continue
		}
		c.permission(p)
	}
	switch kind {
	case "mcp":
		switch {
		case !has("command") && !has("url"):
			missing("command", "program and arguments of the server; or url, the address of a server that speaks streamable HTTP.")
		}
		c.ofServer(b)
		if !has("tool") {
			missing("tool", doc("tool"))
		}
		c.pin(b)
	case "acp":
		if !has("command") {
			missing("command", doc("command"))
		}
	case "a2a":
		if !has("url") {
			missing("url", doc("url"))
		}
	}
}

// ofServer checks that what a block says of an MCP server belongs to it.
func (c *checker) ofServer(b *Block) {
	if url := b.attr("url"); url != nil && b.attr("command") != nil {
		c.report(diag.Diagnostic{Code: "F0120", Subject: url.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("Both command and url in %s", b.Words()),
			Detail: "The server is a program, or a service at an address. Remove one of them."})
	}
	needs := map[string]string{"headers": "url", "dir": "command", "env": "command", "pass_env": "command"}
	for _, name := range []string{"headers", "dir", "env", "pass_env"} {
		if a := b.attr(name); a != nil && b.attr(needs[name]) == nil && (b.attr("url") != nil || b.attr("command") != nil) {
			c.report(diag.Diagnostic{Code: "F0120", Subject: a.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("%s has no effect without %s", name, needs[name]),
				Detail: "It would have no effect. Remove it."})
		}
	}
}

// permission checks the words of a permission.
func (c *checker) permission(b *Block) {
	say := func(a *Attr, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0161", Subject: a.span(), Context: b.Words(), Summary: summary, Detail: detail})
	}
	if a := b.attr("kinds"); a != nil {
		if len(a.Strings) == 0 {
			say(a, "No kind of tool in a permission", "Such a permission matches nothing. Remove the attribute to match all kinds.")
		}
		for _, kind := range a.Strings {
			if slices.Contains(ir.ToolKinds, kind) {
				continue
			}
			detail := "The kinds are " + list(ir.ToolKinds) + "."
			if near := diag.Nearest(kind, ir.ToolKinds); near != "" {
				detail = fmt.Sprintf("Did you mean %q? ", near) + detail
			}
			say(a, fmt.Sprintf("Unknown kind of tool %.40q", kind), detail)
		}
	}
	a := b.attr("paths")
	if a == nil {
		return
	}
	if len(a.Strings) == 0 {
		say(a, "No path in a permission", "Such a permission matches nothing. Remove the attribute to match all files.")
	}
	for _, p := range a.Strings {
		_, err := path.Match(strings.ReplaceAll(p, "**", "*"), "")
		if p == "" || path.IsAbs(p) || err != nil || path.Clean(p) != p || strings.HasPrefix(p, "..") {
			say(a, fmt.Sprintf("%.60q matches no file", p), "A path is relative to the folder of the attempt, without a dot part. * matches a part of a name, and ** any number of folders:  \"src/**\".")
		}
	}
}

const makePin = "A pin is the server's description of the tool, as JSON in a file that is checked in:  pin = file(\"FILE\")."

// pin reads the description of a tool. It becomes the constant of the attribute.
func (c *checker) pin(b *Block) {
	a, described := c.readPin(b)
	if a == nil {
		return
	}
	wrong, detail := wrongPin(described)
	if name := b.Text("tool"); wrong == "" && name != "" {
		if said := described.(map[string]any)["name"]; said != name {
			wrong, detail = fmt.Sprintf("The pin describes the tool %.60q, and the agent calls %.60q", value.Text(said), name), makePin
		}
	}
	if wrong != "" {
		c.refusePin(b, a, wrong, detail)
		return
	}
	a.Expr = &ir.Expr{Kind: ir.Const, Const: described, Type: value.AnyType}
}

// refusePin says what is wrong with a pin, which is not looked at again.
func (c *checker) refusePin(b *Block, a *Attr, summary, detail string) {
	c.report(diag.Diagnostic{Code: "F0159", Subject: a.span(), Context: b.Words(), Summary: summary, Detail: detail})
	a.Expr = nil
}

// readPin is the JSON of the pin of a block; a nil attribute if there is none that can be read.
func (c *checker) readPin(b *Block) (a *Attr, described value.Value) {
	if a = b.attr("pin"); a == nil || a.Expr == nil {
		return nil, nil
	}
	v, fixed := expr.Fixed(a.Expr, c.texts(), &c.work)
	text, isText := v.(string)
	if !fixed || !isText {
		c.refusePin(b, a, "The pin is not known when the file is read", makePin)
		return nil, nil
	}
	described, err := value.Decode([]byte(text))
	if err != nil {
		c.refusePin(b, a, "The pin is not JSON", upper(err.Error())+". "+makePin)
		return nil, nil
	}
	return a, described
}

// wrongPin says why a value is not the description of a tool; "" if it is one.
func wrongPin(described value.Value) (summary, detail string) {
	tool, isObject := described.(map[string]any)
	if !isObject || tool["name"] == nil || tool["inputSchema"] == nil {
		return "The pin is not the description of a tool", "It is an object of name, description, inputSchema and other members of the protocol. " + makePin
	}
	if _, err := expr.CompileSchema(tool["inputSchema"]); err != nil {
		return "The inputSchema of the pin is not JSON Schema", upper(err.Error()) + "."
	}
	return "", ""
}

// toolWith checks what a step gives to agents of type mcp: an object of arguments, and if the tool is pinned, those that it takes.
func (c *checker) toolWith(n *Node) {
	if n.Does != ir.AgentAction {
		return
	}
	all := c.agentsOf(n)
	tools := slices.DeleteFunc(slices.Clone(all), func(g *Block) bool { return g.Text("type") != "mcp" })
	if len(tools) == 0 {
		return
	}
	say := func(at diag.Range, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0160", Subject: at, Context: n.Words(), Summary: summary, Detail: detail})
	}
	for _, name := range []string{"task", "feedback"} {
		if a := n.attr(name); a != nil && len(tools) == len(all) {
			say(a.Src.Range, fmt.Sprintf("%s has no effect on a tool", name), fmt.Sprintf("Agent %q is a tool of an MCP server, and gets its arguments only in with. Remove it.", tools[0].Name))
		}
	}
	a := n.attr("with")
	if a != nil && a.Expr == nil {
		return
	}
	if a != nil && !a.Expr.Type.IsAny() && a.Expr.Type.Kind != value.ObjectT && a.Expr.Type.Kind != value.MapT {
		say(a.span(), "The arguments of a tool are an object", fmt.Sprintf("Agent %q is a tool of an MCP server. Give its arguments by name:  with = { NAME = value }.", tools[0].Name))
		return
	}
	for _, g := range tools {
		if pin := g.attr("pin"); pin != nil && pin.Expr != nil {
			if described, ok := pin.Expr.Const.(map[string]any); ok {
				c.arguments(n, g, described["inputSchema"])
				return // of several tools, what the first says is enough
			}
		}
	}
}

// arguments checks what a step gives to a tool against the schema of its pin.
func (c *checker) arguments(n *Node, g *Block, schema value.Value) {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	names := slices.Sorted(maps.Keys(properties))
	a, at, given := n.attr("with"), n.attr("agent").span(), value.Object(nil)
	if a != nil {
		at, given = a.span(), a.Expr.Type
	}
	if given.Kind != value.ObjectT {
		return
	}
	tool := fmt.Sprintf("The tool %.60q of agent %q", g.Text("tool"), g.Name)
	notes := []diag.Note{{Text: "the pin is here", Range: g.attr("pin").span()}}
	bad := false
	for _, name := range given.Names() {
		if _, known := properties[name]; known || s["additionalProperties"] != false {
			continue
		}
		bad = true
		d := diag.Diagnostic{Code: "F0160", Subject: a.key(name), Context: n.Words(), Summary: fmt.Sprintf("%s takes no argument %.60q", tool, name), Detail: "It takes none.", Notes: notes}
		if near := diag.Nearest(name, names); near != "" {
			d.Detail = fmt.Sprintf("Did you mean %q?", near)
		} else if len(names) > 0 {
			d.Detail = "It takes " + some(names) + "."
		}
		c.report(d)
	}
	var missing []string
	required, _ := s["required"].([]any)
	for _, r := range required {
		if name, ok := r.(string); ok {
			if _, there := given.Attrs[name]; !there {
				missing = append(missing, name)
			}
		}
	}
	if len(missing) > 0 {
		bad = true
		c.report(diag.Diagnostic{Code: "F0160", Subject: at, Context: n.Words(), Summary: fmt.Sprintf("%s needs %s", tool, some(missing)),
			Detail: fmt.Sprintf("Give the arguments in with:  with = { %s = … }.", strings.Join(missing[:min(len(missing), maxNamed)], " = …, ")), Notes: notes})
	}
	if a == nil || bad {
		return
	}
	if a.Expr.Kind == ir.Const {
		if err := expr.NewEvaluator(ir.NewestRules(), nil).Conforms(schema, a.Expr.Const); err != nil {
			c.report(diag.Diagnostic{Code: "F0160", Subject: at, Context: n.Words(), Summary: tool + " does not take these arguments", Detail: upper(err.Error()) + ".", Notes: notes})
		}
		return
	}
	for _, name := range given.Names() {
		want := schemaType(properties[name])
		if expr.Assignable(given.Attrs[name], want) == expr.No || mixed(given.Attrs[name], want) {
			c.report(diag.Diagnostic{Code: "F0160", Subject: a.member(name), Context: n.Words(), Summary: fmt.Sprintf("%s takes %s as argument %.60q", tool, typeWords(want), name),
				Detail: fmt.Sprintf("This gives %s.", typeWords(given.Attrs[name])), Notes: notes})
		}
	}
}

// mixed reports whether a value would convert in flowrun and does not for a tool: nothing converts it.
func mixed(have, want value.Type) bool {
	plain := []value.Kind{value.Bool, value.NumberT, value.StringT}
	return slices.Contains(plain, have.Kind) && slices.Contains(plain, want.Kind) && have.Kind != want.Kind
}

// typeWords names a type with an article.
func typeWords(t value.Type) string {
	if t.Int {
		return "a whole number"
	}
	return withArticle(t.String())
}

// schemaType is the type of what a JSON Schema takes, as far as a type says it; any beyond that.
func schemaType(schema value.Value) value.Type {
	s, _ := schema.(map[string]any)
	switch s["type"] {
	case "string":
		return value.StringType
	case "number":
		return value.NumberType
	case "integer":
		return value.IntType
	case "boolean":
		return value.BoolType
	case "array":
		return value.List(schemaType(s["items"]))
	case "object":
		return value.Map(value.AnyType)
	}
	return value.AnyType
}
