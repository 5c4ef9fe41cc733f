package backlog

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// facts are what the text of an item says.
type facts struct {
	title    string
	untitled bool   // the text is nothing but metadata, which stands for the title
	status   Status // by a field, or by a word in brackets
	emoji    rune   // of a status, in front or behind
	id       string
	owner    string
	priority *int
	due      string
	needs    []need
	tags     []string
}

// need is what an item waits for.
type need struct {
	text string // an id, or the title of an item, or any text
	// phrase stands in the title as well: it is a need only if an item has this title, and is then taken out of the title.
	phrase string
}

func (f *facts) item() Item {
	return Item{Title: f.title, Status: f.status, ID: f.id, Explicit: f.id != "", Owner: f.owner, Priority: f.priority, Due: f.due, Tags: f.tags}
}

type expression struct{ load func() *regexp.Regexp }

func (e expression) Load() *regexp.Regexp { return e.load() }

func lazy(expr string) expression { return expression{lazyregexp.New(expr)} }

const (
	dateForm = `(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}\.\d{1,2}\.\d{4}|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?\b(?:,? \d{4}\b)?|` +
		`\d{1,2}(?:st|nd|rd|th)?\.? (?:of )?(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:,? \d{4}\b)?)`
	refForm  = `(?:(?:[\w.-]+/[\w.-]+)?#[\w-]+|\[[A-Z][A-Z0-9]*-\d+\]|[A-Z][A-Z0-9]*-\d+\b|\^[\w-]+|\{#[\w-]+\}|\[\[[^\]]+\]\]|T\d{2,5}\b)`
	joinForm = `(?:\s*(?:,\s*and\b|,|;|&|\+|\band\b)\s*)`
	needForm = `(?i:depends?\s+on|depending\s+on|dependent\s+on|blocked\s+by|blocked\s+on|waiting\s+(?:for|on)|waits\s+for)`
	needKeys = `(?i:depends?(?:[\s_-]?on)?|deps|dependency|dependencies|blocked[\s_-]?by|blocked|blocker|blockers|after|needs|requires|waiting\s+(?:for|on)|prerequisites?)`
	opening  = `(?:^|[\s(\[,;|])`
)

var (
	trailingID  = lazy(`\s*\{#([\w:.-]+)\}\s*$`)
	anyID       = lazy(`\{#([\w:.-]+)\}`)
	blockID     = lazy(`(?:^|\s)\^([A-Za-z0-9-]+)\s*$`)
	dataview    = lazy(`[\[(]\s*([A-Za-z][\w -]*)::\s*([^\])]*)[\])]`)
	dueDate     = lazy(opening + `(?i:@?due(?:\s+date)?|@?deadline)\s*(?:\s(?i:on|by)\s)?[:=(]?\s*[@{]*` + dateForm + `[)}]?`)
	emojiDate   = lazy(`(📅|📆|🗓|⏳|⌛|🛫|➕|✅|❌)\x{fe0f}?\s*(?:(?i:due)\s*:?\s*)?` + dateForm)
	anyDate     = lazy(`^` + dateForm + `$`)
	boardDate   = lazy(`@\{(\d{4}-\d{2}-\d{2})\}`)
	recurs      = lazy(`🔁\x{fe0f}?\s*[\w ]*`)
	emojiID     = lazy(`🆔\x{fe0f}?\s*([\w-]+)`)
	emojiNeeds  = lazy(`⛔\x{fe0f}?\s*([\w-]+(?:\s*,\s*[\w-]+)*)`)
	onDone      = lazy(`🏁\x{fe0f}?\s*(?:delete|keep)\b`)
	ownerKey    = lazy(opening + `(?i:owner|assignee|assigned(?:\s+to)?|responsible)\s*[:=]\s*@?("[^"]+"|[\pL\d_][\pL\d._-]*(?:[ \t]\p{Lu}[\pL'.-]*\b)?)`)
	assigned    = lazy(opening + `(?i:assigned\s+to|owned\s+by)\s+@([\pL\d_][\pL\d._-]*)`)
	priorityKey = lazy(opening + `(?i:priority|prio|pri)\s*[:=]\s*([A-Za-z]+\d?|\d+|!+)`)
	priorityIn  = lazy(`[(\[](?i:(highest|critical|urgent|high|medium|normal|low|lowest)(?:[ -]prio(?:rity)?)?|priority (highest|critical|urgent|high|medium|normal|low|lowest))[)\]]`)
	orgPriority = lazy(`\[#([A-Z])\]`)
	tagsKey     = lazy(opening + `(?i:tags?|labels?)\s*[:=]\s*(#?[\pL\d][\pL\d_/-]*(?:\s*,\s*#?[\pL\d][\pL\d_/-]*)*)`)
	statusKey   = lazy(opening + `(?i:status|state)\s*[:=]\s*([^,;|()\[\]#@]+)`)
	idKey       = lazy(opening + `(?i:id|key|ticket)\s*:\s*#?([\w-]+)`)
	needsRefs   = lazy(`[,;(–—-]*\s*\b` + needForm + `\s*:?\s*(` + refForm + `(?:` + joinForm + refForm + `)*)\)?`)
	needsLast   = lazy(`[,;(–—-]*\s*\b(?i:after|needs|requires|blocked)\s+(` + refForm + `(?:` + joinForm + refForm + `)*)\s*(?:\)|$)`)
	needsKey    = lazy(`[,;–—-]?\s*(?:^|[\s(\[,;|])` + needKeys + `\s*:\s*([^()|]+)`)
	needsIn     = lazy(`[(\[]\s*` + needForm + `\s+([^()\[\]]+)[)\]]`)
	needsTail   = lazy(`\s*[,;–—-]\s*` + needForm + `\s+([^()]+)$`)
	waitsForm   = lazy(`^[\s,;–—-]*(?i:wait)`)
	needsWords  = lazy(`\s+(?i:blocked\s+by)\s+(\S+(?:\s\S+){0,2})\s*$`)
	needsTitle  = lazy(`\s+` + needForm + `\s+(\S.*)$`)
	needsHead   = lazy(`^(?i:` + needForm + `|depends|dependencies|blockers|blocked|prerequisites)$`)
	needsField  = lazy(`^\W*` + needKeys + `[\s*]*:[\s*]*(.*)$`)
	refParts    = lazy(refForm)
	statusIn    = lazy(`^[(\[]([\pL][\pL' -]*)[)\]]:?\s|\s[(\[]([\pL][\pL' -]*)[)\]]$`)
	todoPrio    = lazy(`^\(([A-Z])\)\s`)
	trackerID   = lazy(`^\[?([A-Z][A-Z0-9]*-\d+|T\d{2,5})\]?:?$`)
	emptyPair   = lazy(`(^|\s)(?:\(\s*[,;|·&]*\s*\)|\[\s*[,;|]*\s*\]|\{\s*\})`)
	looseComma  = lazy(`[\s,;]*([,;])`)
)

// priorities are words for priorities.
var priorities = map[string]int{
	"critical": 3, "urgent": 3, "highest": 3, "blocker": 3, "emergency": 3, "high": 2, "important": 2, "medium": 1, "med": 1, "moderate": 1,
	"normal": 0, "none": 0, "low": -1, "minor": -1, "lowest": -2, "trivial": -2,
}

var priorityEmoji = map[rune]int{'🔺': 3, '⏫': 2, '🔼': 1, '🔽': -1, '⏬': -2}

// notTrackers look like the keys of a tracker and are the names of standards.
var notTrackers = []string{"UTF", "SHA", "ISO", "RFC", "AES", "RSA", "GPT", "COVID", "TLS", "MD", "IEEE", "PEP", "CVE", "CWE", "ES", "H", "X", "IPV", "USB", "MP", "ECMA", "ANSI", "BASE", "P"}

// readPriority reads high, P1, 1, A or !!!.
func readPriority(word string) *int {
	word = strings.ToLower(strings.TrimSpace(word))
	give := func(n int) *int { return &n }
	if n, ok := priorities[word]; ok {
		return give(n)
	}
	if strings.Trim(word, "!") == "" && word != "" {
		return give(min(3, len(word)))
	}
	if len(word) == 1 && word[0] >= 'a' && word[0] <= 'z' {
		return give(max(-2, 3-int(word[0]-'a')))
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(word, "p")); err == nil && n >= 0 {
		return give(max(-97, 3-n))
	}
	return nil
}

// readDate reads a date in one of the forms of dateForm; "" if there is no such day.
func readDate(text string, today time.Time) string {
	text = strings.NewReplacer(",", " ", "/", "-", " of ", " ").Replace(strings.ToLower(text))
	fields := strings.Fields(text)
	if len(fields) == 1 {
		parts := strings.FieldsFunc(text, func(r rune) bool { return r == '-' || r == '.' })
		if len(parts) != 3 {
			return ""
		}
		if len(parts[2]) == 4 {
			parts[0], parts[2] = parts[2], parts[0]
		}
		y, _ := strconv.Atoi(parts[0])
		mo, _ := strconv.Atoi(parts[1])
		d, _ := strconv.Atoi(parts[2])
		return day(y, time.Month(mo), d)
	}
	var month time.Month
	var numbers []int
	for _, w := range fields {
		if w = strings.Trim(w, "."); w == "" {
			continue
		}
		if w[0] >= '0' && w[0] <= '9' {
			n, err := strconv.Atoi(strings.TrimRight(w, "stndrh"))
			if err != nil {
				return ""
			}
			numbers = append(numbers, n)
			continue
		}
		for mo := time.January; mo <= time.December; mo++ {
			name := strings.ToLower(mo.String())
			if len(w) >= 3 && strings.HasPrefix(name, w) || w == "sept" && mo == time.September {
				month = mo
			}
		}
	}
	switch {
	case month == 0 || len(numbers) == 0:
		return ""
	case len(numbers) > 1:
		return day(numbers[1], month, numbers[0])
	case today.IsZero():
		return ""
	}
	best, distance := "", time.Duration(0)
	for y := today.Year() - 1; y <= today.Year()+1; y++ {
		if s := day(y, month, numbers[0]); s != "" {
			away := time.Date(y, month, numbers[0], 0, 0, 0, 0, time.UTC).Sub(today).Abs()
			if best == "" || away < distance {
				best, distance = s, away
			}
		}
	}
	return best
}

func day(y int, m time.Month, d int) string {
	t := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	if y < 1000 || y > 9999 || t.Year() != y || t.Month() != m || t.Day() != d {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", y, m, d)
}

func isDateEmoji(r rune) bool {
	return strings.ContainsRune("📅📆🗓⏳🛫➕🆔⏫🔼🔽🔺⏬", r)
}

// scan is a text from which metadata is taken.
type scan struct {
	facts
	text  string
	flat  *flat
	today time.Time
}

// take gives the groups of each match to use, and removes the match where use returns true.
func (s *scan) take(e expression, use func(g []string) bool) {
	re := e.Load()
	for from := 0; from <= len(s.text); {
		at := re.FindStringSubmatchIndex(s.text[from:])
		if at == nil {
			return
		}
		groups := make([]string, len(at)/2)
		for i := range groups {
			if at[2*i] >= 0 {
				groups[i] = s.text[from+at[2*i] : from+at[2*i+1]]
			}
		}
		start, end := from+at[0], from+at[1]
		if !use(groups) {
			from = max(end, from+1)
			continue
		}
		keep := ""
		if at := strings.IndexAny(groups[0][:1], "(["); at == 0 && strings.LastIndexAny(groups[0], ")]") < len(groups[0])-1 {
			closing := map[byte]string{'(': ")", '[': "]"}[groups[0][0]]
			if rest, ok := strings.CutPrefix(strings.TrimLeft(s.text[end:], " "), closing); ok {
				end = len(s.text) - len(rest)
			} else {
				keep = groups[0][:1] // other words stand in the brackets
			}
		}
		s.text = s.text[:start] + " " + keep + " " + s.text[end:]
		from = start
	}
}

func (s *scan) has(parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s.text, p) })
}

func setText(to *string, v string) bool {
	if v = strings.TrimSpace(v); *to == "" {
		*to = v
	}
	return true
}

// field takes the value of a field in the form of a key and a value.
func (s *scan) field(key, value string) bool {
	value = strings.TrimSpace(s.flat.restore(value))
	switch strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(key)) {
	case "due", "deadline", "duedate":
		if d := readDate(value, s.today); d != "" {
			return setText(&s.due, d)
		}
		return false
	case "owner", "assignee", "assignedto", "who":
		return setText(&s.owner, strings.TrimPrefix(value, "@"))
	case "priority", "prio", "pri":
		p := readPriority(value)
		if s.priority == nil {
			s.priority = p
		}
		return p != nil
	case "id", "key", "ticket":
		return setText(&s.id, bareID(value))
	case "dependson", "depends", "deps", "dependencies", "blockedby", "after", "needs", "requires":
		s.addNeeds(value)
		return true
	case "tags", "tag", "labels":
		s.addTags(value)
		return true
	case "status", "state":
		st, ok := readCell(value, nil)
		if ok && s.status == "" {
			s.status = st
		}
		return ok
	case "created", "completion", "completed", "scheduled", "start", "repeat", "cancelled":
		return true
	}
	return false
}

func (s *scan) addTags(list string) {
	for _, t := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		if t = strings.TrimLeft(t, "#"); t != "" && !slices.Contains(s.tags, t) {
			s.tags = append(s.tags, t)
		}
	}
}

// addNeeds reads a list of needs: ids, or texts between commas.
func (s *scan) addNeeds(list string) {
	for _, part := range strings.FieldsFunc(strings.TrimSpace(list), func(r rune) bool { return r == ',' || r == ';' }) {
		part = strings.TrimPrefix(strings.TrimSpace(part), "and ")
		if refs := refParts.Load().FindAllString(part, -1); len(refs) > 1 || len(refs) == 1 && len(strings.Fields(part)) == 1 {
			for _, r := range refs {
				s.addNeed(r)
			}
			continue
		}
		s.addNeed(part)
	}
}

func (s *scan) addNeed(text string) {
	text = bareID(strings.Trim(s.flat.restore(strings.TrimSpace(text)), "`\" .:"))
	if text != "" && !slices.ContainsFunc(s.needs, func(n need) bool { return n.text == text }) {
		s.needs = append(s.needs, need{text: text})
	}
}

// bareID takes the signs away that make a word an id.
func bareID(word string) string {
	word = strings.TrimSpace(word)
	if t, ok := strings.CutPrefix(word, "[["); ok {
		word = strings.TrimSuffix(t, "]]")
	}
	if strings.HasPrefix(word, "{#") || strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]") {
		word = strings.Trim(word, "{}[]")
	}
	return strings.TrimLeft(word, "#^")
}

// facts takes the metadata from the text of an item.
func (m *markdown) facts(text string, f *flat) facts {
	s := &scan{text: strings.ReplaceAll(text, "\n", " "), flat: f, today: m.d.opts.Today}
	lower := strings.ToLower(s.text)
	contains := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
	}
	if s.has("::") {
		s.take(dataview, func(g []string) bool { return s.field(g[1], g[2]) })
	}
	if strings.IndexFunc(s.text, func(r rune) bool { return r >= 0x2000 && r < hidden }) >= 0 {
		s.takeEmoji()
	}
	if contains("due", "deadline") {
		s.take(dueDate, func(g []string) bool {
			d := readDate(g[1], s.today)
			return d != "" && setText(&s.due, d)
		})
	}
	if s.has("@{") {
		s.take(boardDate, func(g []string) bool {
			d := readDate(g[1], s.today)
			return d != "" && setText(&s.due, d)
		})
	}
	if contains("owner", "assign", "responsible", "owned") {
		s.take(ownerKey, func(g []string) bool { return setText(&s.owner, strings.Trim(g[1], `".`)) })
		s.take(assigned, func(g []string) bool { return setText(&s.owner, strings.TrimRight(g[1], ".")) })
	}
	if contains("pri") {
		s.take(priorityKey, func(g []string) bool { return s.field("priority", g[1]) })
	}
	if s.has("(", "[") && contains("high", "low", "medium", "normal", "urgent", "critical") {
		s.take(priorityIn, func(g []string) bool { return s.field("priority", g[1]+g[2]) })
	}
	if s.has("[#") {
		s.take(orgPriority, func(g []string) bool { return s.field("priority", g[1]) })
	}
	if s.has(":", "=") {
		if contains("tag", "label") {
			s.take(tagsKey, func(g []string) bool { s.addTags(g[1]); return true })
		}
		if contains("stat") {
			s.take(statusKey, func(g []string) bool { return s.field("status", g[1]) })
		}
		s.take(idKey, func(g []string) bool { return setText(&s.id, g[1]) })
	}
	if contains("depend", "block", "after", "needs", "requires", "waiting", "waits", "deps", "prereq") {
		s.takeNeeds()
	}
	if s.has("{#") {
		s.take(anyID, func(g []string) bool { return setText(&s.id, g[1]) })
	}
	if s.has("^") {
		s.take(blockID, func(g []string) bool { return setText(&s.id, g[1]) })
	}
	s.takeEnds()
	if s.has("#", "@") {
		s.takeInner()
	}
	s.title = f.restore(tidy(s.text))
	if s.title == "" && (s.id != "" || len(s.needs) > 0) {
		s.title, s.untitled = oneLine(f.restore(text)), true
	}
	return s.facts
}

// takeEmoji takes dates, priorities and ids in the way of Obsidian's tasks.
func (s *scan) takeEmoji() {
	s.take(emojiDate, func(g []string) bool {
		d := readDate(g[2], s.today)
		if strings.Contains("📅📆🗓", g[1]) && d != "" {
			setText(&s.due, d)
		}
		return d != ""
	})
	s.take(recurs, func([]string) bool { return true })
	s.take(emojiID, func(g []string) bool { return setText(&s.id, g[1]) })
	s.take(onDone, func([]string) bool { return true })
	s.take(emojiNeeds, func(g []string) bool { s.addNeeds(g[1]); return true })
	for _, r := range s.text {
		if p, ok := priorityEmoji[r]; ok {
			if s.priority == nil {
				s.priority = &p
			}
			s.text = strings.ReplaceAll(strings.ReplaceAll(s.text, string(r)+"\ufe0f", " "), string(r), " ")
		}
	}
}

// takeRefs takes needs that are ids.
func (s *scan) takeRefs() {
	for _, e := range []expression{needsRefs, needsLast} {
		s.take(e, func(g []string) bool {
			for _, r := range refParts.Load().FindAllString(g[1], -1) {
				s.addNeed(r)
			}
			return true
		})
	}
}

func (s *scan) takeNeeds() {
	s.takeRefs()
	s.take(needsKey, func(g []string) bool {
		list := g[1]
		for i, w := range strings.Fields(list) { // tags and names behind the list are not a part of it
			if i > 0 && (w[0] == '@' || w[0] == '!' || w[0] == '#' && len(w) > 1 && (w[1] < '0' || w[1] > '9')) {
				at := strings.Index(list, " "+w)
				s.text += list[at:]
				list = list[:at]
				break
			}
		}
		s.addNeeds(strings.Trim(list, " ]"))
		return true
	})
	free := func(g []string) bool { s.addNeeds(g[1]); return true }
	s.take(needsIn, free)
	s.take(needsTail, func(g []string) bool { // ", waits for the answer, and ends" is prose, unless the title of an item follows
		return !waitsForm.Load().MatchString(g[0]) && free(g)
	})
	if g := needsTitle.Load().FindStringSubmatchIndex(s.text); g != nil {
		n := need{text: strings.TrimSpace(s.flat.restore(s.text[g[2]:g[3]])), phrase: s.flat.restore(tidy(s.text[g[0]:]))}
		s.needs = append(s.needs, n)
	}
	s.take(needsWords, func(g []string) bool {
		if n := len(s.needs); n > 0 && s.needs[n-1].phrase != "" {
			s.needs = s.needs[:n-1]
		}
		return free(g)
	})
}

// takeEnds takes the words in front and behind that are metadata.
func (s *scan) takeEnds() {
	if g := todoPrio.Load().FindStringSubmatch(strings.TrimSpace(s.text)); g != nil {
		s.field("priority", g[1])
		s.text = strings.TrimSpace(s.text)[len(g[0]):]
	}
	words := strings.Fields(s.text)
	for len(words) > 0 && s.word(words[0], true, len(words) > 1) {
		words = words[1:]
	}
	before, end := s.facts, len(words)
	before.tags = slices.Clip(before.tags)
	for end > 1 && s.word(words[end-1], false, true) {
		end--
	}
	s.facts = before
	for _, w := range words[end:] { // again in their order: the first name is the owner
		s.word(w, false, true)
	}
	if end < len(words) && end > 1 && s.owner != before.owner && strings.EqualFold(words[end-1], "by") {
		end--
	}
	s.text = strings.Join(words[:min(end, len(words))], " ")
	if rest, emoji := splitEmoji(s.text); emoji != 0 && s.emoji == 0 {
		s.emoji, s.text = emoji, rest
	}
	if g := statusIn.Load().FindStringSubmatch(s.text); g != nil {
		if st, ok := phrases()[normalize(g[1]+g[2])]; ok {
			if s.status == "" {
				s.status = st
			}
			s.text = strings.TrimSpace(strings.Replace(s.text, strings.TrimSpace(g[0]), "", 1))
		}
	}
	// "Ship it ✅ Complete" and "✅ DONE: ship it"
	if at := strings.LastIndexFunc(s.text, isStatusEmoji); at > 0 {
		r, n := utf8.DecodeRuneInString(s.text[at:])
		if _, ok := phrases()[normalize(strings.TrimLeft(s.text[at+n:], "\ufe0f "))]; ok {
			s.text = s.text[:at]
			if s.emoji == 0 {
				s.emoji = r
			}
		}
	}
	if head, tail, ok := strings.Cut(s.text, ":"); ok && s.emoji != 0 && len(head) < 20 {
		if _, ok := phrases()[normalize(head)]; ok {
			s.text = strings.TrimSpace(tail)
		}
	}
}

// word takes a word at the start or at the end of the text, and reports whether it was metadata.
func (s *scan) word(w string, front, others bool) bool {
	bare := strings.TrimRight(strings.TrimLeft(w, "(["), ")],;:.")
	if strings.HasPrefix(w, "[") && !strings.HasPrefix(bare, "P") && !trackerID.Load().MatchString(strings.TrimRight(w, ",;:.")) && !strings.HasPrefix(bare, "#") && !strings.HasPrefix(bare, "@") {
		bare = w
	}
	switch {
	case strings.Trim(w, "-–—|·•:,;") == "":
		return true
	case strings.HasPrefix(bare, "@"):
		return isHandle(bare) && setText(&s.owner, bare[1:])
	case strings.HasPrefix(bare, "#") && isTag(bare):
		s.addTags(bare)
		return true
	case strings.HasPrefix(bare, "#") && allDigits(bare[1:]):
		if s.id != "" && s.id != bare[1:] {
			return false
		}
		return setText(&s.id, bare[1:])
	case strings.Trim(w, "!") == "" && w != "":
		return s.field("priority", w)
	case len(bare) == 2 && bare[0] == 'P' && bare[1] >= '0' && bare[1] <= '5':
		return s.field("priority", bare)
	}
	if r, n := utf8.DecodeRuneInString(w); isStatusEmoji(r) && strings.Trim(w[n:], "\ufe0f\ufe0e") == "" {
		if s.emoji == 0 {
			s.emoji = r
		}
		return true
	}
	bracketed := strings.HasPrefix(w, "[") || strings.HasPrefix(w, "(")
	if others && s.id == "" && (front || bracketed) {
		if g := trackerID.Load().FindStringSubmatch(strings.Trim(strings.TrimRight(w, ",;"), "()")); g != nil {
			prefix, _, _ := strings.Cut(g[1], "-")
			if bracketed && strings.HasPrefix(w, "[") || !slices.Contains(notTrackers, prefix) {
				return setText(&s.id, g[1])
			}
		}
	}
	return false
}

// takeInner finds tags and names within the title. The words stay in the title.
func (s *scan) takeInner() {
	words := strings.Fields(s.text)
	for i, w := range words {
		bare := strings.TrimRight(strings.TrimLeft(w, "(["), ")],;:.!?")
		switch {
		case strings.HasPrefix(bare, "#") && isTag(bare):
			s.addTags(bare)
			words[i] = strings.Replace(w, "#", "", 1)
		case strings.HasPrefix(bare, "@") && isHandle(bare):
			if strings.HasPrefix(w, "(") && strings.HasSuffix(w, ")") {
				words[i] = ""
			}
			setText(&s.owner, bare[1:])
		}
	}
	s.text = strings.Join(words, " ")
}

func isTag(w string) bool {
	for i, r := range w[1:] {
		if !(unicode.IsLetter(r) || r == '_' || i > 0 && (unicode.IsDigit(r) || r == '-' || r == '/')) {
			return false
		}
	}
	return len(w) > 1 && !isColour(w[1:])
}

// isColour finds #fff and #ffff00 and such; #bad and #add are tags.
func isColour(w string) bool {
	return (len(w) == 3 || len(w) == 6) && strings.Trim(w, "0123456789abcdefABCDEF") == "" && (strings.ContainsAny(w, "0123456789") || strings.Trim(w, w[:1]) == "")
}

func isHandle(w string) bool {
	for _, r := range w[1:] {
		if !(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.') {
			return false
		}
	}
	return len(w) > 1
}

func allDigits(w string) bool { return w != "" && strings.Trim(w, "0123456789") == "" }

// tidy removes what the metadata has left behind.
func tidy(text string) string {
	for strings.ContainsAny(text, "([{") {
		next := emptyPair.Load().ReplaceAllString(text, "$1")
		if next == text {
			break
		}
		text = next
	}
	if strings.ContainsAny(text, ",;") {
		text = looseComma.Load().ReplaceAllString(text, "$1")
	}
	words := strings.Fields(text)
	for len(words) > 0 && strings.Trim(words[0], "-–—:,;|·•\ufe0f") == "" {
		words = words[1:]
	}
	text = strings.TrimLeft(strings.Join(words, " "), ":,;|·•\ufe0f ")
	return strings.TrimSpace(strings.TrimRight(text, "-–—,;|·•:\ufe0f "))
}
