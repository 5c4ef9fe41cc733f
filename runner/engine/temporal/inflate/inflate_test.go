package inflate

import (
	"bytes"
	"compress/flate"
	"strings"
	"testing"
)

// TestAll expands texts by the same readers, also after damaged ones.
func TestAll(t *testing.T) {
	for n := range 200 {
		text := strings.Repeat(string(rune('a'+n%26)), n*n)
		b := pack(t, text)
		if got, err := All(b, int64(len(text))); err != nil || string(got) != text {
			t.Fatalf("%d bytes: %d came back (%v)", len(text), len(got), err)
		}
		if _, err := All(b[:len(b)-1], 1<<20); err == nil {
			t.Errorf("half a text of %d bytes is taken for a whole one", len(text))
		}
		if _, err := All(b, int64(len(text))-1); n > 0 && err == nil {
			t.Errorf("a text of %d bytes passes a limit that is one less", len(text))
		}
	}
}

func pack(t *testing.T, text string) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
