package expr

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
)

// Work counts what checking the expressions of one program has cost. Each expression has bounds of its own, and 1 MiB
// holds 20,000 expressions that stay just within them; so their sum is bounded, too. What an ordinary expression costs is
// not counted, so that a large program of ordinary expressions never reaches the bounds. The zero value has counted
// nothing. A Work must not be used by several goroutines at once.
type Work struct {
	constants spent // on expressions that read nothing
	trials    spent // on those over names whose values are the same in every run
	parts     int   // of types that were looked through
	suggested int   // how often a name was looked for that an unknown one may mean
}

// spent is what evaluations have cost.
type spent struct{ steps, bytes int }

// The bounds of the constants, the trials and the types of one program, and what is free of charge for each expression.
// A constant beyond the bounds is an error; what is not tried out is left to the run.
const (
	MaxProgramSteps = 2 * MaxSteps
	MaxProgramBytes = MaxBytes
	MaxTrialSteps   = MaxSteps
	MaxTrialBytes   = MaxBytes / 8
	MaxProgramParts = 250_000

	freeSteps, freeBytes, freeParts = 100, 1 << 10, 16
	// patternSteps is how many steps the compilation of a pattern takes for each of its instructions.
	patternSteps = 4
)

func (s *spent) add(text string, steps, bytes int) {
	s.steps += max(0, steps-freeSteps-len(text))
	s.bytes += max(0, bytes-freeBytes-16*len(text))
}

// left says which bound of the constants has been reached, or nil.
func (w *Work) left() error {
	switch {
	case w == nil:
	case w.constants.steps > MaxProgramSteps:
		return &limitError{fmt.Sprintf("the constants of the program take more than %d steps together", MaxProgramSteps)}
	case w.constants.bytes > MaxProgramBytes:
		return &limitError{fmt.Sprintf("the constants of the program need more than %d MiB of memory together", MaxProgramBytes>>20)}
	}
	return nil
}

// evaluate computes a tree at the expense of the program.
func (w *Work) evaluate(t *tree, r *run) (value.Value, error) {
	if w == nil {
		return t.evalIn(r)
	}
	account := &w.trials
	if len(t.reads) == 0 {
		account = &w.constants
		if err := w.left(); err != nil {
			return nil, err
		}
	}
	v, err := t.evalIn(r)
	account.add(t.text, r.steps, r.bytes)
	return v, err
}

// tries reports whether an expression may still be tried out.
func (w *Work) tries() bool {
	return w != nil && w.trials.steps <= MaxTrialSteps && w.trials.bytes <= MaxTrialBytes
}

// compile compiles a pattern at the expense of the program.
func (w *Work) compile(pattern string) error {
	if err := w.left(); err != nil {
		return err
	}
	if w != nil && len(pattern) <= MaxPatternBytes {
		w.constants.add(pattern, patternSteps*patternSize(pattern), 0)
	}
	_, err := compilePattern(pattern)
	return err
}

// work is what the environment counts in, or nil.
func (e *Env) work() *Work {
	if e == nil {
		return nil
	}
	return e.Work
}

// look counts the parts of types that are about to be looked through, and reports whether they are still within the
// bound. Beyond it a type is any.
func (w *Work) look(types ...value.Type) bool {
	if w == nil {
		return true
	}
	for _, t := range types {
		w.parts += max(0, len(t.Elems)+len(t.Attrs)-freeParts)
	}
	return w.parts <= MaxProgramParts
}

// suggest counts a search for the name that an unknown one may mean, and reports whether it may begin.
func (w *Work) suggest() bool {
	if w == nil {
		return true
	}
	w.suggested++
	return w.suggested <= MaxSuggestions
}

// Unify is [Unify] within the bounds of a program: beyond them the type is any.
func (w *Work) Unify(a, b value.Type) value.Type {
	if !w.look(a, b) {
		return value.AnyType
	}
	return unify(a, b)
}
