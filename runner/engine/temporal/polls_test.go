package temporal

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// Workers that leave a queue begin no poll of it, let others make the next decisions, and wait for what their open poll brings.
func TestWorkersLeave(t *testing.T) {
	p := &polls{atMost: time.Minute}
	calls, answer := make(chan any, 9), make(chan string)
	call := func(_ context.Context, _ string, in, out any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		calls <- in
		if out, is := out.(*workflowservice.PollActivityTaskQueueResponse); is {
			out.TaskToken = []byte(<-answer)
		}
		return nil
	}
	ended := make(chan struct{}, 9)
	poll := func() {
		in := &workflowservice.PollActivityTaskQueueRequest{TaskQueue: &taskqueue.TaskQueue{Name: "q"}}
		if err := p.intercept(t.Context(), "", in, &workflowservice.PollActivityTaskQueueResponse{}, nil, call); err != nil {
			t.Error(err)
		}
		ended <- struct{}{}
	}
	go poll()
	<-calls
	p.at("q").latest = time.Now() // the worker has work
	left := make(chan func())
	go func() { left <- p.leave([]string{"q"}) }()
	for !p.hasLeft("q") {
		time.Sleep(time.Millisecond)
	}
	go poll()
	done := &workflowservice.RespondWorkflowTaskCompletedRequest{StickyAttributes: &taskqueue.StickyExecutionAttributes{WorkerTaskQueue: &taskqueue.TaskQueue{Name: "own", NormalName: "q"}}}
	if err := p.intercept(t.Context(), "", done, nil, nil, call); err != nil || done.StickyAttributes != nil || <-calls != any(done) {
		t.Errorf("the next decision is asked for at %v: %v", done.StickyAttributes, err)
	}
	select {
	case <-left:
		t.Fatal("the worker stops although its poll is open")
	case <-calls:
		t.Fatal("the worker polls a queue that it has left")
	case <-time.After(2 * quietFor):
	}
	answer <- "task"
	stopped := <-left
	<-ended
	<-ended // the poll that was held
	if stopped(); p.hasLeft("q") || len(calls) > 0 {
		t.Errorf("after the stop the queue is left: %v, and there were %d more calls", p.hasLeft("q"), len(calls))
	}
}
