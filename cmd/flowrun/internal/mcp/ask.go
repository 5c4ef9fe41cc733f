package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// askTool puts a question of the inbox to the person at the client. The agent sees neither the form nor a way to answer it.
var askTool = &mcp.Tool{Name: "ask_person", Title: "Ask the person",
	Description: "Show a question of the inbox to the person at this client, who answers it in a form. The client must be able to show forms (elicitation).",
	InputSchema: map[string]any{"type": "object", "additionalProperties": false, "required": []string{"run", "node"}, "properties": map[string]any{
		"run":  map[string]any{"type": "string", "description": "The id of the run, as the inbox has it."},
		"node": map[string]any{"type": "string", "description": "The path of the node, as the inbox has it."},
	}},
}

// inbox is what flowrun inbox --json prints.
type inbox struct {
	Rows []struct {
		Run, Node, Prompt, Shown string
		Words                    []string
		Show                     any
		Inputs                   []json.RawMessage
	} `json:"inbox"`
}

func ask(o *Options) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var given struct{ Run, Node string }
		if err := json.Unmarshal(r.Params.Arguments, &given); err != nil || given.Run == "" || given.Node == "" {
			return failed("run and node must be texts"), nil
		}
		if p := r.Session.InitializeParams(); p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
			return failed("this client cannot show forms; the person can answer with flowrun decide or in the dashboard"), nil
		}
		got, err := o.Command(ctx, []string{"inbox", "--json"}, Hear{})
		if err != nil {
			return failed(err.Error()), nil
		}
		var all inbox
		if err := json.Unmarshal([]byte(got.Stdout), &all); err != nil {
			return answer(got), nil
		}
		i := 0
		for ; i < len(all.Rows); i++ {
			if w := all.Rows[i]; w.Run == given.Run && w.Node == given.Node {
				break
			}
		}
		if i == len(all.Rows) {
			return failed(fmt.Sprintf("nothing waits at %s of run %s", given.Node, given.Run)), nil
		}
		w := all.Rows[i]
		if len(w.Inputs) > 0 {
			return failed("this question has inputs; the person can answer it with flowrun decide or in the dashboard"), nil
		}
		text := w.Prompt
		if w.Show != nil {
			shown, _ := json.MarshalIndent(w.Show, "", "  ")
			if s, is := w.Show.(string); is {
				shown = []byte(s)
			}
			text += "\n\n" + cut(string(shown))
		}
		said, _ := r.Params.InputResponses["decision"].(*mcp.ElicitResult)
		if said == nil { // the library asks clients of older versions of the protocol itself, and calls again
			return &mcp.CallToolResult{RequestState: w.Shown, InputRequests: mcp.InputRequestMap{"decision": &mcp.ElicitParams{Message: text,
				RequestedSchema: map[string]any{"type": "object", "required": []string{"decision"}, "properties": map[string]any{
					"decision": map[string]any{"type": "string", "title": "Decision", "enum": w.Words},
					"comment":  map[string]any{"type": "string", "title": "Comment"},
				}}}}}, nil
		}
		decision, _ := said.Content["decision"].(string)
		if said.Action != "accept" || !slices.Contains(w.Words, decision) {
			return failed("the person gave no decision (" + said.Action + ")"), nil
		}
		words := []string{"decide", "--json"}
		if shown := r.Params.RequestState; shown != "" { // what the person has seen; decide refuses the decision if that has changed
			words = append(words, "--shown="+shown)
		}
		if comment, _ := said.Content["comment"].(string); strings.TrimSpace(comment) != "" {
			words = append(words, "--comment="+comment)
		}
		got, err = o.Command(ctx, append(words, "--", w.Run, w.Node, decision), Hear{})
		if err != nil {
			return failed(err.Error()), nil
		}
		return answer(got), nil
	}
}
