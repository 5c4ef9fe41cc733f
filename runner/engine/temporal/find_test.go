package temporal

import (
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
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
