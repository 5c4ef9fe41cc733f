package temporal

import (
	"testing"
	"time"

	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
)

// The row of a run says how the run stands: by its memo where the run has told, and by the server where it could not.
func TestInfo(t *testing.T) {
	h := &Host{}
	closed := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	of := func(s wire.Summary, status enums.WorkflowExecutionStatus) engine.Info {
		t.Helper()
		memo, err := wire.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.converter().ToPayload(memo)
		if err != nil {
			t.Fatal(err)
		}
		i, err := h.infoOf(&workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: "abc"}, Status: status,
			Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{wire.Memo: p}}, CloseTime: timestamppb.New(closed)})
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	begun := wire.Summary{Workflow: "w", Created: 5, Parent: "p", ParentNode: "n", RetryOf: "r"}
	ended := begun
	ended.Status, ended.Ended, ended.Events = event.FailedS, 7, 3
	ended.End = engine.EncodeSummary(&event.End{Status: event.FailedS, Error: &event.Error{Node: "a", Message: "no"}})
	if i := of(begun, enums.WORKFLOW_EXECUTION_STATUS_RUNNING); i.Status != event.Running || i.Run != "abc" || i.Workflow != "w" || i.Parent != "p" || i.ParentNode != "n" || i.RetryOf != "r" || i.Ended != 0 || i.Trouble != "" {
		t.Errorf("a run that goes on is %+v", i)
	}
	if i := of(ended, enums.WORKFLOW_EXECUTION_STATUS_COMPLETED); i.Status != event.FailedS || i.Ended != 7 || i.Events != 3 || i.Summary.Error == nil || i.Summary.Error.Message != "no" || i.Trouble != "" {
		t.Errorf("a run that has failed is %+v", i)
	}
	for status, want := range map[enums.WorkflowExecutionStatus]event.Status{
		enums.WORKFLOW_EXECUTION_STATUS_TERMINATED: event.Cancelled, enums.WORKFLOW_EXECUTION_STATUS_FAILED: event.FailedS, enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT: event.FailedS,
	} {
		if i := of(begun, status); i.Status != want || i.Ended != event.At(closed) || i.Trouble == "" || i.Summary.Error == nil {
			t.Errorf("a run that the server ended as %s is %+v", status, i)
		}
	}
	if _, err := h.infoOf(&workflowpb.WorkflowExecutionInfo{}); err == nil {
		t.Error("a workflow without a memo of flowrun is taken for a run")
	}
}

// A run works while the server has a decision or an attempt of it, but for watches of sources. A caller works while a called run does.
func TestStatusOfOpenRuns(t *testing.T) {
	describe := func(change func(*workflowservice.DescribeWorkflowExecutionResponse)) event.Status {
		d := &workflowservice.DescribeWorkflowExecutionResponse{ExecutionConfig: &workflowpb.WorkflowExecutionConfig{TaskQueue: &taskqueuepb.TaskQueue{Name: "q"}}}
		change(d)
		return statusOf(d)
	}
	activity := func(queue string) func(d *workflowservice.DescribeWorkflowExecutionResponse) {
		return func(d *workflowservice.DescribeWorkflowExecutionResponse) {
			d.PendingActivities = append(d.PendingActivities, &workflowpb.PendingActivityInfo{ActivityOptions: &activitypb.ActivityOptions{TaskQueue: &taskqueuepb.TaskQueue{Name: queue}}})
		}
	}
	for name, c := range map[string]struct {
		change func(*workflowservice.DescribeWorkflowExecutionResponse)
		want   event.Status
	}{
		"nothing":    {func(*workflowservice.DescribeWorkflowExecutionResponse) {}, event.Waiting},
		"an attempt": {activity("q"), event.Running},
		"a watch":    {activity("q/watch"), event.Waiting},
		"an errand":  {activity("share/flowrun"), event.Running},
		"a decision": {func(d *workflowservice.DescribeWorkflowExecutionResponse) {
			d.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{}
		}, event.Running},
	} {
		if got := describe(c.change); got != c.want {
			t.Errorf("with %s, a run is %s, not %s", name, got, c.want)
		}
	}
	list := []engine.Info{{Run: "c", Parent: "b", Status: event.Running}, {Run: "b", Parent: "a", Status: event.Waiting}, {Run: "a", Status: event.Waiting}, {Run: "x", Status: event.Waiting},
		{Run: "z", Parent: "y", Status: event.Succeeded}, {Run: "y", Status: event.Waiting}}
	raiseCallers(list)
	for i, want := range []event.Status{event.Running, event.Running, event.Running, event.Waiting, event.Succeeded, event.Waiting} {
		if list[i].Status != want {
			t.Errorf("run %s is %s, not %s", list[i].Run, list[i].Status, want)
		}
	}
}
