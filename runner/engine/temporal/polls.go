package temporal

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// A worker of the SDK that stops cancels its open polls. A task that the server hands out at that moment reaches nobody, and the server waits for it until its
// time is over: a minute for a decision, 30 seconds for an attempt. So a worker stops in two steps: it leaves its queues, and stops once all its open
// polls have brought a task. Where there is little work they bring none, and it stops after a while: then it is not likely that one comes.
const (
	// leaveFor is the default of [Options.Leave].
	leaveFor = 3 * time.Second
	// idleFor is how long nothing came to a worker that does not wait for its open polls.
	idleFor = 5 * time.Second
	// quietFor is how long nothing has come before a worker stops.
	quietFor = 500 * time.Millisecond
	// lookEvery is how often a worker that leaves looks at its polls.
	lookEvery = 20 * time.Millisecond
)

// polls sees all calls of a connection, so that workers can leave their queues.
type polls struct {
	atMost time.Duration // how long a worker waits for its polls

	mu     sync.Mutex
	queues map[string]*polledQueue
}

// polledQueue is a task queue that workers poll.
type polledQueue struct {
	open   int           // polls, without those of queues of the workers' own
	latest time.Time     // when a task came
	left   chan struct{} // the workers have left the queue; closed once they stop; nil: they have not
}

// at returns a queue. The caller has locked p.
func (p *polls) at(queue string) *polledQueue {
	q := p.queues[queue]
	if q == nil {
		if p.queues == nil {
			p.queues = map[string]*polledQueue{}
		}
		q = &polledQueue{}
		p.queues[queue] = q
	}
	return q
}

// leave lets workers poll their queues no more, and returns once what their open polls bring has come. stopped is called when the workers have stopped.
func (p *polls) leave(queues []string) (stopped func()) {
	began, stop := time.Now(), make(chan struct{})
	mark := func(left chan struct{}) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, queue := range queues {
			p.at(queue).left = left
		}
	}
	mark(stop)
	for time.Since(began) < p.atMost && !p.isQuiet(queues, began) {
		time.Sleep(lookEvery)
	}
	close(stop)
	return func() { mark(nil) }
}

// isQuiet reports whether nothing is likely to come to workers that have left their queues.
func (p *polls) isQuiet(queues []string, left time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, queue := range queues {
		q := p.at(queue)
		if time.Since(left) < quietFor || time.Since(q.latest) < quietFor || q.open > 0 && left.Sub(q.latest) < idleFor {
			return false
		}
	}
	return true
}

// intercept is a [grpc.UnaryClientInterceptor].
func (p *polls) intercept(ctx context.Context, method string, in, out any, c *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	var queue *taskqueue.TaskQueue
	switch in := in.(type) {
	case *workflowservice.PollWorkflowTaskQueueRequest:
		queue = in.GetTaskQueue()
	case *workflowservice.PollActivityTaskQueueRequest:
		queue = in.GetTaskQueue()
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		if p.hasLeft(in.GetStickyAttributes().GetWorkerTaskQueue().GetNormalName()) {
			in.StickyAttributes = nil // so that another worker makes the next decision
		}
	}
	if queue == nil {
		return call(ctx, method, in, out, c, opts...)
	}
	// A worker serves the queue of its own, which has the next decisions of the runs that it knows, until it stops.
	name, own := queue.GetName(), queue.GetNormalName() != ""
	if own {
		name = queue.GetNormalName()
	}
	if left := p.begin(name, own); left != nil {
		select {
		case <-left:
			time.Sleep(lookEvery) // the SDK, which may not know yet that its worker stops, polls again
		case <-ctx.Done():
		}
		return nil
	}
	err := call(ctx, method, in, out, c, opts...)
	task, is := out.(interface{ GetTaskToken() []byte })
	p.end(name, own, is && len(task.GetTaskToken()) > 0)
	return err
}

// begin notes a poll. If the poll is not to begin, it returns the channel that is closed once the workers stop.
func (p *polls) begin(queue string, own bool) (left chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.at(queue)
	if q.left != nil {
		stops := false
		select {
		case <-q.left:
			stops = true
		default:
		}
		if stops || !own {
			return q.left
		}
	}
	if !own {
		q.open++
	}
	return nil
}

func (p *polls) end(queue string, own, brought bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.at(queue)
	if !own {
		q.open--
	}
	if brought {
		q.latest = time.Now()
	}
}

func (p *polls) hasLeft(queue string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queues[queue]
	return q != nil && q.left != nil
}
