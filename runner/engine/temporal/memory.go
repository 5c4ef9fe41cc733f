package temporal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/share"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
)

// The memory of runs is a file of one machine. Its workers take work from a queue of their own: questions of attempts and of persons, the attempts
// of steps that write to the memory or search it, and the runs that it learns from.

// Answer answers a question to a worker: what is asked, on behalf of a run, or "" for a person.
type Answer func(ctx context.Context, what, run string, body []byte) ([]byte, error)

// MemoryOptions are the memory that a worker serves.
type MemoryOptions struct {
	// Folder is where it lies, absolute. Workers of one folder serve one memory, and workers of several folders are refused.
	Folder string
	Answer Answer
	// Learn learns from a run that has ended, or is about to.
	Learn func(ctx context.Context, run string) error
}

// ErrNoMemory says that no worker has answered a question to the memory.
var ErrNoMemory = errors.New("no worker serves the memory")

// memorySlots is how many questions a worker answers at once, and from how many runs it learns.
const memorySlots = 16

// maxAsked bounds a question to a worker, and an answer.
const maxAsked = wire.MaxPayload

// startMemory begins to serve a memory, unless another one is served.
func (h *Host) startMemory(ctx context.Context, x *work.Worker, o *MemoryOptions, fatal func(error)) (worker.Worker, error) {
	tag := memoryTag(o.Folder)
	served, err := h.MemoryWorkers(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range served {
		if !strings.HasSuffix(name, tag) {
			return nil, fmt.Errorf("the worker %s serves the memory of another folder, and all runs use one memory: stop that worker first, or use the folder of its machine.\nA worker that was killed counts for up to a minute", name)
		}
	}
	w := worker.New(h.client, wire.MemoryQueue(h.options.Store), worker.Options{Identity: nameOfProcess() + tag,
		MaxConcurrentActivityExecutionSize: memorySlots, MaxConcurrentLocalActivityExecutionSize: memorySlots,
		MaxHeartbeatThrottleInterval: time.Second, DefaultHeartbeatThrottleInterval: time.Second, WorkerStopTimeout: engine.DefaultStopGrace, OnFatalError: fatal})
	w.RegisterWorkflowWithOptions(share.Question, workflow.RegisterOptions{Name: wire.Question})
	w.RegisterWorkflowWithOptions(share.LearnFrom, workflow.RegisterOptions{Name: wire.Learn})
	w.RegisterActivityWithOptions(o.Answer.respond, activity.RegisterOptions{Name: wire.Answering})
	w.RegisterActivityWithOptions(func(ctx context.Context, run string) error {
		ctx, cancel := beat(ctx)
		defer cancel()
		return o.Learn(ctx, run)
	}, activity.RegisterOptions{Name: wire.LearnRun})
	w.RegisterActivityWithOptions(x.Attempt, activity.RegisterOptions{Name: wire.MemoryAttempt})
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("the queue %s: %w", wire.MemoryQueue(h.options.Store), err)
	}
	return w, nil
}

// memoryTag ends the name of a worker that serves the memory of a folder.
func memoryTag(folder string) string {
	host, _ := os.Hostname() // "" is the same for all processes of a machine
	sum := sha256.Sum256([]byte(host + "\x00" + folder))
	return " memory " + hex.EncodeToString(sum[:4])
}

func nameOfProcess() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%d@%s", os.Getpid(), cmp.Or(host, "unknown"))
}

// respond answers a question. The server ends a question that nobody waits for any more.
func (answer Answer) respond(ctx context.Context, packed []byte) ([]byte, error) {
	var ask wire.Inquiry
	if err := wire.Decode(packed, &ask); err != nil {
		return nil, err
	}
	var told wire.Response
	body, err := answer(ctx, ask.What, ask.Run, ask.Body)
	if told.Body = body; err != nil {
		told = wire.Response{Error: err.Error()}
	}
	packed, err = wire.Encode(&told)
	if err == nil && len(packed) > maxAsked {
		return wire.Encode(&wire.Response{Error: fmt.Sprintf("the answer has %d bytes, compressed, and %d can be sent: ask on the machine of the worker", len(packed), maxAsked)})
	}
	return packed, err
}

// AskMemory asks the memory a question. ctx bounds the wait, and must have a deadline. The error is ErrNoMemory if no worker answers by then.
func (h *Host) AskMemory(ctx context.Context, what, run string, body []byte) ([]byte, error) {
	answer, err := h.inquire(ctx, wire.MemoryQueue(h.options.Store), what, run, body)
	if err == errSilent {
		err = ErrNoMemory
	}
	return answer, err
}

// AskWorker asks a worker of the queue of the host a question, for a person. ctx is that of AskMemory.
func (h *Host) AskWorker(ctx context.Context, what string, body []byte) ([]byte, error) {
	answer, err := h.inquire(ctx, h.options.Queue, what, "", body)
	if err == errSilent {
		err = errors.New(unserved(h.options.Queue))
	}
	return answer, err
}

var errSilent = errors.New("no worker answers")

func (h *Host) inquire(ctx context.Context, queue, what, run string, body []byte) ([]byte, error) {
	by, bounded := ctx.Deadline()
	if !bounded {
		return nil, errors.New("a question without a deadline")
	}
	ask, err := wire.Encode(&wire.Inquiry{What: what, Run: run, Body: body})
	if err != nil {
		return nil, err
	}
	if len(ask) > maxAsked {
		return nil, fmt.Errorf("the question has %d bytes, compressed, and %d can be sent", len(ask), maxAsked)
	}
	r, err := h.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "question/" + engine.NewID(), TaskQueue: queue,
		WorkflowExecutionTimeout: max(time.Until(by), time.Second)}, wire.Question, ask)
	var packed []byte
	var told wire.Response
	if err == nil {
		err = r.Get(ctx, &packed)
	}
	if err == nil {
		err = wire.Decode(packed, &told)
	}
	switch {
	case ctx.Err() != nil && context.Cause(ctx) != context.DeadlineExceeded:
		return nil, context.Cause(ctx)
	case ctx.Err() != nil, errors.As(err, new(*serviceerror.DeadlineExceeded)), err != nil && time.Until(by) < time.Second:
		return nil, errSilent
	case err != nil:
		return nil, err
	case told.Error != "":
		return nil, errors.New(told.Error)
	}
	return told.Body, nil
}

// MemoryWorkers are the names of the workers that serve the memory.
func (h *Host) MemoryWorkers(ctx context.Context) ([]string, error) {
	return h.pollers(ctx, wire.MemoryQueue(h.options.Store))
}

// Unlearned is how many runs that have ended wait for the memory to learn from them.
func (h *Host) Unlearned(ctx context.Context) (int64, error) {
	r, err := h.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: h.options.Namespace,
		Query: fmt.Sprintf("WorkflowType = '%s' AND TaskQueue = '%s' AND ExecutionStatus = 'Running'", wire.Learn, wire.MemoryQueue(h.options.Store))})
	return r.GetCount(), err
}

// missesMemory says what a run misses that uses the memory while no worker serves it; "" if it misses nothing.
func (h *Host) missesMemory(ctx context.Context, d *workflowservice.DescribeWorkflowExecutionResponse) string {
	s, err := h.summaryOf(d.GetWorkflowExecutionInfo().GetMemo())
	if err != nil || !s.Memory {
		return ""
	}
	if names, err := h.MemoryWorkers(ctx); err != nil || len(names) > 0 {
		return ""
	}
	for _, a := range d.GetPendingActivities() {
		if a.GetActivityType().GetName() == wire.MemoryAttempt && a.GetState() == enums.PENDING_ACTIVITY_STATE_SCHEDULED {
			return "a step waits for the memory: " + ErrNoMemory.Error()
		}
	}
	return "agents work without learnings: " + ErrNoMemory.Error()
}
