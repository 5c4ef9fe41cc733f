package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/value"
)

var convertFunctions = []function{
	{name: "tostring", sig: "any!", result: nullLike(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		switch a[0].(type) {
		case nil:
			return nil, nil
		case []any, map[string]any:
			return r.json(a[0])
		}
		return textOf(a[0]), nil
	}},
	{name: "tonumber", sig: "any!", result: nullLike(value.NumberType), call: func(r *run, a []value.Value) (value.Value, error) { return toNumber(a[0]) }},
	{name: "tobool", sig: "any!", result: nullLike(value.BoolType), call: func(r *run, a []value.Value) (value.Value, error) {
		switch v := a[0].(type) {
		case nil, bool:
			return v, nil
		case string:
			if v == "true" || v == "false" {
				return v == "true", nil
			}
		}
		return nil, fmt.Errorf("%s is neither true nor false", describe(a[0]))
	}},
	{name: "tolist", sig: "list!", result: nullable(listLike(0)), call: func(r *run, a []value.Value) (value.Value, error) { return a[0], nil }},
	{name: "toset", sig: "list!", result: nullable(setLike), call: func(r *run, a []value.Value) (value.Value, error) {
		if a[0] == nil {
			return nil, nil
		}
		return r.set(a[0].([]any), nil)
	}},
	{name: "tomap", sig: "map!", result: nullable(func(a []value.Type) value.Type { return value.Map(elemType(a[0])) }), call: func(r *run, a []value.Value) (value.Value, error) { return a[0], nil }},
	{name: "jsonencode", sig: "any!", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) { return r.json(a[0]) }},
	{name: "jsondecode", sig: "string", call: func(r *run, a []value.Value) (value.Value, error) {
		s := a[0].(string)
		if err := r.text(len(s)); err != nil {
			return nil, err
		}
		if err := r.memory(16 * len(s)); err != nil {
			return nil, err
		}
		return value.Decode([]byte(s))
	}},
	{name: "base64encode", sig: "string", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		s := a[0].(string)
		if err := r.text(base64.StdEncoding.EncodedLen(len(s))); err != nil {
			return nil, err
		}
		return base64.StdEncoding.EncodeToString([]byte(s)), nil
	}},
	{name: "base64decode", sig: "string", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		b, err := base64.StdEncoding.DecodeString(a[0].(string))
		if err != nil {
			return nil, fmt.Errorf("%q is not base64", shorten(a[0].(string)))
		}
		if !utf8.Valid(b) {
			return nil, fmt.Errorf("what it decodes to is not UTF-8 text")
		}
		return string(b), r.text(len(b))
	}},
	digest("md5", func(b []byte) []byte { s := md5.Sum(b); return s[:] }),
	digest("sha1", func(b []byte) []byte { s := sha1.Sum(b); return s[:] }),
	digest("sha256", func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }),
	digest("sha512", func(b []byte) []byte { s := sha512.Sum512(b); return s[:] }),
	digest64("base64sha256", func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }),
	digest64("base64sha512", func(b []byte) []byte { s := sha512.Sum512(b); return s[:] }),
	{name: "format", sig: "string any!...", result: constant(value.StringType), call: format},
}

func digest(name string, sum func([]byte) []byte) function {
	return function{name: name, sig: "string", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		s := a[0].(string)
		return hex.EncodeToString(sum([]byte(s))), r.text(len(s))
	}}
}

// digest64 is a digest in base64.
func digest64(name string, sum func([]byte) []byte) function {
	return function{name: name, sig: "string", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		s := a[0].(string)
		return base64.StdEncoding.EncodeToString(sum([]byte(s))), r.text(len(s))
	}}
}

// nullLike is t, which may be null where the first argument may.
func nullLike(t value.Type) func([]value.Type) value.Type {
	return nullable(constant(t))
}

func nullable(f func([]value.Type) value.Type) func([]value.Type) value.Type {
	return func(a []value.Type) value.Type {
		t := f(a)
		if len(a) > 0 && a[0].CanBeNull() {
			t.Nullable = true
		}
		return t
	}
}

func toNumber(v value.Value) (value.Value, error) {
	switch v := v.(type) {
	case nil, float64:
		return v, nil
	case string:
		s := strings.TrimSpace(v)
		if len(s) <= MaxDigits+10 && !strings.ContainsAny(s, "xXpP_iInN") { // decimal numbers alone
			if f, err := strconv.ParseFloat(s, 64); err == nil {
				return number(f)
			}
		}
		return nil, fmt.Errorf("%q is not a number", shorten(v))
	}
	return nil, fmt.Errorf("%s cannot become a number", describe(v))
}

// maxWidth bounds width and precision in format.
const maxWidth = 1000

// format knows the verbs %s %v %q %d %f %g %e %x %X %o %b %t %%, with flags, width and precision.
func format(r *run, a []value.Value) (value.Value, error) {
	in, args := a[0].(string), a[1:]
	var out strings.Builder
	used := 0
	for i := 0; i < len(in); i++ {
		if in[i] != '%' {
			out.WriteByte(in[i])
			continue
		}
		start := i
		for i++; i < len(in) && strings.IndexByte("+-# 0123456789.", in[i]) >= 0; i++ {
		}
		if i == len(in) {
			return nil, fmt.Errorf("the format ends inside of %q", in[start:])
		}
		if in[i] == '%' {
			out.WriteByte('%')
			continue
		}
		if used == len(args) {
			return nil, fmt.Errorf("%q has no argument", in[start:i+1])
		}
		s, err := r.verb(in[start:i], in[i], args[used])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", in[start:i+1], err)
		}
		used++
		if err := r.text(len(s)); err != nil {
			return nil, err
		}
		out.WriteString(s)
		if out.Len() > MaxStringBytes {
			return nil, r.text(out.Len())
		}
	}
	if used < len(args) {
		return nil, fmt.Errorf("%d arguments, of which the format uses %d", len(args), used)
	}
	return out.String(), nil
}

func (r *run) verb(flags string, verb byte, v value.Value) (string, error) {
	for _, digits := range strings.FieldsFunc(flags, func(c rune) bool { return c < '0' || c > '9' }) {
		if n, err := strconv.Atoi(digits); err != nil || n > maxWidth {
			return "", fmt.Errorf("a width beyond %d", maxWidth)
		}
	}
	spec := flags + string(verb)
	switch verb {
	case 's', 'v', 'q':
		s, err := r.printed(v)
		if err != nil {
			return "", err
		}
		if verb == 'v' {
			spec = flags + "s"
		}
		return fmt.Sprintf(spec, s), nil
	case 't':
		if b, ok := v.(bool); ok {
			return fmt.Sprintf(spec, b), nil
		}
		return "", fmt.Errorf("a bool is needed, but this is %s", describe(v))
	}
	f, ok := v.(float64)
	if !ok {
		return "", fmt.Errorf("a number is needed, but this is %s", describe(v))
	}
	switch verb {
	case 'f', 'e', 'g', 'E', 'G':
		return fmt.Sprintf(spec, f), nil
	case 'd', 'x', 'X', 'o', 'b':
		if !whole(f) {
			return "", fmt.Errorf("a whole number is needed, but this is %s", describe(v))
		}
		return fmt.Sprintf(spec, int64(f)), nil
	}
	return "", fmt.Errorf("there is no verb %%%c", verb)
}

// printed is v as a template prints it, and null as null.
func (r *run) printed(v value.Value) (string, error) {
	switch v.(type) {
	case []any, map[string]any:
		return r.json(v)
	}
	return textOf(v), nil
}
