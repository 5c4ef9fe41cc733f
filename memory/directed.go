package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/flowrun/flowrun/memory/cache"
	"github.com/flowrun/flowrun/memory/embed/glove"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/vector"
)

// directed are the word vectors of all texts. What the texts of a store have in common is taken out of their means: a direction
// that is fitted to them, so that a new fit changes all vectors. It is fitted to the first texts of the store, [fitSize] of them:
// so it depends on the store alone, and is made anew when the store has grown by a tenth.
type directed struct {
	vectors   *vectors
	texts     *vector.Texts
	print     [sha256.Size]byte // of the texts that the direction was fitted to
	size      int               // how many they were
	live      int               // how many it could be fitted to
	stale     bool              // one of them went away, or moved to another scope: they have to be found anew
	direction []float32
}

func newDirected(v *vectors) *directed {
	return &directed{vectors: v, texts: vector.NewTexts(glove.Dim), stale: true}
}

// fitSize is how many of n texts the direction is fitted to: the fewest that it can be fitted to, and then each time a tenth more.
func fitSize(n int) int {
	if n < glove.LeastFit {
		return 0
	}
	size := glove.LeastFit
	for next := size; next <= n; next += max(1, next/10) {
		size = next
	}
	return size
}

func (l *directed) remove(d *doc) {
	if err := l.texts.Delete(d.slot); err != nil {
		l.vectors.warn("a word vector of the memory stays: " + err.Error())
	}
}

// sync makes the means of new texts, and all vectors where the direction is another one now.
func (l *directed) sync(x *index, fresh []*doc) {
	if l.vectors.means == nil {
		return
	}
	l.remember(fresh)
	for _, d := range fresh {
		if fits(d) {
			l.live++
		}
	}
	if l.stale || fitSize(l.live) != l.size {
		live := x.fitting()
		fit := live[:fitSize(len(live))]
		l.live, l.size, l.stale = len(live), len(fit), false
		if print := fingerprint(fit); l.direction == nil || print != l.print {
			l.print, l.direction = print, l.fit(print, fit)
			l.texts, fresh = vector.NewTexts(glove.Dim), x.docs
		}
	}
	for _, d := range fresh {
		if d.slot < 0 {
			continue
		}
		vs := make([][]float32, len(d.pieces))
		for n, p := range d.pieces {
			mean, _ := l.vectors.means.get(p.key)
			vs[n] = glove.Without(mean, l.direction)
		}
		if err := l.texts.Put(d.slot, vs[0], vs[1:]...); err != nil {
			l.vectors.warn("a word vector of the memory is left out: " + err.Error())
		}
	}
}

// scores gives by slot what the word vectors say of a query.
func (l *directed) scores(query string) ([]float64, error) {
	if l.vectors.means == nil || l.direction == nil {
		return nil, nil
	}
	return l.texts.Cosines(glove.Without(l.vectors.mean(query), l.direction))
}

// vector is that of a text, from its mean.
func (l *directed) vector(text string) []float32 {
	mean, known := l.vectors.means.get(keyOf(text))
	if !known {
		mean = cache.Round(l.vectors.mean(text))
	}
	return glove.Without(mean, l.direction)
}

// remember makes the means that are not kept yet.
func (l *directed) remember(docs []*doc) {
	var keys []key
	var means [][]float32
	asked := map[key]bool{}
	for _, d := range docs {
		for _, p := range d.pieces {
			if _, known := l.vectors.means.get(p.key); !known && !asked[p.key] {
				asked[p.key] = true
				keys, means = append(keys, p.key), append(means, l.vectors.mean(p.text))
			}
		}
	}
	if len(keys) > 0 {
		l.vectors.means.put(keys, means)
	}
}

// fitting are the texts that the direction may be fitted to.
func (x *index) fitting() []*doc {
	live := make([]*doc, 0, len(x.docs))
	for _, d := range x.docs {
		if fits(d) {
			live = append(live, d)
		}
	}
	return live
}

// fits reports whether the direction may be fitted to a text. What lies in the scope of a run, where anybody may write, takes no
// part, nor does working memory; nor do patterns, which say again what is there, and must not move the vectors that they were made by.
func fits(d *doc) bool {
	return d.slot >= 0 && !d.item.Working && !d.item.Scope.IsRun() && d.item.Type != entry.Pattern
}

func fingerprint(docs []*doc) [sha256.Size]byte {
	h := sha256.New()
	for _, d := range docs {
		h.Write(d.pieces[0].key[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// noteName is where the direction is kept: the fingerprint, then the numbers.
const noteName = "direction"

func (l *directed) fit(print [sha256.Size]byte, docs []*doc) []float32 {
	if b, ok := l.vectors.means.note(noteName); ok && len(b) == len(print)+4*glove.Dim && bytes.HasPrefix(b, print[:]) {
		v := make([]float32, glove.Dim)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[len(print)+4*i:]))
		}
		return v
	}
	means := make([][]float32, 0, len(docs))
	for _, d := range docs {
		if m, _ := l.vectors.means.get(d.pieces[0].key); m != nil {
			means = append(means, m)
		}
	}
	v := l.vectors.fit(means)
	b := print[:]
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	l.vectors.means.setNote(noteName, b)
	return v
}
