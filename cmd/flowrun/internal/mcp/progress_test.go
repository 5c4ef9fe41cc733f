package mcp

import (
	"fmt"
	"testing"
	"time"
)

// Of a flood a client gets so many lines a second, and hears how many were left out.
func TestProgressIsBounded(t *testing.T) {
	now := time.Unix(100, 0)
	var sent []string
	p := &progress{now: func() time.Time { return now }, send: func(n float64, line string) { sent = append(sent, fmt.Sprint(n, " ", line)) }}
	for i := range 1000 {
		p.tell(fmt.Sprint("line ", i))
	}
	now = now.Add(time.Second)
	p.tell("the next")
	if len(sent) != progressRate+1 || sent[progressRate-1] != "50 line 49" || sent[progressRate] != "51 (950 lines left out) the next" {
		t.Errorf("%d lines: %q", len(sent), sent[max(0, len(sent)-3):])
	}
}
