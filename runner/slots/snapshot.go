package slots

import (
	"github.com/flowrun/flowrun/runner/heap"
	"github.com/flowrun/flowrun/runner/snapshot"
)

// Coding codes a queue, and the limiters and choices of its user. Limiters and choices that stand in
// several places stay one.
type Coding[T any] struct {
	*snapshot.Coder
	queue *Queue[T]
	of    func(*T)
}

// NewCoding makes the coding of a queue, which a reader fills. of codes whose request it is.
func NewCoding[T any](c *snapshot.Coder, q *Queue[T], of func(*T)) *Coding[T] {
	return &Coding[T]{c, q, of}
}

// Queue codes the queue. Its classes are found again by what stands in its heaps and those of the
// limiters: a class of which nothing stands there has no request.
func (c *Coding[T]) Queue() {
	q := c.queue
	c.Limiter(&q.run)
	for side := range q.open {
		c.turns(&q.open[side])
	}
	snapshot.List(c.Coder, &q.mixed, c.classOf)
	c.Bools(&q.moved)
	c.line(&q.parked)
}

// Limiter codes a limiter.
func (c *Coding[T]) Limiter(l **Limiter[T]) { snapshot.Shared(c.Coder, l, c.limiter) }

func (c *Coding[T]) limiter(l *Limiter[T]) {
	snapshot.Int(c.Coder, &l.capacity)
	snapshot.Int(c.Coder, &l.used)
	for side := range l.blocked {
		c.turns(&l.blocked[side])
	}
}

// Choice codes a choice.
func (c *Coding[T]) Choice(x **Choice[T]) { snapshot.Shared(c.Coder, x, c.choice) }

func (c *Coding[T]) choice(x *Choice[T]) {
	snapshot.List(c.Coder, &x.Of, c.Limiter)
	c.Bools(&x.Slotless)
}

func (c *Coding[T]) turns(h *heap.Heap[turn[T]]) {
	snapshot.List(c.Coder, (*[]turn[T])(h), func(t *turn[T]) {
		c.classOf(&t.class)
		c.request(&t.first)
		snapshot.Uint(c.Coder, &t.move)
	})
}

func (c *Coding[T]) classOf(x **class[T]) { snapshot.Shared(c.Coder, x, c.class) }

func (c *Coding[T]) class(x *class[T]) {
	c.Limiter(&x.key.Agent)
	c.Limiter(&x.key.Around)
	c.Choice(&x.key.Choice)
	c.Bools(&x.key.Call)
	snapshot.List(c.Coder, &x.limits, c.Limiter)
	c.line(&x.requests)
	snapshot.Uint(c.Coder, &x.moves)

	if c.Reading() && !x.requests.isEmpty() {
		c.queue.classes[x.key] = x
	}
}

func (c *Coding[T]) line(l *line[T]) {
	snapshot.List(c.Coder, &l.inOrder, c.request)
	snapshot.List(c.Coder, (*[]Request[T])(&l.others), c.request)
}

func (c *Coding[T]) request(r *Request[T]) {
	c.of(&r.Of)
	snapshot.Int(c.Coder, &r.Priority)
	snapshot.Int(c.Coder, &r.Left)
	snapshot.Uint(c.Coder, &r.Seq)
}
