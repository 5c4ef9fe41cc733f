package chat

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mcp"
)

const (
	// maxResult is how many bytes of a result of a tool are given to the model.
	maxResult = 256 << 10
	// maxAtOnce is how many calls of an answer are carried out at once.
	maxAtOnce = 8
	// maxNameLength is how long the name of a tool can be for each provider.
	maxNameLength = 64
	// maxShown is how many bytes of the arguments or the error of a call are shown as progress.
	maxShown = 200
)

// tool is a tool of a server that the model may use.
type tool struct {
	name   string // for the model
	about  string
	schema map[string]any
	server string
	real   string // its name at the server
	with   *mcp.Session
}

// toolbox has the tools of a conversation.
type toolbox struct {
	ctx   context.Context
	tools []tool
}

// serverAttempts are the attempts by which package mcp speaks with the servers. The time and the silence of the whole are watched by the
// attempt that the tools are for.
func (t *talk) serverAttempts(servers []event.ToolServer) []event.Attempt {
	out := make([]event.Attempt, len(servers))
	for i := range servers {
		s, a := &servers[i], *t.attempt
		agent := event.AgentRequest{Name: a.Agent.Name, Type: a.Agent.Type, PassEnv: s.PassEnv}
		a.Kind, a.Agent, a.HTTP, a.Timeout, a.Argv, a.Dir = event.MCPAgentAttempt, &agent, nil, 0, s.Argv, s.Dir
		a.Env = maps.Clone(a.Env)
		if a.Env == nil {
			a.Env = map[string]string{}
		}
		maps.Copy(a.Env, s.Env)
		if s.URL != "" {
			a.HTTP = &event.HTTPRequest{Method: "POST", URL: s.URL, Headers: s.Headers}
		}
		out[i] = a
	}
	return out
}

// describe asks a server how it describes its tools.
func (t *talk) describe() *event.Error {
	servers := slices.DeleteFunc(slices.Clone(t.attempt.Agent.Servers), func(s event.ToolServer) bool { return s.Name != t.chat.Describe })
	failure := t.tools.With(executor.WithMask(t.Context(), t.mask), t.serverAttempts(servers), t.Beat, func(ctx context.Context, sessions []*mcp.Session) *event.Error {
		found, err := sessions[0].Tools(ctx, nil)
		if err != nil {
			return err
		}
		out := make([]any, len(found))
		for i := range found {
			out[i] = found[i].Said
		}
		t.answer.Output, t.answer.Outcome = out, event.OK
		return nil
	})
	if ended := t.Ended("the server " + t.chat.Describe); ended != nil {
		return ended
	}
	return failure
}

// openTools asks servers for their tools, and compares them with their pins.
func openTools(ctx context.Context, servers []event.ToolServer, sessions []*mcp.Session) (box []tool, failure *event.Error) {
	for i, s := range sessions {
		from := &servers[i]
		of := func(err *event.Error) *event.Error {
			err.Message = fmt.Sprintf("server %q: %s", from.Name, err.Message)
			return err
		}
		names := make([]string, len(from.Tools))
		for j := range from.Tools {
			names[j] = from.Tools[j].Name
		}
		found, err := s.Tools(ctx, names)
		if err != nil {
			return nil, of(err)
		}
		for j := range found {
			if err := mcp.CheckPin(from.Tools[j].Pin, found[j]); err != nil {
				return nil, of(err)
			}
			box = append(box, tool{about: found[j].Description, schema: schemaForModel(found[j].Input), server: from.Name, real: found[j].Name, with: s})
		}
	}
	nameTools(box)
	return box, nil
}

// schemaForModel is the schema of a tool as providers take it: an object, without the name of its dialect.
func schemaForModel(input any) map[string]any {
	schema, _ := input.(map[string]any)
	out := map[string]any{"type": "object", "properties": map[string]any{}}
	maps.Copy(out, schema)
	delete(out, "$schema")
	return out
}

// nameTools gives each tool a name of letters, digits, - and _ that no other has: its own, if it can be, or that with the name of the server.
func nameTools(box []tool) {
	taken := map[string]bool{schemaName: true}
	for i := range box {
		name := plainName(box[i].real)
		if taken[name] {
			name = plainName(box[i].server + "_" + box[i].real)
		}
		for n := 2; taken[name]; n++ {
			end := fmt.Sprintf("_%d", n)
			name = name[:min(len(name), maxNameLength-len(end))] + end
		}
		taken[name], box[i].name = true, name
	}
}

func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" || name[0] == '-' || name[0] >= '0' && name[0] <= '9' { // Gemini wants a letter first, or _
		name = "_" + name
	}
	return name[:min(len(name), maxNameLength)]
}

// offer lets the model use tools.
func (c *conversation) offer(box []tool) {
	c.tools = box
	c.byCall = c.schema != nil && c.chat.Provider != ir.OpenAI // not each model of the others knows schemas beside tools
}

// callAll carries out the calls of an answer, several at once. The error says that a server can no longer be asked.
func (t *talk) callAll(box *toolbox, c *conversation, calls []call) ([]result, *event.Error) {
	results, failures := make([]result, len(calls)), make([]*event.Error, len(calls))
	free := make(chan struct{}, maxAtOnce)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			results[i], failures[i] = t.call(box, &calls[i])
		})
	}
	all.Wait()
	t.Beat()
	most := c.resultBytes(len(calls))
	for i := range results {
		if failures[i] != nil {
			return nil, failures[i]
		}
		if whole := len(results[i].text); whole > most {
			results[i].text = fmt.Sprintf("%s\n… (the first %d of %d bytes)", executor.Clip(results[i].text, most), most, whole)
		}
	}
	return results, nil
}

// call carries out one call. What is wrong with the call itself is told to the model.
func (t *talk) call(box *toolbox, k *call) (result, *event.Error) {
	var found *tool
	var names []string
	for i := range box.tools {
		if box.tools[i].name == k.name {
			found = &box.tools[i]
		}
		names = append(names, box.tools[i].name)
	}
	refuse := func(text string) (result, *event.Error) {
		t.Say("progress", fmt.Sprintf("tool %s refused: %s", executor.Clip(k.name, maxNameLength), executor.Clip(text, maxShown)))
		return result{text, true}, nil
	}
	if found == nil && k.name == schemaName {
		return refuse("Call this tool alone, when the other tools have given what you need.")
	}
	if found == nil {
		return refuse("There is no such tool. The tools are " + strings.Join(names, ", ") + ".")
	}
	arguments, err := k.arguments()
	if err != nil {
		return refuse(err.Error())
	}
	what := fmt.Sprintf("tool %s of %s", found.real, found.server)
	t.Say("progress", what+" "+executor.Clip(k.givenText(), maxShown))
	text, failed, failure := found.with.Ask(box.ctx, found.real, arguments)
	if failure != nil {
		failure.Message = what + ": " + failure.Message
		return result{}, failure
	}
	if text = t.mask.Text(text); failed {
		t.Say("progress", what+" failed: "+executor.Clip(text, maxShown))
	}
	return result{text, failed}, nil
}
