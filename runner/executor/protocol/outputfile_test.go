package protocol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutputFile(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[string]any
		err  string
	}{
		"nothing":             {"", nil, ""},
		"empty lines":         {"\n \n\n", nil, ""},
		"texts":               {"a=1\nb-c=x=y <<z\n", map[string]any{"a": "1", "b-c": "x=y <<z"}, ""},
		"without a last end":  {"a=1", map[string]any{"a": "1"}, ""},
		"an empty text":       {"a=\n", map[string]any{"a": ""}, ""},
		"again":               {"a=1\na=2\n", map[string]any{"a": "2"}, ""},
		"CRLF":                {"a=1\r\n\r\n", map[string]any{"a": "1"}, ""},
		"several lines":       {"a<<EOF\nx=1\n\n{\nEOF\nb=2\n", map[string]any{"a": "x=1\n\n{", "b": "2"}, ""},
		"no lines":            {"a<<EOF\nEOF\n", map[string]any{"a": ""}, ""},
		"several lines, CRLF": {"a<<E\r\nx\r\nE\r\n", map[string]any{"a": "x\r"}, ""},
		"JSON":                {`{"a": [1, true], "b c": null}` + "\n" + `{"d": {}}`, map[string]any{"a": []any{1.0, true}, "b c": nil, "d": map[string]any{}}, ""},
		"JSON and text":       {"a=1\n {\"a\": 2}\n", map[string]any{"a": 2.0}, ""},
		"a word":              {"a=1\nhello\n", nil, "line 2 of $FLOWRUN_OUTPUT is neither"},
		"a bad name":          {"a b=1\n", nil, "line 1"},
		"no name":             {"=1\n", nil, "line 1"},
		"no end":              {"a<<EOF\nx\n", nil, `no line is "EOF"`},
		"no word":             {"a<<\nx\n\n", nil, `no line is ""`},
		"half JSON":           {`{"a": 1`, nil, "not a JSON object"},
	} {
		got, err := OutputFile(c.text)
		if d := cmp.Diff(c.want, got); d != "" || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

func FuzzOutputFile(f *testing.F) {
	f.Add("a=1\nb<<E\nx\nE\n{\"c\":1}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if out, err := OutputFile(text); err != nil && out != nil {
			t.Error("an error and an output")
		}
	})
}
