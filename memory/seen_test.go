package memory

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
)

// What went wrong is told once of a task, whatever the recorder made of it; what somebody worded is told as it is.
func TestWhatTheLessonSaysIsNotToldAgain(t *testing.T) {
	problem := &learn.Problem{Reason: "exit", ExitCode: 2, Stderr: "error: the lock file is out of date"}
	for name, c := range map[string]struct {
		task learn.Task
		want string
	}{
		"failed":          {learn.Task{Text: "Build it.", Attempts: 1, Problem: problem}, "See to this first: error: the lock file is out of date. failed (exit code 2). Build it."},
		"failed often":    {learn.Task{Text: "Build it.", Attempts: 3, Problem: problem}, "See to this first: error: the lock file is out of date. failed 3 times (exit code 2). Build it."},
		"worked":          {learn.Task{Text: "Build it.", OK: true, Attempts: 1, Output: "three files"}, "It works as asked. succeeded: three files. Build it."},
		"worked at last":  {learn.Task{Text: "Build it.", OK: true, Attempts: 2, Problem: problem, Output: "three files"}, "It works once this is seen to: error: the lock file is out of date. succeeded on attempt 2: three files. Build it."},
		"without a cause": {learn.Task{Text: "Build it.", Attempts: 1, Problem: &learn.Problem{}}, "It failed without saying why: find out before trying it the same way. Build it."},
		"with advice": {learn.Task{Text: "Build it.", Attempts: 1, Problem: &learn.Problem{Reason: "timeout", Message: "no answer"}},
			"It ran out of time: no answer. Do less in one go, report progress, or allow more time. failed (timeout): no answer. Build it."},
	} {
		i := entry.Item{Entry: learn.FromTask(c.task)}
		if got := said(&i); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
	i := entry.Item{Entry: entry.Entry{Lesson: "Mind this: paint.", Observation: "failed: paint"}}
	if got := said(&i); !strings.Contains(got, "failed: paint") {
		t.Error(got)
	}
}

// Keys of instances may be an agent's words: they are left out of a heading.
func TestAHeadingHasNoKeys(t *testing.T) {
	for step, want := range map[string]string{"build/api[2]/i3": "build/api[2]/i3", "build[canary]/api[12]": "build[…]/api[12]", `a["can] ary"]/b["x\"y]"]`: "a[…]/b[…]", "a[1x]": "a[…]", "plain": "plain"} {
		i := entry.Item{Entry: entry.Entry{ID: "M-1", By: entry.Source{Run: "r", Step: step}}}
		if got := heading(&i); !strings.Contains(got, " step "+want+", ") {
			t.Errorf("%s: %s", step, got)
		}
	}
}
