package ui

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A bar fits its terminal, is painted seldom, and goes when it is closed; where nothing can be repainted there is none.
func TestBar(t *testing.T) {
	began := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		columns int
		total   int64
		want    string
	}{
		{80, 200, "[######..................]  25 %  1000 things, 6.0s to go"},
		{40, 200, " 25 %  1000 things, 6.0s to go"},
		{20, 200, " 25 %  1000 things…"},
		{80, 0, "1000 things"},
	} {
		var out bytes.Buffer
		term := &Term{w: &out, fd: -1, Live: true, size: func() (int, int) { return c.columns, 24 }}
		b := NewBar(term, "thing", c.total, began)
		b.Set(1000, 50, began.Add(2*time.Second))
		b.Set(1001, 51, began.Add(2*time.Second+BarEvery-1))
		if have := strings.TrimSuffix(strings.TrimPrefix(out.String(), "\r"), "\x1b[K"); have != c.want || Cells(have) >= c.columns {
			t.Errorf("%d columns: %q, want %q", c.columns, have, c.want)
		}
		b.Set(1002, 250, began.Add(2*time.Second+BarEvery))
		b.Close()
		if c.total > 0 && !strings.Contains(out.String(), "100 %  1002") || !strings.HasSuffix(out.String(), "\r\x1b[K") {
			t.Errorf("%q", out.String())
		}
	}
	var out bytes.Buffer
	b := NewBar(NewTerm(&out, "never", func(string) string { return "" }), "thing", 1, began)
	b.Set(1, 1, began)
	b.Close()
	if out.Len() > 0 {
		t.Errorf("a pipe gets %q", out.String())
	}
}
