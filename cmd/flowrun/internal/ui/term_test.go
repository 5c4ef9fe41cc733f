package ui

import "testing"

// Only a text that has a style, on a terminal with colours, gets escape sequences.
func TestStyle(t *testing.T) {
	for want, c := range map[string]struct {
		color       bool
		style, text string
	}{
		"\x1b[31mfailed\x1b[0m": {true, red, "failed"},
		"plain":                 {true, "", "plain"},
		"":                      {true, red, ""},
		"no colours":            {false, red, "no colours"},
	} {
		if got := (&Term{Color: c.color}).Style(c.style, c.text); got != want {
			t.Errorf("%q in style %q is %q, want %q", c.text, c.style, got, want)
		}
	}
}
