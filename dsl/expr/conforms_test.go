package expr

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"strings"
	"testing"
)

// A schema is a value or its text; what does not fit is named by its place; nothing else is ever loaded.
func TestConforms(t *testing.T) {
	object := map[string]any{"type": "object", "required": []any{"n"}, "properties": map[string]any{"n": map[string]any{"type": "integer", "minimum": 1.0}}}
	for _, c := range []struct {
		name      string
		schema, v any
		want      string // part of the reason; "" conforms
	}{
		{"a value that fits", object, map[string]any{"n": 2.0}, ""},
		{"a number too small", object, map[string]any{"n": 0.0}, "at /n: minimum: got 0, want 1"},
		{"a member that is missing", object, map[string]any{}, "at /: missing property 'n'"},
		{"a fraction", object, map[string]any{"n": 1.5}, "at /n: got number, want integer"},
		{"the schema as text", `{"type":"string","maxLength":2}`, "abc", "at /: maxLength: got 3, want 2"},
		{"null", `{"type":"null"}`, nil, ""},
		{"a text that is not JSON", `{"type":`, "", "the schema is not JSON"},
		{"a type that does not exist", `{"type":"strnig"}`, "", "the schema is not one: at /type"},
		{"another document", `{"$ref":"https://example.com/x.json"}`, "", "none is ever loaded"},
		{"a file", `{"$ref":"file:///etc/passwd"}`, "", "none is ever loaded"},
	} {
		err := NewEvaluator(ir.NewestRules()).Conforms(c.schema, c.v)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: it says %v, want %q", c.name, err, c.want)
		}
	}
}
