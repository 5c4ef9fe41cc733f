package runner

import (
	"testing"

	"github.com/flowrun/flowrun/runner/executor/secret"
)

// TestMarksRememberOneValue asks for the value of a mark, for others, and for it again.
func TestMarksRememberOneValue(t *testing.T) {
	var m marks
	mark := secret.Seal("env X", "00", "right")
	other := secret.Seal("env X", "01", "wrong")
	for range 2 {
		if !m.same(mark, "right") || m.same(mark, "wrong") || m.same(other, "right") || !m.same(other, "wrong") {
			t.Fatal("a value is taken for another")
		}
	}
	forged := mark
	forged.Hash = other.Hash
	if m.same(forged, "right") || len(m.known) != 2 {
		t.Errorf("%d marks are remembered", len(m.known))
	}
}
