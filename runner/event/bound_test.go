package event

import (
	"strings"
	"testing"
)

func TestBoundKeepsHeadAndTail(t *testing.T) {
	if got := Bound("short", 5); got != "short" {
		t.Errorf("at the bound: %q", got)
	}
	text := strings.Repeat("ä", 100) // two bytes each
	got := Bound(text, 21)
	if want := "äääää\n[flowrun: 180 bytes left out]\näääää"; got != want {
		t.Errorf("beyond it: %q, want %q", got, want)
	}
}
