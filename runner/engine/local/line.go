package local

import (
	"context"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/event"
)

// lookAgain is how soon a process looks at the lines in which its runs wait, though it knows no moment: another process may have ended
// that had to look.
const lookAgain = time.Second

// line is what a process knows of the lines in which its attempts wait. A line whose first request can start at a known moment goes on
// then: the process that learned the moment applies an operation.
type line struct {
	engine *Engine
	mu     sync.Mutex
	told   map[string]chan event.Time // attempts that wait for their first answer, by key
	looks  map[string]event.Time      // when to look at the line of a resource
	said   map[string]event.Need      // what this process has said of resources: see shared.Declare
	wake   chan struct{}              // looks has changed
	stop   context.CancelFunc         // nil: nobody has looked yet
	gone   chan struct{}
	closed bool
}

func (l *line) open(e *Engine) {
	l.engine, l.told, l.looks, l.wake = e, map[string]chan event.Time{}, map[string]event.Time{}, make(chan struct{}, 1)
	l.said = map[string]event.Need{}
}

// close ends all looks.
func (l *line) close() {
	l.mu.Lock()
	l.closed = true
	stop := l.stop
	l.mu.Unlock()
	if stop != nil {
		stop()
		<-l.gone
	}
}

// enter returns a channel that hears when an attempt was granted.
func (l *line) enter(key string) <-chan event.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told[key] = make(chan event.Time, 1)
	return l.told[key]
}

func (l *line) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.told, key)
}

// undeclared returns the needs of which this process has said something else so far, or nothing.
func (l *line) undeclared(needs []event.Need) (news []*event.Need) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range needs {
		if before, known := l.said[admission.Resource(&needs[i])]; !known || !sameLimits(&before, &needs[i]) {
			news = append(news, &needs[i])
		}
	}
	return news
}

// declared remembers that what was said of needs is durable.
func (l *line) declared(needs []event.Need) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range needs {
		l.said[admission.Resource(&needs[i])] = needs[i]
	}
}

func sameLimits(a, b *event.Need) bool {
	return a.Capacity == b.Capacity && (a.Pace == nil) == (b.Pace == nil) && (a.Pace == nil || *a.Pace == *b.Pace) &&
		(a.Spending == nil) == (b.Spending == nil) && (a.Spending == nil || *a.Spending == *b.Spending) &&
		(a.Breaker == nil) == (b.Breaker == nil) && (a.Breaker == nil || a.Breaker.Failures == b.Breaker.Failures && a.Breaker.Reset == b.Breaker.Reset && a.Breaker.Tell == b.Breaker.Tell)
}

// tell tells an attempt of this process its grant, and when it was.
func (l *line) tell(key string, at event.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if told := l.told[key]; told != nil {
		select {
		case told <- at:
		default:
		}
	}
}

// look makes the process look at the lines of needs at a moment, unless it looks earlier.
func (l *line) look(needs []event.Need, at event.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	for i := range needs {
		resource := admission.Resource(&needs[i])
		if known, looks := l.looks[resource]; !looks || at < known {
			l.looks[resource] = at
		}
	}
	if l.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		l.stop, l.gone = stop, make(chan struct{})
		go l.keepLooking(ctx)
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// lookLater makes the process look at the lines of resources again.
func (l *line) lookLater(resources []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	again := l.engine.now().Add(lookAgain)
	for _, resource := range resources {
		if at, looks := l.looks[resource]; !looks || again < at {
			l.looks[resource] = again
		}
	}
}

// due takes the resources whose lines must be looked at now; next is when the others must be, 0 if there are none.
func (l *line) due(now event.Time) (resources []string, next event.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for resource, at := range l.looks { // any order: each is looked at
		switch {
		case at <= now:
			resources = append(resources, resource)
			delete(l.looks, resource)
		case next == 0 || at < next:
			next = at
		}
	}
	return resources, next
}

func (l *line) keepLooking(ctx context.Context) {
	defer close(l.gone)
	for {
		resources, next := l.due(l.engine.now())
		if len(resources) > 0 {
			if l.engine.lookAtLines(resources) == nil {
				continue
			}
			if l.engine.commits.currentFailure() != nil {
				return // the store has failed, and says so to all that drive
			}
			l.lookLater(resources) // the disk was full
			continue
		}
		alarm, giveUp := (<-chan time.Time)(nil), func() {}
		if next != 0 {
			alarm, giveUp = l.engine.options.Clock.After(min(next.Sub(l.engine.now()), maxWait))
		}
		select {
		case <-ctx.Done():
		case <-alarm:
		case <-l.wake:
		}
		giveUp()
		if ctx.Err() != nil {
			return
		}
	}
}

// lookAtLines grants what can be granted now of resources, and looks again while anybody waits for them.
func (e *Engine) lookAtLines(resources []string) error {
	var answer admission.Answer
	var waiting []*admission.Request
	err := e.writeUrgent(func(tx *transaction) error {
		state, err := tx.loadLine(nil, resources, admission.Horizon)
		if err != nil || len(state.Requests()) == 0 {
			waiting, answer = nil, admission.Answer{}
			return err
		}
		answer, err = e.applyLoaded(tx, admission.Operation{Remove: []string{}}, state)
		waiting = state.Requests()
		return e.grantFurther(tx, &answer, err, nil, resources)
	})
	if err != nil {
		return err
	}
	e.tellGranted(answer)
	again := e.now().Add(lookAgain)
	for _, r := range waiting {
		if !r.Granted {
			e.line.look(r.Needs, again)
		}
	}
	return nil
}
