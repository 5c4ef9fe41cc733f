package ui

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/replay"
	"github.com/flowrun/flowrun/runner/view"
)

// A change at the end of a long script is in what is shown.
func TestChangeOfALongValue(t *testing.T) {
	long := strings.Repeat("echo loading; ", 20)
	have := changeWords(&replay.Change{Field: "script", Was: &view.Data{Value: long + "exit 2"}, Is: &view.Data{Value: long + "exit 0"}})
	if want := `script: …ading; exit 2" → …ading; exit 0"`; have != want {
		t.Errorf("have %s, want %s", have, want)
	}
	have = changeWords(&replay.Change{Field: "script", Was: &view.Data{Value: "a"}, Is: nil})
	if want := `script: "a" → nothing`; have != want {
		t.Errorf("have %s, want %s", have, want)
	}
}
