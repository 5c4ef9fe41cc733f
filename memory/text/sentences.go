package text

import (
	"strings"
	"unicode/utf8"
)

// MaxSentence is the length in bytes of the longest sentence: an embedder that reads 128 tokens sees all of it.
const MaxSentence = 600

// MaxSentences is how many sentences of one text are told. Each costs an embedding; what comes after them is still part of
// the whole.
const MaxSentences = 48

// A sentence has more than minSentence bytes before its end; a last one of up to minRest bytes is left out.
const (
	minSentence = 25
	minRest     = 12
)

// Sentences cuts s after ".", "!" and "?" before a space, and at line breaks. Pieces too short to mean much on their own join
// the next one; longer ones than [MaxSentence] are cut at a space. A text of one sentence is that sentence, trimmed; there is
// always at least one.
func Sentences(s string) []string {
	out, _ := sentences(s)
	return out
}

// Cut is Sentences for those who show them: a last one that is too short to mean much on its own stands behind the one before it.
func Cut(s string) []string {
	out, rest := sentences(s)
	if rest != "" {
		out[len(out)-1] += " " + rest
	}
	return out
}

func sentences(s string) (out []string, short string) {
	start := 0
	take := func(end int) {
		for _, piece := range pieces(strings.TrimSpace(s[start:end])) {
			if len(out) < MaxSentences {
				out = append(out, piece)
			}
		}
		start = end
	}
	for i := 0; i+1 < len(s) && len(out) < MaxSentences; i++ {
		if i-start > minSentence && ends(s[i], s[i+1]) {
			take(i + 1)
		}
	}
	short = strings.TrimSpace(s[start:])
	if len(short) > minRest || len(out) == 0 {
		take(len(s))
		short = ""
	}
	return out, short
}

func ends(c, next byte) bool {
	return c == '\n' || (c == '.' || c == '!' || c == '?') && (next == ' ' || next == '\n')
}

// pieces cuts s at spaces, where there are any, into parts of at most MaxSentence bytes, never inside a character.
func pieces(s string) []string {
	var out []string
	for len(s) > MaxSentence {
		cut := strings.LastIndexAny(s[:MaxSentence], " \t\n")
		if cut <= 0 {
			for cut = MaxSentence; cut > MaxSentence-utf8.UTFMax && !utf8.RuneStart(s[cut]); {
				cut--
			}
		}
		out = append(out, strings.TrimSpace(s[:cut]))
		s = strings.TrimSpace(s[cut:])
	}
	return append(out, s)
}

// Tokens estimates what s costs a language model: a token for every 3.5 bytes begun.
// English prose has about 4 bytes a token, code and identifiers fewer; the estimate is meant to be a little too high.
func Tokens(s string) int { return (2*len(s) + 6) / 7 }
