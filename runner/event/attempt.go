package event

import "github.com/flowrun/flowrun/dsl/ir"

// AttemptKind says what carries an attempt out. An executor is registered for each kind that it knows.
type AttemptKind string

// The kinds of attempts. An agent's attempt has the kind of its type.
const (
	RunAttempt        AttemptKind = "run" // a program or a script: of a step, a gate or a compensation
	ExecAgentAttempt  AttemptKind = "agent.exec"
	ShellAgentAttempt AttemptKind = "agent.shell"
	HTTPAgentAttempt  AttemptKind = "agent.http"
	NullAgentAttempt  AttemptKind = "agent.null"
	HTTPAttempt       AttemptKind = "http"
	RememberAttempt   AttemptKind = "remember"
	RecallAttempt     AttemptKind = "recall"
)

// AttemptKinds lists all kinds of attempts.
var AttemptKinds = []AttemptKind{RunAttempt, ExecAgentAttempt, ShellAgentAttempt, HTTPAgentAttempt, NullAgentAttempt,
	HTTPAttempt, RememberAttempt, RecallAttempt}

// AgentAttempt returns the kind of the attempts of agents of a type.
func AgentAttempt(t ir.AgentType) AttemptKind { return AttemptKind("agent." + string(t)) }
