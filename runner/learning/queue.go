package learning

import (
	"context"
	"sync"
)

// maxQueued bounds how many tasks of a tree of runs wait to be learned from. A task that finds the queue full is learned from the
// journal, when its run has ended.
const maxQueued = 1024

// queue hands lessons to a goroutine that learns from them in order. Putting a lesson never waits. The zero value needs learn and finish.
type queue struct {
	limit  int          // 0 means maxQueued
	learn  func(lesson) // called by the goroutine
	finish func()       // called by the goroutine when the queue is closed and empty

	mu     sync.Mutex
	list   []lesson
	put    uint64        // lessons that were taken in
	done   uint64        // and lessons that the goroutine has finished with
	closed bool          // nothing is taken in any more
	grown  chan struct{} // the goroutine waits for it; nil before the first lesson
	moved  chan struct{} // closed when done grows; nil while nobody waits for that
	over   chan struct{} // closed when the goroutine has ended
}

// add puts a lesson, and reports whether there was room. The end of a run always has room. The first lesson starts the goroutine.
func (q *queue) add(x lesson) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	limit := q.limit
	if limit == 0 {
		limit = maxQueued
	}
	if q.closed || len(q.list) >= limit && !x.ended {
		return false
	}
	if q.grown == nil {
		q.grown, q.over = make(chan struct{}, 1), make(chan struct{})
		go q.learnAll()
	}
	q.list, q.put = append(q.list, x), q.put+1
	q.wakeUp()
	return true
}

// wakeUp lets the goroutine look again. The caller holds the lock.
func (q *queue) wakeUp() {
	select {
	case q.grown <- struct{}{}:
	default: // it will look anyway
	}
}

func (q *queue) learnAll() {
	defer close(q.over)
	for {
		x, ok := q.next()
		if !ok {
			break
		}
		q.learn(x)
		q.countDone()
	}
	q.finish()
}

// next waits for a lesson. It reports false when the queue is closed and empty.
func (q *queue) next() (lesson, bool) {
	for {
		q.mu.Lock()
		if len(q.list) > 0 {
			x := q.list[0]
			q.list[0] = lesson{}
			q.list = q.list[1:]
			q.mu.Unlock()
			return x, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return lesson{}, false
		}
		<-q.grown
	}
}

// countDone counts a lesson that the goroutine has finished with.
func (q *queue) countDone() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done++
	if q.moved != nil {
		close(q.moved)
		q.moved = nil
	}
}

// idle reports whether the memory has learned from all tasks.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.done == q.put
}

// settle waits until the memory has learned from all tasks that have ended by now, or until ctx is done.
func (q *queue) settle(ctx context.Context) {
	q.mu.Lock()
	upTo := q.put
	for q.done < upTo && ctx.Err() == nil {
		if q.moved == nil {
			q.moved = make(chan struct{})
		}
		moved := q.moved
		q.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
		}
		q.mu.Lock()
	}
	q.mu.Unlock()
}

// closeUnfinished is close without a call of finish.
func (q *queue) closeUnfinished() {
	q.mu.Lock()
	q.finish = func() {}
	q.mu.Unlock()
	q.close()
}

// close takes in nothing more, and waits until the goroutine has ended.
func (q *queue) close() {
	q.mu.Lock()
	started := q.grown != nil
	if q.closed = true; started {
		q.wakeUp()
	}
	q.mu.Unlock()
	if started {
		<-q.over
	}
}
