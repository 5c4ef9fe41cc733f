package snapshot_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/snapshot"
)

// knot is a type with all that a state can have.
type knot struct {
	name   string
	number int32
	seq    uint64
	at     int64
	share  float64
	first  bool
	second bool
	value  value.Value
	list   []string
	by     map[string]*knot
	next   *knot // shared
	own    *knot // owned
	event  plain
}

type plain struct {
	Name  string
	Map   map[string]int
	List  []float64
	Deep  *plain
	Value any
	Small int8
}

func code(c *snapshot.Coder, k *knot) {
	of := func(k *knot) { code(c, k) }
	shared := func(p **knot) { snapshot.Shared(c, p, of) }
	text := func(s *string) { snapshot.Text(c, s) }
	snapshot.Word(c, &k.name)
	snapshot.Int(c, &k.number)
	snapshot.Uint(c, &k.seq)
	snapshot.Time(c, &k.at)
	c.Float(&k.share)
	c.Bools(&k.first, &k.second)
	c.Value(&k.value)
	snapshot.List(c, &k.list, text)
	snapshot.Map(c, &k.by, text, shared)
	shared(&k.next)
	snapshot.Owned(c, &k.own, of)
	snapshot.Plain(c, &k.event)
}

func write(t interface{ Fatal(...any) }, k *knot) []byte {
	c := snapshot.NewWriter("knot 1")
	code(c, k)
	b, err := c.Close()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(b []byte) (*knot, error) {
	c, k := snapshot.NewReader("knot 1", b), &knot{}
	code(c, k)
	_, err := c.Close()
	return k, err
}

var texts = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", strings.Repeat("long ", 20)}))

func values(depth int) *rapid.Generator[value.Value] {
	flat := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.IntRange(-1000, 1000), func(i int) any { return float64(i) }), rapid.Map(texts, func(s string) any { return s }))
	if depth == 0 {
		return flat
	}
	below := values(depth - 1)
	return rapid.OneOf(flat, rapid.Map(rapid.SliceOf(below), func(l []any) any { return l }), rapid.Map(rapid.MapOf(texts, below), func(m map[string]any) any { return m }),
		rapid.Map(below, func(v any) any { return []any{v, v, []any{v}} }))
}

func knots(t *rapid.T) *knot {
	all := make([]*knot, rapid.IntRange(1, 6).Draw(t, "knots"))
	for i := range all {
		all[i] = &knot{}
	}
	any := rapid.SampledFrom(append(all, nil))
	for _, k := range all {
		k.name, k.number, k.seq, k.at = texts.Draw(t, "name"), rapid.Int32().Draw(t, "number"), rapid.Uint64().Draw(t, "seq"), rapid.Int64().Draw(t, "at")
		k.share, k.first, k.second = rapid.Float64().Draw(t, "share"), rapid.Bool().Draw(t, "first"), rapid.Bool().Draw(t, "second")
		k.value, k.list, k.next = values(3).Draw(t, "value"), rapid.SliceOf(texts).Draw(t, "list"), any.Draw(t, "next")
		if rapid.Bool().Draw(t, "map") {
			k.by = rapid.MapOf(texts, any).Draw(t, "by")
		}
		if rapid.Bool().Draw(t, "own") {
			k.own = &knot{name: "own", next: any.Draw(t, "next")}
		}
		k.event = plain{Name: texts.Draw(t, "text"), Map: rapid.MapOf(texts, rapid.Int()).Draw(t, "ints"), Value: values(2).Draw(t, "any"), Small: rapid.Int8().Draw(t, "small"),
			Deep: &plain{List: rapid.SliceOf(rapid.Float64()).Draw(t, "floats")}}
	}
	return all[0]
}

// TestBothWays writes and reads knots: they are the same, and so are their bytes.
func TestBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := knots(t)
		b := write(t, k)
		have, err := read(b)
		if err != nil || !reflect.DeepEqual(k, have) {
			t.Fatalf("%+v is read as %+v (%v)", k, have, err)
		}
		if again := write(t, have); !bytes.Equal(b, again) {
			t.Fatal("what was read is written otherwise")
		}
	})
}

// TestSharedOnce looks at pointers and texts that stand in several places.
func TestSharedOnce(t *testing.T) {
	long := strings.Repeat("a long text ", 100)
	k := &knot{name: long, value: long, list: []string{long, long}, by: map[string]*knot{}}
	k.next, k.by["a"], k.by["b"] = k, &knot{own: &knot{next: k}}, nil
	k.by["b"] = k.by["a"]
	b := write(t, k)
	have, err := read(b)
	if err != nil || have.by["a"] != have.by["b"] || have.next != have.by["a"].own.next || have.next.next != have.next {
		t.Fatalf("pointers lead elsewhere than before (%v)", err)
	}
	if len(b) > 2*len(long) {
		t.Errorf("a text of %d bytes that stands in four places takes %d", len(long), len(b))
	}
}

// TestBrokenBytes reads bytes with changes: it never panics, and never takes what is cut off.
func TestBrokenBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := write(t, knots(t))
		if _, err := read(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); !errors.Is(err, snapshot.ErrBroken) {
			t.Fatalf("bytes that are cut off: %v", err)
		}
		for range 20 {
			other := bytes.Clone(b)
			other[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
			read(other)
		}
	})
	b := write(t, &knot{})
	if _, err := read(append(b, 0)); !errors.Is(err, snapshot.ErrBroken) {
		t.Errorf("a byte too many: %v", err)
	}
	c := snapshot.NewReader("knot 2", b)
	if code(c, &knot{}); !errors.Is(c.Err(), snapshot.ErrBroken) {
		t.Errorf("another format: %v", c.Err())
	}
}

func TestLayout(t *testing.T) {
	type (
		A struct{ X, Y int }
		B struct{ X, Z int }
		C struct{ X, Y int8 }
		D struct{ A *A }
		E struct{ A *C }
	)
	seen := map[string]bool{}
	for _, typ := range []reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B](), reflect.TypeFor[C](), reflect.TypeFor[D](), reflect.TypeFor[E]()} {
		l := snapshot.Layout(typ)
		if seen[l] || l != snapshot.Layout(typ) {
			t.Errorf("the layout of %s is that of another type, or changes", typ)
		}
		seen[l] = true
	}
}

func TestCheck(t *testing.T) {
	if err := snapshot.Check(reflect.TypeFor[plain]()); err != nil {
		t.Error(err)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[knot](), reflect.TypeFor[struct{ F func() }](), reflect.TypeFor[[]chan int](), reflect.TypeFor[map[int]int](), reflect.TypeFor[*error]()} {
		if snapshot.Check(typ) == nil {
			t.Errorf("%s is plain", typ)
		}
	}
}

// A list or map that a journal leaves out when it is empty is nil for who reads the journal: both give equal bytes.
func TestEmptyIsAsTheJournalHasIt(t *testing.T) {
	type plain struct {
		Left map[string]int `json:"left,omitempty"`
		List []int          `json:"list,omitempty"`
		Kept []int          `json:"kept"`
	}
	bytesOf := func(p plain) string {
		c := snapshot.NewWriter("x")
		snapshot.JournaledOf[plain](c)(&p)
		b, err := c.Close()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if bytesOf(plain{}) != bytesOf(plain{Left: map[string]int{}, List: []int{}}) {
		t.Error("empty ones that a journal leaves out are not as those that are not there")
	}
	if bytesOf(plain{}) == bytesOf(plain{Kept: []int{}}) {
		t.Error("an empty list that a journal has is as one that is not there")
	}
}
