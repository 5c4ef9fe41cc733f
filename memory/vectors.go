package memory

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/memory/embed"
	"github.com/flowrun/flowrun/memory/embed/glove"
	"github.com/flowrun/flowrun/memory/text"
)

// vectors makes the vectors of texts: those of the embedder, which cost time and may come from elsewhere, and the means of word
// vectors, which cost next to nothing.
type vectors struct {
	embedder embed.Embedder // nil: none
	meaning  *memo          // nil without an embedder
	means    *memo          // nil without word vectors
	making   chan struct{}  // has room for whoever has the embedder work on what is to be kept: no text is embedded twice
	load     sync.Once
	words    *glove.Words
	warn     func(string)
	out      atomic.Int64 // until when, in Unix nanoseconds, no query is embedded, because the last could not be
	told     sync.Once    // see otherLength
	hurt     sync.Once    // see damaged
}

// openVectors reads what was kept of both.
func openVectors(dir string, o *Options) *vectors {
	v := &vectors{embedder: o.Embedder, warn: o.Warn, making: make(chan struct{}, 1)}
	var both sync.WaitGroup
	if o.Embedder != nil {
		both.Go(func() { v.meaning = openMemo(dir, o.Embedder.Model(), o.Embedder.Dim(), o) })
	}
	if o.WordVectors {
		both.Go(func() { v.means = openMemo(dir, glove.Name, glove.Dim, o) })
	}
	both.Wait()
	return v
}

// refresh takes up what other processes have made.
func (v *vectors) refresh() {
	v.meaning.refresh()
	v.means.refresh()
}

func (v *vectors) close() {
	if v.meaning != nil {
		v.meaning.close()
	}
	if v.means != nil {
		v.means.close()
	}
}

// piece is a text that has a vector of its own.
type piece struct {
	key  key
	text string
}

// pieces are the whole text, and its sentences where they are more or other than the whole.
func pieces(whole string) []piece {
	out := []piece{{keyOf(whole), whole}}
	for _, s := range text.Sentences(whole) {
		if s != strings.TrimSpace(whole) {
			out = append(out, piece{keyOf(s), s})
		}
	}
	return out
}

// embed embeds the pieces that have no vector yet, and keeps the vectors.
func (v *vectors) embed(ctx context.Context, ps []piece) error {
	if v.embedder == nil {
		return nil
	}
	select {
	case v.making <- struct{}{}:
		defer func() { <-v.making }()
	case <-ctx.Done():
		return ctx.Err()
	}
	v.meaning.refresh()
	var keys []key
	var texts []string
	asked := map[key]bool{}
	for _, p := range ps {
		if _, known := v.meaning.get(p.key); !known && !asked[p.key] {
			asked[p.key] = true
			keys, texts = append(keys, p.key), append(texts, p.text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	made, err := v.embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	v.meaning.put(keys, made)
	return nil
}

// query embeds a query, of which nothing is kept. A failure is told, the search goes on without, and for a while the embedder is
// left alone: many queries don't each wait for one that is out.
func (v *vectors) query(ctx context.Context, q string) []float32 {
	if v.embedder == nil || time.Now().UnixNano() < v.out.Load() {
		return nil
	}
	wait, done := context.WithTimeout(ctx, longest)
	defer done()
	made, err := v.embedder.Embed(wait, []string{q})
	switch {
	case ctx.Err() != nil:
		return nil
	case wait.Err() != nil && err != nil:
		err = fmt.Errorf("the embedder did not answer within %v", longest)
	case err == nil && len(made) == 1:
		return made[0]
	case err == nil:
		err = fmt.Errorf("the embedder made %d vectors of one query", len(made))
	}
	v.out.Store(time.Now().Add(retryAfter).UnixNano())
	v.warn("the search continues by words: " + err.Error())
	return nil
}

// otherLength tells, once, that the embedder's vectors can't be compared with those that are kept.
func (v *vectors) otherLength(err error) {
	v.told.Do(func() {
		v.warn(fmt.Sprintf("the search continues by words: the model %s has changed, though not its name: %v. Remove %s, and all vectors are computed again.",
			v.embedder.Model(), err, v.meaning.path))
	})
}

// mean is the mean of a text's word vectors, nil without a known word.
func (v *vectors) mean(text string) []float32 {
	v.load.Do(func() {
		w, err := glove.Load()
		if err != nil {
			v.damaged(err)
		}
		v.words = w
	})
	if v.words == nil {
		return nil
	}
	mean, err := v.words.Mean(text)
	if err != nil {
		v.damaged(err)
	}
	return mean
}

// damaged tells, once, that the word vectors, which are part of the program, are not what they should be.
func (v *vectors) damaged(err error) {
	v.hurt.Do(func() { v.warn("the word vectors can't be read: " + err.Error()) })
}

// fit gives the direction that means share.
func (v *vectors) fit(means [][]float32) []float32 {
	v.mean("") // loads the words
	if v.words == nil {
		return nil
	}
	return v.words.Fit(means)
}
