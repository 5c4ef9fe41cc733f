package values

import (
	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/given"
)

// Answer completes the inputs of an approval with the values that a person gives.
func (r *Reader) Answer(decls []ir.Variable, pairs *args.Pairs, known dsl.Known) (map[string]value.Value, error) {
	read, err := pairs.Read("--input", r.argsWorld())
	if err != nil {
		return nil, err
	}
	g := given.NewValues()
	problems := addPairs(g, read, decls)
	all, more := dsl.Inputs("input", decls, g.Values, known)
	return all, Join(append(problems, more...))
}
