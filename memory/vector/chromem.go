package vector

import (
	"context"
	"errors"

	chromemgo "github.com/philippgille/chromem-go"
)

// chromem is a collection of chromem-go v0.7.0. Each of its methods guards against something that a test of this package
// shows; where a later version does better, the guard costs nothing.
type chromem struct{ docs *chromemgo.Collection }

var errNoTexts = errors.New("only vectors are stored here")

func newChromem() *chromem {
	// Left nil, the embedding function would be a paid service on the network.
	refuse := func(context.Context, string) ([]float32, error) { return nil, errNoTexts }
	docs, err := chromemgo.NewDB().CreateCollection("vectors", nil, refuse)
	if err != nil {
		panic(err) // only for an empty name
	}
	return &chromem{docs}
}

// add takes a vector of unit length that has been checked: chromem-go itself stores one of another length and then fails
// every query, and makes NaN of zeros.
func (c *chromem) add(id string, v []float32) error {
	return c.docs.AddDocument(context.Background(), chromemgo.Document{ID: id, Embedding: v})
}

// delete names the id alone: beside a filter ids would be ignored, and without either everything or nothing is meant.
func (c *chromem) delete(id string) error {
	return c.docs.Delete(context.Background(), nil, nil, id)
}

// each asks for exactly as many as there are: for more, or for some of none, chromem-go fails, and for fewer it chooses among
// equals otherwise from call to call. The cosines are computed again: those of chromem-go have other last bits on processors
// where the compiler fuses its products with its additions (arm64), and the flat scan has the same bits everywhere.
func (c *chromem) each(v []float32, visit func(id string, cosine float32)) error {
	found, err := c.docs.QueryEmbedding(context.Background(), v, c.docs.Count(), nil, nil)
	vectors, cosines := make([][]float32, len(found)), make([]float32, len(found))
	for i, r := range found {
		vectors[i] = r.Embedding
	}
	scan(v, vectors, cosines)
	for i, r := range found {
		visit(r.ID, cosines[i])
	}
	return err
}
