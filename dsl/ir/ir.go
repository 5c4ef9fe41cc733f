// Package ir is the core program: what a checked workflow file becomes, and all that the machine ever sees of it.
//
// A Program is plain data without source positions. Its canonical JSON is stored with every run that it started and
// [Program.Hash] pins the run to it, so editing a file never changes a run in flight, and a stored program loads
// without parsing HCL: expressions are kept as text with the names they read and their type, and are parsed again on
// first use by whoever implements [Evaluator].
//
// The package knows no HCL, no expr-lang, no files. Fields that a program does not use are left out of the JSON, so a
// later release can add fields without changing the hash of programs that don't use them. Enter at [Program]; node.go holds
// what a workflow is made of, action.go what its steps do, expr.go what is evaluated, stored.go the form of the JSON.
package ir

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Behaviour is the number of the rules by which a program of this form is interpreted: the IR's meaning, the function
// table, and the versions of hcl, cty and expr. It stands in the header of every journal. A test of the module compares
// go.mod with the versions that this number was given for.
const Behaviour = 2

// Program is everything that one file or folder declares, lowered.
type Program struct {
	Variables []Variable `json:"variables,omitempty"`
	Locals    []Local    `json:"locals,omitempty"`
	Agents    []Agent    `json:"agents,omitempty"`
	Pools     []Pool     `json:"pools,omitempty"`
	Gates     []Gate     `json:"gates,omitempty"`
	Quotas    []Quota    `json:"quotas,omitempty"` // in the order of their declaration, which decides who may hold which inside of which
	Channels  []Channel  `json:"channels,omitempty"`
	// Routines are in the order of their names.
	Routines []Routine `json:"routines,omitempty"`
	// Escalations are in the order of their names.
	Escalations []Escalation `json:"escalations,omitempty"`
	Workflows   []Workflow   `json:"workflows,omitempty"`
	// Loops are in the order of their names. No workflow has the name of a loop.
	Loops []Loop `json:"loops,omitempty"`
	// Ons are in the order of their events and workflows.
	Ons    []On    `json:"ons,omitempty"`
	Memory *Memory `json:"memory,omitempty"`
	// Files are the contents that file("PATH") stands for, by the path as it is written. They were read with the program.
	Files map[string]string `json:"files,omitempty"`
}

// Canonical returns the JSON that is hashed and stored.
func (p *Program) Canonical() []byte {
	s, err := p.store()
	if err != nil {
		panic("ir: " + err.Error()) // a lowered program has the actions that it needs
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("ir: a program that is not JSON: %v", err)) // values are JSON by construction
	}
	return b
}

// Hash is [Hash] of the canonical JSON.
func (p *Program) Hash() string { return Hash(p.Canonical()) }

// Hash is what journals pin a program by: the SHA-256 of its canonical JSON, in hex.
func Hash(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// Load reads a program that Canonical wrote. A step without an action that this release knows is an error.
func Load(canonical []byte) (*Program, error) {
	var s storedProgram
	if err := json.Unmarshal(canonical, &s); err != nil {
		return nil, fmt.Errorf("reading a stored program: %w", err)
	}
	p, err := s.load()
	if err != nil {
		return nil, fmt.Errorf("reading a stored program: %w", err)
	}
	return p, nil
}

// Workflow returns the workflow of a name, or nil.
func (p *Program) Workflow(name string) *Workflow {
	for i := range p.Workflows {
		if p.Workflows[i].Name == name {
			return &p.Workflows[i]
		}
	}
	return nil
}
