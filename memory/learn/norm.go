package learn

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowrun/flowrun/memory/entry"
)

// ID is the id of what the parts name: "M-" and 64 bits of their hash in hex. Parts of other lengths never meet.
func ID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return "M-" + hex.EncodeToString(h.Sum(nil)[:8])
}

// Norm is a text as it is compared with others: lower case, one space between words, no punctuation at the ends of words.
// Numbers and paths stay as they are, as "port 80" and "port 81" are two facts.
func Norm(text string) string {
	words := strings.Fields(strings.ToLower(text))
	out := words[:0]
	for _, w := range words {
		if w = strings.TrimFunc(w, func(r rune) bool { return unicode.IsPunct(r) && !strings.ContainsRune("/-_%#@$", r) }); w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// Key is equal for entries that say the same word for word: they are counted instead of kept twice. It is "" for what is
// never a repeat: messages, summaries, patterns, working memory, and the lines of a conversation.
func Key(e entry.Entry) string {
	switch {
	case e.Working, e.Type == entry.Message, e.Type == entry.Summary, e.Type == entry.Pattern, e.Type == "" && e.Session != "":
		return ""
	}
	texts := Norm(e.Text) + "\n" + Norm(e.Context) + "\n" + Norm(e.Observation) + "\n" + Norm(e.Lesson)
	return ID("key", string(e.Scope), e.Agent, string(e.Type), texts)
}

// Clip shortens a text to n bytes, at a space where one is near, with "…" for the rest. Bytes that are not text become U+FFFD.
func Clip(text string, n int) string {
	const more = "…"
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) <= n {
		return text
	}
	if n < len(more) {
		return ""
	}
	cut := n - len(more)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	if space := strings.LastIndexAny(text[:cut], " \n\t"); space > cut*3/4 {
		cut = space
	}
	return strings.TrimRightFunc(text[:cut], unicode.IsSpace) + more
}

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
