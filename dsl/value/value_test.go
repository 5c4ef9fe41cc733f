package value

import (
	"math"
	"strings"
	"testing"
)

func TestDecodeAndAppendAgree(t *testing.T) {
	for in, want := range map[string]string{
		` {"b":1,"a":[true,null,"x"]} `: `{"a":[true,null,"x"],"b":1}`,
		`1e3`:                           `1000`,
		`-0`:                            `0`,
		`0.1`:                           `0.1`,
		`1e21`:                          "",
		`9007199254740992`:              `9007199254740992`,
		`"\u00e9\n\"\\\u0001"`:          `"é\n\"\\\u0001"`,
		`"<&>"`:                         `"<&>"`,
		`[]`:                            `[]`,
		`{}`:                            `{}`,
	} {
		v, err := Decode([]byte(in))
		if want == "" {
			if err == nil {
				t.Errorf("%s is accepted", in)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if got := string(Append(nil, v)); got != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, err := Decode([]byte(deep(MaxDepth))); err != nil {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
	for in, want := range map[string]string{
		"":                       "empty",
		"  ":                     "empty",
		`{"a":1`:                 "too early",
		`{"a":1,"a":2}`:          "twice",
		`1 2`:                    "more text",
		`{"a":1}x`:               "",
		`nul`:                    "",
		deep(MaxDepth + 1):       "levels",
		`9007199254740993`:       "", // rounds to 2^53 in float64: it is beyond what can be told apart
		`9007199254740994`:       "2^53",
		`-1e300`:                 "2^53",
		`1e999`:                  "out of range",
		"\"\xff\"":               "UTF-8",
		`{"a":` + deep(70) + `}`: "levels",
	} {
		v, err := Decode([]byte(in))
		if err == nil {
			t.Errorf("%.40q is accepted as %v", in, v)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want a word of %q", in, err, want)
		}
	}
}

func TestNumberRefusesWhatIsNone(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), MaxNumber + 2} {
		if v, err := Number(f); err == nil {
			t.Errorf("%v is accepted as %v", f, v)
		}
	}
	if v, err := Number(math.Copysign(0, -1)); err != nil || string(Append(nil, v)) != "0" {
		t.Errorf("negative zero gives %v, %v", v, err)
	}
}

func TestAppendReplacesBytesThatAreNoText(t *testing.T) {
	if got := string(Append(nil, "a\xffb")); got != "\"a\uFFFDb\"" {
		t.Errorf("got %q", got)
	}
}

func TestConvert(t *testing.T) {
	person := Object(map[string]Type{"name": StringType, "age": {Kind: NumberT, Optional: true}})
	for _, c := range []struct {
		in   string
		t    Type
		want string // or the error
	}{
		{`"x"`, StringType, `"x"`},
		{`1`, StringType, "a string is needed, but this is the number 1"},
		{`"1"`, NumberType, "a number is needed, but this is a string"},
		{`1.5`, IntType, "a whole number is needed, but this is the number 1.5"},
		{`null`, StringType, "a string is needed, but this is null"},
		{`null`, StringType.OrNull(), `null`},
		{`[1,2]`, List(NumberType), `[1,2]`},
		{`[1,"x"]`, List(NumberType), "at [1]: a number is needed, but this is a string"},
		{`["b","a","b"]`, Set(StringType), `["a","b"]`},
		{`{"a":1}`, Map(NumberType), `{"a":1}`},
		{`{"name":"x","age":3,"more":1}`, person, `{"age":3,"name":"x"}`},
		{`{"name":"x"}`, person, `{"age":null,"name":"x"}`},
		{`{"age":3}`, person, `the attribute "name" (string) is needed, but this is an object without it`},
		{`{"p":{"name":1}}`, Object(map[string]Type{"p": person}), "at .p.name: a string is needed, but this is the number 1"},
		{`["x",1]`, Type{Kind: TupleT, Elems: []Type{StringType, NumberType}}, `["x",1]`},
		{`["x"]`, Type{Kind: TupleT, Elems: []Type{StringType, NumberType}}, "a tuple([string, number]) is needed, but this is a list of 1"},
		{`"ok"`, Type{Kind: StringT, Enum: []string{"ok", "no"}}, `"ok"`},
		{`"maybe"`, Type{Kind: StringT, Enum: []string{"ok", "no"}}, `one of ok, no is needed, but this is "maybe"`},
		{`{"anything":[1]}`, AnyType, `{"anything":[1]}`},
	} {
		v, err := Decode([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if v, err := Convert(v, c.t); err != nil {
			got = err.Error()
		} else {
			got = string(Append(nil, v))
		}
		if got != c.want {
			t.Errorf("%s as %s: %s, want %s", c.in, c.t, got, c.want)
		}
	}
}

func TestTypeIsWrittenAsInAFile(t *testing.T) {
	typ := Object(map[string]Type{"b": List(StringType), "a": {Kind: NumberT, Optional: true}})
	if got, want := typ.String(), "object({ a = optional(number), b = list(string) })"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}]}`, `"x"`, `1e5`, `[`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Decode(data)
		if err != nil {
			return
		}
		canonical := Append(nil, v)
		again, err := Decode(canonical)
		if err != nil || !Equal(v, again) || string(Append(nil, again)) != string(canonical) {
			t.Errorf("%q does not survive: %s, %v", data, canonical, err)
		}
	})
}
