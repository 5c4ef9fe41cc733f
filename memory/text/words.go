// Package text takes texts apart: into words, into the terms that a search by words compares, and into sentences, and it
// estimates what a text costs in tokens. It knows English word forms a little, and nothing else of any language. It knows no
// entries, no vectors and no disk.
//
// Enter at [Terms] and [Sentences]. What always holds:
//
//   - Nothing fails: any bytes are a text. What is not valid UTF-8 separates words like a space.
//   - Equal texts give equal results, and everything has a bound ([MaxWord], [MaxSentence], [MaxSentences]).
//
// The rules are small on purpose: retrieval figures were measured with exactly these stop words, this stemmer and these
// sentences (see memory/eval), and a change here changes every score.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxWord is the length in bytes at which a word is cut. A checksum of 512 bits in hexadecimal digits is still whole.
const MaxWord = 128

// Words splits s at what is neither letter nor digit and inside camelCase, and lower-cases. Apostrophes vanish: "don't" is
// "dont".
func Words(s string) []string {
	var words []string
	each(s, func(w []byte) { words = append(words, string(w)) })
	return words
}

// each calls f with every word of s in turn. The bytes are only good until f returns.
func each(s string, f func(word []byte)) {
	var buf [MaxWord]byte
	word := buf[:0]
	flush := func() {
		if len(word) > 0 {
			f(word)
			word = word[:0]
		}
	}
	afterLower := false
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z': // by far the most common
			if len(word) < MaxWord {
				word = append(word, byte(r))
			}
			afterLower = true
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if afterLower && unicode.IsUpper(r) {
				flush()
			}
			if l := unicode.ToLower(r); len(word)+utf8.RuneLen(l) <= MaxWord {
				word = utf8.AppendRune(word, l)
			}
			afterLower = unicode.IsLower(r)
		case r == '\'' || r == '’':
		default:
			flush()
			afterLower = false
		}
	}
	flush()
}

// stop are the words that say nothing about what a text is about.
var stop = []string{
	"a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "did", "do", "does", "for", "from", "had", "has", "have",
	"how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "not", "of", "on", "or", "our", "s", "so", "t", "that", "the",
	"their", "them", "then", "there", "these", "they", "this", "to", "was", "we", "were", "what", "when", "where", "which",
	"who", "why", "will", "with", "would", "you", "your",
}

// Terms are the words of s in their order, without stop words, stemmed. A word that occurs twice is there twice.
func Terms(s string) []string {
	var terms []string
	each(s, func(w []byte) {
		if !stopped(w) {
			terms = append(terms, Stem(string(w)))
		}
	})
	return terms
}

// longestStop is the length in bytes of the longest stop word.
const longestStop = 5

// stopped finds word among the sorted stop words, without an allocation.
func stopped(word []byte) bool {
	if len(word) > longestStop {
		return false
	}
	low, high := 0, len(stop)
	for low < high {
		if mid := (low + high) / 2; stop[mid] < string(word) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low < len(stop) && stop[low] == string(word)
}

// Stem takes the commonest endings off an English word in lower case, so that "builds", "building" and "build" are one term.
// It cuts lightly: what it makes need not be a word, but unlike words seldom become alike. Numbers stay as they are.
func Stem(w string) string {
	switch n := len(w); {
	case n > 5 && strings.HasSuffix(w, "ing"):
		w = w[:n-3]
	case n > 4 && strings.HasSuffix(w, "ies"):
		w = w[:n-3] + "y"
	case n > 4 && strings.HasSuffix(w, "ed"):
		w = w[:n-2]
	case n > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		if w = w[:n-1]; len(w) > 5 && strings.HasSuffix(w, "e") {
			w = w[:len(w)-1]
		}
		return w
	}
	if len(w) > 4 && strings.HasSuffix(w, "e") {
		w = w[:len(w)-1]
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && strings.IndexByte("bcdfghjkmnpqrtvwxyz", w[n-1]) >= 0 {
		w = w[:n-1]
	}
	return w
}
