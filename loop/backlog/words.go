package backlog

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// boxes are the characters between the brackets of a task, in the use of GitHub, Obsidian and plain files.
var boxes = map[string]Status{
	"": Todo, " ": Todo, "\t": Todo, "\u00a0": Todo, "*": Todo,
	"  ": Todo, "x ": Done, " x": Done, "X ": Done, " X": Done,
	"x": Done, "X": Done, "✓": Done, "✔": Done, "✅": Done, "v": Done, "V": Done, "☑": Done,
	"/": Doing, "~": Doing, ".": Doing, "o": Doing, "O": Doing, "…": Doing,
	"-": Cancelled, "✗": Cancelled, "✘": Cancelled, "❌": Cancelled,
	">": Deferred, "<": Deferred, "?": Question, "!": Blocked,
}

// boxOf is the character that an edit writes for a status.
var boxOf = map[Status]string{Todo: " ", Doing: "/", Blocked: "!", Deferred: ">", Question: "?", Done: "x", Cancelled: "-"}

// loud are the emoji that make an item of any bullet; soft ones only say the status of what is an item by its place or box.
var loud = map[rune]Status{
	'✅': Done, '☑': Done, '✔': Done, '🚧': Doing, '🔄': Doing, '❌': Cancelled, '⏳': Todo, '⌛': Todo,
	'⬜': Todo, '☐': Todo, '🔲': Todo, '🔳': Todo,
}

var soft = map[rune]Status{
	'✓': Done, '🟢': Done, '🏁': Done, '🏗': Doing, '🔨': Doing, '🟡': Doing, '🔵': Doing, '🏃': Doing, '👷': Doing, '🔃': Doing, '▶': Doing,
	'🔴': Blocked, '🚫': Blocked, '⛔': Blocked, '🛑': Blocked, '🔒': Blocked, '⏸': Deferred, '💤': Deferred, '🧊': Deferred, '⏭': Deferred,
	'❓': Question, '❔': Question, '🤔': Question, '✖': Cancelled, '✗': Cancelled, '✘': Cancelled, '🗑': Cancelled,
	'📋': Todo, '📝': Todo, '🔜': Todo, '⚪': Todo, '📌': Todo, '🆕': Todo,
}

// emojiOf is the emoji that an edit writes for a status.
var emojiOf = map[Status]string{Todo: "⬜", Doing: "🚧", Blocked: "🔴", Deferred: "⏸️", Question: "❓", Done: "✅", Cancelled: "❌"}

// keywords begin the items of outline editors.
var keywords = map[string]Status{
	"TODO": Todo, "LATER": Todo, "DOING": Doing, "NOW": Doing, "WIP": Doing, "IN-PROGRESS": Doing, "WAITING": Blocked, "BLOCKED": Blocked,
	"DONE": Done, "CANCELED": Cancelled, "CANCELLED": Cancelled,
}

// keywordOf is the word that an edit writes; outlines have none for the statuses without one.
var keywordOf = map[Status]string{Todo: "TODO", Doing: "DOING", Blocked: "WAITING", Deferred: "", Question: "", Done: "DONE", Cancelled: "CANCELED"}

// phrases are headings, labels and cells that say a status; cellPhrases say it only in a cell or in a field.
var phrases, cellPhrases = sync.OnceValue(func() map[string]Status {
	return phraseTable(`
todo: todo, to do, todos, to dos, todo list, to do list, open tasks, open items, open work, backlog, next, next up, next steps, next tasks, up next,
	planned, pending, not started, not yet started, queue, queued, remaining, remaining work, upcoming, action items, then, now, today, this week, this sprint, soon
doing: doing, in progress, inprogress, wip, work in progress, working on, in work, started, ongoing, underway, under way, in development,
	under development, under construction, partially done, currently working on
blocked: blocked, waiting, waiting for, waiting on, stuck, impeded
deferred: deferred, later, someday, someday maybe, someday / maybe, someday/maybe, maybe, icebox, ice box, postponed, on hold, parked, parking lot, future, snoozed, delayed, paused
question: question, questions, open questions, unclear, needs clarification, needs decision, to be decided, to discuss, tbd, undecided
done: done, complete, completed, finished, shipped, delivered, implemented, accomplished, recently done, recently completed
cancelled: cancelled, canceled, dropped, rejected, won't do, wont do, will not do, won't fix, wontfix, abandoned, discarded, not planned, not doing, declined, superseded, obsolete
`)
}), sync.OnceValue(func() map[string]Status {
	return phraseTable(`
todo: open, new, ready, idea, no, n, none, unstarted, proposed, 0%, to be done, todo later, -, –, —
doing: current, active, partial, review, in review, reviewing, testing, in testing, yes but
blocked: failed, broken
deferred: low priority, next release
done: closed, resolved, fixed, merged, released, live, verified, deployed, yes, y, ok, x, 100%, ready for release, landed, passed, accepted
cancelled: duplicate, invalid, removed, deprecated, n/a, skipped
question: ?, ??, unknown
`)
})

func phraseTable(text string) map[string]Status {
	table := map[string]Status{}
	for _, line := range strings.Split(strings.ReplaceAll(strings.TrimSpace(text), ",\n\t", ", "), "\n") {
		status, words, _ := strings.Cut(line, ": ")
		for _, w := range strings.Split(words, ", ") {
			table[w] = Status(status)
		}
	}
	return table
}

// silent are the headings below which a plain list holds no work, whatever stands above them.
var silent = map[string]bool{
	"notes": true, "note": true, "context": true, "background": true, "references": true, "reference": true, "links": true, "resources": true,
	"legend": true, "key": true, "status legend": true, "about": true, "goals": true, "non goals": true, "nongoals": true, "overview": true,
	"introduction": true, "summary": true, "rules": true, "conventions": true, "how to use": true, "usage": true, "decisions": true, "glossary": true,
	"see also": true, "details": true, "example": true, "examples": true, "contributing": true, "license": true, "requirements": true,
	"acceptance criteria": true, "definition of done": true, "risks": true, "assumptions": true, "out of scope": true, "principles": true,
}

// said is what a heading, a label or a cell says.
type said struct {
	status Status // "": nothing
	exact  bool   // the whole text is the status: a column of a board, not the state of a chapter
	silent bool   // it heads a list that holds no work
}

// readPhrase reads a heading or a label.
func readPhrase(text string, legend map[string]Status) said {
	bare, emoji := splitEmoji(text)
	words := normalize(strings.Map(func(r rune) rune {
		if isStatusEmoji(r) {
			emoji = r
			return -1
		}
		return r
	}, bare))
	if silent[words] {
		return said{silent: true}
	}
	if s := alternatives(words); s != "" {
		return said{status: s, exact: true}
	}
	if s, ok := phrases()[words]; ok {
		return said{status: s, exact: true}
	}
	if s, ok := phrases()[withoutNoun(words)]; ok {
		return said{status: s, exact: true}
	}
	if at := strings.IndexAny(words, ":,(–—|"); at > 0 {
		if s, ok := phrases()[strings.TrimSpace(words[:at])]; ok {
			return said{status: s}
		}
	}
	if at := strings.Index(words, " - "); at > 0 {
		if s, ok := phrases()[words[:at]]; ok {
			return said{status: s}
		}
	}
	for _, opening := range []string{"(", " - ", "– ", "— ", ": ", "["} {
		if at := strings.LastIndex(words, opening); at > 0 {
			if s, ok := phrases()[strings.Trim(words[at+len(opening):], " )]")]; ok {
				return said{status: s}
			}
		}
	}
	if s, ok := emojiStatus(emoji, legend, true); ok && words != "" {
		return said{status: s}
	}
	return said{}
}

// alternatives reads "blocked / waiting": words for one status.
func alternatives(words string) (s Status) {
	parts := strings.FieldsFunc(strings.NewReplacer(" and ", "/", " or ", "/", " & ", "/").Replace(words), func(r rune) bool { return r == '/' })
	if len(parts) < 2 {
		return ""
	}
	for _, p := range parts {
		status, ok := phrases()[strings.TrimSpace(p)]
		if !ok || s != "" && s != status {
			return ""
		}
		s = status
	}
	return s
}

// withoutNoun takes the last word away where it only says that there are items.
func withoutNoun(words string) string {
	at := strings.LastIndexByte(words, ' ')
	if at < 0 {
		return words
	}
	switch words[at+1:] {
	case "tasks", "items", "work", "issues", "features", "stuff", "things", "stories", "tickets", "task", "status":
		return words[:at]
	}
	return words
}

var spaced = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("in-progress", "in progress", "on-hold", "on hold", "not-started", "not started", "in_progress", "in progress",
		"on_hold", "on hold", "not_started", "not started", "non-goals", "non goals")
})

// normalize makes words comparable: lower case, single blanks, without numbering, count, colon and final period.
func normalize(text string) string {
	text = strings.ToLower(strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " "))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "’", "'"), "to-do", "to do")
	if strings.ContainsAny(text, "-_") {
		text = spaced().Replace(text)
	}
	text = strings.Trim(text, " *_:.!-–—|#")
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); i > 0 && (text[i] == ' ' || text[i] == ')') {
		if strings.Contains(text[:i], ".") || text[i] == ')' {
			text = strings.TrimLeft(text[i:], " )")
		}
	}
	if strings.HasSuffix(text, ")") || strings.HasSuffix(text, "]") {
		if at := strings.LastIndexAny(text, "(["); at > 0 && strings.Trim(strings.NewReplacer("wip", "", "limit", "", "max", "").Replace(text[at+1:len(text)-1]), "0123456789/:≤ %") == "" {
			text = strings.TrimSpace(text[:at])
		}
	}
	return strings.Trim(text, " :")
}

// readCell reads the cell of a column of statuses.
func readCell(text string, legend map[string]Status) (Status, bool) {
	text = strings.TrimSpace(text)
	if len(text) >= 2 && text[0] == '[' {
		if end := strings.IndexByte(text, ']'); end > 0 {
			if s, ok := boxes[text[1:end]]; ok {
				return s, true
			}
		}
	}
	if s, ok := legend[text]; ok {
		return s, true
	}
	bare, emoji := splitEmoji(text)
	words := normalize(bare)
	if words == "" && emoji == 0 {
		return Todo, strings.Trim(text, " -–—") == ""
	}
	for _, table := range []map[string]Status{phrases(), cellPhrases()} {
		if s, ok := table[words]; ok {
			return s, true
		}
	}
	if p, ok := strings.CutSuffix(words, "%"); ok && strings.Trim(p, "0123456789") == "" {
		return Doing, true
	}
	if s := readPhrase(bare, nil); s.status != "" {
		return s.status, true
	}
	if s, ok := emojiStatus(emoji, legend, true); ok {
		return s, true
	}
	for end := len(words); end > 0; end = strings.LastIndexByte(words[:end], ' ') {
		for _, table := range []map[string]Status{phrases(), cellPhrases()} {
			if s, ok := table[words[:end]]; ok {
				return s, true
			}
		}
	}
	return "", false
}

// emojiStatus is what an emoji says. The legend of the file goes before the table.
func emojiStatus(r rune, legend map[string]Status, quiet bool) (Status, bool) {
	if r == 0 {
		return "", false
	}
	if s, ok := legend[string(r)]; ok {
		return s, true
	}
	if s, ok := loud[r]; ok {
		return s, true
	}
	if quiet {
		s, ok := soft[r]
		return s, ok
	}
	return "", false
}

// splitEmoji takes the emoji of a status from the front or from the back of a text; 0 if there is none.
func splitEmoji(text string) (rest string, emoji rune) {
	text = strings.TrimSpace(text)
	r, n := utf8.DecodeRuneInString(text)
	if isStatusEmoji(r) {
		return strings.TrimLeft(text[n:], "\ufe0f\ufe0e \t"), r
	}
	back := strings.TrimRight(text, "\ufe0f\ufe0e")
	if r, n := utf8.DecodeLastRuneInString(back); isStatusEmoji(r) {
		return strings.TrimSpace(back[:len(back)-n]), r
	}
	return text, 0
}

func isStatusEmoji(r rune) bool {
	if r < 0x2000 {
		return false
	}
	_, isLoud := loud[r]
	_, isSoft := soft[r]
	return isLoud || isSoft
}
