package request

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// address is an absolute URL of http or https.
func address(v value.Value) (string, error) {
	text, err := Text(v)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("%.200q is no URL", text)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("%.200q is no URL that begins with http:// or https:// and a host", text)
	}
	return text, nil
}

// query adds fields to a URL, in the order of their names.
func query(address string, v value.Value) (string, error) {
	fields, err := texts(v)
	if err != nil {
		return "", fmt.Errorf("query: %w", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%.200q is no URL", address)
	}
	values := u.Query()
	for _, name := range value.Keys(fields) {
		values.Set(name, fields[name].(string))
	}
	u.RawQuery = values.Encode()
	return u.String(), nil
}

// headers makes header fields of an object.
func headers(v value.Value) (map[string]string, error) {
	fields, err := texts(v)
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

// texts is an object or map whose members are texts, numbers or bools. A member that is null is left out.
func texts(v value.Value) (map[string]any, error) {
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

// body is what is sent: a text as it is, anything else as JSON, which its header then says.
func body(q *event.HTTPRequest, v value.Value) error {
	if err := Sized(v); err != nil {
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
