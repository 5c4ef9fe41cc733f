package mask

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Base64 and hex are found in lines of any length, beginning anywhere in one, however ends of lines are written, in whatever pieces they
// come. Every byte of it is replaced, and no other.
func TestLines(t *testing.T) {
	const secret = "correct-horse/battery+staple"
	m := New([]string{secret})
	for _, code := range []string{base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret))} {
		for _, br := range []string{"\n", "\r\n", `\n`, `\r\n`, `\\n`, `\\r\\n`} {
			for width := 1; width <= len(code); width++ {
				for first := 1; first <= width; first += max(1, width/4) {
					var b strings.Builder
					for i, left := 0, first; i < len(code); i++ {
						if left == 0 {
							b.WriteString(br)
							left = width
						}
						b.WriteByte(code[i])
						left--
					}
					for _, around := range []string{"", "x", "\n", "==\n", "r\\", "cor"} {
						text := around + b.String() + around
						want := around + Mark + around
						if got := m.Text(text); got != want {
							t.Fatalf("%q becomes %q, want %q", text, got, want)
						}
						for _, piece := range []int{1, 2, 7} {
							var out []byte
							w := m.Writer(func(p []byte) { out = append(out, p...) })
							for rest := text; rest != ""; {
								n := min(piece, len(rest))
								w.Write([]byte(rest[:n]))
								rest = rest[n:]
							}
							w.End()
							if string(out) != want {
								t.Fatalf("%q in pieces of %d becomes %q, want %q", text, piece, out, want)
							}
						}
					}
				}
			}
		}
	}
}

// Few letters and many breaks make many beginnings that come to nothing. What is masked does not depend on the pieces, and what is left
// together with what was masked is all that came.
func TestLinesInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\\nr")), 1, 40, -1)
		forms := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("ab")), MinSecret, 9, -1), 1, 5).Draw(t, "texts")
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(letters, rapid.SampledFrom(forms)), 0, 20).Draw(t, "text"), "")
		m := find(nil, forms)
		want := m.Text(text)
		var out []byte
		w := m.Writer(func(p []byte) { out = append(out, p...) })
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			w.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		w.End()
		if string(out) != want {
			t.Fatalf("%q without %q is %q in pieces, and %q whole", text, forms, out, want)
		}
		for _, f := range forms {
			for part := range strings.SplitSeq(want, Mark) {
				if strings.Contains(strings.ReplaceAll(part, "\n", ""), f) && !strings.Contains(part, strings.Repeat("\n", maxBreak+1)) {
					t.Fatalf("%q without %q is %q", text, f, want)
				}
			}
		}
		rest := text
		for i, part := range strings.Split(want, Mark) {
			at := strings.Index(rest, part)
			if i == 0 && at != 0 || at < 0 {
				t.Fatalf("%q becomes %q", text, want)
			}
			rest = rest[at+len(part):]
		}
	})
}

// Ends of lines without end hold nothing back without end, and a text full of breaks and of beginnings takes no more time than another.
func TestLinesAreBounded(t *testing.T) {
	m := New([]string{strings.Repeat("a", 4<<10) + "b"})
	code := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 3<<10)))
	for _, text := range []string{code[:4] + strings.Repeat("\n", 4<<20), strings.Repeat(code[:4]+"\n", 1<<20), strings.Repeat(strings.Join(strings.Split(code, ""), "\n\r\\n"), 100)} {
		most := 0
		w := m.Writer(func([]byte) {})
		for rest := text; rest != ""; {
			n := min(16<<10, len(rest))
			w.Write([]byte(rest[:n]))
			rest = rest[n:]
			most = max(most, len(w.held), len(w.find[0].lines.breaks))
		}
		if most > 8*(maxBreak+1)*(4<<10) {
			t.Errorf("%d bytes are held back of %s", most, fmt.Sprintf("%.20q", text))
		}
	}
}
