package uselite

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkEmbed is the cost of one text on one core; WEIGHTS.md has figures.
func BenchmarkEmbed(b *testing.B) {
	m := model(b)
	run := func(name string, n int) {
		text := strings.TrimSpace(strings.Repeat("word ", n))
		if got := len(m.Tokens(text)); got != n {
			b.Fatalf("%d pieces, not %d", got, n)
		}
		b.Run(fmt.Sprintf("%s/tokens=%d", name, n), func(b *testing.B) {
			for b.Loop() {
				embedded(b, m, text)
			}
		})
	}
	for _, n := range []int{24, 45, 70, 128} {
		if fast {
			run("assembly", n)
		}
		portable(func() { run("portable", n) })
	}
}

// BenchmarkEmbedSentences is the cost of ten sentences of 12 tokens, which go through the layers together.
func BenchmarkEmbedSentences(b *testing.B) {
	m := model(b)
	texts := make([]string, 10)
	for i := range texts {
		texts[i] = strings.TrimSpace(strings.Repeat("word ", 12))
	}
	for b.Loop() {
		embedded(b, m, texts...)
	}
}

func BenchmarkTokens(b *testing.B) {
	m := model(b)
	text := strings.Repeat("The build failed because the database migration timed out. ", 5)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Tokens(text)
	}
}

// BenchmarkFirst is the cost of the first text of a process, with the weights that it needs.
func BenchmarkFirst(b *testing.B) {
	for b.Loop() {
		m, err := load(packed, room[:])
		if err != nil {
			b.Fatal(err)
		}
		embedded(b, m, "The build failed because the database migration timed out, so the release was rolled back and the migration was "+
			"moved into a step of its own, with a longer timeout, before the services restart and the locks are free again.")
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := load(packed, room[:]); err != nil {
			b.Fatal(err)
		}
	}
}
