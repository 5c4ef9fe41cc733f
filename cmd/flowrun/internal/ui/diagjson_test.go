package ui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/view"
)

// The JSON of a run says what keeps the run from going on, as the text does.
func TestRunSaysItsTrouble(t *testing.T) {
	for trouble, want := range map[string]string{"no worker takes work": `"trouble":"no worker takes work"`, "": ""} {
		var b bytes.Buffer
		if err := WriteRun(&b, view.New(nil), nil, trouble, struct{}{}); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); want != "" && !strings.Contains(got, want) || want == "" && strings.Contains(got, "trouble") {
			t.Errorf("%q: %s", trouble, got)
		}
	}
}
