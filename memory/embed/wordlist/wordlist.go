// Package wordlist finds words in a list of some ten thousand. The list is made anew in each process that needs it, so what
// counts is how soon it is: the words stay in one text, and a table of hashes finds them. A map of them takes several times
// as long to make, and so does a tree of their letters.
//
// Enter at [New] and [List.Find]. The package knows nothing of what words are, and must not import anything else of flowrun.
package wordlist

import "math"

// List is a list of words. It is safe for use by many goroutines.
type List struct {
	text string
	ends []uint32 // a word ends at its own, and begins at the one before
	// places finds words by their hash: their number and one, or 0. More than half of it stays empty, so that little is looked at.
	places  []uint16
	longest int
}

// most is how many words a list may have: what fits into places.
const most = math.MaxUint16

// New makes a list of words that follow each other in text, each as long as lengths says. The answer is nil where the lengths don't
// make up the text, or for more than 65,535 words.
func New(lengths []byte, text string) *List {
	if len(lengths) > most {
		return nil
	}
	size := 1
	for size <= 2*len(lengths) {
		size *= 2
	}
	l := &List{text: text, ends: make([]uint32, 1, len(lengths)+1), places: make([]uint16, size)}
	end := 0
	for i, n := range lengths {
		if end += int(n); end > len(text) {
			return nil
		}
		l.ends = append(l.ends, uint32(end))
		l.longest = max(l.longest, int(n))
		_, place := l.look(HashOf(l.Word(i)), l.Word(i))
		l.places[place] = uint16(i + 1)
	}
	if end != len(text) {
		return nil
	}
	return l
}

// Len is how many words there are.
func (l *List) Len() int { return len(l.ends) - 1 }

// Longest is how many bytes the longest word has.
func (l *List) Longest() int { return l.longest }

// Word is a word by its number.
func (l *List) Word(i int) string { return l.text[l.ends[i]:l.ends[i+1]] }

// Find gives the number of a word, the last one where it stands there more than once, or -1. The hash is that of the word.
func (l *List) Find(h Hash, word string) int {
	i, _ := l.look(h, word)
	return i
}

// look gives the number of a word, or -1, and where it stands in places, or where it would.
func (l *List) look(h Hash, word string) (i, place int) {
	mask := len(l.places) - 1
	for place = int(h^h>>16) & mask; l.places[place] != 0; place = (place + 1) & mask {
		if i = int(l.places[place]) - 1; l.Word(i) == word {
			return i, place
		}
	}
	return -1, place
}

// Hash is the hash of a word that is still growing: FNV-1a.
type Hash uint32

// Start is the hash of the empty word.
const Start Hash = 2166136261

// With is the hash of the word with one more byte.
func (h Hash) With(c byte) Hash { return (h ^ Hash(c)) * 16777619 }

// HashOf is the hash of a word.
func HashOf(word string) Hash {
	h := Start
	for i := range len(word) {
		h = h.With(word[i])
	}
	return h
}
