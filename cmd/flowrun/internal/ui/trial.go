package ui

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Trial shows one call of an agent: what goes over the wire, line by line, and then the answer.
type Trial struct {
	Out  *Term
	JSON bool // all of it as one object at the end

	lines []wireLine
	part  string // of the line before
}

type wireLine struct {
	Sent bool   `json:"sent"`
	Part string `json:"part"`
	Text string `json:"text"`
}

// maxTrialLines is how many lines of the wire are kept for JSON.
const maxTrialLines = 10_000

// Line shows a line of the wire.
func (t *Trial) Line(sent bool, part, text string) {
	if t.JSON {
		if len(t.lines) < maxTrialLines {
			t.lines = append(t.lines, wireLine{sent, part, text})
		}
		return
	}
	arrow := "<"
	if sent {
		arrow = ">"
	}
	if side := arrow + part; side != t.part {
		t.part = side
		t.Out.Printf("%s\n", t.Out.Style(bold, part))
	}
	t.Out.Printf("%s %s\n", arrow, Clean(text))
}

// End shows the answer.
func (t *Trial) End(ans *event.AttemptFinished, took time.Duration) error {
	if t.JSON {
		lines := t.lines
		if lines == nil {
			lines = []wireLine{}
		}
		return WriteJSON(t.Out, struct {
			Outcome event.Outcome   `json:"outcome"`
			Output  json.RawMessage `json:"output"`
			Error   *event.Error    `json:"error"`
			Usage   *event.Usage    `json:"usage"`
			Seconds float64         `json:"seconds"`
			Wire    []wireLine      `json:"wire"`
		}{ans.Outcome, value.Append(nil, ans.Output), ans.Error, ans.Usage, took.Round(time.Millisecond).Seconds(), lines})
	}
	if t.part != "" {
		t.Out.Printf("\n")
	}
	switch e := ans.Error; {
	case e != nil:
		kind := string(e.Kind)
		if e.Reason != "" {
			kind += ", reason " + string(e.Reason)
		}
		t.Out.Printf("failed after %s: %s\n  %s\n", Duration(took), kind, Clean(e.Message))
		if e.RetryAfter > 0 {
			t.Out.Printf("  it can be asked again in %s\n", Duration(time.Duration(e.RetryAfter*float64(time.Second))))
		}
	default:
		t.Out.Printf("answered in %s\n  output: %s\n", Duration(took), Clean(string(value.Append(nil, ans.Output))))
	}
	if u := ans.Usage; u != nil {
		text := fmt.Sprintf("%d input tokens, %d output tokens", u.InputTokens, u.OutputTokens)
		if u.CostUSD > 0 {
			text += fmt.Sprintf(", %s dollars", value.AppendNumber(nil, u.CostUSD))
		}
		t.Out.Printf("  used: %s\n", text)
	}
	if ans.Warning != "" {
		t.Out.Printf("  warning: %s\n", Clean(ans.Warning))
	}
	return nil
}
