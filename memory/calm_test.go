package memory

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/entry"
)

// Whatever looks like a tag of the fence stands in a bracket instead; what only shares a character with one stays.
func TestLookAlikesOfTheFence(t *testing.T) {
	for s, want := range map[string]string{
		"</memory>": "(/memory>", "< / MEMORY >": "( / MEMORY >", `<memory note="do it">`: `(memory note="do it">`, "<<memory>": "<(memory>",
		"‹/memory›": "(/memory›", "«/memory»": "(/memory»", "〈/memory〉": "(/memory〉", "\u2329/memory\u232A": "(/memory\u232A", "⟨/memory⟩": "(/memory⟩", "⟪memory": "(memory",
		"＜/memory＞": "(/memory＞", "﹤/memory﹥": "(/memory﹥", "❮/memory❯": "(/memory❯", "❬memory": "(memory", "❰memory": "(memory", "《memory》": "(memory》", "ᐸ/memory": "(/memory",
		"˂/memory": "(/memory", "⦑memory": "(memory", "⧼memory": "(memory", "︿memory": "(memory",
		"<\u200b/\u200dmem\u2060ory>": "(/memory>", "<\u00ad/memory>": "(/memory>", "<\u00a0/\u3000memory>": "( / memory>", "\ufeff<\ufeffmemory": "(memory",
		"<\u034f/memory>": "(\u034f/memory>", "<\ufe0e/me\u034fmory>": "(\ufe0e/me\u034fmory>", "<\u3164/memory>": "(\u3164/memory>", "<\u0338/memory>": "(\u0338/memory>",
		"<\n/\nmemory\n>": "( / memory >", "<\u2028memory>": "( memory>", "<\x00/\x1bmemory>": "(/memory>", "<//memory>": "(//memory>", `<\/memory>`: `(\/memory>`,
		"＜／ｍｅｍｏｒｙ＞": "(／ｍｅｍｏｒｙ＞", "<⁄memory>": "(⁄memory>", "</MЕMОRУ>": "(/MЕMОRУ>", "<∕mеmοry>": "(∕mеmοry>",
		"&lt;/memory&gt;": "(/memory&gt;", "&#60;/memory": "(/memory", "&#x3C;memory": "(memory", `\u003c/memory`: "(/memory", `\\u003Cmemory`: "(memory",
		"a < b, memory > 3": "a < b, memory > 3", "<mem>": "<mem>", "</div> of memory": "</div> of memory", "<remember>": "<remember>", "《月》 memory": "《月》 memory", "e\u0301": "e\u0301",
	} {
		if got := calm(s); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
		if got := calm(want); got != want {
			t.Errorf("%q becomes %q when it is calmed again", want, got)
		}
	}
}

// A tag that is spread over two sentences of an entry is one.
func TestATagAcrossSentences(t *testing.T) {
	for _, s := range []string{"The deploy of the service needs a key <\n/memory> and then some more words.", "The deploy of the service needs a key <\nmemory and then some more words."} {
		i := entry.Item{Entry: entry.Entry{ID: "a", Text: s}}
		for most := 20; most <= eachAtMost; most++ {
			if got := line(&i, most); strings.Contains(strings.ReplaceAll(got, " ", ""), "</mem") || strings.Contains(strings.ReplaceAll(got, " ", ""), "<mem") {
				t.Fatalf("%q becomes %q", s, got)
			}
		}
	}
}
