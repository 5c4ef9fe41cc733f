package diag

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A name of any length leaves a diagnostic short, and what is said before and behind it stays.
func TestTextsAreBounded(t *testing.T) {
	for _, n := range []int{MaxSummary, MaxSummary + 1, 60000} {
		for _, c := range []string{"x", "é", "日"} {
			s := "Unknown step " + strings.Repeat(c, n) + " (end)"
			l := List{{Summary: s, Detail: s}, {Summary: s, Detail: s}}.Sort()
			d := l[0]
			if len(l) != 1 || len(d.Summary) > MaxSummary || len(d.Detail) > MaxDetail || !utf8.ValidString(d.Summary) ||
				!strings.HasPrefix(d.Summary, "Unknown step ") || !strings.HasSuffix(d.Summary, " (end)") {
				t.Errorf("%d × %s: %d findings, %d and %d bytes: %s", n, c, len(l), len(d.Summary), len(d.Detail), d.Summary)
			}
		}
	}
	if at := strings.Repeat("x", MaxSummary); (List{{Summary: at}}).Sort()[0].Summary != at {
		t.Error("a summary at the bound is cut")
	}
}
