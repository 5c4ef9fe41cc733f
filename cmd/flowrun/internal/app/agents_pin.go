package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

func (a *app) newAgentsPinCommand() *cobra.Command {
	var o args.AgentsPin
	c := &cobra.Command{
		Use: "pin NAME [FILE|DIR]", Short: "Print how an MCP server describes the tools of an agent", Args: between(1, 2, "NAME [FILE|DIR]"),
		Long: `pin connects to the server of the agent NAME, of type mcp, and prints the description of its tool: name, description, schemas and
annotations. Read it, and check it in: with

  pin = file("search.tool.json")

in the agent, validate checks the arguments of each step against the schema, and a run refuses a server with another description of the tool.

Of an agent of type chat, pin prints the descriptions of the tools that a server block names, for the pin of that block.

  flowrun agents pin search --out search.tool.json
  flowrun agents pin clerk --server files --out files.tools.json`,
		RunE: func(_ *cobra.Command, words []string) error {
			if o.Name, o.Path = words[0], "."; len(words) > 1 {
				o.Path = words[1]
			}
			return a.runAgentsPin(&o)
		},
	}
	variableFlags(c, &o.Given)
	c.Flags().StringVar(&o.Server, "server", "", "the `name` of the block server, of an agent of type chat with several")
	c.Flags().StringVar(&o.Out, "out", "", "write the description to this file")
	return c
}

func (a *app) runAgentsPin(o *args.AgentsPin) error {
	if o.Out != "" {
		a.blanked = pinOf(o.Out)
	}
	p, err := a.loadProgram(o.Path)
	if err != nil {
		return err
	}
	agent, server, err := a.pinned(p, o)
	if err != nil {
		return err
	}
	described, failure, err := a.describeTools(context.Background(), p, o.Path, agent.Name, o.Server, &o.Given)
	if err != nil {
		return err
	}
	if failure == "" && server != nil {
		described, failure = selectPinned(server, described)
	}
	if failure != "" {
		a.err.Printf("agent %s: %s\n", ui.Quote(o.Name), ui.CleanLines(failure))
		return &ended{exitNo}
	}
	var pin value.Value = described
	if server == nil {
		pin = described[0]
	}
	var text bytes.Buffer
	if err := json.Indent(&text, value.Append(nil, pin), "", "  "); err != nil {
		return err
	}
	text.WriteByte('\n')
	if o.Out == "" {
		_, err = a.out.Write(text.Bytes())
		return err
	}
	return os.WriteFile(o.Out, text.Bytes(), 0o666)
}

// pinOf finds the attributes pin that read a file; nil if the file has something in it. Else pin is about to write the file, so the program is
// read without these attributes.
func pinOf(out string) *regexp.Regexp {
	if info, err := os.Stat(out); err == nil && info.Size() > 0 {
		return nil
	}
	return regexp.MustCompile(`(?m)^[ \t]*pin[ \t]*=[ \t]*file\("(?:[^"]*/)?` + regexp.QuoteMeta(filepath.Base(out)) + `"\)`)
}

// pinned finds the agent, and for one of type chat the server block. Its name is in o.Server then.
func (a *app) pinned(p *program, o *args.AgentsPin) (*ir.Agent, *ir.ToolServer, error) {
	i := slices.IndexFunc(p.ir.Agents, func(g ir.Agent) bool { return g.Name == o.Name })
	if i < 0 {
		return nil, nil, a.noAgent(p, o.Name)
	}
	agent := &p.ir.Agents[i]
	var servers []ir.ToolServer
	switch {
	case agent.Type == ir.AgentMCP && o.Server == "":
		return agent, nil, nil
	case agent.Type == ir.AgentMCP:
		return nil, nil, args.Errorf("--server is for agents of type chat; agent %s has one server", ui.Quote(o.Name))
	case agent.Chat != nil:
		servers = agent.Servers
	}
	if len(servers) == 0 {
		a.err.Printf("agent %s has the type %s, and no server block; it has no tool to pin\n", ui.Quote(o.Name), agent.Type)
		return nil, nil, &ended{exitNo}
	}
	names := make([]string, len(servers))
	for i := range servers {
		names[i] = servers[i].Name
	}
	if o.Server == "" && len(servers) == 1 {
		o.Server = names[0]
	}
	if i = slices.Index(names, o.Server); i >= 0 {
		return agent, &servers[i], nil
	}
	hint := "It has " + ui.First(names, len(names)) + "."
	if o.Server == "" {
		return nil, nil, &args.Error{Message: fmt.Sprintf("agent %s has several servers: choose one with --server", ui.Quote(o.Name)), Hint: hint}
	}
	if near := diag.Nearest(o.Server, names); near != "" {
		hint = fmt.Sprintf("Did you mean %s?", ui.Quote(near))
	}
	return nil, nil, &args.Error{Message: fmt.Sprintf("agent %s has no server %s", ui.Quote(o.Name), ui.Quote(o.Server)), Hint: hint}
}

// selectPinned gives the descriptions of the tools that a server block names, in its order.
func selectPinned(s *ir.ToolServer, described []value.Value) (out []value.Value, failure string) {
	for _, t := range s.Tools {
		i := slices.IndexFunc(described, func(d value.Value) bool { return d.(map[string]any)["name"] == t.Name })
		if i < 0 {
			return nil, fmt.Sprintf("the server %s has no tool %s", ui.Quote(s.Name), ui.Quote(t.Name))
		}
		out = append(out, described[i])
	}
	return out, ""
}
