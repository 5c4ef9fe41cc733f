package ui

// PrunedRun is a run that was removed, or would be, and what it took.
type PrunedRun struct {
	Listed
	Bytes    int64 `json:"bytes"`     // of its journal
	LogBytes int64 `json:"log_bytes"` // of its log files
}

// Pruned says which runs were removed, or would be, and how much that is in all.
func Pruned(t *Term, list []PrunedRun, dryRun, asJSON bool) {
	if asJSON {
		if list == nil {
			list = []PrunedRun{}
		}
		_ = WriteJSON(t, map[string]any{"dry_run": dryRun, "runs": list})
		return
	}
	word := "removed"
	if dryRun {
		word = "would remove"
	}
	var journals, logs int64
	for i := range list {
		r := &list[i]
		journals, logs = journals+r.Bytes, logs+r.LogBytes
		note := ""
		if r.Parent != "" {
			note = ", called by " + Clean(r.ParentNode) + " of run " + Clean(r.Parent)
		}
		t.Printf("%s run %s of %s: %s, %s%s\n", word, Clean(r.Run), Clean(r.Workflow), r.word(), Bytes(uint64(r.Bytes+r.LogBytes)), note)
	}
	t.Printf("%s %s: %s of journals, %s of logs\n", word, Count(len(list), "run"), Bytes(uint64(journals)), Bytes(uint64(logs)))
}
