package uselite

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkEmbed is the cost of one text on one core. On an AMD EPYC with AVX2 see WEIGHTS.md.
func BenchmarkEmbed(b *testing.B) {
	m := model(b)
	for _, n := range []int{24, 45, 70, 128} {
		text := strings.TrimSpace(strings.Repeat("word ", n))
		if got := len(m.Tokens(text)); got != n {
			b.Fatalf("%d pieces, not %d", got, n)
		}
		b.Run(fmt.Sprintf("tokens=%d", n), func(b *testing.B) {
			for b.Loop() {
				m.Embed(text)
			}
		})
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

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := read(weights); err != nil {
			b.Fatal(err)
		}
	}
}
