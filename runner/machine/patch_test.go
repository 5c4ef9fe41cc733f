package machine_test

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// patch lays JSON over a part of the program and makes its machine anew.
func (s *session) patch(name, text string) error {
	if s.graph == nil {
		return errors.New("there is no program")
	}
	v, err := value.Decode([]byte(text))
	if err != nil {
		return err
	}
	b, _ := json.Marshal(exprs(v))
	p := s.graph.Program
	var target any = &p.Workflows[0]
	if name == "program" {
		target = p
	} else if name != "workflow" {
		target = find(p.Workflows[0].Nodes, name)
	}
	if err := json.Unmarshal(b, target); err != nil {
		return err
	}
	g, err := plan.Build(p, p.Workflows[0].Name)
	if err != nil {
		return err
	}
	s.graph, s.m = g, machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules())
	return nil
}

// find returns the node of a name.
func find(nodes []ir.Node, name string) *ir.Node {
	for i := range nodes {
		if nodes[i].Name == name {
			return &nodes[i]
		}
		if n := find(nodes[i].Children, name); n != nil {
			return n
		}
	}
	return nil
}

// exprs puts expressions in the place of their short forms.
func exprs(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = exprs(v[i])
		}
	case map[string]any:
		if c, ok := v["="]; ok {
			return ir.Lit(c, value.AnyType)
		}
		for _, k := range []string{"hcl", "cond"} {
			if text, ok := v[k].(string); ok {
				e := &ir.Expr{Kind: ir.HCL, Text: text, Type: value.AnyType}
				if k == "cond" {
					e.Kind = ir.Condition
				}
				for _, r := range v["reads"].([]any) {
					parts := append(strings.Split(r.(string), "."), "", "")
					e.Reads = append(e.Reads, ir.Ref{Root: parts[0], Name: parts[1], Attr: parts[2]})
				}
				return e
			}
		}
		for k := range v {
			v[k] = exprs(v[k])
		}
	}
	return v
}
