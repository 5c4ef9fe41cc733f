package ui

import (
	"fmt"
	"strings"
)

// Level says how a finding of doctor is to be taken.
type Level string

// The levels.
const (
	Fine  Level = "ok"
	Odd   Level = "warning" // it works, and may not be what is wanted
	Wrong Level = "problem"
)

// Finding is one thing that doctor looked at.
type Finding struct {
	Name  string `json:"name"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"` // what to do; never empty for a problem
}

// findingsJSON is what doctor --json prints.
type findingsJSON struct {
	FormatVersion string    `json:"format_version"`
	Healthy       bool      `json:"healthy"`
	Findings      []Finding `json:"findings"`
}

// Findings writes what doctor found, as lines or as one JSON object.
func Findings(t *Term, found []Finding, asJSON bool) error {
	out := findingsJSON{FormatVersion: "1.0", Healthy: true, Findings: found}
	width := 0
	for _, f := range found {
		out.Healthy = out.Healthy && f.Level != Wrong
		width = max(width, Cells(f.Name))
	}
	if asJSON {
		return WriteJSON(t, out)
	}
	for _, f := range found {
		mark := map[Level]string{Fine: t.Style(green, "✓"), Odd: t.Style(yellow, "!"), Wrong: t.Style(red, "✗")}[f.Level]
		t.Printf("%s %s%s  %s\n", mark, f.Name, strings.Repeat(" ", width-Cells(f.Name)), Clean(f.Text))
		if f.Fix != "" {
			t.Printf("  %s  %s\n", strings.Repeat(" ", width), Clean(f.Fix))
		}
	}
	if out.Healthy {
		t.Printf("No problem found.\n")
	}
	return nil
}

// Bytes writes a size in bytes for a person, in powers of two.
func Bytes(n uint64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB"}
	f, unit := float64(n), "B"
	for i := 0; f >= 1024 && i < len(units); i++ {
		f, unit = f/1024, units[i]
	}
	if f < 10 && unit != "B" {
		return fmt.Sprintf("%.1f %s", f, unit)
	}
	return fmt.Sprintf("%.0f %s", f, unit)
}
