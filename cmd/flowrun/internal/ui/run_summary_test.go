package ui

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// A summary keeps within its bound, counts what it leaves out, and says nothing where nothing fits; a report shows so much of what was
// written and no more.
func TestReportsOnRunsAreBounded(t *testing.T) {
	r := view.New(nil)
	re := &event.Reaction{}
	for i := range 500 {
		re.Transitions = append(re.Transitions, event.Transition{Node: fmt.Sprintf("n%d", i), Name: "n", To: event.FailedS,
			Result: &event.Result{ExitCode: 1, Stderr: strings.Repeat("x", MaxCaseOut+1), Error: &event.Error{Kind: "fatal", Reason: event.ReasonExit, Message: "<b>"}}})
	}
	r.Apply([]event.Event{{Seq: 1, At: 1, RunStarted: &event.RunStarted{Run: "aaaaaaaaaaaa", Workflow: "w"}}}, re)
	for _, most := range []int{0, 100, 1000, 20_000, MaxSummaryBytes} {
		text := RunSummary(r, Scene{}, 1, most)
		if len(text) > most || most >= 1000 && !strings.Contains(text, "### flowrun: w") || strings.Contains(text, "<b>") {
			t.Errorf("%d bytes of %d:\n%.300s", len(text), most, text)
		}
		if most == 20_000 && !strings.Contains(text, " more.") {
			t.Errorf("it does not say that it is cut:\n%s", text[len(text)-300:])
		}
	}
	var b bytes.Buffer
	if err := RunJUnit(&b, r, Scene{}, 1); err != nil || strings.Count(b.String(), "<testcase") != 500 {
		t.Error(err)
	}
	if n := b.Len(); n > 500*(2*MaxCaseOut) || !strings.Contains(b.String(), "[the end]") {
		t.Errorf("%d bytes", n)
	}
}
