package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// JSONOrText reads what a person typed: JSON, or a text. A text that begins as an object, a list or a string of JSON does, and is none, is
// refused with a *BrokenJSON: whoever typed it meant JSON.
func JSONOrText(text string) (Value, error) {
	v, err := Decode([]byte(text))
	switch {
	case err == nil:
		return v, nil
	case strings.ContainsRune(`{["`, first(text)):
		return nil, &BrokenJSON{fault(text, err)}
	}
	return text, nil
}

// first is the first character of a text that is not a space, 'x' if there is none.
func first(text string) rune {
	for _, c := range strings.TrimLeft(text, " \t\r\n") {
		return c
	}
	return 'x'
}

// BrokenJSON is an error about text that begins as JSON does.
type BrokenJSON struct{ Fault string }

func (e *BrokenJSON) Error() string {
	return fmt.Sprintf("is not JSON, though it begins like it: %s. %s", e.Fault, HowToQuote)
}

// HowToQuote says how text is given that begins as JSON does.
const HowToQuote = `Text that begins with {, [ or " is written as a string of JSON, such as '"[draft] text"'`

// places gives plain words for what the library says of the place of a wrong character.
var places = map[string]string{
	"looking for beginning of object key string": "where a name in quotes should begin",
	"looking for beginning of value":             "where a value should begin",
	"after object key":                           "behind a name, where a colon should be",
	"after object key:value pair":                "behind a value, where a comma or } should be",
	"after array element":                        "behind a value, where a comma or ] should be",
	"after top-level value":                      "behind the end of the value",
}

// fault says where the JSON in a text is broken; err is what [Decode] says of it.
func fault(text string, err error) string {
	var any any
	var bad *json.SyntaxError
	if !errors.As(json.Unmarshal([]byte(text), &any), &bad) { // the syntax is right: a number that is too large, or too many levels
		return err.Error()
	}
	why, at := "it ends too early", int(bad.Offset)
	if _, tail, is := strings.Cut(bad.Error(), "' "); is && strings.HasPrefix(bad.Error(), "invalid character ") {
		at-- // the offset is behind the character
		c, _ := utf8.DecodeRuneInString(text[at:])
		if plain := places[tail]; plain != "" {
			tail = plain
		}
		why = fmt.Sprintf("found %q %s", string(c), tail)
	}
	before := text[:at]
	line := strings.LastIndexByte(before, '\n') + 1
	place := fmt.Sprintf("column %d", utf8.RuneCountInString(before[line:])+1)
	if strings.Contains(text, "\n") {
		place = fmt.Sprintf("line %d, %s", strings.Count(before, "\n")+1, place)
	}
	return place + ": " + why
}
