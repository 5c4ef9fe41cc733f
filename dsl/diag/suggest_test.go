package diag

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct{ name, candidates, want string }{
		{"biuld", "test build", "build"}, // neighbours swapped: one change
		{"timeot", "timeout", "timeout"},
		{"need", "seed feed", "seed"}, // a tie goes to the first
		{"build", "build", ""},        // not mistyped
		{"abc", "abd", "abd"},         // a third of three is one change
		{"abcde", "abxye", ""},        // and two of five are too many
		{"ab", "ac b abc", ""},        // short names resemble everything
		{"a", "b c", ""},
		{"a", "b A", "A"}, // but for their case
		{"AB", "ab", "ab"},
		{"BUILD", "built build", "build"},
		{"", "a", ""},
		{"x", "", ""},
	} {
		if got := Nearest(c.name, strings.Fields(c.candidates)); got != c.want {
			t.Errorf("%q among %s: %q, want %q", c.name, c.candidates, got, c.want)
		}
	}
}
