// Package secret completes attempts that read secrets, and takes secrets out of all that comes back.
//
// It stands between a host and its executors. The machine and the journal never see a secret: an attempt carries the
// expressions that read one (event.Attempt.Late), and here, where the process holds the values, they are computed, just
// before the program starts. Nothing of an answer leaves unmasked: executors mask streams as they come (executor.Mask), and
// what they make of them is masked again here, where it has been decoded.
//
// It knows no machine, no store and no command line; where values come from is its caller's matter. An evaluator is handed in.
// Enter at [New] and [Executor.Hold]. What is computed from a secret is one (derived.go), as early as it can be known (foresee.go).
//
// What always holds: an attempt that is handed on has no Late parts; the one that came in is not changed; without secrets an
// attempt costs one look at a map.
package secret

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

// minInherited is how long what a variable of the environment holds must be to be masked, in bytes. That it is a secret is a guess
// by its name, and DISABLE_TOKEN_CHECK=true is none.
const minInherited = 8

// Executor completes attempts for another. It serves the runs of one process that have the same secrets: a run and those that it
// calls. It is safe for concurrent use.
type Executor struct {
	next    executor.Executor
	environ map[string]string // what looks secret

	mu      sync.Mutex
	held    map[string]value.Value
	eval    ir.Evaluator
	strings []string
	made    []string                // what was computed from them
	derived int                     // the bytes of that
	layer   *mask.Masker            // of that; nil: to be built
	whole   map[string]*mask.Masker // masks and layer
	masks   map[string]*mask.Masker // by the names that pass_env gives
}

var _ executor.Judge = (*Executor)(nil)

// New stands an Executor before another. environ is the driver's environment, as os.Environ gives it: what of it looks secret is
// masked where pass_env hands it to a program.
func New(next executor.Executor, environ []string) *Executor {
	x := &Executor{next: next, environ: map[string]string{}, masks: map[string]*mask.Masker{}, whole: map[string]*mask.Masker{}}
	for _, pair := range environ {
		if name, text, ok := strings.Cut(pair, "="); ok && ir.LooksSecret(name) && len(text) >= minInherited {
			x.environ[name] = text
		}
	}
	return x
}

// Hold gives the secrets, by the names under which they are read (var.token), and what computes expressions; it is called before
// the first attempt. The values must pass [Flaw].
func (x *Executor) Hold(secrets map[string]value.Value, eval ir.Evaluator) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.held, x.eval, x.strings, x.made, x.derived, x.layer = secrets, eval, nil, nil, 0, nil
	for _, name := range value.Keys(secrets) {
		x.strings = append(x.strings, mask.Strings(secrets[name])...)
	}
	clear(x.masks)
	clear(x.whole)
}

// Made returns the texts that were computed from the secrets and are masked like them. It is never nil.
func (x *Executor) Made() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]string{}, x.made...)
}

// HoldMade takes texts that another Executor with the same secrets has computed. It is called after Hold.
func (x *Executor) HoldMade(made []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range made {
		x.made, x.derived, x.layer = append(x.made, s), x.derived+len(s), nil
	}
}

// Execute completes an attempt, hands it on, and masks the answer.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	var own []string
	var err error
	if len(a.Late) > 0 {
		own, err = x.complete(&a)
	}
	var m *mask.Masker
	if err == nil {
		m, err = x.masker(&a, own)
	}
	if err != nil {
		ans := executor.Answer(a)
		ans.StartedAt = event.At(time.Now())
		executor.Fail(&ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonEvaluation, ExitCode: -1, Message: err.Error()})
		return ans
	}
	if m == nil {
		return x.next.Execute(ctx, a)
	}
	ans := x.next.Execute(executor.WithMask(ctx, m), a)
	hide(m, &a, &ans)
	if own == nil {
		if now, err := x.masker(&a, nil); err == nil && now != m { // others have computed more meanwhile
			hide(now, &a, &ans)
		}
	}
	return ans
}

// PassesOn implements executor.Passer: no part of the attempt is a secret's, and this process has nothing to mask in the answer.
func (x *Executor) PassesOn(a *event.Attempt) bool {
	if len(a.Late) > 0 {
		return false
	}
	m, err := x.masker(a, nil)
	return m == nil && err == nil
}

// masker is what hides the secrets that an attempt could show: all that this process holds, for programs leave things to
// each other, what pass_env gives this one, and what it alone has to hide.
func (x *Executor) masker(a *event.Attempt, own []string) (*mask.Masker, error) {
	names := a.PassEnv
	if a.Agent != nil {
		names = a.Agent.PassEnv
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var given []string
	for _, name := range names {
		if _, ok := x.environ[name]; ok {
			given = append(given, name)
		}
	}
	if len(given) == 0 && len(x.strings) == 0 && len(own) == 0 {
		return nil, nil
	}
	key := strings.Join(given, "=")
	m := x.whole[key]
	if m == nil {
		secrets, size := slices.Clone(x.strings), 0
		for _, name := range given {
			secrets = append(secrets, x.environ[name])
		}
		for _, s := range secrets {
			size += len(s)
		}
		if size > mask.MaxSecrets {
			return nil, fmt.Errorf("the secrets that pass_env gives have, with all others, %d bytes, and %d can be masked", size, mask.MaxSecrets)
		}
		if x.masks[key] == nil {
			x.masks[key] = mask.New(secrets)
		}
		if x.layer == nil {
			x.layer = mask.New(x.made)
		}
		m = x.masks[key].And(x.layer)
		x.whole[key] = m
	}
	size := 0
	for _, s := range own {
		size += len(s)
	}
	if size > mask.MaxSecrets {
		return nil, fmt.Errorf("the values computed from secrets have %d bytes, and at most %d can be masked", size, mask.MaxSecrets)
	}
	return m.And(mask.New(own)), nil
}

// hide masks an answer. What the machine is going to parse is masked in its decoded form, where no spelling hides a secret.
func hide(m *mask.Masker, a *event.Attempt, ans *event.AttemptFinished) {
	executor.Hide(m, ans)
	if a.Parse != string(ir.ParseJSON) || ans.Outcome != event.OK {
		return
	}
	v, err := value.Decode([]byte(ans.Stdout))
	if err != nil {
		if text := err.Error(); m.Message(text) != text { // as the machine would say it, of what is decoded there
			ans.Stdout = mask.Mark
		}
		return
	}
	if masked := m.Value(v); !value.Equal(v, masked) {
		ans.Stdout = string(value.Append(nil, masked))
	}
}
