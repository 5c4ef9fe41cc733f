// Command memeval prints how well the memory finds what it should, on data of its own: with words alone, with the word vectors
// beside them, and with the embedder as well, which is what a memory has by default. See package memory/eval for the data and
// the measures. It takes no arguments, some ten seconds, and no network.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/embed"
	"github.com/flowrun/flowrun/memory/eval"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "memeval:", err)
		os.Exit(1)
	}
}

// ways are what a memory can search with.
var ways = []struct {
	name string
	memory.Options
}{
	{"words alone", memory.Options{}},
	{"words and word vectors", memory.Options{WordVectors: true}},
	{"words, word vectors and the default embedder", memory.Options{WordVectors: true, Embedder: embed.Default()}},
}

func run(ctx context.Context, out io.Writer) error {
	sets, err := eval.Sets()
	if err != nil {
		return err
	}
	for _, w := range ways {
		results, err := measure(ctx, sets, w.Options)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		fmt.Fprintf(out, "%s:\n", w.name)
		for _, r := range results {
			fmt.Fprintf(out, "  %s\n", r)
		}
	}
	return nil
}

// measure gives each store a folder of its own, and takes all of them away again.
func measure(ctx context.Context, sets []eval.Set, o memory.Options) (results []eval.Result, err error) {
	dir, err := os.MkdirTemp("", "memeval")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var open []*memory.Memory
	defer func() {
		for _, m := range open {
			err = errors.Join(err, m.Close())
		}
	}()
	return eval.Measure(sets, func(s eval.Set) (func(string, int) ([]string, error), error) {
		m, err := memory.Open(dir+"/"+s.Name, o)
		if err != nil {
			return nil, err
		}
		open = append(open, m)
		if _, err := m.Import(ctx, bytes.NewReader(s.Entries), memory.ImportOptions{Name: s.Name}); err != nil {
			return nil, err
		}
		return func(query string, k int) (ids []string, err error) {
			hits, err := m.Search(ctx, memory.Query{Text: query, K: k, Viewer: memory.Viewer{All: true}})
			for _, h := range hits {
				ids = append(ids, h.ID)
			}
			return ids, err
		}, nil
	})
}
