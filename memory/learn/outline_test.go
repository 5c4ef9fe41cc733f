package learn

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestOutlines(t *testing.T) {
	many := map[string]any{}
	for i := range 60 {
		many[fmt.Sprintf("field%02d", i)] = true
	}
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"a text":            {" three\nfiles ", "three files"},
		"nothing":           {nil, ""},
		"an empty object":   {map[string]any{}, ""},
		"a truth":           {true, "true"},
		"numbers":           {map[string]any{"a": 3.0, "b": 0.25, "c": -1e12}, "a = 3, b = 0.25, c = -1000000000000"},
		"an object":         {map[string]any{"summary": "Added the\nindex.", "files_changed": []any{"a", "b"}, "ok": true}, "files_changed = 2 entries, ok = true, summary = Added the index."},
		"one entry, none":   {map[string]any{"one": []any{1.0}, "none": []any{}}, "none = 0 entries, one = 1 entry"},
		"nested and long":   {map[string]any{"in": map[string]any{"a": 1.0}, "nil": nil, "long": strings.Repeat("x", MaxField+1)}, "in, long, nil"},
		"a text at its end": {map[string]any{"text": strings.Repeat("x", MaxField)}, "text = " + strings.Repeat("x", MaxField)},
		"JSON in a field":   {map[string]any{"echo": `{"message":"hi"}`, "tag": "[done"}, "echo, tag = [done"},
		"a list":            {[]any{1.0, "b"}, "2 entries"},
		"JSON as text":      {" {\"echo\":\"hi\",\"n\":[1]}\n", "echo = hi, n = 1 entry"},
		"brackets":          {"[INFO] all [done]", "[INFO] all [done]"},
		"much JSON":         {`["` + strings.Repeat("x", maxJSON) + `"]`, "256 KiB of JSON"},
		"a long text":       {strings.Repeat("word ", 200), strings.Repeat("word ", 119)[:594] + "…"},
		"a huge number":     {map[string]any{"n": 1e300}, "n = 1e+300"},
		"many fields": {many, "field00, field01, field02, field03, field04, field05, field06, field07, field08, field09, field10, field11, field12, field13, field14, " +
			"field15, field16, field17, field18, field19, field20, field21, field22, field23, field24, field25, field26, field27, field28, and 31 more"},
	} {
		if got := Outline(c.v); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

// A field is told with its value as long as the value, and the names of the fields behind it, fit to the byte.
func TestOutlineIsFilledToItsBound(t *testing.T) {
	left := MaxOutline - len(", and 1000000 more") - len(", z")
	o := map[string]any{"z": map[string]any{}}
	for name := 'a'; left > 0; name++ {
		n := min(left-len(", a = "), MaxField/2)
		if after := left - n - len(", a = "); after > 0 && after < len(", a = ")+3 {
			n -= len(", a = ") + 3
		}
		o[string(name)] = strings.Repeat("x", n)
		left -= n + len(", a = ")
	}
	names := slices.Sorted(maps.Keys(o))
	last := names[len(names)-2]
	full := Outline(o)
	if !strings.HasSuffix(full, last+" = "+o[last].(string)+", z") {
		t.Errorf("with room to the byte, the outline is %q", full)
	}
	o[last] = o[last].(string) + "x"
	if got := Outline(o); !strings.HasSuffix(got, ", "+last+", z") {
		t.Errorf("with a byte too many, the outline is %q", got)
	}
}

// What a reviewer says is told: its texts first, and cut rather than left out.
func TestReviews(t *testing.T) {
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"a verdict":   {map[string]any{"accepted": false, "comments": "the tests\nare missing"}, "comments = the tests are missing, accepted = false"},
		"a list":      {map[string]any{"ok": false, "findings": []any{"no tests", "no docs", 3.0}}, "findings = no tests; no docs, ok = false"},
		"a long text": {map[string]any{"why": strings.Repeat("long ", 60), "score": 2.0}, "why = " + strings.Repeat("long ", 46) + "long…, score = 2"},
		"plain":       {"no: the tests are missing\n", "no: the tests are missing"},
		"JSON":        {`{"ok":false,"why":"late"}`, "why = late, ok = false"},
		"a truth":     {false, "false"},
		"nothing":     {nil, ""},
	} {
		if got := Review(c.v); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

// What a task's result was is told whole, however many fields it has and however long they are.
func TestOutlinesFitIntoLessons(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.MapOfN(rapid.StringN(1, 60, -1), rapid.OneOf(rapid.Map(rapid.StringN(0, 200, -1), func(s string) any { return s }),
			rapid.Map(rapid.Float64(), func(f float64) any { return f }), rapid.Just[any](nil), rapid.Just[any]([]any{1.0}), rapid.Just[any](map[string]any{"a": "b"})), 0, 80).Draw(t, "fields")
		said := Outline(o)
		if len(said) > MaxOutline || !utf8.ValidString(said) {
			t.Fatalf("%d bytes: %q", len(said), said)
		}
		if b, err := json.Marshal(o); err == nil && len(b) <= maxJSON && Outline(string(b)) != said {
			t.Fatalf("as JSON %q, as it is %q", Outline(string(b)), said)
		}
		made := task(nil)
		made.OK, made.Output = true, said
		if e := FromTask(made); said != "" && !strings.HasSuffix(e.Observation, strings.TrimSpace(oneLine(said))) {
			t.Fatalf("the observation is %q of %q", e.Observation, said)
		}
	})
}
