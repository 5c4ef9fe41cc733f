package serve

import (
	"context"
	"sync"
	"time"
)

const (
	// maxLook bounds the time in which git is asked about worktrees for one answer.
	maxLook = 2 * time.Second
	// looksHold is how long what git said holds: pages are drawn again at each change of the store.
	looksHold = 10 * time.Second
)

// looks keeps why worktrees stay, by their runs, as git said last.
type looks struct {
	mu  sync.Mutex
	at  time.Time
	why map[string]*string
}

// again says of the worktrees of loops why they stay now, as [LookAgain] does.
func (k *looks) again(ctx context.Context, store string, loops []LoopStatus) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.why == nil || time.Since(k.at) > looksHold {
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), maxLook) // others read the answer, too
		defer done()
		trees := Worktrees(store, "")
		LookAgain(ctx, store, trees)
		k.at, k.why = time.Now(), map[string]*string{}
		for _, w := range trees {
			k.why[w.Run] = w.Kept
		}
	}
	for i := range loops {
		for j := range loops[i].Worktrees {
			if w := &loops[i].Worktrees[j]; w.Kept != nil && k.why[w.Run] != nil {
				w.Kept = k.why[w.Run]
			}
		}
	}
}
