package protocol

import (
	"fmt"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// The lines are what claude 2.1.197, codex-cli 0.169 and gemini-cli 0.61 printed when a stub answered so; the limits of plans are in the words
// that these programs have for them.
func TestAssistantsReport(t *testing.T) {
	now := time.Date(2026, 1, 31, 19, 25, 30, 0, time.UTC)
	claude := func(status, stop, text string) string {
		return fmt.Sprintf(`{"type":"result","subtype":"success","is_error":true,"api_error_status":%s,"num_turns":1,"result":%q,"stop_reason":%q,"session_id":"s","total_cost_usd":0,"usage":{"input_tokens":11,"output_tokens":5}}`+"\n", status, text, stop)
	}
	codex := func(text string) string {
		return `{"type":"thread.started","thread_id":"t1"}` + "\n" + `{"type":"turn.started"}` + "\n" + fmt.Sprintf(`{"type":"turn.failed","error":{"message":%q}}`, text) + "\n"
	}
	gemini := func(kind, text string) string {
		return fmt.Sprintf("{\n  \"session_id\": \"s\",\n  \"response\": \"\",\n  \"stats\": {\"models\": {\"a\": {\"tokens\": {\"prompt\": 44, \"candidates\": 0}}}},\n  \"error\": {\"type\": %q, \"message\": %q}\n}\n", kind, text)
	}
	for _, c := range []struct{ name, said, want string }{
		{"claude refuses", claude("null", "refusal", "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy."), "blocking refusal 0"},
		{"claude's key", claude("401", "stop_sequence", "Invalid API key · Fix external API key"), "blocking agent 0"},
		{"claude's limit", claude("429", "stop_sequence", "API Error: Request rejected (429) · Rate limit reached. Please try again in 3s."), "rate_limited agent 3"},
		{"claude's limit without a moment", claude("429", "stop_sequence", "API Error: Request rejected (429) · Number of requests has exceeded your limit"), "rate_limited agent 0"},
		{"claude's plan", claude("null", "stop_sequence", "Claude AI usage limit reached|1769889330"), "rate_limited agent 1800"},
		{"claude's plan by the clock", claude("429", "stop_sequence", "You've hit your limit · resets 9pm (Europe/Berlin)"), "rate_limited agent 2130"},
		{"claude's plan by the clock of tomorrow", claude("429", "stop_sequence", "You've hit your limit · resets 8am (Europe/Berlin)"), "rate_limited agent 41730"},
		{"claude's server", claude("500", "stop_sequence", "API Error: 500 Internal. This is a server-side issue, usually temporary — try again in a moment."), "transient agent 0"},
		{"claude is overloaded", claude("529", "stop_sequence", "API Error: Repeated 529 Overloaded errors"), "rate_limited agent 0"},
		{"claude's credit", claude("400", "stop_sequence", "Credit balance is too low"), "blocking agent 0"},
		{"claude is not logged in", claude("null", "stop_sequence", "Not logged in · Please run /login"), "blocking agent 0"},
		{"claude fails", claude("null", "stop_sequence", "the tests of /login fail"), "recoverable agent 0"},
		{"codex's limit", codex("exceeded retry limit, last status: 429 Too Many Requests"), "rate_limited agent 0"},
		{"codex's plan", codex("You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at 8:55 PM."), "rate_limited agent 5430"},
		{"codex's plan in this minute", codex("You’ve hit your usage limit. Try again at 7:25 PM."), "rate_limited agent 30"},
		{"codex's plan in days", codex("You’ve hit your usage limit. Try again at Feb 2nd, 2026 7:25 PM."), "rate_limited agent 172830"},
		{"codex's plan in the past", codex("You’ve hit your usage limit. Try again at Jan 2nd, 2026 7:25 PM."), "rate_limited agent 0"},
		{"codex's plan in an odd zone", codex("You’ve hit your usage limit. Try again at 7:25 PM (Nowhere/Else)."), "rate_limited agent 0"},
		{"codex's key", codex("unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1:8791/v1/responses"), "blocking agent 0"},
		{"codex's server", codex("We’re currently experiencing high demand, which may cause temporary errors."), "transient agent 0"},
		{"codex refuses", `{"type":"thread.started","thread_id":"t1"}` + "\n" + `{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found."}}` + "\n" +
			`{"type":"turn.completed","usage":{"input_tokens":11,"output_tokens":5}}` + "\n", "recoverable agent 0"},
		{"gemini blocks", gemini("INVALID_STREAM", "The model response was blocked due to safety settings."), "blocking content_filter 0"},
		{"gemini breaks off", gemini("INVALID_STREAM", "The stream ended without a finish reason."), "recoverable agent 0"},
	} {
		l := &Lines{Live: func(string, string) {}, Now: func() time.Time { return now }, Zone: time.LoadLocation}
		l.Write([]byte(c.said))
		e := l.End()
		if e == nil {
			t.Errorf("%s: no error", c.name)
		} else if got := fmt.Sprintf("%s %s %v", e.Kind, e.Reason, e.RetryAfter); got != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, got, c.want, e.Message)
		}
	}
	for _, c := range []struct{ name, said, want, message string }{
		{"gemini's limit", "{\n  \"session_id\": \"s\",\n  \"error\": {\n    \"type\": \"Error\",\n    \"message\": \"Quota exceeded. Please retry in 3s.\\nSuggested retry after 3s.\",\n    \"code\": 429\n  }\n}\n", "rate_limited agent 3", "Quota exceeded. Please retry in 3s.\nSuggested retry after 3s."},
		{"gemini's day", "{\n  \"session_id\": \"s\",\n  \"error\": {\"type\": \"Error\", \"message\": \"You have exhausted your capacity on this model. Your quota will reset after 18h31m44s.\", \"code\": 429}\n}\n", "rate_limited agent 66704", ""},
		{"gemini's key", "{\n  \"session_id\": \"s\",\n  \"error\": {\"type\": \"Error\", \"message\": \"{\\\"error\\\":{\\\"code\\\":400,\\\"message\\\":\\\"API key not valid. Please pass a valid API key.\\\"}}\", \"code\": 400}\n}\n", "blocking agent 0", "API key not valid. Please pass a valid API key."},
		{"gemini's server", "{\n  \"session_id\": \"s\",\n  \"error\": {\"type\": \"Error\", \"message\": \"{\\\"type\\\":\\\"error\\\",\\\"error\\\":{\\\"type\\\":\\\"api_error\\\",\\\"message\\\":\\\"Internal\\\"}}\", \"code\": 500}\n}\n", "transient agent 0", "Internal"},
		{"gemini's request", "{\n  \"session_id\": \"s\",\n  \"error\": {\"type\": \"Error\", \"message\": \"odd\", \"code\": 400}\n}\n", "recoverable agent 0", ""},
	} {
		e := (&Lines{Now: func() time.Time { return now }}).Complaint("Ripgrep is not available.\nError when talking to Gemini API {\n  status: 400\n}\n" + c.said)
		if e == nil {
			t.Errorf("%s: no error", c.name)
		} else if got := fmt.Sprintf("%s %s %v", e.Kind, e.Reason, e.RetryAfter); got != c.want || c.message != "" && e.Message != c.message {
			t.Errorf("%s: %s, want %s: %s", c.name, got, c.want, e.Message)
		}
	}
	for _, other := range []string{"", "killed", "{\n  \"session_id\": \"s\"\n}", "{\n  \"session_id\": \"s\",\n  \"error\": {\"mess", "x {\n  \"session_id\": \"s\", \"error\": {}}"} {
		if e := new(Lines).Complaint(other); e != nil {
			t.Errorf("%q: %+v", other, e)
		}
	}
}

// What a message asks to wait for.
func TestWait(t *testing.T) {
	now := time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC)
	for message, want := range map[string]float64{
		"Please try again in 20ms.": 0.02, "try again in 1m26.4s.": 86.4, "Try again in 2 hours and 3 minutes": 7380, "try again in 1 day, 2 hrs": 93600,
		"resets in 5 mins": 300, "retry after 3600s": 3600, "try again in a moment": 0, "try again later": 0, "resets soon": 0,
		"resets 12am": 3660, "resets 12pm": 46860, "resets Jan 1, 2am": 10860, "resets 99pm": 0,
	} {
		got := (&Lines{Now: func() time.Time { return now }}).wait(message)
		if diff := got - want; diff > 1e-6 || diff < -1e-6 {
			t.Errorf("%s: %v, want %v", message, got, want)
		}
	}
	if k := KindOf("the task failed"); k != event.Recoverable {
		t.Error(k)
	}
}
