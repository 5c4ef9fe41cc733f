// Package snapshottest helps tests to show that what is read from a snapshot is what was written.
package snapshottest

import (
	"fmt"
	"reflect"
	"strings"
)

// Same returns an error if b is not the same as a: the same values, and pointers that lead to the same
// place wherever they do in a. derived names fields, as in Machine.graph, that are not compared, for
// they are computed again.
func Same(a, b any, derived map[string]bool) error {
	w := walk{derived: derived, there: map[place]place{}, back: map[place]place{}}
	w.same(reflect.ValueOf(a), reflect.ValueOf(b), "")
	for _, check := range w.later {
		check()
	}
	return w.err
}

// place is where a pointer leads to. A struct and its first field lie at one address.
type place struct {
	address uintptr
	kind    reflect.Type
}

type walk struct {
	derived     map[string]bool
	there, back map[place]place
	inside      bool // of what is copied
	later       []func()
	err         error
}

func (w *walk) fail(path string, a, b any) {
	if w.err == nil {
		w.err = fmt.Errorf("%s: %v, and %v after it was read", path, a, b)
	}
}

// isProgram reports whether a type is one of programs, to which pointers are kept.
func isProgram(t reflect.Type) bool {
	return strings.HasSuffix(t.PkgPath(), "/dsl/ir") || strings.HasSuffix(t.PkgPath(), "/runner/plan")
}

// isCopied reports whether each pointer to a type can lead to a copy: to an event, a command, a basic
// type. The machine compares errors by their pointers, but for those inside of events.
func isCopied(t reflect.Type) bool {
	return t.PkgPath() == "" || strings.HasSuffix(t.PkgPath(), "/dsl/value") || strings.HasSuffix(t.PkgPath(), "/runner/event") && t.Name() != "Error"
}

func (w *walk) same(a, b reflect.Value, path string) {
	if w.err != nil {
		return
	}
	switch a.Kind() {
	case reflect.Pointer:
		w.samePointer(a, b, path)
	case reflect.Interface:
		switch {
		case a.IsNil() || b.IsNil():
			if a.IsNil() != b.IsNil() {
				w.fail(path, a.IsNil(), b.IsNil())
			}
		case a.Elem().Type() != b.Elem().Type():
			w.fail(path, a.Elem().Type(), b.Elem().Type())
		default:
			w.same(a.Elem(), b.Elem(), path)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			name, _, _ := strings.Cut(a.Type().Name(), "[")
			if name += "." + a.Type().Field(i).Name; !w.derived[name] {
				w.same(a.Field(i), b.Field(i), path+" "+name)
			}
		}
	case reflect.Slice:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			w.fail(path, a.Len(), b.Len())
			return
		}
		fallthrough
	case reflect.Array:
		for i := range a.Len() {
			w.same(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map:
		w.sameMap(a, b, path)
	case reflect.Func:
		if !a.IsNil() || !b.IsNil() {
			w.fail(path, "a function", "it cannot be kept")
		}
	default:
		if !a.Equal(b) && !(a.CanFloat() && a.Float() != a.Float()) {
			w.fail(path, a, b)
		}
	}
}

func (w *walk) samePointer(a, b reflect.Value, path string) {
	switch {
	case a.IsNil() || b.IsNil():
		if a.IsNil() != b.IsNil() {
			w.fail(path, a.IsNil(), b.IsNil())
		}
		return
	case isProgram(a.Type().Elem()) && !w.inside: // a request can have a copy of a part of the program
		if a.Pointer() != b.Pointer() {
			w.fail(path, "a part of the program", "another one")
		}
		return
	case w.inside || isCopied(a.Type().Elem()):
		before := w.inside
		w.inside = true
		w.same(a.Elem(), b.Elem(), path)
		w.inside = before
		return
	}
	p, q := place{a.Pointer(), a.Type()}, place{b.Pointer(), b.Type()}
	have, met := w.there[p]
	from, metBack := w.back[q]
	switch {
	case met != metBack || met && (have != q || from != p):
		w.fail(path, "a "+a.Type().String(), "another one")
	case !met:
		w.there[p], w.back[q] = q, p
		w.same(a.Elem(), b.Elem(), path)
	}
}

func (w *walk) sameMap(a, b reflect.Value, path string) {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		w.fail(path, a.Len(), b.Len())
		return
	}
	if t := a.Type(); t.Key().Kind() == reflect.Struct && t.Elem().Kind() == reflect.Pointer { // its keys can have pointers: its values tell which is which
		w.later = append(w.later, func() {
			known := map[uintptr]bool{}
			for i := b.MapRange(); i.Next(); {
				known[i.Value().Pointer()] = true
			}
			for i := a.MapRange(); i.Next(); {
				if q, met := w.there[place{i.Value().Pointer(), i.Value().Type()}]; !met || !known[q.address] {
					w.fail(path, "an entry", "none")
				}
			}
		})
		return
	}
	for i := a.MapRange(); i.Next(); {
		v := b.MapIndex(i.Key())
		if !v.IsValid() {
			w.fail(path, i.Key(), "nothing")
			return
		}
		w.same(i.Value(), v, fmt.Sprintf("%s[%v]", path, i.Key()))
	}
}
