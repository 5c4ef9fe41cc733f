package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/payload"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of a list of runs.
const (
	// MaxListed is how many runs a list has: the server reads all of them for it.
	MaxListed = 10_000
	pageSize  = 1000
	// maxLooked is how many of the newest runs in a list that have not ended are described one by one, lookers at once: the list of a server says
	// neither that a run waits nor what stops it.
	maxLooked, lookers = 200, 8
	// maxFound is how many runs an ambiguous name lists.
	maxFound = 5
)

// executions are the rows of runs: one of each, because an execution that another one continues is left out.
const executions = "WorkflowType = '" + wire.Workflow + "' AND ExecutionStatus != 'ContinuedAsNew'"

// Served is the Driver of a run from whose queue a worker takes work: workers have no number.
const Served = 1

// Get describes a run.
func (h *Host) Get(ctx context.Context, run string) (engine.Info, error) {
	d, err := h.describe(ctx, run)
	if err != nil {
		return engine.Info{}, err
	}
	i, err := h.infoOf(d.GetWorkflowExecutionInfo())
	if err != nil || i.Status.Terminal() {
		return i, err
	}
	if i.Status = statusOf(d); i.Status == event.Waiting && (len(h.detachedOf(ctx, run)) > 0 || h.hasWorkBelow(ctx, run)) {
		i.Status = event.Running
	}
	queue := queueOf(d)
	served, err := h.isServed(ctx, queue)
	switch {
	case err != nil:
		return i, err
	case served:
		i.Driver = Served
	default:
		i.Last, i.Trouble = i.Created, unserved(queue)
	}
	h.noteFailures(ctx, &i, d)
	return i, nil
}

func queueOf(d *workflowservice.DescribeWorkflowExecutionResponse) string {
	return d.GetExecutionConfig().GetTaskQueue().GetName()
}

// statusOf returns the status of a run that has not ended, without its called runs: as engine.StatusAfter does, and from what the server knows.
func statusOf(d *workflowservice.DescribeWorkflowExecutionResponse) event.Status {
	if d.GetPendingWorkflowTask() != nil {
		return event.Running
	}
	for _, a := range d.GetPendingActivities() {
		if a.GetActivityOptions().GetTaskQueue().GetName() != wire.WatchQueue(queueOf(d)) {
			return event.Running
		}
	}
	return event.Waiting
}

// hasWorkBelow reports whether a run that a run called, directly or not, has a live attempt.
func (h *Host) hasWorkBelow(ctx context.Context, run string) (works bool) {
	var called []string
	_ = h.list(ctx, fmt.Sprintf("ExecutionStatus = 'Running' AND ParentWorkflowId = '%s'", run), func(x *workflowpb.WorkflowExecutionInfo) bool {
		called = append(called, x.GetExecution().GetWorkflowId())
		return len(called) < maxLooked
	}) // without the list, the called runs do not count
	for _, c := range called {
		if d, err := h.describe(ctx, c); err == nil && d.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING &&
			(statusOf(d) == event.Running || len(h.detachedOf(ctx, c)) > 0 || h.hasWorkBelow(ctx, c)) {
			return true
		}
	}
	return false
}

// detachedOf returns the runs that have detached attempts; of a run, itself alone. Without the list, such a run waits.
func (h *Host) detachedOf(ctx context.Context, run string) map[string]bool {
	query := fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", wire.Detached)
	if run != "" {
		query += fmt.Sprintf(" AND ParentWorkflowId = '%s'", run)
	}
	r, err := h.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: h.options.Namespace, Query: query, PageSize: pageSize})
	runs := map[string]bool{}
	for _, x := range r.GetExecutions() {
		if err == nil {
			runs[x.GetParentExecution().GetWorkflowId()] = true
		}
	}
	return runs
}

// noteFailures says what a run misses, and that it does not go on because its workers fail at the same decision.
func (h *Host) noteFailures(ctx context.Context, i *engine.Info, d *workflowservice.DescribeWorkflowExecutionResponse) {
	if i.Driver != 0 {
		i.Trouble = cmp.Or(h.missesPlace(ctx, d), h.missesMemory(ctx, d), h.missesWorker(ctx, d))
	}
	if t := d.GetPendingWorkflowTask(); t.GetAttempt() > 1 {
		if why := h.lastFailure(ctx, i.Run); why != "" || t.GetAttempt() >= stuckAfter {
			i.Trouble = fmt.Sprintf("its workers fail at the same point, %d times so far: %s", t.GetAttempt()-1, cmp.Or(why, "a worker does not answer in time"))
		}
	}
}

// stuckAfter is at which attempt at a decision of a run silence is not an accident any more. A worker reports the first failure alone, and lets
// the time of the others run out.
const stuckAfter = 3

// placeOf returns where the worktree of a run lies.
func (h *Host) placeOf(ctx context.Context, run string) (string, error) {
	d, err := h.describe(ctx, run)
	if err != nil {
		return "", err
	}
	s, err := h.summaryOf(d.GetWorkflowExecutionInfo().GetMemo())
	return s.Place, err
}

// missesPlace says that no worker has the worktree in which a run works; "" if one has it, or the run has none.
func (h *Host) missesPlace(ctx context.Context, d *workflowservice.DescribeWorkflowExecutionResponse) string {
	s, err := h.summaryOf(d.GetWorkflowExecutionInfo().GetMemo())
	if err != nil || s.Place == "" {
		return ""
	}
	if names, err := h.pollersOf(ctx, wire.PlaceQueue(s.Place), enums.TASK_QUEUE_TYPE_ACTIVITY); err != nil || len(names) > 0 {
		return ""
	}
	return "its worktree is in " + s.Place + noStore
}

const noStore = ", and no worker has that store: start one in a workspace of it"

// noticed is how long an attempt waits before a person is told that no worker is there for it.
const noticed = 5 * time.Second

// missesWorker says for which attempt of a run no worker is there, though one makes the decisions of the run; "" if there is none.
func (h *Host) missesWorker(ctx context.Context, d *workflowservice.DescribeWorkflowExecutionResponse) string {
	looked := map[string]bool{}
	for _, a := range d.GetPendingActivities() {
		queue := a.GetActivityOptions().GetTaskQueue().GetName()
		if looked[queue] || a.GetState() != enums.PENDING_ACTIVITY_STATE_SCHEDULED || time.Since(a.GetScheduledTime().AsTime()) < noticed {
			continue
		}
		looked[queue] = true
		if names, err := h.pollersOf(ctx, queue, enums.TASK_QUEUE_TYPE_ACTIVITY); err != nil || len(names) > 0 {
			continue
		}
		if place, is := strings.CutPrefix(queue, wire.PlaceQueue("")); is {
			return "a step waits for a worktree in " + place + noStore
		}
		if queue, is := strings.CutSuffix(queue, wire.WatchQueue("")); is {
			return fmt.Sprintf("a step waits for news of a source: no worker of the queue %s watches sources, start one", queue)
		}
		return fmt.Sprintf("a step waits: no worker of the queue %s takes attempts, start one", queue)
	}
	return ""
}

// unservedBy begins the trouble of a run whose queue no worker serves.
const unservedBy = "no worker takes work from the queue "

func unserved(queue string) string { return unservedBy + queue }

// UnservedQueue returns the queue of a run for which no worker is there; "" if that is not its trouble.
func UnservedQueue(i *engine.Info) string {
	if queue, is := strings.CutPrefix(i.Trouble, unservedBy); is && i.Driver == 0 {
		return queue
	}
	return ""
}

// lastFailure returns why the decision failed that a run is about to make, as its history has it; "" if it does not.
func (h *Host) lastFailure(ctx context.Context, run string) (why string) {
	r, err := h.client.WorkflowService().GetWorkflowExecutionHistoryReverse(ctx, &workflowservice.GetWorkflowExecutionHistoryReverseRequest{
		Namespace: h.options.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: run}, MaximumPageSize: 20})
	if err != nil {
		return ""
	}
	for _, e := range r.GetHistory().GetEvents() {
		if f := e.GetWorkflowTaskFailedEventAttributes(); f != nil {
			return cmp.Or(f.GetFailure().GetMessage(), f.GetCause().String())
		}
		if e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			return "" // what failed before it is over
		}
	}
	return ""
}

// infoOf describes an execution, which is the newest one of its run. It does not say who drives it.
func (h *Host) infoOf(x *workflowpb.WorkflowExecutionInfo) (engine.Info, error) {
	s, err := h.summaryOf(x.GetMemo())
	if err != nil {
		return engine.Info{}, fmt.Errorf("run %s: %w", x.GetExecution().GetWorkflowId(), err)
	}
	i := engine.Info{Run: x.GetExecution().GetWorkflowId(), Workflow: s.Workflow, Definition: s.Definition, Created: s.Created, Ended: s.Ended, Events: s.Events,
		Status: s.Status, Parent: s.Parent, ParentNode: s.ParentNode, RetryOf: s.RetryOf}
	if len(s.End) > 0 {
		_ = json.Unmarshal(s.End, &i.Summary) // without it the list only says less
	}
	switch x.GetStatus() {
	case enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		i.Status, i.Ended = event.Running, 0
	case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		if i.Status == "" {
			i.Status = event.Succeeded
		}
	default: // the server ended it, or somebody with another program
		i.Status = event.FailedS
		if x.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_CANCELED || x.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_TERMINATED {
			i.Status = event.Cancelled
		}
		i.Trouble = fmt.Sprintf("the server ended the run before its journal did: its workflow is %s", strings.ToLower(x.GetStatus().String()))
		i.Summary.Error = &event.Error{Kind: event.Fatal, Reason: event.ReasonLost, ExitCode: -1, Message: i.Trouble}
	}
	if i.Status.Terminal() && i.Ended == 0 {
		i.Ended = event.At(x.GetCloseTime().AsTime())
	}
	return i, nil
}

// unreadable describes an execution whose memo cannot be read, by what the server knows of it.
func unreadable(x *workflowpb.WorkflowExecutionInfo, why error) engine.Info {
	i := engine.Info{Run: x.GetExecution().GetWorkflowId(), Workflow: "?", Created: event.At(x.GetStartTime().AsTime()), Status: event.Running}
	i.Trouble = strings.TrimPrefix(why.Error(), "run "+i.Run+": ")
	if x.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		i.Status, i.Ended = event.FailedS, event.At(x.GetCloseTime().AsTime())
		i.Summary.Error = &event.Error{Kind: event.Fatal, Reason: event.ReasonLost, ExitCode: -1, Message: i.Trouble}
	}
	return i
}

// summaryOf reads the memo of a run.
func (h *Host) summaryOf(m *commonpb.Memo) (s wire.Summary, err error) {
	p := m.GetFields()[wire.Memo]
	if p == nil {
		return s, errors.New("it has no memo of flowrun")
	}
	var b []byte
	if err := h.converter().FromPayload(p, &b); err != nil {
		return s, err
	}
	return s, wire.Decode(b, &s)
}

// list calls each with the runs that a condition of the server's selects, until each returns false.
func (h *Host) list(ctx context.Context, condition string, each func(*workflowpb.WorkflowExecutionInfo) bool) error {
	query := executions
	if condition != "" {
		query += " AND " + condition
	}
	for next := []byte(nil); ; {
		r, err := h.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: h.options.Namespace, Query: query, PageSize: pageSize, NextPageToken: next})
		if err != nil {
			return err
		}
		for _, x := range r.GetExecutions() {
			if !each(x) {
				return nil
			}
		}
		if next = r.GetNextPageToken(); len(next) == 0 {
			return nil
		}
	}
}

// infos lists runs, newest first, and says which are served.
func (h *Host) infos(ctx context.Context, condition string) (list []engine.Info, err error) {
	served := map[string]bool{}
	err2 := h.list(ctx, condition, func(x *workflowpb.WorkflowExecutionInfo) bool {
		i, bad := h.infoOf(x)
		if bad != nil {
			i = unreadable(x, bad)
		}
		if !i.Status.Terminal() {
			queue := x.GetTaskQueue()
			is, known := served[queue]
			if !known {
				is, bad = h.isServed(ctx, queue)
				if bad != nil {
					err = bad
					return false
				}
				served[queue] = is
			}
			if is {
				i.Driver = Served
			} else {
				i.Last, i.Trouble = i.Created, cmp.Or(i.Trouble, unserved(queue))
			}
		}
		list = append(list, i)
		return len(list) < MaxListed
	})
	if err = cmp.Or(err2, err); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b engine.Info) int { return cmp.Compare(b.Created, a.Created) })
	for i := range list {
		if list[i].RetryOf == "" {
			continue
		}
		if at := slices.IndexFunc(list, func(o engine.Info) bool { return o.Run == list[i].RetryOf }); at >= 0 && list[at].RetriedBy == "" {
			list[at].RetriedBy = list[i].Run
		}
	}
	return list, nil
}

// List returns the runs, newest first; limit 0 means all, [MaxListed] at most. A run that has just started is missing for a moment, because
// servers list runs a moment later.
func (h *Host) List(ctx context.Context, limit int) ([]engine.Info, error) {
	list, err := h.infos(ctx, "")
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	var open []*engine.Info
	for i := range list {
		if !list[i].Status.Terminal() && len(open) < maxLooked {
			open = append(open, &list[i])
		}
	}
	var all sync.WaitGroup
	for n := range lookers {
		all.Go(func() {
			for i := n; i < len(open); i += lookers {
				d, err := h.describe(ctx, open[i].Run)
				if err != nil || d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
					continue // of a run that is gone meanwhile, or ends, the row stays
				}
				open[i].Status = statusOf(d)
				h.noteFailures(ctx, open[i], d)
			}
		})
	}
	all.Wait()
	detached := h.detachedOf(ctx, "")
	for _, i := range open {
		if i.Status == event.Waiting && detached[i.Run] {
			i.Status = event.Running
		}
	}
	raiseCallers(list)
	return list, err
}

// raiseCallers says of runs that wait that they run, if a run works that they called, directly or not.
func raiseCallers(list []engine.Info) {
	at := map[string]*engine.Info{}
	for i := range list {
		at[list[i].Run] = &list[i]
	}
	for i := range list {
		if list[i].Status != event.Running {
			continue
		}
		for up := at[list[i].Parent]; up != nil && up.Status == event.Waiting; up = at[up.Parent] {
			up.Status = event.Running
		}
	}
}

// Find returns the run that a person means; see [engine.Finder].
func (h *Host) Find(ctx context.Context, name string) (engine.Info, error) {
	id := strings.ToLower(name)
	if engine.CheckID(id) == nil {
		if i, err := h.Get(ctx, id); !errors.Is(err, engine.ErrNoRun) {
			return i, err
		}
	}
	list, err := h.infos(ctx, "")
	if err != nil {
		return engine.Info{}, err
	}
	for _, i := range list {
		if i.Parent == "" && (name == "latest" || i.Workflow == name) {
			return h.Get(ctx, i.Run)
		}
	}
	many := &engine.Ambiguous{Name: name}
	for _, i := range list {
		if id != "" && strings.HasPrefix(i.Run, id) && len(many.Runs) < maxFound {
			many.Runs = append(many.Runs, i.Run)
		}
	}
	switch len(many.Runs) {
	case 0:
		return engine.Info{}, fmt.Errorf("%w: %s", engine.ErrNoRun, name)
	case 1:
		return h.Get(ctx, many.Runs[0])
	}
	return engine.Info{}, many
}

// Tree returns a run and all runs that it called, directly or not, callers first.
func (h *Host) Tree(ctx context.Context, run string) ([]engine.Info, error) {
	root, err := h.Get(ctx, run)
	if err != nil {
		return nil, err
	}
	tree := []engine.Info{root}
	for n := 0; n < len(tree); n++ {
		below, err := h.infos(ctx, fmt.Sprintf("ParentWorkflowId = '%s'", tree[n].Run))
		if err != nil {
			return nil, err
		}
		slices.Reverse(below) // in the order of their starts
		tree = append(tree, below...)
	}
	return tree, nil
}

// isServed reports whether a worker takes work from a queue. A worker that was killed counts for up to a minute.
func (h *Host) isServed(ctx context.Context, queue string) (bool, error) {
	pollers, err := h.pollers(ctx, queue)
	return len(pollers) > 0, err
}

// pollers are the workers of a queue, by the names that they give the server.
func (h *Host) pollers(ctx context.Context, queue string) (names []string, err error) {
	return h.pollersOf(ctx, queue, enums.TASK_QUEUE_TYPE_WORKFLOW)
}

func (h *Host) pollersOf(ctx context.Context, queue string, kind enums.TaskQueueType) (names []string, err error) {
	q, err := h.client.DescribeTaskQueue(ctx, queue, kind)
	for _, p := range q.GetPollers() {
		if time.Since(p.GetLastAccessTime().AsTime()) < polled {
			names = append(names, p.GetIdentity())
		}
	}
	slices.Sort(names)
	return names, err
}

// Workers are the names of the workers of the host's queue.
func (h *Host) Workers(ctx context.Context) ([]string, error) { return h.pollers(ctx, h.options.Queue) }

// MaxExamined is how many runs that have not ended are examined one by one.
const MaxExamined = 200

// Troubled returns the runs that do not go on, newest first: of the newest [MaxExamined] runs that have not ended.
func (h *Host) Troubled(ctx context.Context) (list []engine.Info, err error) {
	open, err := h.infos(ctx, "ExecutionStatus = 'Running'")
	for _, i := range open[:min(len(open), MaxExamined)] {
		if err != nil {
			return nil, err
		}
		now, bad := h.Get(ctx, i.Run)
		switch {
		case errors.Is(bad, payload.ErrKey) || errors.Is(bad, wire.ErrVersion):
			list = append(list, i) // its row says so
		case bad != nil:
			err = bad
		case now.Trouble != "" && !now.Status.Terminal():
			list = append(list, now)
		}
	}
	return list, err
}

// checkPayloads refuses to serve a queue whose runs have payloads that this process cannot read. A reader that is asked for
// them would say the same.
func (h *Host) checkPayloads(ctx context.Context) (err error) {
	n := 0
	err2 := h.list(ctx, fmt.Sprintf("TaskQueue = '%s'", h.options.Queue), func(x *workflowpb.WorkflowExecutionInfo) bool {
		if _, bad := h.summaryOf(x.GetMemo()); errors.Is(bad, payload.ErrKey) {
			err = bad
			return false
		}
		n++
		return n < pageSize
	})
	return cmp.Or(err, err2)
}
