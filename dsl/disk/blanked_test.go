package disk

import (
	"io"
	"regexp"
	"testing"
	"testing/fstest"
)

// TestBlanked reads files of the language with blanks, within the limit, and other files as they are.
func TestBlanked(t *testing.T) {
	const text = "a = 1\n  pin = x\nb = 2\n"
	files := Blanked{fstest.MapFS{"a.hcl": {Data: []byte(text)}, "a.txt": {Data: []byte(text)}}, regexp.MustCompile(`(?m)^ *pin.*$`), 100}
	for _, c := range []struct {
		name, want string
		most       int64
	}{{"a.hcl", "a = 1\n         \nb = 2\n", 100}, {"a.txt", text, 100}, {"a.hcl", "a =", 2}} {
		files.Most = c.most
		f, err := files.Open(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if have, err := io.ReadAll(f); err != nil || string(have) != c.want {
			t.Errorf("%s within %d: %q, %v, want %q", c.name, c.most, have, err, c.want)
		}
	}
	if _, err := files.Open("b.hcl"); err == nil {
		t.Error("a file that does not exist is open")
	}
}
