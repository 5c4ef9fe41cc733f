package embed_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/memory/embed"
	"github.com/flowrun/flowrun/memory/embed/uselite"
)

func texts(n int) []string {
	out := make([]string, n)
	for i := range out {
		if i%7 != 3 {
			out[i] = fmt.Sprintf("Step %d of the build failed after %d retries.", i, i%4)
		}
	}
	return out
}

// TestVectorsDependOnTheTextAlone embeds the same texts on one core and on four, in one batch and one by one.
func TestVectorsDependOnTheTextAlone(t *testing.T) {
	all := texts(40)
	e := embed.Default()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want, err := e.Embed(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(4)
	got, err := e.Embed(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range all {
		alone, err := e.Embed(t.Context(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		if (want[i] == nil) != (text == "") || want[i] != nil && len(want[i]) != uselite.Dim {
			t.Errorf("%q has %d numbers", text, len(want[i]))
		}
		if !slices.Equal(got[i], want[i]) || !slices.Equal(alone[0], want[i]) {
			t.Errorf("%q has different vectors", text)
		}
	}
}

func TestEmbedStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := embed.Default().Embed(ctx, texts(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestNoTexts(t *testing.T) {
	if v, err := embed.Default().Embed(t.Context(), nil); len(v) != 0 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}
