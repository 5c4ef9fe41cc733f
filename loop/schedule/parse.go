package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/loop/zone"
)

// MaxText is the length of the longest expression, in bytes.
const MaxText = 1000

// An Error says what is wrong with an expression, and where.
type Error struct {
	Start, End int    // the bytes of the expression that it is about
	Message    string // what is wrong
	Hint       string // what to write instead; a sentence, or empty
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + ". " + e.Hint
}

// daily says what the names that begin with "@" stand for.
var daily = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *",
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// dailyNames are the names in the order in which messages give them.
var dailyNames = []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually", "@every"}

const fiveFields = "the five fields are minute, hour, day of the month, month and day of the week"

// Parse reads a cron expression: five fields, a name like "@daily", or "@every 15m". In front of it may stand "CRON_TZ=ZONE " or
// "TZ=ZONE ". The zone of the argument, "" for none, counts otherwise; without any it is UTC. An error is an *Error, also for an
// unknown zone of the argument; it is then about the whole expression.
func Parse(text, timezone string) (Schedule, error) {
	if len(text) > MaxText {
		return Schedule{}, &Error{0, len(text), fmt.Sprintf("a schedule has at most %d bytes, and this one has %d", MaxText, len(text)), ""}
	}
	words := split(text)
	location, ok := zone.Load(timezone)
	if !ok {
		return Schedule{}, unknownZone(timezone, 0, len(text))
	}
	if len(words) > 0 {
		name, given := strings.CutPrefix(words[0].text, "CRON_TZ=")
		if !given {
			name, given = strings.CutPrefix(words[0].text, "TZ=")
		}
		if given {
			prefix := words[0]
			words = words[1:]
			location, ok = zone.Load(name)
			start := prefix.end() - len(name)
			switch {
			case name == "":
				return Schedule{}, &Error{prefix.at, prefix.end(), "there is no time zone after " + prefix.text, "Write one, as in CRON_TZ=Europe/Berlin."}
			case !ok:
				return Schedule{}, unknownZone(name, start, prefix.end())
			case timezone != "" && timezone != name:
				return Schedule{}, &Error{prefix.at, prefix.end(), fmt.Sprintf("the time zone is given twice: %s here and %s as timezone", name, timezone), "Leave out one of the two."}
			}
		}
	}
	if len(words) == 0 {
		return Schedule{}, &Error{0, len(text), "there is no schedule", `Write five fields, as in "0 2 * * MON-FRI": ` + fiveFields + "."}
	}
	if strings.HasPrefix(words[0].text, "@") {
		return parseName(words, location)
	}
	if err := countFields(words); err != nil {
		return Schedule{}, err
	}
	return parseFields(words, location)
}

// word is a part of the expression and where it stands.
type word struct {
	text string
	at   int
}

func (w word) end() int { return w.at + len(w.text) }

func (w word) errorf(hint, format string, args ...any) *Error {
	return &Error{w.at, w.end(), fmt.Sprintf(format, args...), hint}
}

func split(text string) (words []word) {
	for at := 0; at < len(text); {
		if text[at] == ' ' || text[at] == '\t' {
			at++
			continue
		}
		end := at + strings.IndexAny(text[at:]+" ", " \t")
		words = append(words, word{text[at:end], at})
		at = end
	}
	return words
}

func unknownZone(name string, start, end int) *Error {
	hint := `Write the name of the tz database, as in "Europe/Berlin".`
	switch near := zone.Nearest(name); {
	case strings.EqualFold(name, "local"):
		hint = "The zone of a machine differs from machine to machine. " + hint
	case near != "":
		hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return &Error{start, end, fmt.Sprintf("unknown time zone %q", name), hint}
}

// UnknownZone returns the error of the name of a time zone, or nil if there is such a zone.
func UnknownZone(name string) *Error {
	if _, ok := zone.Load(name); ok && name != "" {
		return nil
	}
	return unknownZone(name, 0, len(name))
}

func parseName(words []word, location *time.Location) (Schedule, error) {
	name := words[0]
	lower := strings.ToLower(name.text)
	switch fields := daily[lower]; {
	case lower == "@every":
		return parseEvery(words, location)
	case lower == "@reboot":
		return Schedule{}, name.errorf("Start the run where the machine starts, or write a time.", "a routine is not a part of the machine's start: @reboot is not supported")
	case fields == "":
		hint := "There are " + strings.Join(dailyNames, ", ") + "."
		if near := diag.Nearest(lower, dailyNames); near != "" {
			hint = fmt.Sprintf("Did you mean %q?", near)
		}
		return Schedule{}, name.errorf(hint, "unknown schedule %q", name.text)
	case len(words) > 1:
		return Schedule{}, words[1].errorf("", "nothing may follow %s", name.text)
	default:
		return parseFields(split(fields), location)
	}
}

func parseEvery(words []word, location *time.Location) (Schedule, error) {
	const hint = `Write a duration, as in "@every 15m".`
	switch len(words) {
	case 1:
		return Schedule{}, words[0].errorf(hint, "there is no duration after @every")
	case 2:
	default:
		return Schedule{}, words[2].errorf("", "nothing may follow the duration")
	}
	interval, err := time.ParseDuration(words[1].text)
	switch {
	case err != nil:
		return Schedule{}, words[1].errorf(hint, "%q is not a duration", words[1].text)
	case interval < MinEvery:
		return Schedule{}, words[1].errorf("", "the shortest interval is %s", MinEvery)
	}
	return Every(interval, location), nil
}

// countFields refuses what is not five words. In six of them the first is usually the seconds, in seven the last is the year as well.
func countFields(words []word) error {
	switch n := len(words); {
	case n < len(fields):
		return &Error{words[0].at, words[n-1].end(), fmt.Sprintf("a schedule has five fields, and this one has %d", n), upper(fiveFields) + "."}
	case n == len(fields):
		return nil
	case n == len(fields)+1 && isYear(words[5].text):
		return words[5].errorf("Leave it out.", "a schedule has five fields, without a year")
	case n <= len(fields)+2:
		if strings.Contains(words[0].text, "/") || words[0].text == "*" {
			return words[0].errorf(`Leave the first field out, or write every = "30s".`, "a schedule has five fields, without seconds, and this one has %d", n)
		}
		rest := make([]string, 0, len(fields))
		for _, w := range words[1:6] {
			rest = append(rest, strings.ReplaceAll(w.text, "?", "*"))
		}
		return words[0].errorf(fmt.Sprintf("Without seconds it is %q.", strings.Join(rest, " ")), "a schedule has five fields, without seconds, and this one has %d", n)
	default:
		return &Error{words[5].at, words[n-1].end(), fmt.Sprintf("a schedule has five fields, and this one has %d", n), upper(fiveFields) + "."}
	}
}

func isYear(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && len(text) == 4 && n >= 1970
}

func upper(sentence string) string { return strings.ToUpper(sentence[:1]) + sentence[1:] }

// field is one of the five.
type field struct {
	name, article string
	least, most   int
	names         []string // of least, least+1, …
	parser        cron.Parser
	bits          func(*cron.SpecSchedule) uint64
}

var (
	months   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	weekdays = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
)

var fields = []field{
	{"minute", "a", 0, 59, nil, cron.NewParser(cron.Minute), func(s *cron.SpecSchedule) uint64 { return s.Minute }},
	{"hour", "an", 0, 23, nil, cron.NewParser(cron.Hour), func(s *cron.SpecSchedule) uint64 { return s.Hour }},
	{"day of the month", "a", 1, 31, nil, cron.NewParser(cron.Dom), func(s *cron.SpecSchedule) uint64 { return s.Dom }},
	{"month", "a", 1, 12, months, cron.NewParser(cron.Month), func(s *cron.SpecSchedule) uint64 { return s.Month }},
	{"day of the week", "a", 0, 6, weekdays, cron.NewParser(cron.Dow), func(s *cron.SpecSchedule) uint64 { return s.Dow }},
}

// everyUnits are the units in which an interval says what a step can't.
var everyUnits = map[string]string{"minute": "m", "hour": "h"}

const (
	dayField     = 2
	weekdayField = 4
	sunday       = 7 // beside 0
)

func parseFields(words []word, location *time.Location) (Schedule, error) {
	var sets [5]uint64
	var open [5]bool // the field begins with "*"
	for i, w := range words {
		set, err := fields[i].parse(w)
		if err != nil {
			return Schedule{}, err
		}
		sets[i], open[i] = set, strings.HasPrefix(w.text, "*")
	}
	return Schedule{
		minute: sets[0], hour: sets[1], day: sets[dayField], month: sets[3], weekday: sets[weekdayField],
		bothDays: open[dayField] || open[weekdayField], real: open[0] || open[1], zone: location,
	}, nil
}

// parse reads a list of values, ranges and steps.
func (f *field) parse(w word) (uint64, error) {
	var set uint64
	at := w.at
	for _, text := range strings.Split(w.text, ",") {
		item := word{text, at}
		at = item.end() + 1
		if text == "" {
			return 0, w.errorf("", "an item of the list %q is empty", w.text)
		}
		more, err := f.parseItem(item)
		if err != nil {
			return 0, err
		}
		set |= more
	}
	return set, nil
}

// parseItem checks all that the library takes without a word, and what it refuses without a place, and gives it the rest.
func (f *field) parseItem(w word) (uint64, error) {
	if err := f.foreign(w); err != nil {
		return 0, err
	}
	body, step, stepped := strings.Cut(w.text, "/")
	low, high, isRange := strings.Cut(body, "-")
	by := 1
	if stepped {
		longest := f.most
		if f.names != nil {
			longest = len(f.names)
		}
		n, err := strconv.Atoi(step)
		if err != nil || n < 1 || n > longest || !digits(step) {
			hint := ""
			if unit := everyUnits[f.name]; n > longest && unit != "" {
				hint = fmt.Sprintf(`Write every = "%d%s".`, n, unit)
			}
			return 0, w.errorf(hint, "%q is not a step of %s %s: 1 to %d", step, f.article, f.name, longest)
		}
		by = n
	}
	if body == "*" {
		return f.ask(w)
	}
	first, err := f.value(low, w)
	if err != nil {
		return 0, err
	}
	if !isRange {
		if stepped { // from there to the end
			return f.ask(w)
		}
		return 1 << first, nil
	}
	last, err := f.value(high, w)
	if err != nil {
		return 0, err
	}
	inWeek := f.name == fields[weekdayField].name
	switch {
	case inWeek && low == "7":
		return 0, w.errorf("Sunday is 0 where a range begins.", "the range %q begins with its end", body)
	case inWeek && last == 0 && (first > 0 || high == "7"):
		set, err := f.ask(word{fmt.Sprintf("%d-6/%d", first, by), w.at})
		if (sunday-first)%by == 0 {
			set |= 1
		}
		return set, err
	case last < first:
		return 0, w.errorf(f.turned(first, last, by), "the range %q ends before it begins", body)
	}
	return f.ask(w)
}

// turned is the hint for a range that goes beyond the end.
func (f *field) turned(first, last, by int) string {
	if by > 1 {
		return ""
	}
	return fmt.Sprintf(`Write "%d-%d,%d-%d".`, first, f.most, f.least, last)
}

// ask lets the library read an item. What it refuses is an error of ours, because all that it refuses was refused before.
func (f *field) ask(w word) (uint64, error) {
	s, err := f.parser.Parse(w.text)
	spec, ok := s.(*cron.SpecSchedule)
	if err != nil || !ok {
		return 0, w.errorf("", "%q is not %s %s", w.text, f.article, f.name)
	}
	return f.bits(spec) &^ (1 << 63), nil // the highest bit says that it was a star
}

// value is a number or a name.
func (f *field) value(text string, w word) (int, error) {
	if f.name == fields[weekdayField].name && text == "7" {
		return 0, nil
	}
	if digits(text) || f.names != nil && letters(text) {
		if set, err := f.ask(word{text, 0}); err == nil {
			return bits.TrailingZeros64(set), nil
		}
	}
	hint := ""
	what := fmt.Sprintf("%d to %d", f.least, f.most)
	switch {
	case f.names != nil && !digits(text):
		what += fmt.Sprintf(", or %s to %s", f.names[0], f.names[len(f.names)-1])
		if near := f.near(text); near != "" {
			hint = fmt.Sprintf("Did you mean %q?", near)
		}
	case f.name == fields[weekdayField].name:
		what = "0 to 7, where 0 and 7 are Sunday"
	}
	return 0, w.errorf(hint, "%q is not %s %s: %s", text, f.article, f.name, what)
}

func (f *field) near(text string) string {
	if len(text) >= 3 {
		for _, n := range f.names {
			if strings.EqualFold(n, text[:3]) {
				return n
			}
		}
	}
	return diag.Nearest(strings.ToUpper(text), f.names)
}

func letters(text string) bool {
	for _, r := range strings.ToUpper(text) {
		if r < 'A' || r > 'Z' {
			return false
		}
	}
	return text != ""
}

func digits(text string) bool {
	for _, r := range text {
		if r < '0' || r > '9' {
			return false
		}
	}
	return text != ""
}

// foreign refuses the signs of other dialects of cron, and says what to write instead.
func (f *field) foreign(w word) error {
	text := strings.ToUpper(w.text)
	isDay := f.name == fields[dayField].name
	isWeekday := f.name == fields[weekdayField].name
	switch {
	case text == "?":
		return w.errorf(`Write "*".`, `"?" is not supported`)
	case strings.Contains(text, "#"):
		return w.errorf(`Write the days of the month, as in "8-14" for the second week, and let the workflow ask for the day of the week.`, `%q is not supported: "#" counts weeks of a month`, w.text)
	case isDay && (text == "L" || strings.HasPrefix(text, "L-")):
		return w.errorf(`Write "28-31" and let the workflow ask for the last day, or write "1" for the first day of the next month.`, `%q is not supported: "L" counts from the end of the month`, w.text)
	case isWeekday && strings.HasSuffix(text, "L"):
		return w.errorf(`Write the day of the week alone and let the workflow ask for the last week of the month, or write "SAT" for the last day of the week.`, `%q is not supported: "L" is the last one`, w.text)
	case isDay && strings.HasSuffix(text, "W"):
		return w.errorf(`Write the day of the month, or "MON-FRI" as the day of the week.`, `%q is not supported: "W" is the nearest working day`, w.text)
	}
	return nil
}
