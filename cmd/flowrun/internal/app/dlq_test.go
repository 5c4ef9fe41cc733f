package app

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// An item that failed twice is a dead letter. A redrive lets loops take it again, and the end of its work closes the entry.
func TestDlqOfItems(t *testing.T) {
	t.Chdir(t.TempDir())
	flowrun := func(line string) string {
		t.Helper()
		var out, err bytes.Buffer
		if code := Main(strings.Fields(line), Streams{Stdout: &out, Stderr: &err}); code != 0 {
			t.Fatalf("%s: %d, %s", line, code, err.String())
		}
		return out.String()
	}
	a := &app{Streams: Streams{Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer)}}
	a.openTerminals()
	claim := func(r event.ClaimRequest) event.Claim {
		t.Helper()
		r.Item, r.Loop, r.Agent, r.Title, r.Lease = "dispatch/ds-1", "team", "sam", "Deploy", time.Hour
		v, err := a.askShared(event.StoreRequest{Claim: &r}, makesStore)
		c, wrong := event.ClaimOf(v)
		if err != nil || wrong != nil || !c.Won {
			t.Fatal(c, err, wrong)
		}
		return c
	}
	flowrun("dispatch add Deploy")
	for range 2 {
		claim(event.ClaimRequest{Operation: event.ClaimFail, Token: claim(event.ClaimRequest{Operation: event.ClaimTake}).Token, Message: "the build is red"})
	}
	for line, want := range map[string]string{
		"dlq list":             `dl-1  item  dispatch/ds-1 "Deploy" of loop team  the build is red (the work on it failed 2 times)`,
		"dlq show dl-1":        "again: flowrun dlq redrive dl-1",
		"dlq show dl-1 --json": `"loop":"team"`,
		"dispatch list":        "ds-1  dead  Deploy",
	} {
		if got := flowrun(line); !strings.Contains(got, want) {
			t.Errorf("%s says\n%s\nwant %q", line, got, want)
		}
	}
	if got := flowrun("dlq redrive dl-1"); got != "dl-1: loops can take dispatch/ds-1 again\n" {
		t.Errorf("the redrive says %q", got)
	}
	claim(event.ClaimRequest{Operation: event.ClaimClose, Token: claim(event.ClaimRequest{Operation: event.ClaimTake}).Token})
	if got := flowrun("dlq list") + flowrun("dispatch list"); got != "" {
		t.Errorf("after the work is done there is left %q", got)
	}
}
