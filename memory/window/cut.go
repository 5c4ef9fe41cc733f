package window

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// cutLarge cuts the middle of each message that alone is above the room for all of them, to half of that room.
func (f *Fitted) cutLarge(messages []Message, room int, o Options) ([]Message, error) {
	messages = slices.Clone(messages)
	for i, m := range messages {
		cost := o.cost(m.Text)
		if cost <= room {
			continue
		}
		short, ok := cut(m, room/2-PerMessage, o)
		if !ok {
			return nil, &TooLargeError{What: fmt.Sprintf("message %s with the soul and all that is fixed", m.ID),
				Tokens: o.Budget - room + cost, Budget: o.Budget}
		}
		messages[i].Text = short
		f.Cut = append(f.Cut, m.ID)
	}
	return messages, nil
}

// cut keeps the head and the tail of a message, two to one, in so many tokens. It gives up where not even the words between them fit.
func cut(m Message, limit int, o Options) (string, bool) {
	kept := len(m.Text)
	for {
		head, tail := headOf(m.Text, kept*2/3), tailOf(m.Text, kept/3)
		short := fmt.Sprintf("%s\n… %d bytes are left out …\n%s", head, len(m.Text)-len(head)-len(tail), tail)
		have := o.tokens(short)
		if have <= limit {
			return short, true
		}
		if kept == 0 {
			return "", false
		}
		// The estimate is near enough to a constant per byte that a few rounds do.
		kept = max(0, min(kept-1, kept*max(limit, 0)/have))
	}
}

// headOf is the start of a text, of at most n bytes, that ends with a whole character.
func headOf(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:min(n, len(s))]
}

// tailOf is the end of a text, of at most n bytes, that starts with a whole character.
func tailOf(s string, n int) string {
	from := max(0, len(s)-n)
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}
