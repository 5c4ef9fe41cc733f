package event

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/flowrun/flowrun/dsl/value"
)

// facts are the bytes that a digest is made of: a byte that names the field, then the field, and nothing for a zero field. A 0
// ends an object, so that equal bytes mean equal facts. The form is written by hand and has nothing to do with the JSON of
// commands: a field that JSON gains changes no digest. digest_test.go fails for a field that is neither written here nor
// named there as one that is only shown.
type facts []byte

func (f *facts) number(field byte, v uint64) {
	if v != 0 {
		*f = binary.AppendUvarint(append(*f, field), v)
	}
}

func (f *facts) truth(field byte, v bool) {
	if v {
		*f = append(*f, field)
	}
}

func (f *facts) text(field byte, s string) {
	if s != "" {
		f.always(field, s)
	}
}

// always writes a text that is there though it may be empty.
func (f *facts) always(field byte, s string) {
	*f = append(binary.AppendUvarint(append(*f, field), uint64(len(s))), s...)
}

func (f *facts) texts(field byte, list []string) {
	f.number(field, uint64(len(list)))
	for _, s := range list {
		f.always(field, s)
	}
}

// value writes canonical JSON; nothing for null.
func (f *facts) value(field byte, v value.Value) {
	if v != nil {
		*f = append(value.Append(append(*f, field), v), '\n')
	}
}

// values writes a map in the order of its keys.
func (f *facts) values(field byte, values map[string]value.Value) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f.always(field, name)
		f.value('=', values[name])
	}
}

// language writes an expression or a type, in the form in which programs store them.
func (f *facts) language(field byte, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("event: an expression that is not JSON: " + err.Error()) // plain data by construction
	}
	f.always(field, string(b))
}

func (f *facts) end() { *f = append(*f, 0) }

func (f *facts) command(c *Command) {
	switch {
	case c.Start != nil:
		*f = append(*f, 'S')
		f.attempt(c.Start)
	case c.Cancel != nil:
		*f = append(*f, 'C')
		f.number('t', c.Cancel.Ticket)
		f.text('n', c.Cancel.Node)
		f.text('l', c.Cancel.Leaves)
	case c.SetTimer != nil:
		*f = append(*f, 'T')
		f.number('t', c.SetTimer.Timer)
		f.text('n', c.SetTimer.Node)
		f.number('d', uint64(c.SetTimer.Due))
	case c.CancelTimer != nil:
		*f = append(*f, 'U')
		f.number('t', c.CancelTimer.Timer)
	case c.StartChild != nil:
		*f = append(*f, 'B')
		f.text('r', c.StartChild.Run)
		f.text('n', c.StartChild.Node)
		f.text('w', c.StartChild.Workflow)
		f.values('i', c.StartChild.Inputs)
		f.deferred('l', c.StartChild.Late)
		f.texts('h', c.StartChild.Held)
		f.text('d', c.StartChild.Dir)
		if b := c.StartChild.Budget; b != nil {
			f.bounds('b', *b)
		}
		if a := c.StartChild.Asks; a != nil {
			f.bounds('k', a.Left)
			f.bounds('s', a.Step)
		}
		if c.StartChild.Cause != nil {
			f.cause(c.StartChild.Cause)
		}
	case c.CancelChild != nil:
		*f = append(*f, 'D')
		f.text('r', c.CancelChild.Run)
		f.text('n', c.CancelChild.Node)
		f.truth('w', c.CancelChild.Now)
	case c.Ask != nil:
		*f = append(*f, 'Q')
		f.ask(c.Ask)
	case c.EndAsk != nil:
		*f = append(*f, 'R')
		f.number('N', c.EndAsk.Number)
		f.text('n', c.EndAsk.Node)
		f.text('w', string(c.EndAsk.Word))
		f.texts('b', c.EndAsk.By)
	case c.End != nil:
		*f = append(*f, 'E')
		f.text('s', string(c.End.Status))
		f.values('o', c.End.Outputs)
		f.truth('l', c.End.Limit)
		f.failure(c.End.Error)
		if l := c.End.Loop; l != nil {
			*f = append(*f, 'L')
			f.number('n', l.Next.Number)
			f.truth('o', l.Next.Once)
			f.truth('i', l.Next.UntilIdle)
			f.value('c', l.Next.Carry)
			f.truth('g', l.GoesOn)
			f.end()
		}
	}
	f.end()
}

// pairs writes a map of texts in the order of its keys.
func (f *facts) pairs(field byte, pairs map[string]string) {
	if len(pairs) == 0 {
		return // most attempts add nothing to the environment
	}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		f.always(field, name)
		f.always('=', pairs[name])
	}
}

func (f *facts) agent(a *AgentRequest) {
	*f = append(*f, 'A')
	f.text('n', a.Name)
	f.text('t', a.Type)
	f.text('k', a.Task)
	f.value('w', a.With)
	f.text('f', a.Feedback)
	f.texts('P', a.PassEnv)
	f.text('i', a.Input)
	f.text('o', a.OutputFormat)
	f.number('b', uint64(a.Heartbeat))
	f.text('s', a.Soul)
	if a.Handoff != nil {
		f.handoff(a.Handoff)
	}
	if a.Chat != nil {
		f.chat(a.Chat)
	}
	if m := a.Memory; m != nil {
		*f = append(*f, 'm')
		f.truth('r', m.Recall)
		f.number('b', uint64(m.Budget))
		f.number('k', uint64(m.Most))
		f.texts('g', m.Groups)
		f.truth('l', m.Learn)
		f.truth('t', m.Trusted)
		f.truth('p', m.Promote)
		f.end()
	}
	if t := a.Tool; t != nil {
		f.tool(t)
	}
	if p := a.ACP; p != nil {
		*f = append(*f, 'X')
		f.text('f', string(p.Files))
		for _, r := range p.Permissions {
			*f = append(*f, 'r')
			f.texts('k', r.Kinds)
			f.texts('p', r.Paths)
			f.truth('a', r.Allow)
			f.end()
		}
		f.end()
	}
	for i := range a.Servers {
		f.server(&a.Servers[i])
	}
	f.text('W', a.Wanted)
	f.text('S', a.Session)
	f.texts('N', a.NewSession)
	f.texts('R', a.ResumeSession)
	f.truth('K', a.KeepSession)
	f.end()
}

func (f *facts) tool(t *ToolRequest) {
	*f = append(*f, 'T')
	f.text('n', t.Name)
	f.value('p', t.Pin)
	f.truth('d', t.Describe)
	f.end()
}

func (f *facts) server(s *ToolServer) {
	*f = append(*f, 'S')
	f.text('n', s.Name)
	f.texts('a', s.Argv)
	f.text('d', s.Dir)
	f.pairs('e', s.Env)
	f.texts('p', s.PassEnv)
	f.text('u', s.URL)
	f.pairs('h', s.Headers)
	for i := range s.Tools {
		f.tool(&s.Tools[i])
	}
	f.end()
}

func (f *facts) chat(c *ChatRequest) {
	*f = append(*f, 'C')
	f.text('p', string(c.Provider))
	f.text('a', string(c.API))
	f.text('m', c.Model)
	f.text('k', c.Key)
	f.text('e', c.KeyEnv)
	f.number('t', uint64(c.MaxTokens))
	if c.Temperature != nil {
		f.always('T', value.Text(*c.Temperature))
	}
	if c.Output != nil {
		text, _ := json.Marshal(c.Output) // a type always has one
		f.text('o', string(text))
	}
	if p := c.Prices; p != nil {
		*f = append(*f, 'P')
		f.number('i', math.Float64bits(p.Input))
		f.number('c', math.Float64bits(p.CachedInput))
		f.number('o', math.Float64bits(p.Output))
		f.end()
	}
	f.number('M', uint64(c.MaxTurns))
	f.number('x', uint64(c.ContextTokens))
	f.text('D', c.Describe)
	f.end()
}

func (f *facts) http(h *HTTPRequest) {
	*f = append(*f, 'H')
	f.text('u', h.URL)
	f.text('m', h.Method)
	f.pairs('h', h.Headers)
	f.text('b', h.Body)
	f.number('e', uint64(len(h.Expect)))
	for _, status := range h.Expect {
		*f = binary.AppendVarint(*f, int64(status))
	}
	f.number('f', uint64(h.Follow))
	f.number('x', uint64(h.MaxBytes))
	f.end()
}

func (f *facts) remember(r *Remember) {
	*f = append(*f, 'M')
	f.text('t', r.Text)
	f.text('l', r.Lesson)
	f.text('c', r.Context)
	f.text('o', r.Observation)
	f.text('y', r.Type)
	f.texts('g', r.Tags)
	f.number('i', math.Float64bits(r.Importance))
	f.text('a', r.Agent)
	f.text('s', r.Scope)
	f.end()
}

func (f *facts) recall(r *Recall) {
	*f = append(*f, 'Q')
	f.text('q', r.Query)
	f.number('k', uint64(r.K))
	f.text('y', r.Type)
	f.text('t', r.Tag)
	f.text('a', r.Agent)
	f.texts('g', r.Groups)
	f.number('b', uint64(r.Budget))
	f.end()
}

func (f *facts) lates(field byte, list []Late) {
	for i := range list {
		*f = append(*f, field)
		f.late(&list[i])
	}
}

// deferred writes a map in the order of its keys.
func (f *facts) deferred(field byte, parts map[string]Late) {
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		f.always(field, name)
		part := parts[name]
		f.late(&part)
	}
}

func (f *facts) late(l *Late) {
	f.text('p', l.Place)
	f.language('x', l.Expr)
	f.values('n', l.Names)
	for _, name := range slices.Sorted(maps.Keys(l.Locals)) {
		f.always('l', name)
		f.language('=', l.Locals[name])
	}
	f.deferred('i', l.Inputs)
	if l.Type != nil {
		f.language('t', l.Type)
	}
	f.number('e', uint64(len(l.Enum)))
	for _, v := range l.Enum {
		*f = append(value.Append(*f, v), '\n')
	}
	f.lates('r', l.Rules)
	f.end()
}

func (f *facts) failure(e *Error) {
	if e == nil {
		return
	}
	*f = append(*f, 'e')
	f.text('k', string(e.Kind))
	f.text('r', string(e.Reason))
	f.number('s', uint64(e.Status))
	f.number('x', uint64(e.ExitCode))
	f.text('g', e.Signal)
	f.text('G', e.Gate)
	f.text('n', e.Node)
	f.number('a', uint64(e.Attempt))
	f.number('t', math.Float64bits(e.RetryAfter))
	f.end()
}

func (f *facts) bounds(name byte, b Bounds) {
	*f = append(*f, name)
	f.number('a', uint64(b.Attempts))
	f.number('t', math.Float64bits(b.Tokens))
	f.number('c', math.Float64bits(b.CostUSD))
	f.end()
}
