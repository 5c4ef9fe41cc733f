package ir

// Classify gives the errors for which a condition over result, error, attempt and elapsed holds another kind.
type Classify struct {
	When Expr      `json:"when"`
	Kind ErrorKind `json:"kind"`
}

// Escalation says who or what is asked for help when attempts of a node fail. It has at least one level. Its expressions read var,
// local, error, attempt and elapsed; those of levels read healed, too.
type Escalation struct {
	Name   string           `json:"name"`
	Rules  []EscalationRule `json:"rules,omitempty"`
	Levels []Level          `json:"levels"`
}

// EscalationRule sends failures to a level.
type EscalationRule struct {
	When  *Expr  `json:"when,omitempty"` // nil: what retries and fallback agents did not settle
	Level string `json:"level"`
}

// Level is one step of an escalation. One of Heal, Reassign and Await is set at most; without them a level only informs.
type Level struct {
	Name     string    `json:"name"`
	Notify   []string  `json:"notify,omitempty"`   // channels that are told
	Heal     *Call     `json:"heal,omitempty"`     // the workflow that heals
	Reassign *Assignee `json:"reassign,omitempty"` // who takes the task over
	Await    *Await    `json:"await,omitempty"`    // people decide
}

// Await has a level wait for the decision of a person.
type Await struct {
	After    *Expr `json:"after,omitempty"`     // how long; nil: nothing bounds the wait
	AfterAck *Expr `json:"after_ack,omitempty"` // how long from the moment when somebody looks at it; nil: nothing bounds it then
}

// Acts reports whether the level does something, so that a node that enters it does not go on as before.
func (l *Level) Acts() bool { return l.Heal != nil || l.Reassign != nil || l.Await != nil }

// Escalation returns the escalation of a name, or nil.
func (p *Program) Escalation(name string) *Escalation {
	for i := range p.Escalations {
		if p.Escalations[i].Name == name {
			return &p.Escalations[i]
		}
	}
	return nil
}
