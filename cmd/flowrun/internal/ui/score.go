package ui

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Part is one part of a score.
type Part struct {
	Name  string
	Value float64
}

// Parts are those of a score, in the order in which they are told. In JSON they are an object.
type Parts []Part

// MarshalJSON implements json.Marshaler.
func (p Parts) MarshalJSON() ([]byte, error) {
	members := make([]string, len(p))
	for i, part := range p {
		members[i] = fmt.Sprintf("%q:%s", part.Name, number(part.Value))
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

func number(v float64) string {
	b, err := json.Marshal(round(v))
	if err != nil {
		panic("ui: a score that is not a number: " + err.Error()) // the ranking gives finite numbers
	}
	return string(b)
}

// round leaves six digits after the point: more would tell of the processor, and not of the entry.
func round(v float64) float64 {
	const unit = 1e6
	return math.Round(v*unit) / unit
}

// String writes parts for a person, without those that add nothing.
func (p Parts) String() string {
	var words []string
	for _, part := range p {
		if round(part.Value) != 0 {
			words = append(words, fmt.Sprintf("%s %.3f", strings.ReplaceAll(part.Name, "_", " "), part.Value))
		}
	}
	return strings.Join(words, ", ")
}
