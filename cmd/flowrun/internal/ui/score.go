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
	var b strings.Builder
	for i, part := range p {
		fmt.Fprintf(&b, "%s%q:%s", map[bool]string{true: "{", false: ","}[i == 0], part.Name, number(part.Value))
	}
	if len(p) == 0 {
		b.WriteByte('{')
	}
	return []byte(b.String() + "}"), nil
}

// Digits is how many digits after the point a score is told with: more would tell of the processor, and not of the entry.
const Digits = 6

func number(v float64) string {
	b, err := json.Marshal(round(v))
	if err != nil {
		panic("ui: a score that is no number: " + err.Error()) // the ranking gives finite numbers
	}
	return string(b)
}

func round(v float64) float64 {
	const unit = 1e6 // 10 to the power of Digits
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
