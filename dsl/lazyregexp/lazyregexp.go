// Package lazyregexp keeps regular expressions that are compiled when they are first used, so that a command starts without those that it
// does not need. An expression takes 10 to 100 µs to compile, and there are 150.
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
