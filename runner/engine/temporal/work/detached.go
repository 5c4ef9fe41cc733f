package work

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/executor"
)

// LookEvery is how often a worker looks at the run of an attempt, in place of a heartbeat.
const LookEvery = 15 * time.Second

// Runs is what a worker asks the server about runs, so that attempts can be detached; see [wire.Detached].
type Runs interface {
	// Look reports whether a run has ended, and whether the history of its execution is so long that the next one is to begin.
	Look(ctx context.Context, run string) (ended, long bool, err error)
	// Queue returns the task queue of this process, which is served from then on.
	Queue() (string, error)
	// Complete ends an activity. gone says that the server does not know it any more.
	Complete(ctx context.Context, token, answer []byte) (gone bool, err error)
}

// aways are the attempts that a worker has detached and that nobody has fetched, by their tokens.
type aways struct {
	mu  sync.Mutex
	all map[string]*away
	n   int
}

// away is a detached attempt.
type away struct {
	token    string
	end      context.CancelCauseFunc
	patience time.Duration // how long it goes on without a claim
	since    time.Time
	claimed  bool
	done     chan struct{} // closed once answer and err are set
	answer   []byte
	err      error
	fetched  chan struct{}
}

// unclaimedFor is for how many times the silence that the server allows a worker an attempt is kept that nobody claims. The run takes it for lost after two.
const unclaimedFor = 4

// detachFor is how long a worker tries to detach an attempt whose server does not answer.
const detachFor = time.Minute

// detach ends the activity of an attempt, and goes on with the attempt, if its run has a long history. It returns nil if the activity goes on.
func (w *Worker) detach(ctx context.Context, t *wire.Task, end context.CancelCauseFunc) *away {
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatTimeout)
	defer cancel()
	if !t.Detaches {
		return nil
	}
	if _, long, err := w.Runs.Look(short, t.Run); err != nil || !long {
		return nil
	}
	queue, err := w.Runs.Queue()
	if err != nil {
		return nil
	}
	info := activity.GetInfo(ctx)
	x := w.away.add(end, unclaimedFor*info.HeartbeatTimeout)
	answer, err := wire.Encode(wire.Answer{Detached: &wire.Claim{Queue: queue, Token: x.token}})
	if err != nil {
		w.away.forget(x)
		return nil
	}
	for began, sure := time.Now(), true; ; sure = false {
		gone, err := w.complete(info.TaskToken, answer)
		switch {
		case gone && sure: // nobody waits for it
			w.away.forget(x)
			end(executor.Cancelled)
			return nil
		case err == nil, gone, time.Since(began) > detachFor:
			return x
		}
		time.Sleep(Beat)
	}
}

func (w *Worker) complete(token, answer []byte) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
	defer cancel()
	return w.Runs.Complete(ctx, token, answer)
}

// Rejoin is the activity that fetches the answer of a detached attempt of a run, which it cancels first if it is not wanted any more.
func (w *Worker) Rejoin(ctx context.Context, run, token string, cancelled bool) ([]byte, error) {
	x := w.away.claim(token)
	if x == nil {
		return nil, errors.New("it has given the attempt up")
	}
	if cancelled {
		x.end(executor.Cancelled)
	}
	w.watch(ctx, x.end, x.done, func() *away {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatTimeout)
		defer cancel()
		if ended, _, err := w.Runs.Look(short, run); err == nil && ended {
			x.end(executor.Cancelled)
		}
		return nil
	})
	w.away.forget(x)
	return x.answer, x.err
}

func (a *aways) add(end context.CancelCauseFunc, patience time.Duration) *away {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
	x := &away{token: strconv.Itoa(a.n), end: end, patience: patience, since: time.Now(), done: make(chan struct{}), fetched: make(chan struct{})}
	if a.all == nil {
		a.all = map[string]*away{}
	}
	a.all[x.token] = x
	return x
}

// claim returns the attempt with a token, nil: there is none.
func (a *aways) claim(token string) *away {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.all[token]
	if x != nil {
		x.claimed = true
	}
	return x
}

func (a *aways) forget(x *away) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all[x.token] != nil {
		delete(a.all, x.token)
		close(x.fetched)
	}
}

// checkClaim gives an attempt up that nobody claims.
func (a *aways) checkClaim(x *away) {
	a.mu.Lock()
	abandoned := !x.claimed && time.Since(x.since) > x.patience
	a.mu.Unlock()
	if abandoned {
		a.forget(x)
		x.end(executor.Cancelled)
	}
}

// land keeps the answer of an attempt until it is fetched, or nobody will.
func (a *aways) land(x *away, answer []byte, err error) {
	x.answer, x.err = answer, err
	close(x.done)
	for {
		select {
		case <-x.fetched:
			return
		case <-time.After(Beat):
			a.checkClaim(x)
		}
	}
}
