package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
)

// MaxScriptValue is how large one value in a script can be: it is passed in the environment, where Linux takes 128 KiB in
// one string.
const MaxScriptValue = 100 << 10

// values computes what stands in a script, as text.
func (m *Machine) values(exprs []ir.Expr, sc *scope) (out []string, err error) {
	for i := range exprs {
		e := &exprs[i]
		v, err := m.eval.Eval(e, sc)
		text := ""
		if err == nil {
			text, err = printed(v)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", named(e), err)
		case len(text) > MaxScriptValue:
			return nil, fmt.Errorf("%s has %d bytes, and a value in a script may have %d: give it over in stdin, and let the script read it there",
				named(e), len(text), MaxScriptValue)
		case strings.IndexByte(text, 0) >= 0:
			return nil, fmt.Errorf("%s holds a NUL byte, which no environment takes: give it over in stdin, and let the script read it there", named(e))
		}
		out = append(out, text)
	}
	return out, nil
}

// named is what a message calls a value.
func named(e *ir.Expr) string {
	if e.Text == "" {
		return "a value"
	}
	return fmt.Sprintf("${%.60s}", e.Text)
}
