package window_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/text"
	"github.com/flowrun/flowrun/memory/window"
)

func talk(n int, say string) (out []window.Message) {
	for i := range n {
		out = append(out, window.Message{ID: fmt.Sprintf("M-%02d", i), Role: "user", Text: fmt.Sprintf(say, i)})
	}
	return out
}

// count makes every text cost its bytes, so that bounds can be told exactly.
func count(s string) int { return len(s) }

func TestTheSoulAloneIsTooLarge(t *testing.T) {
	for size, want := range map[int]string{100: "", 101: "the soul: about 101 tokens, and the budget is 100; it is sent whole or not at all: raise the budget or shorten it"} {
		_, err := window.Fit(window.Content{Soul: strings.Repeat("x", size)}, window.Options{Budget: 100, Tokens: count})
		if got := fmt.Sprint(err); err != nil && got != want || err == nil && want != "" {
			t.Errorf("a soul of %d: %v", size, err)
		}
	}
}

func TestSummarizedAboveEightTenths(t *testing.T) {
	for _, c := range []struct {
		budget int
		new    bool
	}{{500, false}, {499, true}} { // 20 messages of 16 + 4
		f, err := window.Fit(window.Content{Messages: talk(20, "message number%02d")[:20]}, window.Options{Budget: c.budget, Keep: 3, Tokens: count})
		if err != nil || f.New != c.new {
			t.Errorf("budget %d: summarized %t, %v", c.budget, f.New, err)
		}
	}
}

func TestDownToHalf(t *testing.T) {
	f, err := window.Fit(window.Content{Messages: talk(200, "message %03d tells of one more thing that nobody asked for")}, window.Options{Budget: 4000})
	if err != nil || !f.New || f.Tokens > 2000 || f.Tokens < 1800 {
		t.Errorf("%d of 4000 tokens, summarized %t, %v", f.Tokens, f.New, err)
	}
	if f.Summary.From != "M-00" || f.Summary.To != "M-189" || f.Summary.Count != 190 || len(f.Messages) != 10 {
		t.Errorf("from %s to %s, %d; %d whole", f.Summary.From, f.Summary.To, f.Summary.Count, len(f.Messages))
	}
}

// TestWhatIsKept shows which lines of a conversation survive where there is little room.
func TestWhatIsKept(t *testing.T) {
	var messages []window.Message
	say := func(role, s string) {
		messages = append(messages, window.Message{ID: fmt.Sprintf("M-%02d", len(messages)), Role: role, Text: s})
	}
	for range 12 {
		say("assistant", "Having a look around here now.\nThere is a lot of code in these folders.")
	}
	say("user", "Hello there, how nice. We must keep the old endpoint because the app calls it.")
	say("assistant", "I ran `go test ./api/...` and it failed.\napi/order_test.go:41: got 500, want 201")
	say("assistant", "Should the column be nullable?")
	for range 14 {
		say("assistant", "Going on with it as discussed before, step by step.")
	}
	f, err := window.Fit(window.Content{Messages: messages}, window.Options{Budget: 400, Keep: 2})
	if err != nil || f.Summary == nil {
		t.Fatal(err)
	}
	got := f.Summary.Text()
	for _, want := range []string{
		"- [M-12 user] Hello there, how nice. We must keep the old endpoint because the app calls it.\n", "- [M-13 assistant] I ran `go test ./api/...` and it failed.\n",
		"- [M-13 assistant] api/order_test.go:41: got 500, want 201\n", "- [M-14 assistant] Should the column be nullable?\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it has lost %q:\n%s", want, got)
		}
	}
	if strings.Count(got, "Going on with it") > 1 {
		t.Errorf("it says a thing again:\n%s", got)
	}
}

// TestSummariesChain adds messages until many summaries have been made of one another: an early decision is still there.
func TestSummariesChain(t *testing.T) {
	messages := []window.Message{{ID: "M-first", Role: "user", Text: "We decided to never touch billing/ledger.go because the auditors have signed it, see AUD-17."}}
	var summary *window.Summary
	made := 0
	for i := range 400 {
		messages = append(messages, window.Message{ID: fmt.Sprint("M-", i), Role: "assistant", Text: fmt.Sprintf("Looked at part %d of the program and went on from there.", i)})
		f, err := window.Fit(window.Content{Messages: messages, Summary: summary}, window.Options{Budget: 600})
		if err != nil {
			t.Fatal(err)
		}
		if f.New {
			made, summary = made+1, f.Summary
		}
	}
	if made < 10 || summary.From != "M-first" || !strings.Contains(summary.Text(), "never touch billing/ledger.go") {
		t.Errorf("%d summaries, the last is\n%s", made, summary.Text())
	}
	if made > 120 {
		t.Errorf("%d summaries for 400 messages: it is summarized again too soon", made)
	}
}

func TestAToolsResultStaysWithItsCall(t *testing.T) {
	messages := talk(30, "message %02d that says little")
	messages[19].Calls = []string{"a", "b"}
	messages[20].Answers, messages[21].Answers = "a", "b"
	f, err := window.Fit(window.Content{Messages: messages}, window.Options{Budget: 250, Keep: 9})
	if err != nil || f.Messages[0].ID != "M-19" {
		t.Fatalf("it starts with %s, %v", f.Messages[0].ID, err)
	}
	// The call was summarized before its result came: then the result is a message like others.
	messages[2].Calls, messages[29].Answers = []string{"late"}, "late"
	f, err = window.Fit(window.Content{Messages: messages[10:], Summary: &window.Summary{From: "M-00", To: "M-09", Count: 10}}, window.Options{Budget: 250, Keep: 9})
	if last := f.Messages[len(f.Messages)-1]; err != nil || last.ID != "M-29" || last.Answers != "" {
		t.Errorf("%+v, %v", last, err)
	}
}

func TestOneMessageAboveTheBudget(t *testing.T) {
	long := window.Message{ID: "M-long", Text: "HEAD " + strings.Repeat("é", 5000) + " TAIL"}
	f, err := window.Fit(window.Content{Soul: "soul", Messages: append(talk(3, "message %d"), long)}, window.Options{Budget: 300})
	if err != nil {
		t.Fatal(err)
	}
	got := f.Messages[3].Text
	if !strings.HasPrefix(got, "HEAD ") || !strings.HasSuffix(got, " TAIL") || !strings.Contains(got, " bytes are left out …") {
		t.Errorf("%q", got)
	}
	if !slices.Equal(f.Cut, []string{"M-long"}) || f.Tokens > 300 {
		t.Errorf("cut %q, %d tokens", f.Cut, f.Tokens)
	}
	var large *window.TooLargeError
	if _, err := window.Fit(window.Content{Messages: []window.Message{long}}, window.Options{Budget: 20}); !errors.As(err, &large) || large.What != "message M-long with the soul and all that is fixed" {
		t.Errorf("no room for its name: %v", err)
	}
}

func TestTheLastMessagesDoNotFit(t *testing.T) {
	_, err := window.Fit(window.Content{Messages: talk(20, "message %d with some words in it")}, window.Options{Budget: 100})
	var large *window.TooLargeError
	if !errors.As(err, &large) || large.What != "the last 10 messages with the soul and all that is fixed" {
		t.Errorf("%v", err)
	}
}

func TestNoRoomForASummary(t *testing.T) {
	// Two messages of 40 and 4 leave 12: not even the summary's first line.
	f, err := window.Fit(window.Content{Messages: talk(4, strings.Repeat("x", 38)+"%02d")}, window.Options{Budget: 100, Keep: 2, Tokens: count})
	if err != nil || f.Summary != nil || f.New || !slices.Equal(f.Left, []string{"M-00", "M-01"}) {
		t.Errorf("%+v, %v", f, err)
	}
}

func BenchmarkFit(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			messages := talk(n, "message %03d tells of `make x` in src/a.go and of one more thing that nobody asked for")
			for b.Loop() {
				if _, err := window.Fit(window.Content{Messages: messages}, window.Options{Budget: 8000}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestExtract: what is worth most is taken first, and stands where it was said.
func TestExtract(t *testing.T) {
	messages := []window.Message{{ID: "a", Text: "It rained for all of the day."}, {ID: "b", Text: "We decided to take port 8081."}, {ID: "c", Text: "It takes long to read it all."}}
	one := text.Tokens("- [b] " + messages[1].Text + "\n")
	for limit, want := range map[int]string{-1: "", 0: "", one: "b", 3 * one: "abc"} {
		got := ""
		for _, l := range window.Extract(messages, limit) {
			got += l.ID
		}
		if got != want {
			t.Errorf("in %d tokens there is %q, want %q", limit, got, want)
		}
	}
	if got := window.Extract(nil, 100); len(got) != 0 {
		t.Errorf("of nothing there is %v", got)
	}
}

// TestExtractLooksAtTheNewest: a decision is found as the first of so many lines, and not one line later.
func TestExtractLooksAtTheNewest(t *testing.T) {
	for n, want := range map[int]bool{window.MaxLines: true, window.MaxLines + 1: false} {
		messages := talk(n, "thing %d")
		messages[0].Text = "We decided never to touch it."
		if got := window.Extract(messages, 1000); (got[0].ID == "M-00") != want {
			t.Errorf("of %d lines the first that is told is %s", n, got[0].ID)
		}
	}
}
