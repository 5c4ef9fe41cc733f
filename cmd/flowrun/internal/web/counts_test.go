package web

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// The tree of a page counts the leaves below each node that holds others, through all levels.
func TestCountsOfTheTree(t *testing.T) {
	docs := []view.NodeDoc{{ID: "group", Status: event.Running}, {ID: "group/shard", Status: event.Running}, {ID: "alone", Status: event.Succeeded}}
	for i := range 60 {
		d := view.NodeDoc{ID: fmt.Sprintf("group/shard[%d]", i), Status: event.Pending}
		switch {
		case i == 0:
			d.Status = event.FailedS
		case i < 30:
			d.Status = event.Succeeded
		}
		docs = append(docs, d)
	}
	roots, _ := grow(docs)
	counts := map[string]string{}
	for _, r := range rows(roots) {
		counts[r.ID] = r.Counts
	}
	const want = "29 of 60 succeeded, 1 failed, 30 pending"
	if counts["group"] != want || counts["group/shard"] != want || counts["alone"] != "" {
		t.Errorf("the counts are %q", counts)
	}
}
