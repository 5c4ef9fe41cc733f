package ir

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxValueText bounds the text of a value in a [ValueChange], in characters.
	maxValueText = 60
	// keptPrefix is how much stays of what both texts begin with, if they are too long.
	keptPrefix = 12
	// sensitiveText stands for a value that is not shown.
	sensitiveText = "(sensitive)"
)

// ValueChange is a value that differs. Part is an attribute, or a member of it after dots, such as retry.max_attempts. Before and After are
// the text of the file or JSON, in 60 characters at most; "" where there is none. They say (sensitive) in place of a sensitive value.
type ValueChange struct {
	Part   string `json:"part"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// addValues adds the values to changes of parts.
func addValues(changes []Change, old, now []part) {
	before, after := bodies(old), bodies(now)
	for i := range changes {
		c := &changes[i]
		a, b := before[c.Name], after[c.Name]
		secret := isTrue(a["sensitive"]) || isTrue(b["sensitive"])
		for _, name := range c.Parts {
			if x, y := a[name], b[name]; secret && name != "sensitive" && name != "type" {
				c.Values = append(c.Values, ValueChange{name, masked(x), masked(y)})
			} else {
				c.Values = appendValues(c.Values, name, x, y)
			}
		}
	}
}

func bodies(list []part) map[string]map[string]json.RawMessage {
	m := map[string]map[string]json.RawMessage{}
	for _, p := range list {
		m[p.name] = p.body
	}
	return m
}

// masked stands for a value, if there is one.
func masked(text json.RawMessage) string {
	if text == nil {
		return ""
	}
	return sensitiveText
}

// appendValues adds the values of a part that differ. Where both sides are objects, these are their members.
func appendValues(to []ValueChange, name string, a, b json.RawMessage) []ValueChange {
	if bytes.Equal(a, b) {
		return to
	}
	x, y := fields(a), fields(b)
	if x == nil || y == nil || isExpr(x) || isExpr(y) {
		before, after := cutPair(valueText(a), valueText(b))
		if before == after && before != sensitiveText { // the types of expressions can differ alone
			return to
		}
		return append(to, ValueChange{name, before, after})
	}
	all := maps.Clone(x)
	maps.Copy(all, y)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		to = appendValues(to, name+"."+key, x[key], y[key])
	}
	return to
}

// isExpr reports whether an object is an [Expr].
func isExpr(o map[string]json.RawMessage) bool {
	return o["type"] != nil && slices.Contains(ExprKinds, ExprKind(textOf(o["kind"])))
}

func isTrue(text json.RawMessage) bool { return string(text) == "true" }

// valueText writes a value in the words of a file: expressions as their text, and objects as {name = value}.
func valueText(text json.RawMessage) string {
	o := fields(text)
	var list []json.RawMessage
	switch {
	case isExpr(o) && isTrue(o["sensitive"]):
		return sensitiveText
	case isExpr(o) && o["text"] != nil:
		return textOf(o["text"])
	case isExpr(o) && o["const"] == nil:
		return "null"
	case isExpr(o):
		return plainJSON(o["const"])
	case o != nil:
		members := make([]string, 0, len(o))
		for _, key := range slices.Sorted(maps.Keys(o)) {
			members = append(members, key+" = "+valueText(o[key]))
		}
		return "{" + strings.Join(members, ", ") + "}"
	case json.Unmarshal(text, &list) == nil && list != nil:
		members := make([]string, len(list))
		for i := range list {
			members[i] = valueText(list[i])
		}
		return "[" + strings.Join(members, ", ") + "]"
	}
	return plainJSON(text)
}

// plainJSON is JSON in which <, > and & are not escaped.
func plainJSON(text json.RawMessage) string {
	var v any
	read := json.NewDecoder(bytes.NewReader(text))
	read.UseNumber()
	var b strings.Builder
	write := json.NewEncoder(&b)
	write.SetEscapeHTML(false)
	if read.Decode(&v) != nil || write.Encode(v) != nil {
		return string(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cutPair cuts two texts. If one is too long, most of what both begin with is left out, so that the difference is shown.
func cutPair(a, b string) (string, string) {
	if max(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) > maxValueText && a != "" && b != "" {
		x, y := []rune(a), []rune(b)
		same := 0
		for same < min(len(x), len(y)) && x[same] == y[same] {
			same++
		}
		if left := same - keptPrefix; left > 1 {
			a, b = "…"+string(x[left:]), "…"+string(y[left:])
		}
	}
	return cutText(a), cutText(b)
}

func cutText(s string) string {
	if r := []rune(s); len(r) > maxValueText {
		return string(r[:maxValueText-1]) + "…"
	}
	return s
}
