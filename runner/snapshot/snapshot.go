// Package snapshot turns the state of a run into bytes, and bytes into such a state.
//
// A type is described once, by a function that names its fields to a [Coder]. A coder either writes
// all fields that it is told of or sets them, so that the two directions cannot differ. Equal states
// give equal bytes: maps go in the order of their keys, pointers get numbers in the order in which
// they are met, and equal long texts, lists and objects stand there once, whoever shares them.
//
// A field that nobody names is lost. So every package that describes its state has a test that walks
// the state by reflection: see package snapshottest.
//
// A reader takes any bytes: it returns an error instead of a panic, and needs no more memory than the
// bytes justify.
//
// The package is pure but for layouts that it computes once. It imports values only, and must never import what it describes. Enter at [Coder].
package snapshot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dsl/value"
)

// ErrBroken is the error of bytes that are not a snapshot of the kind that is read.
var ErrBroken = errors.New("the snapshot is broken")

// ErrTooLong is the error of a snapshot that is longer than its writer may make it.
var ErrTooLong = errors.New("the snapshot is too long")

// Coder writes or reads one snapshot. Make it with NewWriter or NewReader. It is not safe for
// concurrent use.
type Coder struct {
	reading bool
	buf     []byte // what is written, or is left to read
	most    int    // bytes of buf, when writing; 0: any number
	err     error
	last    int64 // the moment that was coded last
	depth   int   // of lists and objects around the value that is coded

	journaled bool // see JournaledOf

	shared  map[any]uint64 // by pointer, when writing
	objects []any          // by number, when reading
	later   []func()       // objects that were met and are not described yet
	closing []func()       // see Later
	texts   map[string]uint64
	read    []string // texts by number, when reading
	values  map[string]uint64
	known   []value.Value // values by number, when reading
}

// Bounds of what is written once.
const (
	longText  = 16      // bytes of a text
	longValue = 24      // bytes that a list or an object takes
	maxDepth  = 100_000 // of a value
)

// NewWriter makes a coder that writes. head says what is written, with the number of its format.
func NewWriter(head string) *Coder { return NewAppender(nil, 0, head) }

// NewAppender is NewWriter for what Close appends to b. Above most bytes with those of b, it ends with ErrTooLong soon; 0 means no bound.
func NewAppender(b []byte, most int, head string) *Coder {
	c := &Coder{most: most, shared: map[any]uint64{}, texts: map[string]uint64{}, values: map[string]uint64{}}
	c.buf = append(binary.AppendUvarint(b, uint64(len(head))), head...)
	return c
}

// NewReader makes a coder that reads what a writer with the same head wrote. It keeps no part of data.
func NewReader(head string, data []byte) *Coder {
	c := &Coder{reading: true, buf: data}
	if have := c.bytes(); c.err == nil && string(have) != head {
		c.Fail(fmt.Errorf("%w: it begins with %.40q, not with %q", ErrBroken, have, head))
	}
	return c
}

// Reading reports whether the coder reads.
func (c *Coder) Reading() bool { return c.reading }

// Fail ends the coding with an error, unless it has one.
func (c *Coder) Fail(err error) {
	if c.err == nil {
		c.err = err
		if c.reading {
			c.buf = nil
		}
	}
}

func (c *Coder) broken() { c.Fail(ErrBroken) }

// Err is the first error.
func (c *Coder) Err() error { return c.err }

// Close describes the objects that were met. It returns what was written, or reports that something
// is left to read.
func (c *Coder) Close() ([]byte, error) {
	for i := 0; i < len(c.later) && c.err == nil; i++ { // describing one can meet others
		c.later[i]()
		c.later[i] = nil
		if c.most > 0 && len(c.buf) > c.most {
			c.Fail(ErrTooLong)
		}
	}
	for _, do := range c.closing {
		if c.err == nil {
			do()
		}
	}
	if c.reading && c.err == nil && len(c.buf) > 0 {
		c.Fail(fmt.Errorf("%w: %d bytes too many", ErrBroken, len(c.buf)))
	}
	if c.err != nil || c.reading {
		return nil, c.err
	}
	return c.buf, nil
}

// Later lets Close call a function once all objects are described.
func (c *Coder) Later(do func()) { c.closing = append(c.closing, do) }

func (c *Coder) writeUint(n uint64) { c.buf = binary.AppendUvarint(c.buf, n) }

func (c *Coder) readUint() uint64 {
	n, size := binary.Uvarint(c.buf)
	if size <= 0 {
		c.broken()
		return 0
	}
	c.buf = c.buf[size:]
	return n
}

// bytes reads a length and so many bytes.
func (c *Coder) bytes() []byte {
	n := c.readUint()
	if n > uint64(len(c.buf)) {
		c.broken()
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

// count codes how many elements a list has; none is set for a list that is nil. A reader has at least
// a byte left for each.
func (c *Coder) count(n int, none bool) (int, bool) {
	if !c.reading {
		if none {
			c.writeUint(0)
		} else {
			c.writeUint(uint64(n) + 1)
		}
		return n, none
	}
	u := c.readUint()
	if u > uint64(len(c.buf))+1 {
		c.broken()
		return 0, true
	}
	return max(int(u), 1) - 1, u == 0
}

// Bytes codes bytes.
func Bytes(c *Coder, b *[]byte) {
	if !c.reading {
		c.writeUint(uint64(len(*b)))
		c.buf = append(c.buf, *b...)
		return
	}
	*b = bytes.Clone(c.bytes())
}

// Uint codes a number.
func Uint[T ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](c *Coder, v *T) {
	if !c.reading {
		c.writeUint(uint64(*v))
		return
	}
	u := c.readUint()
	if *v = T(u); uint64(*v) != u {
		c.broken()
	}
}

// Int codes a number, which can be negative.
func Int[T ~int | ~int8 | ~int16 | ~int32 | ~int64](c *Coder, v *T) {
	if !c.reading {
		c.buf = binary.AppendVarint(c.buf, int64(*v))
		return
	}
	u := c.readUint()
	n := int64(u>>1) ^ -int64(u&1)
	if *v = T(n); int64(*v) != n {
		c.broken()
	}
}

// Time codes a moment. One that lies near the moment before it takes few bytes.
func Time[T ~int64](c *Coder, v *T) {
	if !c.reading {
		if *v == 0 {
			c.writeUint(0)
			return
		}
		d := int64(*v) - c.last
		c.last = int64(*v)
		c.writeUint(1)
		c.buf = binary.AppendVarint(c.buf, d)
		return
	}
	switch c.readUint() {
	case 0:
		*v = 0
	case 1:
		u := c.readUint()
		c.last += int64(u>>1) ^ -int64(u&1)
		*v = T(c.last)
	default:
		c.broken()
	}
}

// Float codes a number bit by bit.
func (c *Coder) Float(v *float64) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, math.Float64bits(*v))
		return
	}
	if len(c.buf) < 8 {
		c.broken()
		return
	}
	*v = math.Float64frombits(binary.LittleEndian.Uint64(c.buf))
	c.buf = c.buf[8:]
}

// Bools codes up to 64 truths.
func (c *Coder) Bools(list ...*bool) {
	if !c.reading {
		var bits uint64
		for i, b := range list {
			if *b {
				bits |= 1 << i
			}
		}
		c.writeUint(bits)
		return
	}
	bits := c.readUint()
	if len(list) < 64 && bits>>len(list) != 0 {
		c.broken()
		return
	}
	for i, b := range list {
		*b = bits>>i&1 != 0
	}
}

// Text codes a text. A long one that was coded before takes few bytes.
func Text[T ~string](c *Coder, v *T) { text(c, v, longText) }

// Word codes a text of which there are few. One that was coded before takes few bytes.
func Word[T ~string](c *Coder, v *T) { text(c, v, 1) }

// text codes a text as 0 and the number of the same text before, or as its length, from 1, and its
// bytes. Texts of long or more bytes get numbers.
func text[T ~string](c *Coder, v *T, long int) {
	if !c.reading {
		s := string(*v)
		if len(s) >= long {
			if n, known := c.texts[s]; known {
				c.writeUint(0)
				c.writeUint(n)
				return
			}
			c.texts[s] = uint64(len(c.texts))
		}
		c.writeUint(uint64(len(s)) + 1)
		c.buf = append(c.buf, s...)
		return
	}
	n := c.readUint()
	if n == 0 {
		if n = c.readUint(); n >= uint64(len(c.read)) {
			c.broken()
			return
		}
		*v = T(c.read[n])
		return
	}
	if n--; n > uint64(len(c.buf)) {
		c.broken()
		return
	}
	s := string(c.buf[:n])
	c.buf = c.buf[n:]
	if len(s) >= long {
		c.read = append(c.read, s)
	}
	*v = T(s)
}

// List codes a list by its elements.
func List[T any](c *Coder, list *[]T, each func(*T)) {
	n, none := c.count(len(*list), *list == nil)
	if c.reading {
		if *list = nil; none {
			return
		}
		*list = make([]T, n) // count has seen to it that n is not more than the bytes that are left
		for i := 0; i < n && c.err == nil; i++ {
			each(&(*list)[i])
		}
		return
	}
	for i := range *list {
		each(&(*list)[i])
	}
}

// Map codes a map in the order of its keys.
func Map[K cmp.Ordered, V any](c *Coder, m *map[K]V, key func(*K), each func(*V)) {
	n, none := c.count(len(*m), *m == nil)
	if !c.reading {
		for _, k := range slices.Sorted(maps.Keys(*m)) {
			v := (*m)[k]
			key(&k)
			each(&v)
		}
		return
	}
	if *m = nil; none {
		return
	}
	*m = make(map[K]V, n)
	for i := 0; i < n && c.err == nil; i++ {
		var k K
		var v V
		key(&k)
		each(&v)
		(*m)[k] = v
	}
	if c.err == nil && len(*m) != n {
		c.broken()
	}
}

// Owned codes what a pointer of a single place points to.
func Owned[T any](c *Coder, p **T, describe func(*T)) {
	there := *p != nil
	c.Bools(&there)
	switch {
	case !there || c.err != nil:
		if c.reading {
			*p = nil
		}
		return
	case c.reading:
		*p = new(T)
	}
	describe(*p)
}

// Shared codes a pointer that can stand in several places, each of which gets the same pointer again.
// What it points to is described later: a reader sees it after Close.
func Shared[T any](c *Coder, p **T, describe func(*T)) {
	if !c.reading {
		if *p == nil {
			c.writeUint(0)
			return
		}
		n, known := c.shared[*p]
		if !known {
			n = uint64(len(c.shared)) + 1
			c.shared[*p] = n
			t := *p
			c.later = append(c.later, func() { describe(t) })
		}
		c.writeUint(n)
		return
	}
	switch n := c.readUint(); {
	case c.err != nil || n == 0:
		*p = nil
	case n <= uint64(len(c.objects)):
		t, ok := c.objects[n-1].(*T)
		if !ok {
			c.broken()
		}
		*p = t
	case n > uint64(len(c.objects))+1 || len(c.buf) == 0:
		c.broken()
	default:
		t := new(T)
		c.objects = append(c.objects, t)
		c.later = append(c.later, func() { describe(t) })
		*p = t
	}
}

// One codes a pointer to one of a list of things that both sides have. It may be nil.
func One[T any](c *Coder, p **T, n int, at func(i int) *T) {
	number := 0
	if !c.reading && *p != nil {
		for i := 0; i < n && number == 0; i++ {
			if at(i) == *p {
				number = i + 1
			}
		}
		if number == 0 {
			c.Fail(fmt.Errorf("a pointer to a %T that is not on its list", **p))
		}
	}
	Int(c, &number)
	if !c.reading {
		return
	}
	if *p = nil; number < 0 || number > n {
		c.broken()
	} else if number > 0 {
		*p = at(number - 1)
	}
}

// The kinds of values.
const (
	null = iota
	falsehood
	truth
	number
	whole
	textual
	list
	object
	before
)

// exact is below what a float64 has of whole numbers.
const exact = 1 << 53

// Value codes a value of an expression. Long lists and objects that were coded before take few bytes.
func (c *Coder) Value(v *value.Value) {
	if c.reading {
		*v = c.readValue()
	} else {
		c.writeValue(*v)
	}
}

func (c *Coder) writeValue(v value.Value) {
	start := len(c.buf)
	switch v := v.(type) {
	case nil:
		c.writeUint(null)
	case bool:
		c.writeUint(falsehood)
		if v {
			c.buf[start] = truth
		}
	case float64:
		if n := int64(v); v > -exact && v < exact && float64(n) == v && (n != 0 || !math.Signbit(v)) {
			c.writeUint(whole)
			Int(c, &n)
			return
		}
		c.writeUint(number)
		c.Float(&v)
	case string:
		c.writeUint(textual)
		Text(c, &v)
	case []any:
		c.writeUint(list)
		c.count(len(v), v == nil)
		for _, e := range v {
			c.writeValue(e)
		}
		c.keepOnce(start)
	case map[string]any:
		c.writeUint(object)
		c.count(len(v), v == nil)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			Word(c, &k)
			c.writeValue(v[k])
		}
		c.keepOnce(start)
	default:
		c.Fail(fmt.Errorf("a value of the type %T", v))
	}
}

// keepOnce replaces a long value that has just been written by the number of an equal one.
func (c *Coder) keepOnce(start int) {
	if len(c.buf)-start < longValue {
		return
	}
	if n, known := c.values[string(c.buf[start:])]; known {
		c.buf = binary.AppendUvarint(append(c.buf[:start], before), n)
		return
	}
	c.values[string(c.buf[start:])] = uint64(len(c.values))
}

func (c *Coder) readValue() (v value.Value) {
	if c.depth++; c.depth > maxDepth {
		c.broken()
	}
	defer func() { c.depth-- }()
	left := len(c.buf)
	switch c.readUint() {
	case null:
		return nil
	case falsehood:
		return false
	case truth:
		return true
	case number:
		var f float64
		c.Float(&f)
		return f
	case whole:
		var n int64
		Int(c, &n)
		return float64(n)
	case textual:
		var s string
		Text(c, &s)
		return s
	case list:
		n, none := c.count(0, false)
		var l []any
		if !none {
			l = make([]any, 0, n)
		}
		for i := 0; i < n && c.err == nil; i++ {
			l = append(l, c.readValue())
		}
		v = l
	case object:
		n, none := c.count(0, false)
		var o map[string]any
		if !none {
			o = make(map[string]any, n)
		}
		for i := 0; i < n && c.err == nil; i++ {
			var k string
			Word(c, &k)
			o[k] = c.readValue()
		}
		v = o
	case before:
		n := c.readUint()
		if n >= uint64(len(c.known)) {
			c.broken()
			return nil
		}
		return c.known[n]
	default:
		c.broken()
		return nil
	}
	if left-len(c.buf) >= longValue {
		c.known = append(c.known, v)
	}
	return v
}

// Plain codes a value of a type of exported fields, as events and commands are, by reflection. What it
// points to is copied. [Check] tells whether a type is one.
func Plain[T any](c *Coder, v *T) { c.plain(reflect.ValueOf(v).Elem()) }

// PlainOf is Plain for List, Map and Owned.
func PlainOf[T any](c *Coder) func(*T) { return func(v *T) { Plain(c, v) } }

// JournaledOf is PlainOf for what a journal has. A list or map that is left out of a journal because it is empty is nil for who reads that, and
// the bytes do not tell the two apart.
func JournaledOf[T any](c *Coder) func(*T) {
	return func(v *T) {
		c.journaled = true
		Plain(c, v)
		c.journaled = false
	}
}

func (c *Coder) plain(v reflect.Value) {
	if c.err != nil {
		return
	}
	switch v.Kind() { // a writer changes nothing, also not to what it is: others may read it
	case reflect.Bool:
		b := v.Bool()
		if c.Bools(&b); c.reading {
			v.SetBool(b)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := v.Int()
		if Int(c, &n); v.OverflowInt(n) {
			c.broken()
		} else if c.reading {
			v.SetInt(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n := v.Uint()
		if Uint(c, &n); v.OverflowUint(n) {
			c.broken()
		} else if c.reading {
			v.SetUint(n)
		}
	case reflect.Float64:
		f := v.Float()
		if c.Float(&f); c.reading {
			v.SetFloat(f)
		}
	case reflect.String:
		s := v.String()
		if Text(c, &s); c.reading {
			v.SetString(s)
		}
	case reflect.Interface:
		var a value.Value
		if !c.reading {
			a = v.Interface()
		}
		c.Value(&a)
		if c.reading && a != nil {
			v.Set(reflect.ValueOf(a))
		}
	case reflect.Pointer:
		there := !v.IsNil()
		if c.Bools(&there); !there || c.err != nil {
			return
		}
		if c.reading {
			v.Set(reflect.New(v.Type().Elem()))
		}
		c.plain(v.Elem())
	case reflect.Slice:
		n, none := c.count(v.Len(), v.IsNil())
		if none {
			return
		}
		if c.reading {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := 0; i < n && c.err == nil; i++ {
			if c.reading {
				v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			}
			c.plain(v.Index(i))
		}
	case reflect.Map:
		c.plainMap(v)
	case reflect.Struct:
		for i := range v.NumField() {
			switch t := v.Type().Field(i); {
			case left(t):
			case c.journaled && !c.reading && isOmitted(t, v.Field(i)):
				c.plain(reflect.Zero(t.Type))
			default:
				c.plain(v.Field(i))
			}
		}
	default:
		c.Fail(fmt.Errorf("a value of the type %s", v.Type()))
	}
}

// isOmitted reports whether a journal leaves a list or map out, because it is empty.
func isOmitted(f reflect.StructField, v reflect.Value) bool {
	list := v.Kind() == reflect.Map || v.Kind() == reflect.Slice
	return list && v.Len() == 0 && strings.Contains(f.Tag.Get("json"), ",omitempty")
}

// plainMap codes a map whose keys are texts.
func (c *Coder) plainMap(v reflect.Value) {
	n, none := c.count(v.Len(), v.IsNil())
	if none {
		return
	}
	key, elem := reflect.New(v.Type().Key()).Elem(), v.Type().Elem()
	if !c.reading {
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			key.Set(k)
			c.plain(key)
			e := reflect.New(elem).Elem()
			e.Set(v.MapIndex(k))
			c.plain(e)
		}
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := 0; i < n && c.err == nil; i++ {
		e := reflect.New(elem).Elem()
		c.plain(key)
		c.plain(e)
		if c.err == nil {
			v.SetMapIndex(key, e)
		}
	}
}

// LazyLayout is Layout, computed once, when it is first needed: it takes a third of a millisecond.
func LazyLayout(of ...reflect.Type) func() string {
	return sync.OnceValue(func() string { return Layout(of...) })
}

// Layout names the layout of types: it is another one when a field is added to one of them or to what
// they hold, is removed, or gets another name or type. A head with it keeps bytes of another layout from
// being read.
func Layout(of ...reflect.Type) string {
	h, seen := fnv.New64a(), map[reflect.Type]bool{}
	for _, t := range of {
		layout(h, t, seen)
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

func layout(h io.Writer, t reflect.Type, seen map[reflect.Type]bool) {
	io.WriteString(h, t.String()+"\n")
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		layout(h, t.Elem(), seen)
	case reflect.Map:
		layout(h, t.Key(), seen)
		layout(h, t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			io.WriteString(h, t.Field(i).Name+" ")
			layout(h, t.Field(i).Type, seen)
		}
	}
}

// left reports whether Plain leaves a field out, because its tag says so: whoever restores the state sets the field again.
func left(f reflect.StructField) bool { return f.Tag.Get("snapshot") == "-" }

// Check returns an error for a type that Plain cannot code.
func Check(t reflect.Type) error { return check(t, map[reflect.Type]bool{}) }

func check(t reflect.Type, seen map[reflect.Type]bool) error {
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64, reflect.Float64, reflect.String:
		return nil
	case reflect.Interface:
		if t.NumMethod() == 0 { // a value
			return nil
		}
	case reflect.Pointer, reflect.Slice:
		return check(t.Elem(), seen)
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return check(t.Elem(), seen)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if left(f) {
				continue
			}
			if !f.IsExported() {
				return fmt.Errorf("%s.%s is not exported", t, f.Name)
			}
			if err := check(f.Type, seen); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%s is not plain", t)
}
