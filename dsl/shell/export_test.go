package shell

import "github.com/flowrun/flowrun/dsl/diag"

// Rewrite is [Around.Rewrite] of a script with nothing around it.
func Rewrite(parts []Part, d Dialect, place func(start, end int) diag.Range) (string, diag.List) {
	return Around{}.Rewrite(parts, d, place)
}
