package mask

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dsl/value"
)

// spelled masks as the package's comment says it, without any cleverness: what an occurrence covers is replaced.
func spelled(forms []string, text string) string {
	secret := make([]bool, len(text))
	for _, f := range forms {
		for i := 0; i+len(f) <= len(text); i++ {
			if text[i:i+len(f)] == f {
				for k := range len(f) {
					secret[i+k] = true
				}
			}
		}
	}
	var out strings.Builder
	for i := range len(text) {
		switch {
		case !secret[i]:
			out.WriteByte(text[i])
		case i == 0 || !secret[i-1]:
			out.WriteString(Mark)
		}
	}
	return out.String()
}

// Few letters make many occurrences, overlapping ones, and beginnings that come to nothing. Whatever the pieces are, nothing leaks
// and nothing else changes.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("ab=")), 1, 40, -1)
		forms := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("ab=")), MinSecret, 9, -1), 1, 5).Draw(t, "texts")
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(letters, rapid.SampledFrom(forms)), 0, 20).Draw(t, "text"), "")
		m := find(forms, nil)
		var out []byte
		w := m.Writer(func(p []byte) { out = append(out, p...) })
		for again := range 2 { // a Writer that has ended is as new
			out = out[:0]
			for rest := text; rest != ""; {
				n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
				w.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			w.End()
			if want := spelled(forms, text); string(out) != want {
				t.Fatalf("%d: %q without %q is %q, want %q", again, text, forms, out, want)
			}
		}
	})
}

// Every form of a secret is found, wherever it stands and however it is cut.
func TestForms(t *testing.T) {
	for _, secret := range []string{"s3cr", "p@ss w/rd+\"quoted\" it's <100%> ü𝄞!*()", "tab\tand \\ and\nline two is long\n", "trailing-newline\n"} {
		m := New([]string{secret})
		trim := strings.TrimSpace(secret)
		ascii := escapes{ascii: true}.of(secret)
		j, _ := json.Marshal(secret)
		forms := map[string]string{
			"as it is": secret, "without the space around": trim, "Go's JSON": string(j[1 : len(j)-1]), "ASCII JSON": ascii,
			"query": url.QueryEscape(secret), "path": url.PathEscape(secret), "lower-case digits": lowerHex(url.PathEscape(secret)),
			"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "URL base64": base64.URLEncoding.EncodeToString([]byte(secret)),
			"raw base64": base64.RawURLEncoding.EncodeToString([]byte(trim)),
			"traced":     strings.ReplaceAll(secret, "'", `'\''`), "traced by dash": strings.ReplaceAll(secret, "'", `'"'"'`),
		}
		for i, l := range strings.Split(secret, "\n") {
			if len(l) >= MinLine {
				forms[fmt.Sprintf("line %d", i)] = l
			}
		}
		for name, f := range forms {
			for _, around := range [][2]string{{"", ""}, {"before ", " behind"}, {"\x00\xff", "\xff"}} {
				text := around[0] + f + around[1]
				if got, want := m.Text(text), around[0]+Mark+around[1]; got != want {
					t.Errorf("%q, %s: %q becomes %q, want %q", secret, name, text, got, want)
				}
			}
		}
	}
}

// In base64 of a longer text, what the secret alone decides is replaced: a Basic header is the usual case.
func TestInsideBase64(t *testing.T) {
	const secret = "correct-horse"
	m := New([]string{secret})
	for _, user := range []string{"", "a:", "bo:", "ann:", "dave:", "x"} {
		code := base64.StdEncoding.EncodeToString([]byte(user + secret + "\n"))
		got := m.Text("Authorization: Basic " + code)
		if !strings.Contains(got, Mark) {
			t.Errorf("%s: %s", user, got)
		}
		left, _, _ := strings.Cut(strings.TrimPrefix(got, "Authorization: Basic "), Mark)
		plain, _ := base64.RawStdEncoding.DecodeString(left[:len(left)/4*4])
		if string(plain) != user[:min(len(user), len(plain))] {
			t.Errorf("%s: %s tells %q", user, got, plain)
		}
	}
}

func TestBounds(t *testing.T) {
	if New(nil) != nil || New([]string{"", "abc"}) != nil {
		t.Error("there is something to mask in nothing")
	}
	if got := New([]string{"abcd"}).Text("abcabcd"); got != "abc"+Mark {
		t.Error(got)
	}
	m := New([]string{"1234567\n12345678"})
	if got := m.Text("1234567, 12345678"); got != "1234567, "+Mark {
		t.Errorf("lines of 7 and 8 bytes: %s", got)
	}
}

func TestNothingToMask(t *testing.T) {
	var m *Masker
	var out string
	w := m.Writer(func(p []byte) { out += string(p) })
	w.Write([]byte("abcd"))
	w.End()
	r := strings.NewReader("x")
	if out != "abcd" || m.Text("abcd") != "abcd" || m.Reader(r) != io.Reader(r) || m.Value(1.0) != 1.0 {
		t.Error("a nil Masker masks")
	}
}

func TestValue(t *testing.T) {
	m := New([]string{"hunter22", "4711"})
	v := map[string]any{
		"a hunter22 b": []any{"hunter22", "plain", 4711.0, 5.0, true, nil},
		"deep":         map[string]any{"x": "aHVudGVyMjI="},
	}
	want := map[string]any{
		"a (sensitive) b": []any{Mark, "plain", Mark, 5.0, true, nil},
		"deep":            map[string]any{"x": Mark},
	}
	if diff := cmp.Diff(want, m.Value(v)); diff != "" {
		t.Error(diff)
	}
}

func TestStrings(t *testing.T) {
	v := map[string]any{"b": []any{"two", 3.5, nil, true, ""}, "a": "one"}
	if diff := cmp.Diff([]string{"one", "two", "3.5"}, Strings(v)); diff != "" {
		t.Error(diff)
	}
	var _ value.Value = v
}

// A message may have cut a secret short.
func TestMessage(t *testing.T) {
	m := New([]string{"hunter22"})
	for text, want := range map[string]string{
		`"hunt" is not a URL`: `"` + Mark + `" is not a URL`, `"hun" is not a URL`: `"hun" is not a URL`, "hunter22hunter": Mark, "the hunters": "the " + Mark + "s",
	} {
		if got := m.Message(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestReader(t *testing.T) {
	m := New([]string{"hunter22"})
	text := strings.Repeat("hunter2 is not hunter22; ", 3000)
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text))} {
		got, err := io.ReadAll(m.Reader(r))
		if want := strings.ReplaceAll(text, "hunter22", Mark); err != nil || string(got) != want {
			t.Errorf("%s: %v, %d bytes, want %d", name, err, len(got), len(want))
		}
	}
	broken := io.MultiReader(strings.NewReader("hunt"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if got, err := io.ReadAll(m.Reader(broken)); string(got) != "" || err != io.ErrUnexpectedEOF {
		t.Errorf("%q, %v", got, err)
	}
}

// A secret of which the text is full, in all beginnings, takes no more time than another.
func TestLinear(t *testing.T) {
	m := New([]string{strings.Repeat("a", 4<<10) + "b"})
	text := strings.Repeat("a", 4<<20)
	if got := m.Text(text); len(got) != len(text) {
		t.Errorf("%d bytes of %d", len(got), len(text))
	}
}

// The largest secrets that are taken stay within the memory that their bound speaks of.
func TestMemory(t *testing.T) {
	usual, worst := make([]byte, MaxSecrets), make([]byte, MaxSecrets)
	x := uint32(1)
	for i := range usual {
		x = x*1664525 + 1013904223
		usual[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[x>>26]
		worst[i] = "\"\\<>&/%\x01\x02é'"[(x>>24)%11]
		if i%64 == 63 {
			usual[i] = '\n'
		}
	}
	for name, c := range map[string]struct {
		secret []byte
		most   int
	}{"usual": {usual, 1050}, "worst": {worst, 1500}} {
		m := New([]string{string(c.secret)})
		if per := (m.layers[0].plain.size() + m.layers[0].wrapped.size()) / MaxSecrets; per > c.most {
			t.Errorf("%s: %d bytes of memory for each byte", name, per)
		} else {
			t.Logf("%s: %d bytes of memory for each byte", name, per)
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	log := strings.Repeat("2026-11-21T07:55:04Z INFO  compiling github.com/example/project/internal/server (cached) 0.012s\n", 800)[:64<<10]
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 26) + "-----END PRIVATE KEY-----\n"
	for name, c := range map[string]struct {
		secrets []string
		text    string
	}{
		"token":      {[]string{"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}, log},
		"key":        {[]string{key, "ghp_16C7e42F292c6912E7710c838347Ae178B4a"}, log},
		"each line":  {[]string{"compiling"}, log},
		"in base64":  {[]string{key}, strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKx\n", 1100)[:64<<10]},
		"no secrets": {nil, log},
	} {
		b.Run(name, func(b *testing.B) {
			w := New(c.secrets).Writer(func([]byte) {})
			b.SetBytes(int64(len(c.text)))
			piece := []byte(c.text)
			for b.Loop() {
				w.Write(piece)
			}
		})
	}
}

// One look at two bytes rules out several places: a secret of any length is found wherever it begins and ends.
func TestEveryPlace(t *testing.T) {
	for size := MinSecret; size <= 3*MinSecret; size++ {
		secret := "abcdefghijkl"[:size]
		m := New([]string{secret})
		for _, around := range []string{".", "a", "b", "ab", "bc", "abc", secret[:size-1]} {
			for before := range 9 {
				for after := range 9 {
					text := strings.Repeat(around, before) + secret + strings.Repeat(around, after)
					want := strings.ReplaceAll(text, secret, Mark)
					if got := m.Text(text); got != want {
						t.Fatalf("%q in %q: %q, want %q", secret, text, got, want)
					}
					if got := m.Message(text[:len(text)-1]); strings.Contains(got, secret[:MinSecret]) {
						t.Fatalf("the beginning of %q in %q: %q", secret, text, got)
					}
				}
			}
		}
	}
}

// size is how many bytes of memory the automaton takes, about.
func (a *automaton) size() int {
	const perState, perEdge = 1 + 4 + 4 + 4 + 4 + 1, 48
	return len(a.label)*perState + len(a.others)*perEdge
}

// What forms cost is known, so that the bound of their closure is not a guess.
func TestClosure(t *testing.T) {
	for name, secret := range map[string]string{"token": "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "punctuation": `p@s's w/r"d+$<100%>&\`, "not ASCII": "pässwörd-日本 'x'"} {
		started := time.Now()
		plain, wrapped := formsOf([]string{secret})
		size := 0
		for _, f := range append(plain, wrapped...) {
			size += len(f)
		}
		made := time.Since(started)
		_ = find(plain, wrapped)
		t.Logf("%s: %d forms of %d bytes, %v to write and %v to build", name, len(plain)+len(wrapped), size, made, time.Since(started)-made)
		if size > maxClosure/4 {
			t.Errorf("%s alone takes %d of %d bytes", name, size, maxClosure)
		}
	}
}

// The path of a URL is written in ways of its own: escaped as far as a path needs it, and decoded before.
func TestPaths(t *testing.T) {
	for secret, forms := range map[string][]string{
		`v1,t=16;sig "x" 9f8e7d6c`: {`v1,t=16;sig%20%22x%22%209f8e7d6c`},
		`pass%77ord "12345`:        {`password "12345`, `password%20%2212345`},
		`p@ss:w ord/12<3>é`:        {`p@ss:w%20ord/12%3C3%3E%C3%A9`, `p@ss:w%20ord/12%3c3%3e%c3%a9`},
		`a?b#c[d] "e"`:             {`a%3Fb%23c%5Bd%5D%20%22e%22`, `a?b#c%5Bd%5D%20%22e%22`},
	} {
		m := New([]string{secret})
		for _, f := range forms {
			if got := m.Text("GET /" + f + "/y"); got != "GET /"+Mark+"/y" {
				t.Errorf("%s: %s becomes %s", secret, f, got)
			}
		}
	}
}

// A shell's echo expands backslashes (dash, XSI), and words without quotes lose the blanks between them.
func TestEcho(t *testing.T) {
	for secret, printed := range map[string]string{
		`CORP\nicksecret`: "CORP\nicksecret", `a\tb\0101c\\d\e12`: "a\tbAc\\d\x1b12", `old\101\q1`: `oldA\q1`, `secret-one\cand two`: "secret-one",
		"two  blanks\tand\n\nlines ": "two blanks and lines", `both  of\nthem`: "both of\nthem", `end\`: `end\`,
	} {
		if got := New([]string{secret}).Text("x" + printed + "x"); got != "x"+Mark+"x" {
			t.Errorf("%q: %q becomes %q", secret, printed, got)
		}
	}
	if got := New([]string{`CORP\carol`}).Text("CORP"); got != "CORP" {
		t.Error("a short beginning is masked by itself")
	}
}
