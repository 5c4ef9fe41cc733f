package ui

import (
	"fmt"
	"strings"
	"time"
)

// BarEvery is how often a bar is painted at the most.
const BarEvery = 100 * time.Millisecond

// barCells is how long a bar is where the terminal is wide enough; where it would be shorter than leastBar there is none.
const barCells, leastBar = 24, 8

// Bar shows how far something has come, in one line of a terminal that can be repainted; elsewhere it shows nothing. The zero
// time of painted paints the first call. It is for one goroutine.
type Bar struct {
	t              *Term
	noun           string
	total          int64
	began, painted time.Time
}

// NewBar begins one. total is how many bytes there are to be read, 0 where nobody knows; noun is what is counted.
func NewBar(t *Term, noun string, total int64, now time.Time) *Bar {
	return &Bar{t: t, noun: noun, total: total, began: now}
}

// Set paints that so many things are done and so many bytes read, unless it was painted just now.
func (b *Bar) Set(done int, bytes int64, now time.Time) {
	if !b.t.Live || now.Sub(b.painted) < BarEvery {
		return
	}
	b.painted = now
	columns, _ := b.t.Size()
	b.t.Printf("\r%s\x1b[K", Truncate(b.line(done, bytes, now, columns), columns-1))
}

func (b *Bar) line(done int, bytes int64, now time.Time, columns int) string {
	text := Count(done, b.noun)
	if b.total <= 0 {
		return text
	}
	part := min(1, float64(bytes)/float64(b.total))
	text = fmt.Sprintf("%3.0f %%  %s", 100*part, text)
	if took := now.Sub(b.began); part > 0 && part < 1 && took > time.Second {
		text += ", " + Duration(time.Duration(float64(took)*(1-part)/part)) + " to go"
	}
	if cells := min(barCells, columns-len(text)-5); cells >= leastBar {
		full := int(part * float64(cells))
		text = "[" + strings.Repeat("#", full) + strings.Repeat(".", cells-full) + "] " + text
	}
	return text
}

// Close takes the bar away.
func (b *Bar) Close() {
	if b.t.Live && !b.painted.IsZero() {
		b.t.Printf("\r\x1b[K")
	}
}
