package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/outline"
)

// A summary of many programs stays within its bound and counts what it leaves out, and no name of a file is markup.
func TestPlanChangesMarkdown(t *testing.T) {
	c := &PlanChanges{Against: "<main>"}
	for i := range 1000 {
		c.Programs = append(c.Programs, ProgramChange{Path: fmt.Sprintf("flows/%d|@all<b>`x`\n#", i), State: ir.Removed,
			Workflows: []WorkflowChange{{Workflow: "w", State: ir.Removed, Before: &Figures{Steps: 1, Worst: &outline.Worst{}}}}})
	}
	whole := c.Markdown(MaxSummaryBytes)
	if strings.Count(whole, "\n#### ") != 1000 || strings.ContainsAny(strings.ReplaceAll(whole, "| ", ""), "@<`") {
		t.Errorf("%d programs, or markup: %.300s", strings.Count(whole, "\n#### "), whole)
	}
	short := c.Markdown(4000)
	shown := strings.Count(short, "\n#### ")
	if len(short) > 4000 || shown == 0 || !strings.HasSuffix(short, fmt.Sprintf("\n… and %d programs more.\n", 1000-shown)) {
		t.Errorf("%d bytes with %d programs: …%s", len(short), shown, short[max(0, len(short)-100):])
	}
}
