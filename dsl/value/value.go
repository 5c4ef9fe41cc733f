// Package value is the one type of data that flowrun computes with: JSON data, held as plain Go values.
//
// A Value is nil, a bool, a float64, a string, a []any or a map[string]any whose members are Values again; nothing
// else. The journal stores it as JSON, conditions (expr-lang) read it as it is, and HCL expressions convert it to cty
// and back in one place (dsl/expr). Values are shared freely and never changed once made.
//
// The package knows nothing of HCL, cty or expr-lang and imports the standard library only. Enter at [Decode] for
// bytes from outside, at [Append] for the canonical form, at [Type] for what a value may be.
package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Value is JSON data; see the package comment for the Go types that it may hold.
type Value = any

// MaxDepth bounds how deep lists and objects may lie in each other: as deep as brackets may in a file.
const MaxDepth = 64

// MaxNumber is the largest magnitude of a whole number that float64 holds exactly (2^53). Larger numbers are refused
// rather than rounded: identifiers of that size belong in strings.
const MaxNumber = 1 << 53

// Number checks a number that enters: NaN, infinities and magnitudes beyond 2^53 are errors.
func Number(f float64) (Value, error) {
	switch {
	case math.IsNaN(f):
		return nil, errors.New("not a number (NaN)")
	case math.IsInf(f, 0):
		return nil, errors.New("an infinite number")
	case math.Abs(f) > MaxNumber:
		return nil, fmt.Errorf("the number %s is beyond 2^53 and would lose digits; write it as a string", strconv.FormatFloat(f, 'g', -1, 64))
	}
	if f == 0 {
		f = 0 // no negative zero: it prints as "-0"
	}
	return f, nil
}

// Decode reads exactly one JSON value. It refuses what JSON libraries let pass: a second value behind the first, a key
// that stands twice in one object, numbers beyond 2^53, more than [MaxDepth] levels. Errors name the byte offset.
func Decode(data []byte) (Value, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := decode(d, 0)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			if len(bytes.TrimSpace(data)) == 0 {
				return nil, errors.New("not JSON: the text is empty")
			}
			return nil, fmt.Errorf("JSON ends too early, at byte %d", len(data))
		}
		return nil, fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("at byte %d: more text behind the JSON value", d.InputOffset())
	}
	return v, nil
}

func decode(d *json.Decoder, depth int) (Value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		f, err := t.Float64()
		if err != nil {
			return nil, fmt.Errorf("the number %.40s is out of range", t.String())
		}
		if n, err := t.Int64(); err == nil && (n > MaxNumber || n < -MaxNumber) {
			return nil, fmt.Errorf("the number %s is beyond 2^53 and would lose digits; write it as a string", t)
		}
		return Number(f)
	case json.Delim:
		if depth == MaxDepth {
			return nil, fmt.Errorf("more than %d levels of nesting", MaxDepth)
		}
		if t == '[' {
			list := []any{}
			for d.More() {
				v, err := decode(d, depth+1)
				if err != nil {
					return nil, err
				}
				list = append(list, v)
			}
			_, err := d.Token()
			return list, err
		}
		object := map[string]any{}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			key, _ := k.(string)
			if _, twice := object[key]; twice {
				return nil, fmt.Errorf("the key %.60q stands twice in one object", key)
			}
			if object[key], err = decode(d, depth+1); err != nil {
				return nil, err
			}
		}
		_, err := d.Token()
		return object, err
	default: // nil, bool, string
		return t, nil
	}
}

// Append writes the canonical JSON of v: keys sorted, no blanks, numbers as JavaScript prints them, nothing escaped
// that need not be. Equal values give equal bytes. It panics on a type that is not a Value: that is a defect of ours.
func Append(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case float64:
		return AppendNumber(dst, v)
	case string:
		return AppendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = Append(dst, e)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, k := range Keys(v) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, k)
			dst = append(dst, ':')
			dst = Append(dst, v[k])
		}
		return append(dst, '}')
	}
	panic(fmt.Sprintf("value: %T is not a value", v))
}

// AppendNumber writes a number as encoding/json and JavaScript do: whole numbers without point or exponent.
func AppendNumber(dst []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

const hex = "0123456789abcdef"

// AppendString writes a JSON string, escaping the quote, the backslash and control characters only; bytes that are not
// UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b >= 0x20 && b != '"' && b != '\\' && b < utf8.RuneSelf {
			i++
			continue
		}
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\uFFFD"...)
			i++
			start = i
			continue
		}
		dst = append(dst, s[start:i]...)
		switch b {
		case '"', '\\':
			dst = append(dst, '\\', b)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// Keys returns the keys of an object in order. Whoever walks an object where the order can be seen walks these.
func Keys(object map[string]any) []string {
	return slices.Sorted(maps.Keys(object))
}

// Equal tells whether two values are the same data.
func Equal(a, b Value) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !Equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a { // any order: they are equal or not
			w, ok := b[k]
			if !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// Text renders a value for a message or a template: strings as they are, all else as canonical JSON.
func Text(v Value) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(Append(nil, v))
}
