package expr

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// run is one evaluation: its scope, what its names are bound to, and what it has used of its bounds.
type run struct {
	scope ir.Scope
	slots []value.Value
	files map[string]string
	rules ir.Rules
	steps int
	next  int        // it looks up after so many steps
	by    *Evaluator // nil: nobody is told
	bytes int
	heard *traces // nil: nobody listens, or nothing is secret
}

// limitError says that an evaluation has reached a bound. try does not catch it.
type limitError struct{ what string }

func (e *limitError) Error() string { return e.what }

func isLimit(err error) bool {
	var l *limitError
	return errors.As(err, &l)
}

// work counts steps.
func (r *run) work(n int) error {
	if r.steps += n; r.steps > r.next {
		return r.lookUp()
	}
	return nil
}

// lookUp ends an evaluation that has taken too many steps, and tells who waits for it that it goes on.
func (r *run) lookUp() error {
	if r.steps > MaxSteps {
		return &limitError{fmt.Sprintf("the expression takes more than %d steps", MaxSteps)}
	}
	r.next = MaxSteps
	if r.by != nil && r.by.pause != nil {
		r.by.spent = -r.steps // what this evaluation has taken is told
		r.by.pause()
		r.next = min(MaxSteps, r.steps+PauseSteps)
	}
	return nil
}

// SetPause lets an evaluator call pause after every [PauseSteps] steps of its evaluations, in the middle of one: so the one who waits for them is
// heard at least so often. If pause panics, the evaluator stays whole.
func (ev *Evaluator) SetPause(pause func()) { ev.pause = pause }

// begin makes an evaluation that counts with those before it.
func (ev *Evaluator) begin(t *tree, s ir.Scope) *run {
	r := ev.spare
	if ev.spare = nil; r == nil {
		r = &run{}
	}
	*r = run{scope: s, files: ev.files, rules: ev.rules, slots: append(r.slots[:0], make([]value.Value, t.slots)...)}
	if ev.pause != nil {
		r.by, r.next = ev, PauseSteps-ev.spent
	}
	return r
}

// end counts the steps of an evaluation. The next one takes its memory.
func (ev *Evaluator) end(r *run) {
	ev.spent += r.steps
	clear(r.slots)
	*r = run{slots: r.slots}
	ev.spare = r
}

// memory counts bytes that are about to be asked for.
func (r *run) memory(n int) error {
	r.bytes += n
	if r.bytes > MaxBytes {
		return &limitError{fmt.Sprintf("the expression needs more than %d MiB of memory", MaxBytes>>20)}
	}
	return nil
}

// text accounts for a string of n bytes that is about to be made.
func (r *run) text(n int) error {
	if n > MaxStringBytes {
		return &limitError{fmt.Sprintf("a string of %d bytes; the limit is %d", n, MaxStringBytes)}
	}
	if err := r.work(n / 64); err != nil {
		return err
	}
	return r.memory(n)
}

// list accounts for a list or map of n members that is about to be made.
func (r *run) list(n int) error {
	if n > MaxRange {
		return &limitError{fmt.Sprintf("a list of %d members; the limit is %d", n, MaxRange)}
	}
	if err := r.work(n); err != nil {
		return err
	}
	return r.memory(32 * n)
}

// weigh counts the steps that looking at v once takes.
func (r *run) weigh(v value.Value) error {
	switch v := v.(type) {
	case string:
		return r.work(len(v) / 64)
	case []any:
		return r.work(len(v))
	case map[string]any:
		return r.work(len(v))
	}
	return nil
}

// equal is [value.Equal] within the bounds.
func (r *run) equal(a, b value.Value) (bool, error) {
	if err := r.work(1); err != nil {
		return false, err
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		if ok && len(a) == len(b) {
			return a == b, r.work(len(a) / 64)
		}
		return false, nil
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		for i := range a {
			if same, err := r.equal(a[i], b[i]); !same {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		for _, k := range value.Keys(a) {
			w, there := b[k]
			if !there {
				return false, nil
			}
			if same, err := r.equal(a[k], w); !same {
				return false, err
			}
		}
		return true, nil
	}
	switch b.(type) {
	case []any, map[string]any:
		return false, nil
	}
	return a == b, nil
}

// json is the canonical JSON of v within the bounds, whose length it estimates first.
func (r *run) json(v value.Value) (string, error) {
	n, err := r.jsonSize(v)
	if err != nil {
		return "", err
	}
	if err := r.text(n); err != nil {
		return "", err
	}
	s := string(value.Append(nil, v))
	return s, r.text(max(0, len(s)-n))
}

// settle refuses a result that could not be stored.
func (r *run) settle(v value.Value) error {
	n, err := r.measure(v, 0)
	if err == nil && n > MaxResultBytes {
		err = &limitError{fmt.Sprintf("a result of more than %d MiB", MaxResultBytes>>20)}
	}
	return err
}

func (r *run) jsonSize(v value.Value) (int, error) { return r.measure(v, 0) }

// measure estimates the length of v as JSON and refuses what is nested too deep to be read back.
func (r *run) measure(v value.Value, depth int) (int, error) {
	if err := r.work(1); err != nil {
		return 0, err
	}
	if depth > value.MaxDepth {
		return 0, &limitError{fmt.Sprintf("lists and objects more than %d deep", value.MaxDepth)}
	}
	switch v := v.(type) {
	case string:
		return len(v) + 2, nil
	case []any:
		n := 2
		for _, e := range v {
			m, err := r.measure(e, depth+1)
			if err != nil {
				return 0, err
			}
			n += m + 1
		}
		return n, nil
	case map[string]any:
		n := 2
		for k, e := range v { // any order: a sum
			m, err := r.measure(e, depth+1)
			if err != nil {
				return 0, err
			}
			n += m + len(k) + 4
		}
		return n, nil
	}
	return 4, nil
}

// number makes a value of the result of arithmetic.
func number(f float64) (value.Value, error) {
	v, err := value.Number(f)
	if err != nil {
		return nil, fmt.Errorf("the result is %w", err)
	}
	return v, nil
}

// textOf prints a scalar as templates and tostring do: numbers without exponent, lists and objects as JSON.
func textOf(v value.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		if math.Abs(v) < 1e-300 { // 0, or too close to it to print in full
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return value.Text(v)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
