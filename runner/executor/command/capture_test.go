package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/limits"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// numbers are n bytes of text in which every place looks different.
func numbers(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d\n", i)
	}
	return b.Bytes()[:n]
}

func TestCaptureBounds(t *testing.T) {
	for _, tc := range []struct {
		limit, n     int
		whole, inLog bool
	}{
		{limits.MaxStream, 0, true, false},
		{limits.MaxStream, limits.MaxStream, true, false},
		{limits.MaxStream, limits.MaxStream + 1, false, true},
		{limits.MaxStream, 10 * limits.MaxStream, false, true},
		{limits.MaxOutput, limits.MaxStream, true, false},
		{limits.MaxOutput, limits.MaxStream + 1, true, true},
		{limits.MaxOutput, limits.MaxOutput, true, true},
		{limits.MaxOutput, limits.MaxOutput + 1, false, true},
	} {
		t.Run(fmt.Sprintf("%d of %d", tc.n, tc.limit), func(t *testing.T) {
			dir := t.TempDir()
			a := run()
			x := newTest(t, Options{LogDir: filepath.Join(dir, "logs"), LogRel: "logs"})
			c := x.newCapture(&a, "stdout")
			c.limit = tc.limit
			text := numbers(tc.n)
			for rest := text; len(rest) > 0; {
				k := min(len(rest), 7001)
				c.write(rest[:k])
				rest = rest[k:]
			}
			c.close()
			if c.cut() == tc.whole {
				t.Errorf("cut: %v", c.cut())
			}
			want := string(text)
			if !tc.whole {
				want = fmt.Sprintf("%s\n[flowrun: %d bytes left out; the whole text is in the log]\n%s", text[:headMax], tc.n-headMax-tailMax, text[tc.n-tailMax:])
			}
			if c.text() != want {
				t.Errorf("the text is another: %d bytes, want %d", len(c.text()), len(want))
			}
			if n := len(c.inline()); n > limits.MaxStream {
				t.Errorf("inline text has %d bytes", n)
			}
			if !tc.inLog {
				if c.logName() != "" || exists(filepath.Join(dir, "logs")) {
					t.Errorf("a log that nobody needs: %q", c.logName())
				}
				return
			}
			if c.logName() != "logs/r1/000007-build-2.stdout" {
				t.Errorf("log is %q", c.logName())
			}
			name := filepath.Join(dir, c.logName())
			if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, text) {
				t.Errorf("the log is another: %d bytes, %v", len(got), err)
			}
			for path, mode := range map[string]os.FileMode{name: 0o600, filepath.Dir(name): 0o700, filepath.Join(dir, "logs"): 0o700} {
				if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
					t.Errorf("%s: %v %v, want %v", path, st.Mode().Perm(), err, mode)
				}
			}
		})
	}
}

// Whatever the pieces: the head and the tail are those of the text, and nothing is counted wrongly.
func TestCapturePieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := numbers(rapid.IntRange(0, 4*limits.MaxStream).Draw(t, "n"))
		c := capture{limit: limits.MaxStream}
		for rest := text; len(rest) > 0; {
			k := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			c.write(rest[:k])
			rest = rest[k:]
		}
		want := string(text)
		if len(text) > limits.MaxStream {
			want = fmt.Sprintf("%s\n[flowrun: %d bytes left out; no log is kept]\n%s", text[:headMax], len(text)-headMax-tailMax, text[len(text)-tailMax:])
		}
		if c.text() != want {
			t.Fatalf("%d bytes come back as other %d", len(text), len(c.text()))
		}
	})
}

func TestLogBound(t *testing.T) {
	dir := t.TempDir()
	x := newTest(t, Options{LogDir: dir})
	for _, extra := range []int{0, 1} {
		x.logMax = 3 * limits.MaxStream
		a := run()
		c := x.newCapture(&a, "stderr")
		text := numbers(3*limits.MaxStream + extra)
		c.write(text[:limits.MaxStream])
		c.write(text[limits.MaxStream:])
		c.close()
		got, err := os.ReadFile(filepath.Join(dir, c.logName()))
		want := string(text[:3*limits.MaxStream])
		if extra > 0 {
			want += "\n[flowrun: the log ends here: it has reached its limit]\n"
		}
		if err != nil || string(got) != want {
			t.Errorf("%d bytes beyond: the log has %d bytes, want %d, %v", extra, len(got), len(want), err)
		}
	}
}

func TestLogThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := script("head -c 100000 /dev/zero >&2")
	f := do(newTest(t, Options{LogDir: dir}), a)
	if f.Outcome != event.OK || f.StderrLog != "" || !strings.Contains(f.Stderr, "the log is not whole: mkdir") {
		t.Errorf("%s, log %q", brief(f), f.StderrLog)
	}
}

// A character that a bound cuts in two is left out whole; one that fits to the last byte stays.
func TestCutWithinACharacter(t *testing.T) {
	for _, limit := range []int{limits.MaxStream, limits.MaxOutput} {
		for _, n := range []int{limit - 1, limit, limit + 1, limit + 2, limit + 3, limit + 4, limit + limits.MaxStream} {
			for shift := range 4 {
				text := strings.Repeat("x", shift) + strings.Repeat("\U0001F600", n/4)
				text += strings.Repeat("y", max(0, n-len(text)))
				c := capture{limit: limit}
				for _, piece := range []string{text[:n/2+1], text[n/2+1:]} {
					c.write([]byte(piece))
				}
				fits := len(text) <= limit
				if got := c.text(); fits && got != text || !fits && !trimmed(got, text, limits.MaxStream) {
					t.Errorf("limit %d, %d bytes, shift %d: another text of %d bytes", limit, len(text), shift, len(got))
				}
				if got := c.inline(); len(text) > limits.MaxStream && !trimmed(got, text, limits.MaxStream) {
					t.Errorf("inline: limit %d, %d bytes, shift %d: another text of %d bytes", limit, len(text), shift, len(got))
				}
			}
		}
	}
}

// trimmed tells whether got is the head of text, a mark that counts right, and the tail of text, in at most n bytes.
func trimmed(got, text string, n int) bool {
	head, rest, _ := strings.Cut(got, "\n[flowrun: ")
	mark, tail, ok := strings.Cut(rest, "]\n")
	left, _, _ := strings.Cut(mark, " ")
	return ok && len(got) <= n && n-len(got) < markMax+2*utf8.UTFMax && utf8.ValidString(got) && strings.HasPrefix(text, head) &&
		strings.HasSuffix(text, tail) && left == fmt.Sprint(len(text)-len(head)-len(tail))
}

// Wrong bytes take three each as text. The bound holds for the text, and what is left out because of it is in a log.
func TestWrongBytesKeepTheBound(t *testing.T) {
	for _, n := range []int{limits.MaxStream / 2, limits.MaxStream, limits.MaxStream + 1, 3 * limits.MaxStream} {
		dir, a := t.TempDir(), run()
		x := newTest(t, Options{LogDir: dir})
		c := x.newCapture(&a, "stdout")
		text := bytes.Repeat([]byte("a\xff"), n/2+1)[:n]
		c.write(text)
		got := c.text()
		c.close()
		if len(got) > limits.MaxStream || !utf8.ValidString(got) {
			t.Errorf("%d bytes become %d", n, len(got))
		}
		if n == limits.MaxStream/2 {
			if got != strings.Repeat("a\uFFFD", n/2) || c.logName() != "" {
				t.Errorf("what just fits is cut: %d bytes, log %q", len(got), c.logName())
			}
			continue
		}
		if log, err := os.ReadFile(filepath.Join(dir, c.logName())); !bytes.Equal(log, text) || !strings.Contains(got, "; the whole text is in the log]") {
			t.Errorf("%d bytes: the log has %d, %v", n, len(log), err)
		}
	}
}

// Whatever the bytes, the start and the end that are kept are as long as they may be, and cut no character.
func FuzzPieces(f *testing.F) {
	f.Add([]byte("h\u00e9llo"), 2)
	f.Add([]byte("\xff\xff\xe2\x82A\xf0\x9f\x98\x80\x80\x80\x80\x80"), 7)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 0 || n > 1<<20 {
			t.Skip()
		}
		first, last := executor.FirstOf(b, n), executor.LastOf(b, n)
		if !bytes.HasPrefix(b, first) || !bytes.HasSuffix(b, last) {
			t.Fatalf("%q %d: neither start nor end: %q, %q", b, n, first, last)
		}
		if len(executor.Valid(first)) > n || len(executor.Valid(last)) > n {
			t.Fatalf("%q %d: too long: %q, %q", b, n, executor.Valid(first), executor.Valid(last))
		}
		if len(executor.Valid(b)) <= n-3*utf8.UTFMax && (len(b)-len(first) >= utf8.UTFMax || len(b)-len(last) >= utf8.UTFMax) {
			t.Fatalf("%q %d: too short: %q, %q", b, n, first, last)
		}
		if utf8.Valid(b) {
			for i := range b { // b cut anywhere is text that was cut, not wrong bytes
				if !utf8.Valid(executor.FirstOf(b[:i], n)) || !utf8.Valid(executor.LastOf(b[i:], n)) {
					t.Fatalf("%q %d at %d: half a character: %q, %q", b, n, i, executor.FirstOf(b[:i], n), executor.LastOf(b[i:], n))
				}
			}
		}
		if c := executor.Clip(string(b), n+4); len(c) > n+4 || !utf8.ValidString(c) {
			t.Fatalf("%q %d: clipped to %q", b, n+4, c)
		}
	})
}

func TestBytesThatAreNoText(t *testing.T) {
	f := do(newTest(t, Options{}), script(`printf 'a\377b'; printf '\300' >&2`))
	if f.Stdout != "a\uFFFDb" || f.Stderr != "\uFFFD" {
		t.Errorf("%q %q", f.Stdout, f.Stderr)
	}
}

// Where nothing is parsed, output has no bound but the journal's; a gate's is never parsed.
func TestWhatNeedsNoWholeOutput(t *testing.T) {
	x := newTest(t, Options{LogDir: t.TempDir()})
	for _, a := range []event.Attempt{
		func() event.Attempt { a := script("head -c 2000000 /dev/zero"); a.Parse = "none"; return a }(),
		func() event.Attempt { a := script("head -c 2000000 /dev/zero"); a.Gate = "g"; return a }(),
	} {
		if f := do(x, a); brief(f) != "ok exit=0" || len(f.Stdout) > limits.MaxStream || f.StdoutLog == "" {
			t.Errorf("%s, %d bytes, log %q", brief(f), len(f.Stdout), f.StdoutLog)
		}
	}
}
