package secret

import (
	"reflect"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Foresee computes what a program makes of its secrets alone, and variables, so that it is masked from the first attempt on: in what
// one prints while the attempt that computes it has not begun, and in a process that goes on with a run. It is called after Hold;
// what reads anything else is left to the attempts.
func (x *Executor) Foresee(p *ir.Program, vars map[string]value.Value) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.held) == 0 {
		return
	}
	f := &foresight{x: x, vars: vars, locals: map[string]*ir.Expr{}}
	for i := range p.Locals {
		f.locals[p.Locals[i].Name] = &p.Locals[i].Expr
	}
	sensitive(reflect.ValueOf(p), func(e *ir.Expr) {
		if x.derived >= maxDerived {
			return
		}
		l := event.Late{Expr: *e, Names: map[string]value.Value{}, Locals: map[string]ir.Expr{}}
		f.tell(&l, e.Reads)
		d := &derived{public: map[string]bool{}}
		d.tell(&l)
		_, _ = x.eval.Eval(e, &scope{x, &l, d}) // where it fails, that tells what came before
		x.learn(d)
	})
}

// foresight is what can be read before a run begins.
type foresight struct {
	x      *Executor
	vars   map[string]value.Value
	locals map[string]*ir.Expr
}

// tell adds what an expression reads, as the machine would.
func (f *foresight) tell(l *event.Late, reads []ir.Ref) {
	for _, r := range reads {
		switch local := f.locals[r.Name]; {
		case r.Root == "var":
			if v, ok := f.vars[r.Name]; ok {
				l.Names[r.String()] = v
			}
		case r.Root != "local" || local == nil:
		case !local.Sensitive:
			plain := event.Late{Names: map[string]value.Value{}, Locals: map[string]ir.Expr{}}
			f.tell(&plain, local.Reads)
			d := &derived{public: map[string]bool{}}
			if v, err := f.x.eval.Eval(local, &scope{f.x, &plain, d}); err == nil {
				l.Names[r.String()] = v
			}
		default:
			if _, there := l.Locals[r.Name]; !there {
				l.Locals[r.Name] = *local
				f.tell(l, local.Reads)
			}
		}
	}
}

// sensitive calls f with each expression in a value that reads a secret.
func sensitive(v reflect.Value, f func(*ir.Expr)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			sensitive(v.Elem(), f)
		}
	case reflect.Struct:
		if e, is := v.Interface().(ir.Expr); is {
			if e.Sensitive {
				f(&e)
			}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				sensitive(v.Field(i), f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			sensitive(v.Index(i), f)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			sensitive(v.MapIndex(k), f)
		}
	}
}
