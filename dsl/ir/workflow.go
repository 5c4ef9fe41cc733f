package ir

import "github.com/flowrun/flowrun/dsl/value"

// Variable is a value given from outside when a run starts. Default nil with HasDefault unset means it is required.
type Variable struct {
	Name       string      `json:"name"`
	Type       value.Type  `json:"type"`
	HasDefault bool        `json:"has_default,omitempty"`
	Default    value.Value `json:"default,omitempty"`
	// Enum, if given, lists the values that it may have.
	Enum []value.Value `json:"enum,omitempty"`
	// Validation are conditions over the value itself, each asked before a run starts.
	Validation []Require `json:"validation,omitempty"`
	// Gates are the gates that judge the value of an input before a run starts, by their names, in order.
	Gates []string `json:"gates,omitempty"`
	// Sensitive tells that the value must not reach the journal, a log or the screen.
	Sensitive bool `json:"sensitive,omitempty"`
}

// Require is a condition that must hold before something starts, and what to say where it does not; a nil Message says
// the condition.
type Require struct {
	Condition Expr  `json:"condition"`
	Message   *Expr `json:"message,omitempty"`
}

// Local is a named expression over variables and other locals. It is evaluated once a run, when first read.
type Local struct {
	Name string `json:"name"`
	Expr Expr   `json:"expr"`
}

// Workflow is a named graph of nodes.
type Workflow struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Default     bool   `json:"default,omitempty"`
	// MaxConcurrency bounds the attempts of a run that are live at once; nil means 8.
	MaxConcurrency *Expr `json:"max_concurrency,omitempty"`
	// Timeout runs from the start of the run; a run that it ends is failed, not retried.
	Timeout *Expr      `json:"timeout,omitempty"`
	Inputs  []Variable `json:"inputs,omitempty"`
	Nodes   []Node     `json:"nodes,omitempty"` // the top level, in file order
	Outputs []Output   `json:"outputs,omitempty"`
	// Defaults for every node in the workflow.
	Retry    *Retry           `json:"retry,omitempty"`
	Classify []Classify       `json:"classify,omitempty"`
	Env      map[string]*Expr `json:"env,omitempty"`
	Dir      *Expr            `json:"dir,omitempty"`
	// PassEnv names variables of the caller's environment that programs get besides what they get anyway.
	PassEnv []string `json:"pass_env,omitzero"`
	// Require is asked before the first node starts.
	Require []Require `json:"require,omitempty"`
	// Budget bounds what a run uses. It keeps neither finally nor compensations from running.
	Budget *Budget `json:"budget,omitempty"`
	// Adapt are rules that change how many attempts may be live at once, in order. The last one that is on wins.
	Adapt []Adapt `json:"adapt,omitempty"`
	// Concurrency bounds how runs of one group overlap.
	Concurrency *Concurrency `json:"concurrency,omitempty"`
	// Quotas are what a run holds of quotas until it has ended.
	Quotas []QuotaUse `json:"quotas,omitempty"`
	// Finally runs at the end, whatever happened: its nodes one after the other, each as with the rule "always".
	Finally *Finally `json:"finally,omitempty"`
}

// Finally is what a run does last.
type Finally struct {
	Timeout *Expr  `json:"timeout,omitempty"` // nil means 5m
	Nodes   []Node `json:"nodes"`
}

// Concurrency says that of the runs whose Group is the same text one is active at a time, and what another one does.
type Concurrency struct {
	Group    Expr     `json:"group"` // a text over var, local and input
	WhenBusy WhenBusy `json:"when_busy,omitempty"`
}

// Output is one named result of a workflow.
type Output struct {
	Name string `json:"name"`
	Expr Expr   `json:"expr"`
}
