package given

import (
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Fit gives a program the values of a run. A declaration that both have keeps its value; a
// new one takes its default; a value without a declaration is left out. A sensitive value is
// missing, and is not needed where nothing is carried out.
func Fit(first *event.RunStarted, p *ir.Program, w *ir.Workflow) (problems []string) {
	secrets := map[string]event.Secret{}
	fill := func(kind, root string, decls []ir.Variable, old map[string]value.Value, around dsl.Known) map[string]value.Value {
		var plain []ir.Variable
		given := map[string]value.Value{}
		for _, d := range decls {
			if _, late := first.Late[d.Name]; late && kind == "input" {
				continue
			}
			if d.Sensitive {
				secrets[root+d.Name] = first.Secrets[root+d.Name]
				continue
			}
			plain = append(plain, d)
			if v, ok := old[d.Name]; ok {
				given[d.Name] = v
			}
		}
		values, errs := dsl.Inputs(kind, plain, given, around)
		for _, err := range errs {
			problems = append(problems, err.Error())
		}
		return values
	}
	first.Vars = fill("variable", "var.", p.Variables, first.Vars, dsl.Known{Files: p.Files})
	first.Inputs = fill("input", "input.", w.Inputs, first.Inputs, dsl.Known{Vars: first.Vars, Files: p.Files})
	first.Secrets, first.Workflow = secrets, w.Name
	return problems
}
