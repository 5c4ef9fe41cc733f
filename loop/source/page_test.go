package source

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/reference"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// The examples of the page are what is sent and understood, and each verb and member of a question is explained.
func TestPage(t *testing.T) {
	page, _, ok := reference.About("sources")
	if !ok {
		t.Fatal("the reference has no page on sources")
	}
	examples := map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^```json (\\w+)\n(.*?)\n```$").FindAllStringSubmatch(page, -1) {
		examples[m[1]] = m[2]
	}
	question := Question(&event.SourceRequest{Loop: "team", Source: "backlog", Agent: "sam", Token: 3, Item: &event.Item{ID: "T-7", Source: "backlog", Title: "Fix the login page"},
		Outcome: &event.ItemOutcome{Status: event.ItemClosed, Run: "k3v7m2x9q4ta"}}, event.SourceReport, "9f2c1e5ab0d34c77a1be9d02f6c83e51")
	if d := cmp.Diff(string(question), examples["question"]+"\n"); d != "" {
		t.Error(d)
	}
	v, err := value.Decode([]byte(examples["item"]))
	if err != nil {
		t.Fatal(err)
	}
	it, err := event.ItemOf(withTexts(v.(map[string]any)))
	if err != nil || it.Priority != 2 || it.CreatedAt == 0 || it.Data == nil || len(it.Needs) != 1 || len(it.Capabilities) != 1 {
		t.Errorf("%+v, %v", it, err)
	}
	if _, err := checkLines(examples["error"]); err == nil || err.(*failure).err.RetryAfter != 90 || err.(*failure).err.Kind != event.Transient {
		t.Errorf("%v", err)
	}
	q, _ := value.Decode(question)
	words := value.Keys(q.(map[string]any))
	words = append(append(words, ir.Texts(event.SourceVerbs)...), ir.Texts(event.ItemStatuses)...)
	for _, w := range words {
		if !strings.Contains(page, "`"+w+"`") {
			t.Errorf("the page does not explain %s", w)
		}
	}
}
