// Package lazyregexp keeps regular expressions that are compiled when they are first used, so that a command that needs none of them
// starts without them: those of the memory together cost a millisecond, a tenth of a start.
//
// It uses sync.OnceValue and nothing else of package sync: each caller gets the same expression, whoever asks first. Enter at [New].
package lazyregexp

import (
	"regexp"
	"sync"
)

// New gives the compiled form of an expression, the same one at each call. It panics at the first where the expression is none.
// It is safe for concurrent use.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
