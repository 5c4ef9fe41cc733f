package reference

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// Table is the language as data: what flowrun schema --format json prints. Lists are in order of their names.
type Table struct {
	FormatVersion string     `json:"format_version"` // "1.1"; the minor number rises when something is added
	Blocks        []Block    `json:"blocks"`
	Roots         []Member   `json:"roots"`    // what names begin with
	Results       []Member   `json:"results"`  // attributes of step.NAME, previous and result
	Errors        []Member   `json:"errors"`   // attributes of error
	Run           []Member   `json:"run"`      // attributes of run
	Recalled      []Member   `json:"recalled"` // attributes of recalled
	Tests         []Member   `json:"tests"`    // what conditions of tests read
	Calls         []Member   `json:"calls"`    // attributes of a member of calls.NAME
	Requests      []Member   `json:"requests"` // attributes of request, which replies of stubs read
	Runs          []Member   `json:"runs"`     // attributes of a member of runs, which conditions of tests read
	Statuses      []string   `json:"statuses"`
	Planned       []Planned  `json:"planned"` // what is not in this release
	Places        []Place    `json:"places"`
	Functions     []Function `json:"functions"`
	Limits        []Limit    `json:"limits"`
	Codes         []Code     `json:"codes"`
}

// Block is a kind of block.
type Block struct {
	Kind       string      `json:"kind"`
	Label      string      `json:"label,omitempty"` // what its label names; "" for a block without one
	Doc        string      `json:"doc"`
	In         []string    `json:"in"`                // kinds of block that it may stand in; "file" is the top
	Once       bool        `json:"once"`              // it may stand once in its parent
	Free       bool        `json:"free"`              // it takes attributes of any name
	Later      bool        `json:"later"`             // planned, not in this release
	Never      bool        `json:"never,omitempty"`   // with later: it is in no plan
	Instead    string      `json:"instead,omitempty"` // what to write today
	Example    string      `json:"example,omitempty"` // nodes of a workflow, or a whole file, that show it in use
	Attributes []Attribute `json:"attributes"`
	Blocks     []string    `json:"blocks"` // kinds that may stand inside
}

// Attribute is one attribute of a block.
type Attribute struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`           // value, duration, condition, …; "" of what is planned
	Type     string   `json:"type,omitempty"` // of a value
	Words    []string `json:"words,omitempty"`
	Planned  []string `json:"planned_words,omitempty"` // not in this release
	Computed bool     `json:"computed"`                // its value can depend on the run; else it is read with the file
	Required bool     `json:"required"`
	Min      float64  `json:"min,omitempty"`
	Max      float64  `json:"max,omitempty"` // 0 means no bounds
	Default  string   `json:"default,omitempty"`
	Doc      string   `json:"doc"`
	Later    bool     `json:"later"`             // planned, not in this release
	Instead  string   `json:"instead,omitempty"` // what to write today
	// Members are those of each object in a list of replies.
	Members []Attribute `json:"members,omitempty"`
}

// Planned is something of the language that is not in this release.
type Planned struct {
	Kind    string `json:"kind"` // block, attribute, word or name
	Name    string `json:"name"` // "pool", "wait.event", "agent.type.mcp", "event"
	Doc     string `json:"doc"`
	Instead string `json:"instead"`
}

// Member is an attribute of an object that expressions can read.
type Member struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
	Null bool   `json:"null"` // it may be null
	Doc  string `json:"doc"`
}

// Function is a function of the language.
type Function struct {
	Name    string   `json:"name"`
	Alias   string   `json:"alias,omitempty"` // the function that this is another name for
	Form    string   `json:"form"`
	Takes   []string `json:"takes,omitempty"`
	Doc     string   `json:"doc"`
	Example string   `json:"example,omitempty"`
	Result  string   `json:"result,omitempty"` // of the example, as JSON
	Asks    bool     `json:"conditions_only"`  // its body is asked for every member
}

// Code is a code of a diagnostic.
type Code struct {
	Code  string `json:"code"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Language makes the table.
func Language() *Table {
	t := *table()
	t.Places = places()
	return &t
}

// table is the table without what can be read where, for which the checker must be asked some hundred times.
var table = sync.OnceValue(func() *Table {
	t := &Table{FormatVersion: "1.1", Statuses: schema.Statuses, Functions: functions(), Limits: listLimits(),
		Results: members(check.ResultType(), resultDocs), Errors: members(check.ErrorType(), errorDocs), Run: members(check.RunType(), runDocs), Recalled: members(check.RecalledType(), recalledDocs),
		Tests: members(check.TestNames(), testDocs), Calls: members(check.CallType(), callDocs), Requests: members(check.RequestType(), requestDocs), Runs: members(check.TestRunType(), testRunDocs)}
	for _, name := range schema.Roots {
		t.Roots = append(t.Roots, Member{Name: name, Doc: rootDocs[name]})
	}
	for _, kind := range slices.Sorted(maps.Keys(schema.Blocks)) {
		t.Blocks = append(t.Blocks, makeBlock(schema.Blocks[kind]))
	}
	for _, p := range schema.AllPlanned() {
		if !p.Never {
			t.Planned = append(t.Planned, makePlanned(p))
		}
	}
	for _, c := range Codes() {
		t.Codes = append(t.Codes, Code{c, Title(c), URL(c)})
	}
	return t
})

func makeBlock(b *schema.Block) Block {
	out := Block{Kind: b.Key(), Label: b.Label, Doc: b.Doc, Example: b.Example, In: []string{}, Once: b.Once, Free: b.Free, Attributes: []Attribute{}, Blocks: slices.Sorted(slices.Values(b.Blocks))}
	if b.Later != nil {
		out.Later, out.Never, out.Instead = true, b.Later.Never, b.Later.Instead
	}
	for _, parent := range slices.Sorted(maps.Keys(schema.Blocks)) {
		if p := schema.Blocks[parent]; p.Has(b.Kind) && p.Inside(b.Kind) == b {
			out.In = append(out.In, parent)
		}
	}
	for i := range b.Attrs {
		out.Attributes = append(out.Attributes, makeAttribute(b, &b.Attrs[i]))
	}
	slices.SortFunc(out.Attributes, func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func makeAttribute(b *schema.Block, a *schema.Attr) Attribute {
	out := Attribute{Name: a.Name, Kind: a.Kind.String(), Words: a.Words, Required: a.Required, Min: a.Min, Max: a.Max, Default: a.Default, Doc: a.Doc}
	if a.Later != nil {
		return Attribute{Name: a.Name, Doc: a.Doc, Later: true, Instead: a.Later.Instead}
	}
	for _, p := range schema.AllPlanned() {
		if p.Block == b.Key() && p.Attr == a.Name && p.Word != "" {
			out.Planned = append(out.Planned, p.Word)
		}
	}
	switch a.Kind {
	case schema.Value:
		out.Type = typeName(a.Want)
		out.Computed = true
	case schema.Duration, schema.Command, schema.Env, schema.Quotas:
		out.Computed = true
	case schema.Ref, schema.Refs:
		out.Type = a.RefKind
	}
	for i := range a.Members {
		out.Members = append(out.Members, makeAttribute(b, &a.Members[i]))
	}
	return out
}

func makePlanned(p schema.Planned) Planned {
	kind := "block"
	switch {
	case p.Name != "":
		kind = "name"
	case p.Word != "":
		kind = "word"
	case p.Attr != "":
		kind = "attribute"
	}
	parts := slices.DeleteFunc([]string{p.Block, p.Attr, p.Word, p.Name}, func(s string) bool { return s == "" })
	return Planned{kind, strings.Join(parts, "."), p.Doc, p.Instead}
}

func typeName(t value.Type) string {
	if t.Int {
		return "whole number"
	}
	return t.String()
}

func members(t value.Type, docs map[string]string) (out []Member) {
	for _, n := range t.Names() {
		a := t.Attrs[n]
		m := Member{Name: n, Type: typeName(a), Null: a.Nullable, Doc: docs[n]}
		switch {
		case slices.Equal(a.Enum, schema.Statuses):
			m.Type = "status"
		case a.Kind == value.ObjectT:
			m.Type = "object"
		}
		out = append(out, m)
	}
	return out
}

func functions() (out []Function) {
	for _, f := range expr.Functions() {
		out = append(out, Function{f.Name, f.Alias, f.Form, f.Takes, f.Doc, f.Example, resultOf(f.Example), f.Asks})
	}
	return out
}

// resultOf computes an example that reads nothing, or gives "".
func resultOf(example string) string {
	if example == "" {
		return ""
	}
	p, found := load(fmt.Sprintf("workflow \"w\" {\n  output \"o\" { value = %s }\n  step \"s\" { value = 1 }\n}\n", example))
	if found.HasErrors() {
		return ""
	}
	return string(value.Append(nil, p.IR.Workflows[0].Outputs[0].Expr.Const))
}
