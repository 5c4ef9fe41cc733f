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

// nearest gives the k nearest and all that are as near as the last of them, in no certain order among equals: the caller sorts
// and cuts. Which of several equals chromem-go leaves out differs from call to call, so more are asked for until the last one
// is further away. k lies in 1 to the number of vectors; for more chromem-go fails.
func (c *chromem) nearest(v []float32, k int) ([]Hit, error) {
	n := c.docs.Count()
	for ask := min(n, k+1); ; ask = min(n, 2*ask) {
		found, err := c.docs.QueryEmbedding(context.Background(), v, ask, nil, nil)
		if err != nil {
			return nil, err
		}
		if ask < n && found[ask-1].Similarity == found[k-1].Similarity {
			continue
		}
		hits := make([]Hit, len(found))
		for i, r := range found {
			hits[i] = Hit{r.ID, r.Similarity}
		}
		return hits, nil
	}
}
