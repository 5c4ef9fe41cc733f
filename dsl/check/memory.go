package check

import (
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/schema"
)

// memory checks the block at the top. All of it is known from the file.
func (c *checker) memory(b *Block) {
	c.static(b)
	c.fixedNumbers(b)
	if a := b.attr("groups"); a != nil {
		first := map[string]bool{}
		for i, name := range a.Strings {
			d := diag.Diagnostic{Code: "F0291", Subject: a.memberAt(i), Context: b.Words()}
			switch {
			case !goodName(name):
				d.Summary = fmt.Sprintf("%.80q is not a valid name of a group", name)
				d.Detail = fmt.Sprintf("A name begins with a letter or _, contains letters, digits, _ and -, and has at most %d characters.", MaxName)
			case first[name]:
				d.Summary, d.Detail = fmt.Sprintf("groups names %q twice", name), "Remove one of the two."
			case len(first) == schema.MaxGroups:
				d.Summary, d.Detail = "Too many groups", fmt.Sprintf("A memory has at most %d.", schema.MaxGroups)
			default:
				first[name], c.groups[name] = true, true
				continue
			}
			c.report(d)
			if len(first) == schema.MaxGroups {
				break
			}
		}
	}
	if e := b.Inner("embedder"); e != nil {
		c.embedder(e)
		if a := b.attr("embedder"); a != nil {
			c.report(diag.Diagnostic{Code: "F0289", Subject: a.Src.Range, Context: b.Words(), Summary: "The embedder is given twice",
				Detail: "Keep one of the two: the attribute sets only the provider, the block also other settings.",
				Notes:  []diag.Note{{Text: "the block is here", Range: e.Src.Range}}})
		}
	}
	c.editor(b)
}

// editor checks that the agent is there that words what was learned, and that it can do so.
func (c *checker) editor(b *Block) {
	c.knownAgent(b, "editor")
	a := b.attr("editor")
	if a == nil || a.ref().Name == "" {
		return
	}
	if agent := c.agents[a.ref().Name]; agent.Text("type") == "null" {
		c.report(diag.Diagnostic{Code: "F0293", Subject: a.ref().Range, Context: b.Words(), Summary: fmt.Sprintf("Agent %q of type null cannot be the editor", agent.Name),
			Detail: "It returns its input and cannot write text. Name an agent of another type, or remove the attribute: then a template writes the text.",
			Notes:  []diag.Note{{Text: fmt.Sprintf("%q is declared here", agent.Name), Range: nameRange(agent)}}})
	}
}

// fixedNumbers checks what is written out as a number or a duration in a block and those inside.
func (c *checker) fixedNumbers(b *Block) {
	env := c.fixedEnv()
	c.expressions(b, func(string) *expr.Env { return env })
	for _, i := range b.Blocks {
		c.fixedNumbers(i)
	}
}

// embedder checks that what is said of a provider is something that it has.
func (c *checker) embedder(b *Block) {
	provider := b.Text("provider")
	if a := b.attr("provider"); a != nil && !contains(a.Schema.Words, provider) {
		return // which has been reported
	}
	has := map[string][]string{"openai": {"model", "base_url", "key_env"}, "ollama": {"model", "base_url"}}[provider]
	for _, name := range []string{"model", "base_url", "key_env"} {
		a := b.attr(name)
		if a == nil {
			continue
		}
		d := diag.Diagnostic{Code: "F0289", Subject: a.Src.Range, Context: b.Words()}
		u, err := url.Parse(a.Text)
		switch {
		case !contains(has, name):
			if provider == "" {
				provider = "default"
			}
			d.Summary, d.Detail = fmt.Sprintf("%s has no effect with the provider %q", name, provider), "Remove it, or change the provider:  provider = \"openai\"."
		case name == "base_url" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != ""):
			d.Subject = a.span()
			d.Summary, d.Detail = fmt.Sprintf("%.80q is not an address of an endpoint", a.Text), "It begins with http:// or https:// and a host, such as \"http://localhost:11434\", and has no user, query or fragment: a key comes from the environment."
		case name == "key_env" && !envName().MatchString(a.Text):
			d.Subject = a.span()
			d.Summary, d.Detail = fmt.Sprintf("%.40q is not a valid name of an environment variable", a.Text), "Write the name, such as \"OPENAI_API_KEY\", and never the key itself."
		default:
			continue
		}
		c.report(d)
	}
}

// remembers checks the memory block of an agent.
func (c *checker) remembers(agent, b *Block) {
	c.fixedNumbers(b)
	c.groupsOf(b)
	if agent.Text("type") == "null" {
		c.report(diag.Diagnostic{Code: "F0120", Subject: b.Src.Range, Context: agent.Words(), Summary: "Agent of type null has no memory",
			Detail: "An agent of type null does no work to learn from. Remove the block, or change the type."})
	}
}

// groupsOf checks that the groups that a block names are declared.
func (c *checker) groupsOf(b *Block) {
	if a := b.attr("groups"); a != nil {
		for i, name := range a.Strings {
			if !c.groups[name] {
				c.unknownGroup(b, name, a.memberAt(i), "%q")
			}
		}
	}
}

func (c *checker) unknownGroup(b *Block, name string, at diag.Range, form string) {
	d := diag.Diagnostic{Code: "F0291", Subject: at, Context: b.Words(), Summary: fmt.Sprintf("Unknown group %.80q", name),
		Detail: fmt.Sprintf("The memory block at the top of the file lists the groups:  memory { groups = [%q] }.", clipName(name))}
	if near := c.nearestOf(name, func() []string { return slices.Sorted(maps.Keys(c.groups)) }); near != "" {
		d.Detail = fmt.Sprintf("The memory block does not list this group. Did you mean %q?", near)
		d.Edit = &diag.Edit{Range: at, Text: fmt.Sprintf(form, near)}
	}
	c.report(d)
}

func clipName(name string) string { return name[:min(len(name), MaxName)] }

// knownAgent checks that the agent is declared that an attribute of a block names.
func (c *checker) knownAgent(b *Block, attr string) {
	a := b.attr(attr)
	if a == nil || a.ref().Name == "" || c.agents[a.ref().Name] != nil {
		return
	}
	c.unknownDeclared(b, a.ref(), "agent", c.agents)
	a.Names = nil
}
