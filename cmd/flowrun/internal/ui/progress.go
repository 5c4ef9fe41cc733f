package ui

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Progress shows a run while it goes on. It reads the run that Update gave it in Tick too, so the caller keeps its calls,
// and the view's Apply, from overlapping.
type Progress interface {
	// Update takes in what a batch changed. What is past, on a resume, is not shown again.
	Update(r *view.Run, lines []view.Line, past bool)
	// Tick tells that time has passed: spinners turn, long steps say that they live.
	Tick(now time.Time)
	// Hear takes in what an agent says while it works. It is for whoever looks now: no journal has it, and JSON has no place
	// for it. What is said of an attempt that has ended is dropped.
	Hear(s Saying)
	// Work takes in what can be seen from outside of an attempt under way. It is for a picture that is painted again and again.
	Work(b *view.Begun)
	// Say shows a line about the command itself. JSON has no place for it.
	Say(text string)
	// Close shows the end and leaves the screen in order.
	Close(now time.Time)
}

// Saying is what an agent says of its progress.
type Saying struct {
	Node    string // the instance's path
	Attempt int
	Text    string
}

// SaidCells bounds what is shown of it, in columns.
const SaidCells = 120

// of finds the node that a saying is of, if it still works at that.
func (s Saying) of(r *view.Run) *view.Node {
	if r == nil {
		return nil
	}
	if n := r.Node(s.Node); n != nil && n.Status == event.Running && n.Attempt == s.Attempt {
		return n
	}
	return nil
}

func (s Saying) words() string { return Truncate(gist(s.Text), SaidCells) }

// Scene is what a Progress knows besides the fold. The zero value is fine.
type Scene struct {
	// Where gives the place of a step's declaration ("ship.hcl:14"), or "".
	Where func(name string) string
	// Store is the folder or bucket that has the logs; "": each worker has its own.
	Store string
	// Logs says that the output of attempts is printed between the lines, so that there is no tree.
	Logs bool
	// Flags is what must follow a flowrun command so that it finds the store: "" or " --store DIR".
	Flags string
}

// log says where a log lies.
func (s *Scene) log(name string) string {
	switch {
	case s.Store == "":
		return Clean(name) + ", with the worker"
	case strings.Contains(s.Store, "://"):
		return Clean(strings.TrimRight(s.Store, "/") + "/" + name)
	}
	return Clean(filepath.Join(s.Store, name))
}

// StderrLines is how much of a failed step's standard error is shown at once, and StderrCells how much of each line: one
// line may be a whole file.
const (
	StderrLines = 20
	StderrCells = 400
)

// sentence says in a line what changed.
func sentence(t *Term, l *view.Line) string {
	who := Clean(l.Title())
	if who == "" {
		who = "run " + l.Run
	}
	if l.Type == view.Started && l.Workflow != "" {
		who += " of " + Clean(l.Workflow)
	}
	text := who + ": "
	switch {
	case l.Gate != nil:
		return text + verdict(t, l.Gate)
	case l.Note != "":
		return text + noted(t, l)
	case l.Type == view.Resumed:
		return text + "resumed" + because(l.Reason)
	case l.AsksToEnd():
		return text + "asked to stop" + because(l.Reason)
	}
	text += t.Style(style(l.Status, l.Result), Clean(string(l.Status)))
	if l.Attempt > 1 && l.Status == event.Running {
		text += fmt.Sprintf(" (attempt %d)", l.Attempt)
	}
	if l.Status.Terminal() && l.Duration > 0 {
		text += " after " + Duration(l.Duration)
		if l.Attempt > 1 {
			text += fmt.Sprintf(" (attempt %d)", l.Attempt)
		}
	}
	if f := facts(l.Result); f != "" && l.Status.Terminal() {
		text += " (" + f + ")"
	}
	if l.Status == event.Waiting && l.WaitsFor != nil && l.Reason == string(l.WaitsFor.Kind) {
		return text + " for " + waited(l.WaitsFor, l.Time)
	}
	if l.Failed > 0 && (l.Result == nil || fromNode(l.Result.Error)) {
		return text + failures(l.Failures, l.Failed)
	}
	return text + because(culprit(l)+why(l.Status, l.Reason, l.Result))
}

// fromNode reports whether the error of a run is the error of a node, and not the run's own, such as its timeout.
func fromNode(e *event.Error) bool { return e == nil || e.Node != "" }

// failures names steps that failed, the first of them with its error. all is how many there are.
func failures(list []view.Failure, all int) string {
	text := because(Clean(list[0].Title()) + ": " + withSaid(list[0].Error, list[0].Said))
	if all == 1 {
		return text
	}
	names := make([]string, 0, len(list))
	for _, f := range list[1:] {
		names = append(names, Clean(f.Title()))
	}
	if more := all - len(list); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return text + fmt.Sprintf(" (%s failed; also %s)", Count(all, "step"), strings.Join(names, ", "))
}

// FailedSoFar names the steps of a run that failed, while other nodes of it wait.
func FailedSoFar(t *Term, r *view.Run) {
	if list, all := r.Failures(view.MaxFailures); all > 0 {
		t.Printf("flowrun: failed so far%s\n", failures(list, all))
	}
}

// withSaid adds the last line that a failed attempt wrote to the message of its error.
func withSaid(message, line string) string {
	if line == "" {
		return message
	}
	return message + ": " + Truncate(Clean(line), SaidCells)
}

// waited says what a node waits for, and how long at the most.
func waited(w *event.WaitsFor, now event.Time) string {
	known, ok := waitWords[w.Kind]
	if !ok {
		known = string(w.Kind) + " "
	}
	text := known + Clean(w.Name)
	if w.Kind == event.WaitBusy {
		text += ", which is busy"
	}
	if left := w.Until.Sub(now).Round(time.Second); w.Until != 0 && left > 0 {
		text += fmt.Sprintf(", %s to go", Seconds(left))
	}
	return text
}

// waitWords says what comes before the name of what a node waits for.
var waitWords = map[event.WaitKind]string{event.WaitBusy: "the agent ", event.WaitQuota: "units of the quota ", event.WaitRateLimit: "the rate limit of ",
	event.WaitBreaker: "the circuit breaker of ", event.WaitEvent: "the event ", event.WaitSync: "the sync point ", event.WaitTimer: "the timer of the ", event.WaitBudget: "room in the budget of ",
	event.WaitChild: "run ", event.WaitDecision: "a decision of people: "}

// Waits says of a run of which nothing is in flight what its first node waits for, and how many others wait; "" for other runs.
func Waits(r *view.Run) string {
	waits := r.Waits()
	if r.Status != event.Waiting || len(waits) == 0 {
		return ""
	}
	w := waits[0]
	text := " while the run waited for " + waited(&event.WaitsFor{Kind: w.Kind, Name: w.Name, Until: event.Time(w.Until)}, r.Last)
	if w.Node != "" {
		text += " in " + Clean(w.Node)
	}
	if more := len(waits) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// facts are what a status alone does not say of a node's end.
func facts(res *event.Result) string {
	if res == nil {
		return ""
	}
	var parts []string
	if res.Tolerated {
		parts = append(parts, "tolerated")
	}
	if res.Partial {
		parts = append(parts, "partial")
	}
	if res.Escalated != "" {
		parts = append(parts, "escalated to "+Clean(res.Escalated))
	}
	if res.Winner != "" {
		parts = append(parts, "winner "+Clean(res.Winner))
	}
	if res.Usage != nil && res.Usage.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4g", res.Usage.CostUSD))
	}
	if res.Iterations > 0 {
		parts = append(parts, Count(res.Iterations, "iteration"))
	}
	return strings.Join(parts, ", ")
}

// culprit names the node whose error is that of the run.
func culprit(l *view.Line) string {
	if l.Node != "" || l.Result == nil || l.Result.Error == nil || l.Result.Error.Node == "" {
		return ""
	}
	return l.Result.Error.Node + ": "
}

// why joins a reason and an error's message without saying the same twice.
func why(s event.Status, reason string, res *event.Result) string {
	if res == nil || res.Error == nil || s == event.Succeeded {
		return reason
	}
	m := res.Error.Message
	switch {
	case reason == "" || strings.Contains(m, reason):
		return m
	case m == "" || strings.Contains(reason, m):
		return reason
	}
	return m + "; " + reason
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + Truncate(gist(reason), MaxReason)
}

// MaxReason bounds a reason that stands in a line, in columns. The whole of it is in runs show --json.
const MaxReason = 240

// gist puts a text of several lines on one.
func gist(text string) string {
	var parts []string
	for _, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			parts = append(parts, Clean(l))
		}
	}
	return strings.Join(parts, " | ")
}

// noted says what happened to a node whose status stays as it is.
func noted(t *Term, l *view.Line) string {
	switch l.Note {
	case event.Compensating:
		return "compensating" + because(l.Reason)
	case event.Warned:
		return t.Style(yellow, "warning") + because(l.Reason)
	case event.Escalated:
		return t.Style(yellow, "escalated") + because(l.Reason)
	case event.Adapted:
		return "adapts" + because(l.Reason)
	case event.Compensated:
		return t.Style(green, "compensated")
	case event.NotCompensated:
		return t.Style(red, "not compensated") + because(l.Reason)
	}
	return "still " + Clean(string(l.Status)) + because(l.Reason)
}

func verdict(t *Term, g *event.Verdict) string {
	word, style := "not passed", red
	switch {
	case g.Passed:
		word, style = "passed", green
	case g.Warning:
		word, style = "not passed (warning)", yellow
	}
	return "gate " + Clean(g.Gate) + " " + t.Style(style, word) + because(g.Message)
}

// failed tells whether a line reports a failure that wants its details shown at once: of a step, or of its compensation.
func failed(l *view.Line) bool {
	if l.Note != "" {
		return l.Note == event.NotCompensated && l.Result != nil
	}
	return l.Node != "" && l.Status == event.FailedS && l.Gate == nil && l.Tells && l.Result != nil && !l.Result.Reused && !l.Result.Set
}

// details tells all that a person needs after a failure, without a second command.
func details(t *Term, s *Scene, l *view.Line) string {
	var b strings.Builder
	if s.Where != nil {
		if w := s.Where(l.Name); w != "" {
			fmt.Fprintf(&b, "  at %s\n", Clean(w))
		}
	}
	res := l.Result
	res = res.Shown()
	tail := lastLines(res.Stderr, StderrLines)
	if tail == "" {
		tail = lastLines(res.Stdout, StderrLines)
	}
	if tail != "" {
		fmt.Fprintf(&b, "%s\n", indent(excerpt(tail), "  | "))
	}
	for _, log := range []string{res.StderrLog, res.StdoutLog} {
		if log != "" {
			fmt.Fprintf(&b, "  whole output: %s\n", s.log(log))
		}
	}
	more := "flowrun logs " + l.Run + " " + Quote(logged(l)) + s.Flags
	if l.Child != "" && res.Error != nil && res.Error.Reason == event.ReasonChild { // what went wrong was written there
		more = "flowrun logs " + l.Child + s.Flags
	}
	fmt.Fprintf(&b, "  more: %s\n", t.Style(cyan, more))
	return b.String()
}

// logged is the path of the attempts that a line's result is of: the last iteration's where there are several.
func logged(l *view.Line) string {
	if l.Result.Iterations > 0 {
		return fmt.Sprintf("%s/i%d", l.Node, l.Result.Iterations)
	}
	return l.Node
}

// Quote makes a word that a shell takes as it is.
func Quote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/.") == "" && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(Clean(s), "'", `'\''`) + "'"
}

// lastLines returns the end of a text, n lines at most, without blank lines at its end.
func lastLines(text string, n int) string {
	text = strings.TrimRight(text, "\r\n\t ")
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// excerpt cleans lines and cuts those that are too long.
func excerpt(text string) string {
	lines := strings.Split(CleanLines(text), "\n")
	for i, l := range lines {
		lines[i] = Truncate(l, StderrCells)
	}
	return strings.Join(lines, "\n")
}

// style is that of a status, and of a failure that does not count a milder one.
func style(s event.Status, res *event.Result) string {
	if res != nil && res.Tolerated {
		return yellow
	}
	return statusStyle(s)
}

// wordStyle is the style of a run's status as people read it.
func wordStyle(r *view.Run) string {
	if r.Word() == view.Interrupted {
		return yellow
	}
	return statusStyle(r.Status)
}

func statusStyle(s event.Status) string {
	switch s {
	case event.Succeeded:
		return green
	case event.FailedS:
		return red
	case event.Blocked, event.Cancelled, event.Waiting:
		return yellow
	case event.Skipped, event.Pending:
		return dim
	}
	return ""
}
