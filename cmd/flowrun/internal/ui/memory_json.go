package ui

import (
	"github.com/flowrun/flowrun/memory/entry"
)

// Hit is a result as programs get it: with the whole entry where one query was asked, and without where many were.
type Hit struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
	Parts Parts   `json:"parts,omitempty"`
}

// Answer is what programs get for one of many queries, on a line of its own.
type Answer struct {
	ID      string `json:"id"`
	Results []Hit  `json:"results"`
	// Error says why there is no answer; it is "" where there is one.
	Error string `json:"error,omitempty"`
}

// Answered makes the answer to a query.
func Answered(id string, found []Found) Answer {
	a := Answer{ID: id, Results: make([]Hit, len(found))}
	for i := range found {
		a.Results[i] = hit(&found[i])
	}
	return a
}

func hit(f *Found) Hit { return Hit{f.Item.ID, round(f.Score), f.Parts} }

// FoundJSON writes the answer to one query, with the entries whole.
func FoundJSON(t *Term, query string, found []Found) {
	type whole struct {
		Hit
		entry.Document
	}
	list := make([]whole, len(found))
	for i := range found {
		list[i] = whole{hit(&found[i]), found[i].Item.Document()}
	}
	_ = WriteJSON(t, map[string]any{"query": query, "results": list})
}
