package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/stats"
	"github.com/flowrun/flowrun/runner/view"
)

// functions are what templates can call.
func (p *Pages) functions() template.FuncMap {
	return template.FuncMap{
		"asset":   func(name string) string { return "/static/" + name + "?" + p.assets[name].hash },
		"clean":   ui.Clean,
		"lines":   ui.CleanLines,
		"at":      p.at,
		"ago":     p.ago,
		"took":    took,
		"span":    span,
		"seconds": func(s float64) string { return span(&s) },
		"pretty":  pretty,
		"ratio":   ratio,
		"percent": percent,
		"short":   shortValue,
		"change":  func(c ir.Change) string { return ui.Clean(ui.ChangeWords(c)) },
		"count":   countOf,
		"entry":   entryPath,
		"bywhom":  byWhom,
		"icon":    icon,
		"dayof":   func(d serve.Day, member string) *stats.Figures { return figuresOf(&d, member) },
		"numbers": func(since, by, of string) string {
			return "/numbers?" + url.Values{"since": {since}, "by": {by}, "of": {of}}.Encode()
		},
		"join":    strings.Join,
		"colours": colours,
		"dict":    dict,
		"before":  func(n int) int { return n - 1 },
		"after":   func(n int) int { return n + 1 },
		"nav":     p.navigations,
		"path":    func(parts ...string) string { return runPath(parts...) },
		"where":   p.server.Where,
	}
}

// countOf writes a number of things; many is their plural where it is not the word with an s.
func countOf(n int, one string, many ...string) string {
	if len(many) > 0 && n != 1 {
		return number(n) + " " + many[0]
	}
	return ui.Count(n, one)
}

// navigation is an entry of the navigation.
type navigation struct{ Path, Name string }

var navigations = []navigation{{"", "Now"}, {"runs", "Runs"}, {"inbox", "Inbox"}, {"loops", "Loops"}, {"routines", "Routines"}, {"events", "Events"},
	{"limits", "Limits"}, {"numbers", "Numbers"}, {"memory", "Memory"}, {"letters", "Dead letters"}, {"audit", "Audit"}}

// onDisk are the pages of what only a store on this machine has.
var onDisk = []string{"memory"}

// navigations are the entries of the navigation, without those of pages that would always be empty.
func (p *Pages) navigations() []navigation {
	if !p.server.Remote() {
		return navigations
	}
	return slices.DeleteFunc(slices.Clone(navigations), func(n navigation) bool { return slices.Contains(onDisk, n.Path) })
}

// maxAddress is the length from which on a path of a node is named by its short form in an address, in bytes; see serve.MaxPath.
const maxAddress = 2 << 10

// runPath is the address of a run: its id, then the last part, and a query of a name and a value.
func runPath(parts ...string) string {
	out := "/runs/" + url.PathEscape(parts[0])
	if len(parts) > 1 && parts[1] != "" {
		out += "/" + parts[1]
	}
	for i := 2; i+1 < len(parts); i += 2 {
		sign := "&"
		if i == 2 {
			sign = "?"
		}
		value := parts[i+1]
		if (parts[i] == "path" || parts[i] == "under") && len(url.QueryEscape(value)) > maxAddress {
			value = view.Short(value)
		}
		out += sign + parts[i] + "=" + url.QueryEscape(value)
	}
	return out
}

// moment reads the forms in which the API gives a time; zero where there is none.
func moment(x any) time.Time {
	switch t := x.(type) {
	case time.Time:
		return t
	case view.Moment:
		if t != 0 {
			return event.Time(t).Go()
		}
	case *view.Moment:
		if t != nil {
			return moment(*t)
		}
	case string:
		at, _ := time.Parse(time.RFC3339Nano, t)
		return at
	case *string:
		if t != nil {
			return moment(*t)
		}
	}
	return time.Time{}
}

// at is a time as a page shows it: in the zone of the server, until the browser puts it in its own.
func (p *Pages) at(x any) template.HTML {
	t := moment(x)
	if t.IsZero() {
		return "–"
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.UTC().Format(time.RFC3339Nano), t.Local().Format("2006-01-02 15:04:05 MST"))) //nolint // digits and letters of Go's own
}

// ago is how long ago a time was.
func (p *Pages) ago(x any) template.HTML {
	t := moment(x)
	if t.IsZero() {
		return "–"
	}
	text := ui.Ago(t, p.now())
	if t.After(p.now()) {
		text = "in " + ui.Duration(t.Sub(p.now()))
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, t.UTC().Format(time.RFC3339Nano), t.Local().Format("2006-01-02 15:04:05 MST"), template.HTMLEscapeString(text)))
}

// took is the time between two moments; of an end that is not there yet, until now.
func took(from, to any, now time.Time) string {
	a, b := moment(from), moment(to)
	if a.IsZero() {
		return ""
	}
	if b.IsZero() {
		b = now
	}
	return short(max(0, b.Sub(a)))
}

// short writes a duration; one of less than a second in milliseconds.
func short(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return ui.Duration(d)
}

// span is a number of seconds.
func span(seconds *float64) string {
	if seconds == nil {
		return "–"
	}
	return short(time.Duration(*seconds * float64(time.Second)))
}

func percent(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*(*x))
}

// maxPretty bounds the text of a value on a page, in bytes.
const maxPretty = 64 << 10

// pretty is a value as text: a string as it is, anything else as JSON.
func pretty(v any) string {
	if d, is := v.(view.Data); is {
		v = d.Shown()
	}
	text, is := v.(string)
	if !is {
		var out strings.Builder
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false) // templates escape
		e.SetIndent("", "  ")
		if err := e.Encode(v); err != nil {
			return err.Error()
		}
		text = strings.TrimSuffix(out.String(), "\n")
	}
	if len(text) > maxPretty {
		text = strings.ToValidUTF8(text[:maxPretty], "") + "\n…"
	}
	return ui.CleanLines(text)
}

// maxShort bounds a value in a row of a table, in bytes.
const maxShort = 2000

// shortValue is pretty for a row of a table; "" for null.
func shortValue(v view.Data) string {
	if v.Value == nil {
		return ""
	}
	return clip(pretty(v), maxShort)
}

// icon is a sign of a status besides its word and its colour.
func icon(status any) string {
	switch fmt.Sprint(reflect.Indirect(reflect.ValueOf(status))) {
	case "succeeded", "compensated", "ok":
		return "✓"
	case "failed", "error", "fatal", "timeout", "not_compensated":
		return "✗"
	case "running", "compensating":
		return "▶"
	case "waiting":
		return "‖"
	case "skipped":
		return "↷"
	case "blocked":
		return "⊘"
	case "cancelled", "lost", "interrupted":
		return "■"
	}
	return "○"
}

// ratio writes a ratio; one that is not known is a dash.
func ratio(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *v)
}

// dict makes a map of names and values.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m
}
