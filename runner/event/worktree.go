package event

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
)

// WorktreeRequest makes or removes the git worktree of an item's run. Asked again it changes nothing more. The answer is a [Worktree].
type WorktreeRequest struct {
	Remove bool   `json:"remove,omitempty"` // false: make it
	Run    string `json:"run"`              // that works in it; the name of the worktree
	Branch string `json:"branch"`
	Loop   string `json:"loop"`
	Item   string `json:"item"` // the name over the store, as in [Claim]
}

// NoWorktree begins the reason of a release of an item whose worktree cannot be made.
const NoWorktree = "its worktree cannot be made: "

// Worktree is the git worktree of an item's run.
type Worktree struct {
	Root   string `json:"root"`           // the worktree, absolute
	Dir    string `json:"dir"`            // the program's folder in it: where the run works
	Branch string `json:"branch"`         // without refs/heads/
	Kept   string `json:"kept,omitempty"` // why it is not removed, in words; "": it is there for the run, or removed
}

// Object returns the worktree as the answer to a [WorktreeRequest].
func (w *Worktree) Object() map[string]any {
	return map[string]any{"root": w.Root, "dir": w.Dir, "branch": w.Branch, "kept": w.Kept}
}

// WorktreeOf reads the answer to a [WorktreeRequest].
func WorktreeOf(v value.Value) (w Worktree, err error) {
	o, _ := v.(map[string]any)
	w.Root, _ = o["root"].(string)
	w.Dir, _ = o["dir"].(string)
	w.Branch, _ = o["branch"].(string)
	w.Kept, _ = o["kept"].(string)
	if o == nil || w.Branch == "" {
		return w, fmt.Errorf("the answer is not a worktree: %.100s", value.Text(v))
	}
	return w, nil
}

func (f *facts) worktree(w *WorktreeRequest) {
	*f = append(*f, 'W')
	f.truth('r', w.Remove)
	f.text('n', w.Run)
	f.text('b', w.Branch)
	f.text('l', w.Loop)
	f.text('i', w.Item)
	f.end()
}
