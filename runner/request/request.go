// Package request makes parts of attempts of computed values: a text, an argument list, a header. It
// bounds their size.
//
// Both the machine and the host use it. Package compose computes the parts of an attempt when the
// attempt starts. The host computes the parts that read secrets, from the same expressions, and must
// get the same parts. So the rules stand here, once. The package evaluates nothing, and knows neither
// the machine nor a host. Enter at [Put].
package request

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// The places of an attempt that take a value. Env is followed by a name, Value by a number, Source by the name of an
// attribute, and Channel and Server by a number, a dot and the name of an attribute. URL
// comes before Query, and Headers before Body, because each of the second adds to the first.
const (
	Env     = "env."
	Value   = "value."
	Argv    = "argv"
	Script  = "script"
	Stdin   = "stdin"
	Task    = "task"
	With    = "with"
	URL     = "http.url"
	Query   = "http.query"
	Headers = "http.headers"
	Body    = "http.body"
	ChatKey = "chat.key"
	Channel = "channel."
	Server  = "server."
	Source  = "source."
)

// Put puts a value into its place of an attempt. The maps of the attempt must be its own, and
// Agent or HTTP must be set for their places. An error says why the place does not take the value.
func Put(a *event.Attempt, place string, v value.Value) (err error) {
	switch place {
	case Argv:
		a.Argv, err = toArguments(v)
	case Script:
		a.Script, err = Text(v)
	case Stdin:
		text, err := toText(v)
		a.Stdin = &text
		return err
	case Task:
		a.Agent.Task, err = Text(v)
	case With:
		a.Agent.With, err = v, CheckSize(v)
	case ChatKey:
		a.Agent.Chat.Key, err = toKey(v)
	case URL:
		a.HTTP.URL, err = toURL(v)
	case Query:
		a.HTTP.URL, err = addQuery(a.HTTP.URL, v)
	case Headers:
		a.HTTP.Headers, err = toHeaders(v)
	case Body:
		err = setBody(a.HTTP, v)
	default:
		err = putNamed(a, place, v)
	}
	return err
}

// putNamed puts a value into a place with a name or a number.
func putNamed(a *event.Attempt, place string, v value.Value) (err error) {
	if name, ok := strings.CutPrefix(place, Env); ok {
		if a.Env == nil {
			a.Env = map[string]string{}
		}
		a.Env[name], err = Text(v)
		return err
	}
	if of, ok := strings.CutPrefix(place, Channel); ok {
		return putChannel(a, of, v)
	}
	if of, ok := strings.CutPrefix(place, Server); ok {
		return putServer(a, of, v)
	}
	if name, ok := strings.CutPrefix(place, Source); ok && a.Source != nil {
		if a.Source.Config == nil {
			a.Source.Config = map[string]value.Value{}
		}
		a.Source.Config[name] = v
		return CheckSize(v)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(place, Value))
	if err != nil || n < 0 || n >= len(a.Values) {
		return fmt.Errorf("an attempt has no place %q", place)
	}
	a.Values[n], err = toScriptValue(v)
	return err
}

// putChannel puts a value into a channel of a message: of is NUMBER.ATTRIBUTE.
func putChannel(a *event.Attempt, of string, v value.Value) (err error) {
	number, attr, _ := strings.Cut(of, ".")
	n, err := strconv.Atoi(number)
	if err != nil || a.Notify == nil || n < 0 || n >= len(a.Notify.To) {
		return fmt.Errorf("an attempt has no place %q", Channel+of)
	}
	switch c := &a.Notify.To[n]; attr {
	case "url":
		c.URL, err = toURL(v)
	case "secret":
		c.Secret, err = Text(v)
	case "headers":
		c.Headers, err = toHeaders(v)
	case "command":
		c.Argv, err = toArguments(v)
	default:
		return fmt.Errorf("an attempt has no place %q", Channel+of)
	}
	return err
}

// putServer puts a value into an MCP server of an agent: of is NUMBER.ATTRIBUTE, or NUMBER.env.NAME.
func putServer(a *event.Attempt, of string, v value.Value) (err error) {
	number, attr, _ := strings.Cut(of, ".")
	n, err := strconv.Atoi(number)
	if err != nil || a.Agent == nil || n < 0 || n >= len(a.Agent.Servers) {
		return fmt.Errorf("an attempt has no place %q", Server+of)
	}
	s := &a.Agent.Servers[n]
	if name, ok := strings.CutPrefix(attr, Env); ok {
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		s.Env[name], err = Text(v)
		return err
	}
	switch attr {
	case "command":
		s.Argv, err = toArguments(v)
	case "url":
		s.URL, err = toURL(v)
	case "headers":
		s.Headers, err = toHeaders(v)
	default:
		return fmt.Errorf("an attempt has no place %q", Server+of)
	}
	return err
}

// toKey returns a key that can stand in a header. Space around it, such as the newline of a file, is not part of it.
func toKey(v value.Value) (string, error) {
	text, err := Text(v)
	text = strings.TrimSpace(text)
	switch {
	case err != nil:
		return "", err
	case text == "":
		return "", errors.New("it is empty")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("it holds a character that a key cannot have, such as a space or a line break")
	}
	return text, nil
}

// toURL returns an absolute URL of http or https.
func toURL(v value.Value) (string, error) {
	text, err := Text(v)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("%.200q is not a URL", text)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("%.200q is not a URL that begins with http:// or https:// and a host", text)
	}
	return text, nil
}

// addQuery adds fields to a URL, in the order of their names.
func addQuery(address string, v value.Value) (string, error) {
	fields, err := toTexts(v)
	if err != nil {
		return "", fmt.Errorf("query: %w", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%.200q is not a URL", address)
	}
	values := u.Query()
	for _, name := range value.Keys(fields) {
		values.Set(name, fields[name].(string))
	}
	u.RawQuery = values.Encode()
	return u.String(), nil
}

// toHeaders makes header fields of an object.
func toHeaders(v value.Value) (map[string]string, error) {
	fields, err := toTexts(v)
	if err != nil {
		return nil, err
	}
	list := make(map[string]string, len(fields))
	for _, name := range value.Keys(fields) {
		text := fields[name].(string)
		if strings.ContainsAny(name+text, "\r\n") {
			return nil, fmt.Errorf("%.60q holds a line break", name)
		}
		list[name] = text
	}
	return list, nil
}

// toTexts converts the members of an object or a map to texts. It leaves out members that are null.
func toTexts(v value.Value) (map[string]any, error) {
	o, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("an object or map is needed, but this is %.60s", value.Text(v))
	}
	out := make(map[string]any, len(o))
	for _, name := range value.Keys(o) {
		if o[name] == nil {
			continue
		}
		text, err := Text(o[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = text
	}
	return out, nil
}

// setBody sets the body of a request: a text as it is, any other value as JSON with a header for it.
func setBody(q *event.HTTPRequest, v value.Value) error {
	if err := CheckSize(v); err != nil {
		return err
	}
	if text, ok := v.(string); ok {
		q.Body = text
		return nil
	}
	q.Body = string(value.Append(nil, v))
	for name := range q.Headers { // any order: it looks for one
		if strings.EqualFold(name, "content-type") {
			return nil
		}
	}
	if q.Headers == nil {
		q.Headers = map[string]string{}
	}
	q.Headers["content-type"] = "application/json"
	return nil
}

// Text converts a value to a text for the system, which ends texts at a NUL. Numbers and bools are
// written as in JSON.
func Text(v value.Value) (string, error) {
	s, err := toText(v)
	if err == nil && strings.IndexByte(s, 0) >= 0 {
		return "", errors.New("the text holds a NUL character")
	}
	return s, err
}

// toText converts a value to a text.
func toText(v value.Value) (string, error) {
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

// toScriptValue converts a value of a script to a text.
func toScriptValue(v value.Value) (string, error) {
	text, err := toText(v)
	switch {
	case err != nil:
		return "", err
	case len(text) > limits.MaxScriptValue:
		return "", fmt.Errorf("it has %d bytes, and a value in a script may have %d: give it over in stdin, and let the script read it there",
			len(text), limits.MaxScriptValue)
	case strings.IndexByte(text, 0) >= 0:
		return "", errors.New("it holds a NUL byte, which no environment takes: give it over in stdin, and let the script read it there")
	}
	return text, nil
}

// toArguments makes an argument list of a list of strings, numbers and bools.
func toArguments(v value.Value) ([]string, error) {
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

// CheckSize returns an error if a value is larger than limits.MaxValue.
func CheckSize(v value.Value) error {
	if n := len(value.Append(nil, v)); n > limits.MaxValue {
		return fmt.Errorf("the value has %d bytes as JSON, more than the limit of %d", n, limits.MaxValue)
	}
	return nil
}
