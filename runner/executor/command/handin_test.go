package command

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/protocol"
)

// What an agent has given when its time is up stands in the answer, which is a timeout all the same.
func TestTimeoutKeepsWhatThereIs(t *testing.T) {
	for _, c := range []struct{ about, said, format, want string }{
		{"the last partial output", `{"type":"partial","output":1}` + "\n" + `{"type":"partial","output":{"n":2}}` + "\n", "", `{"n":2}`},
		{"a result within the grace", `{"type":"partial","output":1}` + "\n" + `{"type":"result","output":"all"}` + "\n", "", `"all"`},
		{"an error within the grace", `{"type":"partial","output":1}` + "\n" + `{"type":"error","message":"no"}` + "\n", "", `1`},
		{"two last words", `{"type":"result","output":1}` + "\n" + `{"type":"result","output":2}` + "\n", "", `null`},
		{"nothing", `{"type":"heartbeat"}` + "\n", "", `null`},
		{"plain text", "half of it\n", "text", `"half of it"`},
		{"no text", "\n", "text", `null`},
	} {
		out := &capture{limit: limits.MaxOutput}
		var said *protocol.Lines
		if c.format == "" {
			said = &protocol.Lines{Live: func(string, string) {}}
			said.Write([]byte(c.said))
		}
		out.write([]byte(c.said))
		ans := &event.AttemptFinished{}
		judgeAgent(&event.Attempt{Timeout: time.Second, Agent: &event.AgentRequest{OutputFormat: c.format}}, ans, ended{why: timedOut}, out, said)
		if got := string(value.Append(nil, ans.Partial)); got != c.want || ans.Outcome != event.Failed || ans.Error.Reason != event.ReasonTimeout {
			t.Errorf("%s: %s, %s, %+v; want %s", c.about, got, ans.Outcome, ans.Error, c.want)
		}
	}
}
