package event

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
)

// A report may lack members and hold nonsense; tokens counts what is told neither as input nor as output.
func TestReadUsage(t *testing.T) {
	for text, want := range map[string]Usage{
		`{"input_tokens":3,"output_tokens":4,"cost_usd":0.5}`: {InputTokens: 3, OutputTokens: 4, CostUSD: 0.5},
		`{"tokens":9,"input_tokens":3,"output_tokens":4}`:     {InputTokens: 3, OutputTokens: 4, OtherTokens: 2},
		`{"tokens":5}`:                          {OtherTokens: 5},
		`{"tokens":5,"input_tokens":8}`:         {InputTokens: 8},
		`{"input_tokens":1.9,"attempts":7}`:     {InputTokens: 1},
		`{"input_tokens":-1,"cost_usd":"much"}`: {},
		`null`:                                  {},
		`[1]`:                                   {},
	} {
		v, err := value.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := ReadUsage(v)
		if got == nil {
			got = &Usage{}
		}
		if *got != want {
			t.Errorf("%s: %+v, want %+v", text, *got, want)
		}
	}
}
