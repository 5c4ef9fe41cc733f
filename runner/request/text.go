package request

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// Text is a value as a text for the system, which ends texts at a NUL. Numbers and bools are written as JSON writes them.
func Text(v value.Value) (string, error) {
	s, err := printed(v)
	if err == nil && strings.IndexByte(s, 0) >= 0 {
		return "", errors.New("the text holds a NUL character")
	}
	return s, err
}

// printed is a value as a text.
func printed(v value.Value) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case float64, bool:
		return value.Text(v), nil
	case nil:
		return "", errors.New("a text is needed, but this is null")
	}
	return "", errors.New("a text, number or bool is needed; jsonencode makes a text of this")
}

// scriptValue is a value that stands in a script.
func scriptValue(v value.Value) (string, error) {
	text, err := printed(v)
	switch {
	case err != nil:
		return "", err
	case len(text) > MaxScriptValue:
		return "", fmt.Errorf("it has %d bytes, and a value in a script may have %d: give it over in stdin, and let the script read it there",
			len(text), MaxScriptValue)
	case strings.IndexByte(text, 0) >= 0:
		return "", errors.New("it holds a NUL byte, which no environment takes: give it over in stdin, and let the script read it there")
	}
	return text, nil
}

// arguments makes an argument list of a list of strings, numbers and bools.
func arguments(v value.Value) ([]string, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("a list of a program and its arguments is needed, but this is %.60s", value.Text(v))
	}
	argv := make([]string, len(list))
	for i, e := range list {
		s, err := Text(e)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
		argv[i] = s
	}
	return argv, nil
}

// Sized refuses a value that is too large to hand on.
func Sized(v value.Value) error {
	if n := len(value.Append(nil, v)); n > MaxValue {
		return fmt.Errorf("the value has %d bytes as JSON, more than the limit of %d", n, MaxValue)
	}
	return nil
}
