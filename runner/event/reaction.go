package event

// Reaction is what one or more events caused. Hosts carry out Commands in order, after the events are durable.
type Reaction struct {
	Commands    []Command
	Transitions []Transition
}

// Reset empties r and keeps its memory.
func (r *Reaction) Reset() { r.Commands, r.Transitions = r.Commands[:0], r.Transitions[:0] }

// AppendTo writes the bytes that a digest is made of: all commands, then all transitions. Words for people are no part of it
// (reasons, messages): to say something better must not make an old journal diverge.
func (r *Reaction) AppendTo(dst []byte) []byte {
	f := facts(dst)
	for i := range r.Commands {
		f.command(&r.Commands[i])
	}
	for i := range r.Transitions {
		f.transition(&r.Transitions[i])
	}
	return f
}
