package event

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// filler fills values so that no two fields have the same content. A value of a type that holds itself is two levels deep.
type filler struct {
	n     int64
	depth map[reflect.Type]int
}

// words has a word of each closed list that refuses other words.
var words = []string{string(ir.HCL), string(ir.SeverityHigh), string(ir.Transient), string(ir.ParseLines), string(ir.AgentExec), string(ir.KVGet), string(ir.SourceFile), string(ir.OpenAI), string(ir.APIChat), string(ir.FilesRead)}

func filled[T any](t *testing.T) *T {
	t.Helper()
	v := new(T)
	(&filler{depth: map[reflect.Type]int{}}).fill(t, reflect.ValueOf(v).Elem())
	return v
}

func (f *filler) fill(t *testing.T, v reflect.Value) {
	t.Helper()
	f.n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", f.n))
		if closed, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
			known := slices.ContainsFunc(words, func(word string) bool { return closed.UnmarshalText([]byte(word)) == nil })
			if !known {
				t.Fatalf("words holds no word of the closed list %s", v.Type())
			}
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(f.n)
	case reflect.Uint64:
		v.SetUint(uint64(f.n))
	case reflect.Float64:
		v.SetFloat(float64(f.n) + 0.5)
	case reflect.Interface:
		v.Set(reflect.ValueOf(value.Value(map[string]any{"k": []any{float64(f.n), "é\n<", nil, true}})))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(t, v.Index(1)) // the first one stays zero
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{"empty", "full"} {
			elem := reflect.New(v.Type().Elem()).Elem()
			if key == "full" {
				f.fill(t, elem)
			}
			v.SetMapIndex(reflect.ValueOf(key), elem)
		}
	case reflect.Struct:
		f.depth[v.Type()]++
		for i := range v.NumField() {
			if ofChecks(v.Type().Field(i)) {
				continue
			}
			if f.depth[v.Type()] < 2 || !nests(v.Type(), v.Field(i).Type()) {
				f.fill(t, v.Field(i))
			}
		}
		f.depth[v.Type()]--
	default:
		t.Fatalf("a field of kind %s", v.Kind())
	}
}

// ofChecks reports whether a field says something to checks of programs alone: it is never written.
func ofChecks(f reflect.StructField) bool { return f.Tag.Get("json") == "-" }

// nests reports whether a field holds values of the type that it is a field of.
func nests(in, field reflect.Type) bool {
	switch field.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return field.Elem() == in
	}
	return false
}

// alter changes each part of v in turn, at any depth, and calls check with the fields that lead there, as Type.Field, while the part
// is changed.
func alter(v reflect.Value, way []string, check func(way []string)) {
	try := func(other reflect.Value) {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		v.Set(other)
		check(way)
		v.Set(old)
	}
	switch v.Kind() {
	case reflect.String:
		try(reflect.ValueOf(v.String() + "!").Convert(v.Type()))
	case reflect.Bool:
		try(reflect.ValueOf(!v.Bool()).Convert(v.Type()))
	case reflect.Int, reflect.Int64:
		try(reflect.ValueOf(v.Int() + 1).Convert(v.Type()))
	case reflect.Uint64:
		try(reflect.ValueOf(v.Uint() + 1).Convert(v.Type()))
	case reflect.Float64:
		try(reflect.ValueOf(v.Float() + 1).Convert(v.Type()))
	case reflect.Interface:
		try(reflect.ValueOf(value.Value("another value")))
	case reflect.Pointer:
		if !v.IsNil() {
			try(reflect.Zero(v.Type()))
			alter(v.Elem(), way, check)
		}
	case reflect.Slice:
		if !v.IsNil() {
			try(reflect.Zero(v.Type()))
			try(v.Slice(0, 1))
			alter(v.Index(1), way, check)
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		try(reflect.Zero(v.Type()))
		key := reflect.ValueOf("full")
		old := v.MapIndex(key)
		elem := reflect.New(old.Type()).Elem()
		elem.Set(old)
		alter(elem, way, func(way []string) {
			v.SetMapIndex(key, elem)
			check(way)
			v.SetMapIndex(key, old)
		})
	case reflect.Struct:
		for i := range v.NumField() {
			if ofChecks(v.Type().Field(i)) {
				continue
			}
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			alter(v.Field(i), append(way[:len(way):len(way)], name), check)
		}
	}
}

// each gives a Command, or an Event, for each of its kinds, with all fields of that kind filled.
func each[T any](t *testing.T, do func(kind string, v *T)) {
	t.Helper()
	for i := range reflect.TypeFor[T]().NumField() {
		v := filled[T](t)
		object := reflect.ValueOf(v).Elem()
		if object.Field(i).Kind() != reflect.Pointer {
			continue
		}
		for k := range object.NumField() {
			if k != i && object.Field(k).Kind() == reflect.Pointer {
				object.Field(k).SetZero()
			}
		}
		do(object.Type().Field(i).Name, v)
	}
}

// TestJSONIsComplete writes and reads events, commands and transitions of all kinds with all of their fields.
func TestJSONIsComplete(t *testing.T) {
	kinds := 0
	each(t, func(kind string, ev *Event) { kinds++; survives(t, kind, ev) })
	each(t, func(kind string, c *Command) { kinds++; survives(t, kind, c) })
	survives(t, "Transition", filled[Transition](t))
	survives(t, "Reaction", filled[Reaction](t))
	if kinds != 15 {
		t.Errorf("%d kinds of events and commands, want 15", kinds)
	}
}

func survives[T any](t *testing.T, kind string, v *T) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	read := new(T)
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read, v) {
		t.Errorf("a %s is read from JSON as\n%+v\nwant\n%s", kind, read, text)
	}
}
