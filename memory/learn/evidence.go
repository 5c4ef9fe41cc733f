package learn

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// Bounds of the search for what went wrong.
const (
	// maxLook is how many bytes of an output's end are read: it takes some 10 ms of CPU (BenchmarkFromTask).
	maxLook = 16 << 10
	// maxEvidence is how long the line is that is taken from it, in bytes.
	maxEvidence = 240
	// maxHint is the same of the line that advises.
	maxHint = 140
	// nearby is how many lines around an error are searched for the place in a file that it speaks of, and for advice.
	nearby = 12
)

// finding is what an output says of a failure: the line that names it, the place that it speaks of, "main.go:12", and what it
// advises in a line of its own, "use git pull first".
type finding struct{ line, place, hint string }

var (
	ansi = lazyregexp.New("\x1b\\[[0-9;?]*[A-Za-z]")
	// stamp is the time, and level and source in brackets, that loggers put before what they say.
	stamp    = lazyregexp.New(`^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(Z|[+-]\d\d:?\d\d)?\]?\s*|^\d\d:\d\d:\d\d[.,\d]*\s+`)
	took     = lazyregexp.New(`\s*\(\d+(\.\d+)?m?s\)$`)
	position = lazyregexp.New(`(?:^|[\s("'])((?:[A-Za-z]:)?[\w@.~/\\-]*[\w-]\.[A-Za-z]\w{0,4}):(\d+)`)
	pyFrame  = lazyregexp.New(`^File "([^"]+)", line (\d+)`)
	frame    = lazyregexp.New(`^at \S|^File "|^\.{3} \d+ more|^goroutine \d+|^\S+\(0x[0-9a-f, .]*\)$|^\S+\.\S+\(.*\)$|^/\S+\.go:\d+ \+0x|^created by |^Traceback|^Caused by$|^stack backtrace|^\d+: 0x|^~*\^+~*$`)
	noise    = lazyregexp.New(`(?i)^(FAIL(\s+\S+\s+[\d.]+s)?|exit status \d+|make(\[\d+\])?: \*\*\*.*|npm (ERR!|error) (code|errno|path|command|A complete log).*|.*process (exited|completed) with (exit )?(code|status).*|exit(ed with)?( code| status)? \d+|error: recipe .*|error: (could not compile|aborting due to) .*|FAILED \(.*|command failed.*|warning\b.*|note:.*|hint:.*|help:.*)$`)
	clean    = lazyregexp.New(`(?i)\b(no|0|without|zero) (errors?|failures?|failed)\b|\berrors?["']?\s*[:=]\s*(0|false|null|none|nil)\b`)
	strong   = lazyregexp.New(`(?i)\b(error|fatal|panic|exception|assert\w*|segfault|traceback)\b|\w(Error|Exception)\b|^E\s|--- FAIL|✗|✕|\b(expected|want)\b.*\b(got|but|received|found|actual)\b|\bgot\b.*\bwant\b`)
	thrown   = lazyregexp.New(`^(Uncaught )?[\w.]*(Error|Exception)(\s\[\w+\])?: |^(panic|fatal|FATAL|error|ERROR|Error|E)(\[\w+\])?: `)
	weak     = lazyregexp.New(`(?i)\b(fail(ed|ure|s)?|cannot|can't|could not|couldn't|unable|not found|no such|denied|refused|missing|undefined|unknown|timed? ?out|timeout|invalid|unexpected|unauthori[sz]ed|forbidden|conflict|exceeded|killed|out of memory|already (exists|in use)|unreachable|mismatch|must|required)\b`)
	// remedy is what tells what to do, and hinted a line that does so by its first word.
	remedy  = lazyregexp.New(`(?i)\b(please|did you (mean|forget)|make sure|(needs?|have|has|want) to be|you (need|have) to|try (to|with|running|setting|again with))\b|[:;,.(]\s+(run|use|set|install|add|remove|update|upgrade|export|raise|enable|disable|pass|pin|rename|call|create|start|migrate)\s+\S`)
	hinted  = lazyregexp.New(`(?i)^= ?help: |^(hint|help|tip|fix|suggestion): `)
	foreign = lazyregexp.New(`node_modules|site-packages|/runtime/|^runtime/|node:internal|/rustc/|/usr/(local/)?(lib|go)|testing\.go:|\.cargo/registry`)
)

// find looks for what went wrong. Where an agent said so, or whoever watched it ended it or refused its answer, that is the
// message; else what the streams say plainly, and then what any of them says last.
func find(p *Problem) finding {
	if p == nil {
		return finding{}
	}
	first, last := p.Message, ""
	switch p.Reason {
	case "exit": // its code is told beside it, and explains nothing
		first = ""
	case "agent": // one that gave no message may have said it on the way
		if strings.HasSuffix(p.Message, "without a message") || strings.HasSuffix(p.Message, "said no more") { // as earlier releases put it
			first = ""
		}
	case "not_found": // the shell names the command
		first, last = "", p.Message
	case "gate": // a program's own words are better than that it failed
		if _, sure := look(p.Message); !sure {
			first, last = "", p.Message
		}
	}
	if f := evidence(first); f.line != "" {
		return f
	}
	for _, text := range []string{p.Stderr, p.Stdout} {
		if f, sure := look(text); sure {
			return f
		}
	}
	for _, text := range []string{last, p.Stderr, p.Stdout} {
		if f := evidence(text); f.line != "" {
			return f
		}
	}
	return finding{}
}

// evidence is the line of a text that says what is wrong, or where none seems to, its last one.
func evidence(text string) finding {
	f, _ := look(text)
	return f
}

// look finds the line that says most plainly what is wrong; one that also says what to do goes first. Of several it takes the
// first that names a place in a file, as a compiler's first error causes the rest, and else the last, as programs end with the
// reason why.
func look(text string) (f finding, sure bool) {
	lines := outputLines(text)
	best, at, placed := 0, -1, false
	for i, l := range lines {
		score := rate(l)
		has := position().MatchString(l)
		if score > best || score == best && score > 0 && !placed {
			best, at, placed = score, i, has
		}
	}
	if at < 0 {
		if len(lines) == 0 {
			return finding{}, false
		}
		at = len(lines) - 1
	}
	f.line = Clip(took().ReplaceAllString(lines[at], ""), maxEvidence)
	if !position().MatchString(lines[at]) {
		f.place = place(lines, at)
	}
	f.hint = hint(lines, at)
	return f, best > 1
}

// rate says how plainly a line tells what is wrong: 0 not at all, 1 that something is.
func rate(l string) int {
	switch {
	case clean().MatchString(l), frame().MatchString(l) && !thrown().MatchString(l):
		return 0
	case noise().MatchString(l):
		return 1
	}
	score := 0
	switch {
	case thrown().MatchString(l):
		score = 4
	case strong().MatchString(l):
		score = 3
	case weak().MatchString(l):
		score = 2
	}
	if score > 0 && position().MatchString(l) {
		score += 2
	}
	if score > 1 && remedy().MatchString(l) {
		score += 2
	}
	return score
}

// hint is the first advice behind an error.
func hint(lines []string, at int) string {
	for i := at + 1; i < len(lines) && i <= at+nearby; i++ {
		if lead := hinted().FindString(lines[i]); lead != "" {
			return Clip(lines[i][len(lead):], maxHint)
		}
	}
	return ""
}

// place is the nearest place in a file of one's own that the lines around an error name: behind it as compilers and stack
// traces tell, before it as Python does.
func place(lines []string, at int) string {
	for i := at + 1; i < len(lines) && i <= at+nearby; i++ {
		if p := placeIn(lines[i]); p != "" {
			return p
		}
	}
	for i := at - 1; i >= 0 && i >= at-nearby; i-- {
		if p := placeIn(lines[i]); p != "" {
			return p
		}
	}
	return ""
}

func placeIn(l string) string {
	m := pyFrame().FindStringSubmatch(l)
	if m == nil {
		m = position().FindStringSubmatch(l)
	}
	if m == nil || foreign().MatchString(l) {
		return ""
	}
	return m[1] + ":" + m[2]
}

// outputLines are the lines of an output's end, without colours, times and empty ones.
func outputLines(text string) []string {
	if len(text) > maxLook {
		text = text[len(text)-maxLook:]
	}
	text = ansi().ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	var out []string
	for _, l := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if l = strings.TrimSpace(stamp().ReplaceAllString(strings.TrimSpace(l), "")); l != "" {
			out = append(out, l)
		}
	}
	return out
}
