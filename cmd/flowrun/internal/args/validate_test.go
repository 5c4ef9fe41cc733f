package args

import (
	"reflect"
	"strings"
	"testing"
)

func TestForms(t *testing.T) {
	known := []string{"text", "json", "sarif"}
	for _, c := range []struct {
		given string
		want  []Form
		err   string
	}{
		{"", []Form{{"text", ""}}, ""},
		{"json", []Form{{"json", ""}}, ""},
		{"sarif=a=b", []Form{{"sarif", "a=b"}, {"text", ""}}, ""},
		{"json sarif=a json=b", []Form{{"json", ""}, {"sarif", "a"}, {"json", "b"}}, ""},
		{"json text", nil, "two formats are for the screen"},
		{"json=a sarif=a", nil, "two formats are for the file a"},
		{"sarif=", nil, "does not name a file"},
		{"csv", nil, `--format "csv" is not known: one of text, json, sarif`},
		{"csv=a", nil, "is not known"},
	} {
		have, err := (&Validate{Formats: strings.Fields(c.given)}).Forms("text", known)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || err == nil && !reflect.DeepEqual(have, c.want) {
			t.Errorf("%q: %v, %v", c.given, have, err)
		}
	}
}

func TestFailLevel(t *testing.T) {
	for level, ok := range map[string]bool{"error": true, "warning": true, "advice": false, "": false} {
		if err := (&Validate{FailLevel: level, Advice: "auto"}).Check(); (err == nil) != ok {
			t.Errorf("%q: %v", level, err)
		}
	}
	for advice, ok := range map[string]bool{"auto": true, "always": true, "never": true, "sometimes": false, "": false} { // any order: each on its own
		if err := (&Validate{FailLevel: "error", Advice: advice}).Check(); (err == nil) != ok {
			t.Errorf("advice %q: %v", advice, err)
		}
	}
}
