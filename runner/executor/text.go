package executor

import (
	"strings"
	"unicode/utf8"
)

// Valid makes text of bytes: each run of wrong ones becomes one U+FFFD.
func Valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// Unfenced is the inside of the one fenced block of Markdown in a text: a model that is asked in words for JSON often writes one, among
// sentences. A text that begins as JSON does, or has several blocks, stays as it is.
func Unfenced(text string) string {
	const fence = "```"
	t := strings.TrimSpace(text)
	if strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") || strings.HasPrefix(t, `"`) {
		return text
	}
	start := strings.Index(t, fence)
	end := strings.LastIndex(t, fence)
	if start < 0 || start == end || start > 0 && strings.Count(t, fence) > 2 {
		return text
	}
	if _, inside, ok := strings.Cut(t[start:end], "\n"); ok {
		return inside
	}
	return text
}

// FirstOf is the longest start of b that as valid text has at most n bytes, without the piece of a character at its end.
func FirstOf(b []byte, n int) []byte {
	size, wrong, end := 0, false, 0
	for end < len(b) && utf8.FullRune(b[end:]) {
		r, k := utf8.DecodeRune(b[end:])
		size, wrong = grow(size, wrong, r, k)
		if size > n {
			break
		}
		end += k
	}
	return b[:end]
}

// LastOf is the longest end of b that as valid text has at most n bytes, without the piece of a character at its start.
func LastOf(b []byte, n int) []byte {
	for i := 0; i < utf8.UTFMax-1 && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:]
	}
	size, wrong, start := 0, false, len(b)
	for start > 0 {
		r, k := utf8.DecodeLastRune(b[:start])
		size, wrong = grow(size, wrong, r, k)
		if size > n {
			break
		}
		start -= k
	}
	return b[start:]
}

// grow adds a character of k bytes to the size of a valid text. A wrong byte next to another adds nothing.
func grow(size int, wrong bool, r rune, k int) (int, bool) {
	switch {
	case r != utf8.RuneError || k != 1:
		return size + k, false
	case wrong:
		return size, true
	}
	return size + len("\uFFFD"), true
}

// Clip shortens a message to n bytes of valid text.
func Clip(text string, n int) string {
	const more = "…"
	text = Valid([]byte(text))
	if len(text) <= n {
		return text
	}
	return string(FirstOf([]byte(text), n-len(more))) + more
}
