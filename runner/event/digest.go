package event

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/value"
)

// facts are the bytes that a digest is made of. They are written by hand, for a run makes them for each step: a byte that
// names the field, then the field, and nothing for a zero field. A 0 ends an object, so that equal bytes mean equal facts.
// What is rare stands as JSON. digest_test.go sees to it that no field is forgotten.
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

func (f *facts) json(field byte, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("event: a reaction that is not JSON: " + err.Error()) // plain data by construction
	}
	*f = append(append(append(*f, field), b...), '\n')
}

func (f *facts) end() { *f = append(*f, 0) }

func (f *facts) command(c *Command) {
	switch {
	case c.Start != nil:
		*f = append(*f, 'S')
		f.attempt(c.Start)
	case c.SetTimer != nil:
		*f = append(*f, 'T')
		f.number('t', c.SetTimer.Timer)
		f.text('n', c.SetTimer.Node)
		f.number('d', uint64(c.SetTimer.Due))
		f.text('w', string(c.SetTimer.Purpose))
	case c.CancelTimer != nil:
		*f = append(*f, 'U')
		f.number('t', c.CancelTimer.Timer)
	default:
		f.json('C', c)
		if c.End != nil {
			f.failure('e', c.End.Error)
		}
	}
	f.end()
}

func (f *facts) attempt(a *Attempt) {
	f.number('t', a.Ticket)
	f.text('n', a.Node)
	f.text('N', a.Name)
	f.number('a', uint64(a.Attempt))
	f.text('g', a.Gate)
	f.truth('c', a.Compensate)
	f.text('k', a.Key)
	f.text('r', a.Run)
	f.text('w', a.Workflow)
	f.number('o', uint64(a.Timeout))
	f.text('d', a.Dir)
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		f.always('e', name)
		f.always('E', a.Env[name])
	}
	f.texts('v', a.Argv)
	f.text('s', a.Script)
	f.text('h', a.Shell)
	f.text('p', a.Parse)
	f.texts('V', a.Values)
	if a.Stdin != nil {
		f.always('i', *a.Stdin)
	}
	f.texts('P', a.PassEnv)
	f.truth('O', a.OutputFile)
	if a.Agent != nil {
		f.agent(a.Agent)
	}
	if a.HTTP != nil {
		f.json('H', a.HTTP)
	}
	if a.Remember != nil {
		f.json('M', a.Remember)
	}
	if a.Recall != nil {
		f.json('Q', a.Recall)
	}
	if len(a.Late) > 0 {
		f.json('L', a.Late)
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
	if a.Memory != nil {
		f.json('m', a.Memory)
	}
	f.end()
}

func (f *facts) transition(t *Transition) {
	*f = append(*f, '>')
	f.number('t', uint64(t.At))
	f.text('n', t.Node)
	f.text('f', string(t.From))
	f.text('o', string(t.To))
	f.number('a', uint64(t.Attempt))
	f.text('N', string(t.Note))
	if t.Gate != nil {
		*f = append(*f, 'G')
		f.text('g', t.Gate.Gate)
		f.truth('p', t.Gate.Passed)
		f.truth('w', t.Gate.Warning)
		f.end()
	}
	if t.Result != nil {
		f.result(t.Result)
	}
	f.end()
}

func (f *facts) result(r *Result) {
	*f = append(*f, 'R')
	f.number('x', uint64(r.ExitCode))
	f.number('a', uint64(r.Attempts))
	f.text('g', r.Agent)
	f.number('s', uint64(r.StartedAt))
	f.number('f', uint64(r.FinishedAt))
	f.truth('t', r.Tolerated)
	f.truth('r', r.Reused)
	f.text('w', r.Winner)
	f.number('i', uint64(r.Iterations))
	f.failure('e', r.Error)
	if r.Computed {
		*f = append(value.Append(append(*f, 'o'), r.Output), '\n')
	}
	f.end()
}

// failure writes what an error is, without how it is put.
func (f *facts) failure(field byte, e *Error) {
	if e == nil {
		return
	}
	bare := *e
	bare.Message = ""
	f.json(field, &bare)
}
