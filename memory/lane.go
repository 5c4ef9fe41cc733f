package memory

import "github.com/flowrun/flowrun/memory/vector"

// lane is what is known of the texts by the vectors of one model: which are near to a query, and how near two of them are.
type lane struct {
	texts *vector.Texts
	whole map[int][]float32 // by slot
}

func newLane() *lane { return &lane{texts: vector.NewTexts(0), whole: map[int][]float32{}} }

// add takes in the vectors of a text, the whole first; nil stands for a piece without one.
func (l *lane) add(slot int, vs [][]float32) error {
	l.whole[slot] = vs[0]
	return l.texts.Put(slot, vs[0], vs[1:]...)
}

func (l *lane) remove(slot int) error {
	delete(l.whole, slot)
	return l.texts.Delete(slot)
}

// scores gives each slot its nearness to a query; nil says nothing of any.
func (l *lane) scores(query []float32) ([]float64, error) {
	if query == nil || l.texts.Vectors() == 0 {
		return nil, nil
	}
	return l.texts.Cosines(query)
}
