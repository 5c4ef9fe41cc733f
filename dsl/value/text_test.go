package value_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
)

func TestJSONOrText(t *testing.T) {
	for text, want := range map[string]any{
		`{"a":1}`: map[string]any{"a": 1.0}, ` [1] `: []any{1.0}, `"[x] y"`: "[x] y", "7": 7.0, "true": true, "null": nil,
		"": "", "a text": "a text", "7 up": "7 up", "it's": "it's", "12345678901234567890": "12345678901234567890",
	} {
		if v, err := value.JSONOrText(text); err != nil || !reflect.DeepEqual(v, want) {
			t.Errorf("%q: %#v, %v", text, v, err)
		}
	}
	for text, want := range map[string]string{
		`{"a":1`:              "column 7: it ends too early",
		`"abc`:                "column 5: it ends too early",
		`[1,2`:                "column 5: it ends too early",
		`{"a":1,,}`:           `column 8: found "," where a name in quotes should begin`,
		"{\n \"a\": 1,\n}":    `line 3, column 1: found "}" where a name in quotes should begin`,
		`{"a" 1}`:             `column 6: found "1" behind a name, where a colon should be`,
		`{"a":1 "b":2}`:       `column 8: found "\"" behind a value, where a comma or } should be`,
		`[1 2]`:               `column 4: found "2" behind a value, where a comma or ] should be`,
		`[draft] text`:        `column 2: found "d" where a value should begin`,
		`{“ä”: 1}`:            `column 2: found "“" where a name in quotes should begin`,
		`["ää", x]`:           `column 8: found "x" where a value should begin`,
		`"a" b`:               `column 5: found "b" behind the end of the value`,
		`{"a": tru}`:          `column 10: found "}" in literal true (expecting 'e')`,
		`[12345678901234567]`: "the number 12345678901234567 is beyond 2^53",
		strings.Repeat("[", value.MaxDepth+1) + strings.Repeat("]", value.MaxDepth+1): "levels of nesting",
	} {
		_, err := value.JSONOrText(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), value.HowToQuote) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
