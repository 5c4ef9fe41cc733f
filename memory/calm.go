package memory

import (
	"strings"
	"unicode"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// What looks like a tag of the fence to who reads it is one, in whatever characters it is written. Letters of other alphabets are
// taken for those of the word as far as they are drawn like them.
const (
	// brackets look like <, and openings are these and how HTML and JSON write it.
	brackets = "<˂‹«ᐸᚲ≪≺⋖❬❮❰⟨⟪⦑⧼\u2329〈《︽︿﹤＜"
	openings = `(?:[` + brackets + `]|&(?:lt|#0*60|#x0*3c);?|\\+u003c)`
	// unseen are blanks, marks on other characters, and letters that are drawn as blanks. Characters that take no room are gone.
	unseen = `[\s\pM\x{115F}\x{1160}\x{2800}\x{3164}\x{FFA0}]*`
	slash  = `[/\\⁄∕╱⟋⧸／＼]`
)

// tag is an opening, and behind it what is read as /memory or memory.
var tag = lazyregexp.New(`(?i)` + openings + `(` + unseen + `(?:` + slash + unseen + `)*` +
	strings.Join([]string{`[mмϻｍ]`, `[eеｅ]`, `[mмϻｍ]`, `[oоοօｏ]`, `[rгｒ]`, `[yуүｙ]`}, unseen) + `)`)

// calm puts a text in one line that can't end the fence, nor open one.
func calm(s string) string { return untagged(flat(s)) }

// flat puts a text in one line without what can't be seen.
func flat(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// untagged puts a bracket in the place of what opens a tag.
func untagged(s string) string {
	if strings.IndexFunc(s, opens) < 0 {
		return s // as nearly all do: the expression costs several times as much
	}
	return tag().ReplaceAllString(s, "($1")
}

// opens tells whether an opening may begin with a character.
func opens(r rune) bool {
	return r == '<' || r == '&' || r == '\\' || r > unicode.MaxASCII && strings.ContainsRune(brackets, r)
}
