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
// time is over: a minute for a decision, 30 seconds for an attempt. So a worker stops in two steps: it leaves its queues, and stops once its open polls
// have brought nothing for a while.
const (
	// quietFor is the default of [Options.Quiet].
	quietFor = 500 * time.Millisecond
	// leaveAtMost is how long a worker waits for that at most: on a queue that always has tasks, polls that are cancelled late are as bad as early ones.
	leaveAtMost = 10 * time.Second
	// heldFor is how long the SDK waits for a poll of a worker that stops.
	heldFor = 100 * time.Millisecond
)

// polls sees all calls of a connection, so that workers can leave their queues.
type polls struct {
	quiet time.Duration

	mu     sync.Mutex
	left   map[string]chan struct{} // the queues that workers have left; the channel is closed once the workers stop
	latest time.Time                // when a poll of such a queue last brought a task
}

// leave lets workers poll their queues no more, and returns once what their open polls bring has come. stopped is called when the workers have stopped.
func (p *polls) leave(queues []string) (stopped func()) {
	began := time.Now()
	stop := make(chan struct{})
	p.mu.Lock()
	if p.left == nil {
		p.left = map[string]chan struct{}{}
	}
	for _, queue := range queues {
		p.left[queue] = stop
	}
	p.latest = began
	p.mu.Unlock()
	for time.Since(began) < leaveAtMost {
		p.mu.Lock()
		quiet := time.Until(p.latest.Add(p.quiet))
		p.mu.Unlock()
		if quiet <= 0 {
			break
		}
		time.Sleep(quiet)
	}
	close(stop)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, queue := range queues {
			if p.left[queue] == stop {
				delete(p.left, queue)
			}
		}
	}
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
		if p.hasLeft(in.GetStickyAttributes().GetWorkerTaskQueue().GetNormalName()) != nil {
			in.StickyAttributes = nil // so that another worker makes the next decision
		}
	}
	if queue == nil {
		return call(ctx, method, in, out, c, opts...)
	}
	name := queue.GetName()
	own := queue.GetNormalName() != "" // the worker's own queue, which no other worker polls: it is served until the worker stops
	if own {
		name = queue.GetNormalName()
	}
	if stop := p.hasLeft(name); stop != nil {
		select {
		case <-stop: // the SDK, which may not know yet that its worker stops, polls again
			time.Sleep(heldFor)
			return nil
		default:
		}
		if !own {
			select {
			case <-stop:
			case <-ctx.Done():
			}
			return nil
		}
	}
	err := call(ctx, method, in, out, c, opts...)
	if task, is := out.(interface{ GetTaskToken() []byte }); is && len(task.GetTaskToken()) > 0 && p.hasLeft(name) != nil {
		p.mu.Lock()
		p.latest = time.Now()
		p.mu.Unlock()
	}
	return err
}

// hasLeft returns the channel of a queue that workers have left, or nil.
func (p *polls) hasLeft(queue string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left[queue]
}
