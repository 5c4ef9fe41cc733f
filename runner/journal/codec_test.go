package journal

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/runner/event"
)

// slow is what an event's line must be.
func slow(ev event.Event) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(ev); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// same checks both ways of one event against encoding/json.
func same(t testing.TB, ev event.Event) {
	line, err := appendEvent(nil, ev)
	if err != nil {
		t.Fatal(err)
	}
	if want := slow(ev); !bytes.Equal(line, want) {
		t.Fatalf("written:\n%swanted:\n%s", line, want)
	}
	sameRead(t, line)
}

// sameRead checks that a line which is read by hand is what encoding/json makes of it. It tells whether it was.
func sameRead(t interface{ Fatalf(string, ...any) }, line []byte) bool {
	var quick, want event.Event
	if !decodeAttempt(line, &quick) {
		return false
	}
	if err := json.Unmarshal(line, &want); err != nil {
		t.Fatalf("read by hand, and no JSON: %v\n%s", err, line)
	}
	if !reflect.DeepEqual(quick, want) {
		t.Fatalf("%s read by hand: %+v, by encoding/json: %+v", line, *quick.AttemptFinished, *want.AttemptFinished)
	}
	return true
}

// TestLinesForgetNoField sets each field of an attempt's end by itself: a field that is added to it must get into its line.
func TestLinesForgetNoField(t *testing.T) {
	object := reflect.TypeFor[event.AttemptFinished]()
	for i := range object.NumField() {
		var a event.AttemptFinished
		switch v := reflect.ValueOf(&a).Elem().Field(i); v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64:
			v.SetInt(7)
		case reflect.Uint64:
			v.SetUint(7)
		case reflect.Float64:
			v.SetFloat(7)
		case reflect.Interface:
			v.Set(reflect.ValueOf("x"))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
		default:
			v.Set(reflect.New(v.Type().Elem()))
		}
		same(t, event.Event{Seq: 1, At: 2, AttemptFinished: &a})
	}
	for i, n := 2, reflect.TypeFor[event.Event]().NumField(); i < n; i++ {
		ev := event.Event{Seq: 1, At: 2, AttemptFinished: &event.AttemptFinished{}}
		field := reflect.ValueOf(&ev).Elem().Field(i)
		field.Set(reflect.New(field.Type().Elem()))
		same(t, ev)
	}
}

func TestLinesOfAllKindsOfText(t *testing.T) {
	ascii := rapid.StringMatching(`[a-z/\[\]0-9 ]{0,20}`)
	text := rapid.OneOf(rapid.Just(""), ascii, ascii, ascii, ascii, ascii, rapid.StringMatching(`[ -~]{0,20}`), rapid.String(), rapid.SampledFrom([]string{"\x00", "\x7f", "\u2028", "a\nb", "<&>", "\xff"}))
	output := rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](nil), rapid.Just[any](7.0), rapid.Map(text, func(s string) any { return s }), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.OneOf(rapid.Float64Range(-1e17, 1e17), rapid.Map(rapid.IntRange(-9999, 1<<53), func(i int) float64 { return float64(i) })), func(f float64) any { return f }),
		rapid.SampledFrom([]any{0.0, math.Copysign(0, -1), 1e15, 1e15 - 1, 1.5, []any{1.0}, map[string]any{}}))
	byHand := 0
	rapid.Check(t, func(t *rapid.T) {
		a := &event.AttemptFinished{Ticket: rapid.Uint64Max(1<<40).Draw(t, "ticket"), Node: text.Draw(t, "node"), Attempt: rapid.IntRange(-1, 1<<40).Draw(t, "attempt"),
			Gate: text.Draw(t, "gate"), Compensate: rapid.Bool().Draw(t, "compensate"), Outcome: event.Outcome(rapid.SampledFrom([]string{"ok", "error", ""}).Draw(t, "outcome")),
			StartedAt: event.Time(rapid.Int64Min(-1).Draw(t, "started")), Stdout: text.Draw(t, "stdout"), Output: output.Draw(t, "output")}
		if rapid.Bool().Draw(t, "exited") {
			code := rapid.IntRange(-1, 255).Draw(t, "code")
			a.ExitCode = &code
		}
		ev := event.Event{Seq: rapid.Uint64Max(math.MaxInt64+1).Draw(t, "seq"), At: event.Time(rapid.Int64Min(-1).Draw(t, "at")), AttemptFinished: a}
		line, err := appendEvent(nil, ev)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(line, slow(ev)) {
			t.Fatalf("written:\n%swanted:\n%s", line, slow(ev))
		}
		if sameRead(t, line) {
			byHand++
		}
	})
	t.Logf("%d lines were read by hand", byHand)
}

// TestLinesThatAreNotOurs are near to what is written, and are left to encoding/json, or read as it would.
func TestLinesThatAreNotOurs(t *testing.T) {
	code := 0
	line, err := appendEvent(nil, event.Event{Seq: 12, At: 34, AttemptFinished: &event.AttemptFinished{Ticket: 5, Node: "a[3]", Attempt: 1, Outcome: event.OK,
		StartedAt: 33, ExitCode: &code, Stdout: "out", Output: 7.0}})
	if err != nil || !sameRead(t, line) {
		t.Fatalf("%s is not read by hand: %v", line, err)
	}
	for at := range line {
		for _, c := range []byte(`0-9".\, }{e`) {
			other := bytes.Clone(line)
			other[at] = c
			sameRead(t, other)
		}
		sameRead(t, append(bytes.Clone(line[:at]), line[at+1:]...))
	}
	for _, number := range []string{"9223372036854775807", "9223372036854775808", "9999999999999999999", "12345678901234567890", "007", "-1", "1e3", ""} {
		sameRead(t, []byte(strings.Replace(string(line), `"ticket":5`, `"ticket":`+number, 1)))
		sameRead(t, []byte(strings.Replace(string(line), `"output":7`, `"output":`+number, 1)))
	}
}

func BenchmarkEvent(b *testing.B) {
	ev := event.Event{Seq: 123456, At: 1_790_000_000_000_000_000, AttemptFinished: &event.AttemptFinished{Ticket: 123455, Node: "each[4711]", Attempt: 1,
		Outcome: event.OK, StartedAt: 1_790_000_000_000_000_000, Output: 4711.0}}
	line := slow(ev)
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			line, _ = appendEvent(line[:0], ev)
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if err := decodeEvent(line, &ev); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("link", func(b *testing.B) {
		var l Link
		for b.Loop() {
			l = l.Next(line)
		}
	})
	b.Run("encoding-json-write", func(b *testing.B) {
		for b.Loop() {
			slow(ev)
		}
	})
	b.Run("encoding-json-read", func(b *testing.B) {
		for b.Loop() {
			var ev event.Event
			if err := json.Unmarshal(line, &ev); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// FuzzLine has any line: one that is read by hand is what encoding/json makes of it, and any event that a line gives is written as
// encoding/json writes it.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`{"seq":12,"at":34,"attempt_finished":{"ticket":5,"node":"a[3]","attempt":1,"outcome":"ok"}}`,
		`{"seq":1,"at":2,"attempt_finished":{"ticket":5,"node":"a","attempt":1,"gate":"g","compensate":true,"outcome":"error","started_at":3,"exit_code":4,` +
			`"stdout":"o","stderr":"e","stdout_log":"l","stderr_log":"m","output":"v"}}`,
		`{"seq":1,"at":2,"attempt_finished":{"ticket":5,"node":"a","attempt":1,"outcome":"ok","output":-0}}`,
		`{"seq":1,"at":2,"attempt_finished":{"ticket":5,"node":"\u003c","attempt":1,"outcome":"ok","output":{"a":[1e300,null]},"newer":1}}`,
		`{"seq":1,"at":2,"timer_fired":{"timer":3}}`,
	} {
		f.Add([]byte(line + "\n"))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		sameRead(t, line)
		var ev event.Event
		if json.Unmarshal(line, &ev) == nil {
			same(t, ev)
		}
	})
}
