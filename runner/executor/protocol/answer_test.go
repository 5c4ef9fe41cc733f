package protocol

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
)

// TestAnswer reads the answer of an assistant by the type that is wanted.
func TestAnswer(t *testing.T) {
	for _, c := range []struct{ output, wanted, want string }{
		{`{"result":"{\"a\":1}","session_id":"s"}`, "", `{"result":"{\"a\":1}","session_id":"s"}`},
		{`{"result":"{\"a\":1}"}`, "object({ a = number })", `{"a":1}`},
		{"{\"result\":\"```json\\n[1,2]\\n```\"}", "list(number)", `[1,2]`},
		{`{"result":"{\"a\":1}"}`, "string", `"{\"a\":1}"`},
		{"{\"result\":\"Here it is:\\n```json\\n[1,2]\\n```\\nDone.\"}", "list(number)", `[1,2]`},
		{"{\"result\":\"{\\\"a\\\":\\\"```\\\\nx```\\\"}\"}", "object({ a = string })", "{\"a\":\"```\\nx```\"}"},
		{"{\"result\":\"One\\n```\\n1\\n```\\ntwo\\n```\\n2\\n```\"}", "number", "error"},
		{`{"result":"one"}`, "number", "error"},
		{`{"files":3}`, "object({ files = number })", `{"files":3}`}, // it speaks flowrun's own protocol
		{`{"result":null}`, "number", `{"result":null}`},
	} {
		in, err := value.Decode([]byte(c.output))
		if err != nil {
			t.Fatal(err)
		}
		got := "error"
		if v, failure := Answer(in, c.wanted); failure == nil {
			got = string(value.Append(nil, v))
		}
		if got != c.want {
			t.Errorf("%s as %s: %s, want %s", c.output, c.wanted, got, c.want)
		}
	}
}
