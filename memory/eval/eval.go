// Package eval measures how well a search of the memory finds what it should: learnings that are asked for in their own words
// and in others, and turns of conversations. It holds the data and the measures; what searches is given to it.
//
// Enter at [Sets], then [Measure]; `go run ./cmd/memeval` prints what the memory itself comes to. The data was invented for
// this, before anything was measured with it, and nothing is tuned to it. It is small: of a hundred questions one is a point,
// so differences of a few points say nothing, and weights are not to be chosen by it. What it is for is that a change of the
// ranking shows, which a test in this package turns into a failure.
//
// The three kinds of questions:
//
//   - near: a learning asked for in its own words. Anything but nearly all of them found is a fault.
//   - far: the same learnings in other words. A question shares no word with its learning that stands in fewer than five of
//     them, so a search by words alone finds no more than chance does, and no small model finds most.
//   - turns: questions about three conversations, each a store of its own; some have two turns as their answer.
package eval

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed testdata/*.jsonl
var data embed.FS

// Question asks for the entries of Answers.
type Question struct {
	ID      string   `json:"id"`
	Query   string   `json:"query"`
	Answers []string `json:"answers"`
}

// Set is a store, and the questions of one kind that are asked of it.
type Set struct {
	Kind      string
	Name      string // of the store; sets of one name have the same entries
	Entries   []byte // lines of JSON, as an import takes them
	Questions []Question
}

// Sets gives all sets: the kinds are "near", "far" and "turns", in this order.
func Sets() ([]Set, error) {
	sets := []Set{
		{Kind: "near", Name: "learnings"}, {Kind: "far", Name: "learnings"},
		{Kind: "turns", Name: "ines"}, {Kind: "turns", Name: "invoices"}, {Kind: "turns", Name: "ride"},
	}
	for i := range sets {
		s := &sets[i]
		var err error
		if s.Entries, err = data.ReadFile("testdata/" + s.Name + ".jsonl"); err != nil {
			return nil, err
		}
		if s.Questions, err = questions("testdata/" + s.Name + "." + s.Kind + ".jsonl"); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

func questions(name string) (out []Question, err error) {
	b, err := data.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for n, line := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
		var q Question
		if err := json.Unmarshal(line, &q); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n+1, err)
		}
		out = append(out, q)
	}
	return out, nil
}
