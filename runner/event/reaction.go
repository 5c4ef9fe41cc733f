package event

// Reaction is what one or more events caused. Hosts carry out Commands in order, after the events are durable.
type Reaction struct {
	Commands    []Command    `json:"commands,omitempty"`
	Transitions []Transition `json:"transitions,omitempty"`
}

// Reset empties r and keeps its memory.
func (r *Reaction) Reset() { r.Commands, r.Transitions = r.Commands[:0], r.Transitions[:0] }

// AppendDigest writes the bytes that a journal's digest is made of: the commands in their order, and of each command what matters in
// the world. Texts for people and transitions are left out, so a release that words or shows something in another way replays old
// journals.
func (r *Reaction) AppendDigest(dst []byte) []byte {
	f := facts(dst)
	for i := range r.Commands {
		f.command(&r.Commands[i])
	}
	return f
}
