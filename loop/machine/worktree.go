package machine

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// maxSlug bounds the part of a branch's name that comes from the item's id, in bytes.
const maxSlug = 40

// BranchOf returns the branch of an item's run: flowrun/LOOP/ITEM-RUN. ITEM is made of the letters and digits of the item's id, and RUN is the
// begin of the run's id. Each claim of an item has a branch of its own.
func BranchOf(loop, item, run string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(item) {
		if b.Len() == maxSlug {
			break
		}
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := strings.Trim(b.String(), "-")
	if slug != "" {
		slug += "-"
	}
	return "flowrun/" + loop + "/" + slug + run[:min(6, len(run))]
}

// askWorktree asks that the worktree of an item's run be made or removed.
func (m *Machine) askWorktree(w *work, remove bool) {
	run := RunOf(w.key, w.token)
	m.start(&ask{kind: askWork, work: w}, w.path, "worktree", &event.Attempt{Kind: event.WorktreeAttempt, Dir: m.run.Dir, Worktree: &event.WorktreeRequest{
		Remove: remove, Run: run, Branch: BranchOf(m.loop.Name, w.item.ID, run), Loop: m.loop.Name, Item: w.key}})
}

// worktreeMade starts the run of an item in its worktree. If there is none, the item is free again, and the loop does not take it for a while.
func (m *Machine) worktreeMade(w *work, f *event.AttemptFinished) {
	tree, err := event.WorktreeOf(f.Output)
	if f.Outcome != event.OK || err != nil {
		reason := event.NoWorktree + why(f, err)
		m.warn("worktree", fmt.Sprintf("the worktree of item %s cannot be made: %s", w.item.ID, why(f, err)))
		m.barLonger(w, reason)
		m.release(w, reason)
		return
	}
	m.calm("worktree")
	if w.tree = &tree; w.lost {
		m.clearWorktree(w, after{lost: true})
		return
	}
	m.startRun(w)
}

// enter has a run work in a worktree. nil: it works where the loop does.
func enter(c *event.StartChild, tree *event.Worktree) {
	if tree != nil {
		c.Dir, c.Cause.Worktree, c.Cause.Branch = tree.Dir, tree.Root, tree.Branch
	}
}

// after is what follows when the worktree of an item is removed, or stays: its run has ended, or it is forgotten because its claim
// was lost, or else its claim is released.
type after struct {
	ended  *event.ChildFinished
	lost   bool
	reason string // of the release
}

func (m *Machine) goOnAfter(w *work, a after) {
	switch {
	case a.ended != nil:
		m.finish(w, a.ended)
	case a.lost:
		m.forget(w, "the claim was lost")
	default:
		m.endClaim(w, event.ClaimRelease, a.reason)
	}
}

// clearWorktree has the worktree of an item removed in which nobody works any more, and then goes on, also if the worktree stays.
func (m *Machine) clearWorktree(w *work, then after) {
	if w.tree == nil {
		m.goOnAfter(w, then)
		return
	}
	w.stage, w.then = clearing, then
	m.askWorktree(w, true)
}

// worktreeCleared goes on when the worktree of an item is removed, or stays.
func (m *Machine) worktreeCleared(w *work, f *event.AttemptFinished) {
	tree, err := event.WorktreeOf(f.Output)
	switch {
	case f.Outcome != event.OK || err != nil:
		m.warn("", fmt.Sprintf("the worktree %s of item %s was not removed: %s", w.tree.Root, w.item.ID, why(f, err)))
	case tree.Kept != "":
		m.warn("", fmt.Sprintf("the worktree %s of item %s stays, with branch %s: %s", tree.Root, w.item.ID, tree.Branch, tree.Kept))
	}
	then := w.then
	w.tree, w.then = nil, after{}
	m.goOnAfter(w, then)
}
