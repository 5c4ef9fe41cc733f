package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/memory/text"
)

func TestWords(t *testing.T) {
	for s, want := range map[string]string{
		"The build doesn't pass":     "the build doesnt pass",
		"getHTTPResponse gRPC x86":   "get httpresponse g rpc x86",
		"a_b-c/d.go:12":              "a b c d go 12",
		"ÄRGER Straße naïveCafé’s":   "ärger straße naïve cafés",
		"bad \xff\xfebytes":          "bad bytes",
		"":                           "",
		" \t\n":                      "",
		"日本語 text":                   "日本語 text",
		"v2Beta 4thTry O'Neill's oK": "v2beta 4th try oneills o k",
	} {
		if got := strings.Join(text.Words(s), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestWordsAreCutAtTheirBound(t *testing.T) {
	for _, n := range []int{text.MaxWord - 1, text.MaxWord, text.MaxWord + 1, 5 * text.MaxWord} {
		got := text.Words(strings.Repeat("x", n) + " next")
		if len(got) != 2 || len(got[0]) != min(n, text.MaxWord) || got[1] != "next" {
			t.Errorf("%d letters and a word: %q", n, got)
		}
	}
	if got := text.Words("x" + strings.Repeat("ä", text.MaxWord)); len(got) != 1 || !utf8.ValidString(got[0]) || len(got[0]) != text.MaxWord-1 {
		t.Errorf("a word of two-byte letters is cut inside one: %q", got)
	}
}

func TestTerms(t *testing.T) {
	got := text.Terms("The builds were building; a builder built what it had planned, and classes of policies, which stopped.")
	want := strings.Fields("build build builder built plan class policy stop")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestStem(t *testing.T) {
	for w, want := range map[string]string{
		"tests": "test", "tested": "test", "testing": "test", "caches": "cache", "cache": "cach", "cached": "cach", "pass": "pass",
		"queries": "query", "query": "query", "running": "run", "runs": "run", "ring": "ring", "is": "is", "rolled": "roll", "": "",
		"8800": "8800", "2022": "2022", "x\u4e3f\u4e3f": "x\u4e3f\u4e3f", "files": "file", "used": "used", "uses": "use",
		"bring": "bring", "aching": "ach", "dies": "die", "flies": "fly", "ended": "end", "gas": "gas", "cats": "cat", "stages": "stage",
		"changes": "chang", "size": "size", "add": "add", "buzz": "buz", "grabbed": "grab", // at the bounds of the lengths
	} {
		if got := text.Stem(w); got != want {
			t.Errorf("Stem(%q) = %q, want %q", w, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	long := strings.Repeat("word ", 300)
	for name, c := range map[string]struct {
		s    string
		want []string
	}{
		"one":               {" The build failed. ", []string{"The build failed."}},
		"two":               {"The database was locked by a backup. Wait for it next time.", []string{"The database was locked by a backup.", "Wait for it next time."}},
		"short ones join":   {"No. Never. The database was locked then! Wait for them.", []string{"No. Never. The database was locked then!", "Wait for them."}},
		"a short rest":      {"The database was locked by a backup. Bye.", []string{"The database was locked by a backup."}},
		"nothing":           {"", []string{""}},
		"no end in 1.2.3":   {"It needs version 1.26.3 of the compiler, which is new.", []string{"It needs version 1.26.3 of the compiler, which is new."}},
		"lines":             {"error: the linker found no symbol\nnote: it was built without cgo", []string{"error: the linker found no symbol", "note: it was built without cgo"}},
		"long ones are cut": {long, []string{strings.TrimSpace(long[:595]), strings.TrimSpace(long[:600]), strings.TrimSpace(long[1200:])}},
	} {
		got := text.Sentences(c.s)
		if name == "long ones are cut" {
			if len(got) != 3 || strings.Join(got, " ") != strings.TrimSpace(c.s) {
				t.Errorf("%s: %d pieces, not the whole", name, len(got))
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestCutLosesNothing: who shows sentences shows a short last one, too.
func TestCutLosesNothing(t *testing.T) {
	for _, s := range []string{"", "Yes.", "The build needs the vault to be open. Use it.", "The build needs the vault to be open.\nNo!", "One sentence of more than the least length."} {
		if got := strings.Join(text.Cut(s), " "); got != strings.Join(strings.Fields(s), " ") {
			t.Errorf("%q is cut to %q", s, got)
		}
	}
}

func TestSentencesKeepTheirBounds(t *testing.T) {
	one := "This sentence is long enough to stand alone. "
	for _, n := range []int{text.MaxSentences - 1, text.MaxSentences, text.MaxSentences + 1, 10 * text.MaxSentences} {
		if got := len(text.Sentences(strings.Repeat(one, n))); got != min(n, text.MaxSentences) {
			t.Errorf("%d sentences come out as %d", n, got)
		}
	}
	for _, n := range []int{25, 26} { // bytes before its end, from which a sentence stands alone
		if got := len(text.Sentences(strings.Repeat("x", n) + ". Something follows it.")); got != n-24 {
			t.Errorf("%d bytes and another sentence come out as %d", n, got)
		}
	}
	for _, n := range []int{12, 13} { // bytes from which what is left over counts
		if got := len(text.Sentences(one + strings.Repeat("x", n))); got != n-11 {
			t.Errorf("a sentence and %d bytes come out as %d", n, got)
		}
	}
	for _, n := range []int{text.MaxSentence, text.MaxSentence + 1} {
		if got := len(text.Sentences(strings.Repeat("x", n))); got != 1+n-text.MaxSentence {
			t.Errorf("%d bytes come out as %d sentences", n, got)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("The build failed. It was the linker's fault, gRPC 1.2!\nNext line\xff")
	f.Add(strings.Repeat("ä", 700))
	f.Fuzz(func(t *testing.T, s string) {
		sentences := text.Sentences(s)
		if len(sentences) == 0 || len(sentences) > text.MaxSentences {
			t.Fatalf("%d sentences", len(sentences))
		}
		for _, x := range sentences {
			if len(x) > text.MaxSentence || utf8.ValidString(s) && !utf8.ValidString(x) {
				t.Fatalf("sentence %q", x)
			}
		}
		words := text.Words(s)
		if slices.ContainsFunc(words, func(w string) bool { return w == "" || len(w) > text.MaxWord || !utf8.ValidString(w) }) {
			t.Fatalf("words %q", words)
		}
		if n := len(text.Terms(s)); n > len(words) {
			t.Fatalf("%d terms of %d words", n, len(words))
		}
	})
}

func TestTokens(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 3: 1, 4: 2, 7: 2, 8: 3, 3500: 1000} {
		if got := text.Tokens(strings.Repeat("x", n)); got != want {
			t.Errorf("%d bytes: %d tokens, want %d", n, got, want)
		}
	}
}

func BenchmarkTerms(b *testing.B) {
	s := strings.Repeat("The deploy to staging failed because the migration held a lock on the orders table. ", 3)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		text.Terms(s)
	}
}
