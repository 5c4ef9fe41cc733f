package secret

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// complete computes what an attempt leaves to the host. The attempt is a copy, but what it points to is the machine's. What is computed
// from secrets is secret from then on; that which only this attempt has to hide is returned.
func (x *Executor) complete(a *event.Attempt) (own []string, err error) {
	late := a.Late
	a.Late, a.Env, a.Values = nil, maps.Clone(a.Env), slices.Clone(a.Values)
	if a.Agent != nil {
		agent := *a.Agent
		if agent.Chat != nil {
			chat := *agent.Chat
			agent.Chat = &chat
		}
		agent.Servers = slices.Clone(agent.Servers) // but for Env, their maps are made anew by Put
		for i := range agent.Servers {
			agent.Servers[i].Env = maps.Clone(agent.Servers[i].Env)
		}
		a.Agent = &agent
	}
	if a.HTTP != nil {
		http := *a.HTTP
		http.Headers = maps.Clone(http.Headers)
		a.HTTP = &http
	}
	if a.Notify != nil {
		notify := *a.Notify
		notify.To = slices.Clone(notify.To) // the maps in there are made anew by Put
		a.Notify = &notify
	}
	if a.Source != nil {
		source := *a.Source
		source.Config = maps.Clone(source.Config)
		a.Source = &source
	}
	for i := range late {
		l := &late[i]
		v, more, err := x.compute(l)
		own = append(own, more...)
		if err == nil {
			err = request.Put(a, l.Place, v)
		}
		if err != nil {
			m, wrong := x.masker(a, own)
			if wrong != nil {
				return own, wrong
			}
			return own, fmt.Errorf("%s: %s", l.What, m.Message(err.Error()))
		}
	}
	return own, nil
}

// compute evaluates one expression. The evaluator serves one at a time.
func (x *Executor) compute(l *event.Late) (v value.Value, own []string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.eval == nil {
		return nil, nil, fmt.Errorf("the process that drives the run does not have its secrets")
	}
	d := &derived{public: map[string]bool{}}
	d.tell(l)
	v, err = x.eval.Eval(&l.Expr, &scope{x, l, d})
	return v, x.learn(d), err
}

// Holds evaluates a condition; see executor.Judge. It is that of any run that the Executor serves.
func (x *Executor) Holds(_ string, condition *event.Late) (bool, error) {
	v, own, err := x.compute(condition)
	if err != nil {
		if m, wrong := x.masker(&event.Attempt{}, own); wrong != nil {
			return false, wrong
		} else if m != nil {
			err = errors.New(m.Message(err.Error()))
		}
		return false, err
	}
	holds, ok := v.(bool)
	if !ok {
		return false, errors.New("it is neither true nor false")
	}
	return holds, nil
}

// scope answers for the names that an expression reads: with what the machine told, with locals and inputs that
// read secrets, and with the secrets themselves.
type scope struct {
	x *Executor
	l *event.Late
	d *derived
}

// Lookup implements ir.Scope.
func (s *scope) Lookup(r ir.Ref) (value.Value, error) {
	if told, ok := s.l.Names[r.String()]; ok {
		return told, nil
	}
	if l, ok := s.l.Inputs[r.Name]; ok && r.Root == "input" {
		return s.x.input(r, &l, s.d)
	}
	if e, ok := s.l.Locals[r.Name]; ok && r.Root == "local" {
		v, err := s.x.eval.Eval(&e, s)
		if err != nil {
			return nil, fmt.Errorf("local %q: %w", r.Name, err)
		}
		return v, nil
	}
	if v, ok := s.x.held[r.String()]; ok {
		return v, nil
	}
	return nil, fmt.Errorf("%s is not known where the attempt is carried out", r)
}

// input computes an input that a caller left to the host: what its declaration asks is asked here. The evaluator says of
// which name an error is.
func (x *Executor) input(r ir.Ref, l *event.Late, d *derived) (value.Value, error) {
	v, err := x.eval.Eval(&l.Expr, &scope{x, l, d})
	if err == nil && l.Type != nil {
		v, err = value.Convert(v, *l.Type)
	}
	if err != nil {
		return nil, err
	}
	if len(l.Enum) > 0 && !slices.ContainsFunc(l.Enum, func(e value.Value) bool { return value.Equal(e, v) }) {
		return nil, errors.New("it is not one of the allowed values")
	}
	for i := range l.Rules {
		rule := l.Rules[i]
		rule.Names = maps.Clone(rule.Names)
		if rule.Names == nil {
			rule.Names = map[string]value.Value{}
		}
		rule.Names[r.String()] = v
		holds, err := x.eval.Eval(&rule.Expr, &scope{x, &rule, d})
		if err != nil {
			return nil, fmt.Errorf("it cannot be judged: %w", err)
		}
		if holds != true {
			return nil, errors.New(rule.Message)
		}
	}
	return v, nil
}
