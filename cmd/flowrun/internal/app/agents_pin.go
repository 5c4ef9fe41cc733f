package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/standalone"
)

// pinRun takes the place of a run's id when a user asks for the description of a tool.
const pinRun = "by-hand"

func (a *app) newAgentsPinCommand() *cobra.Command {
	var o args.AgentsPin
	c := &cobra.Command{
		Use: "pin NAME [FILE|DIR]", Short: "Print how an MCP server describes the tool of an agent", Args: between(1, 2, "NAME [FILE|DIR]"),
		Long: `pin connects to the server of the agent NAME, of type mcp, and prints the description of its tool: name, description, schemas and
annotations. Read it, and check it in: with

  pin = file("search.tool.json")

in the agent, validate checks the arguments of each step against the schema, and a run refuses a server that describes the tool in other words.

  flowrun agents pin search --out search.tool.json`,
		RunE: func(_ *cobra.Command, words []string) error {
			if o.Name, o.Path = words[0], "."; len(words) > 1 {
				o.Path = words[1]
			}
			return a.runAgentsPin(&o)
		},
	}
	variableFlags(c, &o.Given)
	c.Flags().StringVar(&o.Out, "out", "", "write the description to this file")
	return c
}

func (a *app) runAgentsPin(o *args.AgentsPin) error {
	p, err := a.loadProgram(o.Path)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(p.ir.Agents, func(g ir.Agent) bool { return g.Name == o.Name })
	if i < 0 || p.ir.Agents[i].Type != ir.AgentMCP {
		message := fmt.Sprintf("the program has no agent %s", ui.Quote(o.Name))
		if i >= 0 {
			message = fmt.Sprintf("agent %s has the type %s; only agents of type mcp have a tool", ui.Quote(o.Name), p.ir.Agents[i].Type)
		}
		a.err.Printf("%s\n", message)
		return &ended{exitNo}
	}
	first, held, err := a.newFirstEvent(p, &ir.Workflow{Name: runner.PinStep}, &args.Apply{Given: o.Given})
	if err != nil {
		return err
	}
	dir, err := a.storeDir(o.Path)
	if err != nil {
		return err
	}
	service, closeService := standalone.Carry(dir, a.carryOptions())
	defer closeService()
	first.Run = pinRun
	described, failure := service.DescribeTool(context.Background(), p.ir, o.Name, &first, held)
	if failure != nil {
		a.err.Printf("agent %s: %s\n", ui.Quote(o.Name), ui.Clean(failure.Message))
		return &ended{exitNo}
	}
	var text bytes.Buffer
	if err := json.Indent(&text, value.Append(nil, described), "", "  "); err != nil {
		return err
	}
	text.WriteByte('\n')
	if o.Out == "" {
		_, err = a.out.Write(text.Bytes())
		return err
	}
	return os.WriteFile(o.Out, text.Bytes(), 0o666)
}
