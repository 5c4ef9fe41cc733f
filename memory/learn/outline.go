package learn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Bounds of an outline.
const (
	// MaxOutline is how many bytes an outline of fields has, so that it fits into an observation with what stands before it.
	MaxOutline = 287
	// MaxField is how many bytes a text has that is told with its name.
	MaxField = 120
	// maxJSON is how many bytes of a text are read as JSON; a longer one is told by its size.
	maxJSON = 256 << 10
)

// Outline says a result in words: a text as it is, in [MaxObservation] bytes; of an object the names of its fields, sorted, and
// what stands in those that are short, "files = 2 entries, summary = done", in [MaxOutline] bytes; of a list how long it is. A
// text that is an object or a list in JSON is one. v is nil, a bool, a float64, a string, a []any or a map[string]any; any other
// has no outline.
func Outline(v any) string {
	if s, is := v.(string); is {
		if v = fromJSON(s); v == nil {
			return Clip(oneLine(s), MaxObservation)
		}
	}
	if o, is := v.(map[string]any); is {
		return fields(o)
	}
	return scalar(v)
}

// fromJSON is the object or the list that a text is, or, of one too long to look, the words for it. It is nil where it is none.
func fromJSON(s string) (v any) {
	s = strings.TrimSpace(s)
	if s == "" || !strings.Contains("{[", s[:1]) || !strings.Contains("}]", s[len(s)-1:]) {
		return nil
	}
	if len(s) > maxJSON {
		return fmt.Sprintf("%d KiB of JSON", len(s)>>10)
	}
	if json.Unmarshal([]byte(s), &v) != nil {
		return nil
	}
	return v
}

// fields are the fields of an object: each with what stands in it as long as there is room for the names of the others, and of
// more names than there is room for, how many are left.
func fields(o map[string]any) string {
	names := slices.Sorted(maps.Keys(o))
	rest := 0 // what the names take that are still to come
	for i, name := range names {
		names[i] = Clip(oneLine(name), MaxTag)
		rest += len(", ") + len(names[i])
	}
	out := make([]string, 0, len(names))
	used, room := 0, MaxOutline-len(", and 1000000 more")
	for i, key := range slices.Sorted(maps.Keys(o)) {
		name := names[i]
		rest -= len(", ") + len(name)
		if said := scalar(o[key]); said != "" && used+len(", ")+len(name)+len(" = ")+len(said)+rest <= room {
			name += " = " + said
		}
		if used += len(", ") + len(name); used > room {
			out = append(out, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// scalar is a value in a few words, or "" where it takes more than a few.
func scalar(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case float64:
		b, _ := json.Marshal(v) // shorter than strconv's plain form where the number is very large or small
		return string(b)
	case string:
		if s := oneLine(v); len(s) <= MaxField && fromJSON(s) == nil {
			return s
		}
	case []any:
		if len(v) == 1 {
			return "1 entry"
		}
		return fmt.Sprintf("%d entries", len(v))
	}
	return ""
}

// Review says in words what a reviewer answered, the texts first: "comments = the tests are missing, accepted = false". Unlike in
// an outline, a long text is cut and not left out, and a list of texts is told.
func Review(v any) string {
	if s, is := v.(string); is {
		if v = fromJSON(s); v == nil {
			return Clip(oneLine(s), MaxObservation)
		}
	}
	o, is := v.(map[string]any)
	if !is {
		return cmp.Or(textOf(v), scalar(v))
	}
	var texts, rest []string
	for _, name := range slices.Sorted(maps.Keys(o)) {
		lead := Clip(oneLine(name), MaxTag) + " = "
		if s := textOf(o[name]); s != "" {
			texts = append(texts, lead+s)
		} else if s := scalar(o[name]); s != "" {
			rest = append(rest, lead+s)
		}
	}
	return Clip(strings.Join(append(texts, rest...), ", "), MaxObservation)
}

// textOf is a text, or a list that has some, in one line; "" for all else.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return Clip(oneLine(v), maxEvidence)
	case []any:
		var out []string
		for _, one := range v {
			if s, is := one.(string); is && s != "" {
				out = append(out, oneLine(s))
			}
		}
		return Clip(strings.Join(out, "; "), maxEvidence)
	}
	return ""
}
