package ui

import "testing"

func TestFirst(t *testing.T) {
	for want, names := range map[string][]string{"a, b": {"a", "b"}, "a, b, c": {"a", "b", "c"}, "a, b and 2 more": {"a", "b", "c", "d"}} {
		if have := First(names, 2); have != want {
			t.Errorf("First(%q, 2) = %q, want %q", names, have, want)
		}
	}
}
