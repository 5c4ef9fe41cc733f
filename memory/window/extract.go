package window

import (
	"regexp"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/memory/text"
)

// Bounds of what a summary is chosen from.
const (
	// maxLine is how long a line of a summary is, in bytes; longer ones keep their start.
	maxLine = 240
	// MaxLines is how many of the newest lines are looked at, beside those of the summary before; the work grows with them and
	// with the lines chosen.
	MaxLines = 2000
	// minLine is how short a line may be that is looked at: "ok" and "}" say nothing.
	minLine = 4
	// verbatim is the weight from which on a line is kept before all others.
	verbatim = 2
)

// weights are what makes a line worth keeping as it stands.
var weights = []struct {
	form   func() *regexp.Regexp
	weight int
}{
	// decisions and what was asked for
	{lazyregexp.New(`(?i)\b(decid\w+|decision|because|must|chose|chosen|agreed?|won't|instead of|rather than|never|always|needs? to|have to|has to|requires?d?|conclu\w+|the plan|do not|don't|todo|prefer\w*|approved?|rejected?)\b`), 3},
	// errors
	{lazyregexp.New(`(?i)\b(errors?|fatal|panic|exception|fail(ed|s|ure|ures)?|cannot|could not|not found|denied|refused|undefined|timed? ?out|broken)\b|\w(Error|Exception)\b`), 3},
	// open questions
	{lazyregexp.New(`\?["')\]]*$`), 2},
	// commands
	{lazyregexp.New("^[$>#] \\S|`[^`]+`|\\b(git|go|npm|npx|yarn|make|docker|kubectl|terraform|flowrun|python3?|pip|cargo|curl|psql|ssh|sh|bash) +(-|[a-z])"), 2},
	// paths and places in files
	{lazyregexp.New(`(^|[\s"'(=])(~|\.{1,2})?/?[\w.-]+/[\w./-]+|\b[\w-]+\.(go|py|js|ts|tsx|rs|java|c|h|cc|rb|sh|sql|ya?ml|json|toml|hcl|tf|md|txt|html|css|proto|lock)\b|https?://`), 2},
	// ids
	{lazyregexp.New(`#\d+\b|\b[A-Z][A-Z0-9]+-\d+\b|\b[0-9a-f]*\d[0-9a-f]{6,}\b|\bM-[0-9a-f]+\b`), 1},
	// numbers
	{lazyregexp.New(`\d`), 1},
}

// weigh tells how much a line is worth keeping, from 0.
func weigh(line string) (sum int) {
	for _, w := range weights {
		if w.form().MatchString(line) {
			sum += w.weight
		}
	}
	return sum
}

// linesOf are the lines and sentences of a message.
func linesOf(m Message) []Line {
	var out []Line
	rest := strings.ToValidUTF8(m.Text, "\uFFFD")
	for l := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '\n' || r == '\r' }) {
		l = strings.TrimSpace(l)
		if len(l) <= maxLine {
			out = addLine(out, m, l)
			continue
		}
		for _, s := range text.Cut(l) {
			out = addLine(out, m, s)
		}
	}
	return out
}

func addLine(out []Line, m Message, l string) []Line {
	if l = strings.Join(strings.Fields(l), " "); len(l) < minLine {
		return out
	}
	if len(l) > maxLine {
		l = headOf(l, maxLine-len("…")) + "…"
	}
	return append(out, Line{m.ID, m.Role, l})
}
