package trace

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// JSON returns spans in the JSON form of OTLP: ids are hex, and whole numbers of 64 bits are strings.
func JSON(r *Resource, spans []*Span) ([]byte, error) {
	list := make([]jsonSpan, len(spans))
	for i, s := range spans {
		j := jsonSpan{TraceID: hex.EncodeToString(s.Trace[:]), SpanID: hex.EncodeToString(s.ID[:]), Name: s.Name, Kind: s.kind(),
			Start: strconv.FormatInt(int64(s.Start), 10), End: strconv.FormatInt(int64(s.End), 10), Attributes: jsonOf(s.Attributes), Dropped: s.Dropped}
		if s.Parent != (SpanID{}) {
			j.Parent = hex.EncodeToString(s.Parent[:])
		}
		for _, e := range s.Events {
			j.Events = append(j.Events, jsonEvent{strconv.FormatInt(int64(e.At), 10), e.Name, jsonOf(e.Attributes)})
		}
		for _, l := range s.Links {
			j.Links = append(j.Links, jsonLink{hex.EncodeToString(l.Trace[:]), hex.EncodeToString(l.Span[:]), jsonOf(l.attributes())})
		}
		if s.Failed {
			j.Status = &jsonStatus{s.Message, statusError}
		}
		list[i] = j
	}
	type object = map[string]any
	return json.Marshal(object{"resourceSpans": []any{object{
		"resource":   object{"attributes": jsonOf(r.Attributes)},
		"scopeSpans": []any{object{"scope": object{"name": scope, "version": r.Release}, "spans": list}},
	}}})
}

type jsonSpan struct {
	TraceID    string          `json:"traceId"`
	SpanID     string          `json:"spanId"`
	Parent     string          `json:"parentSpanId,omitempty"`
	Name       string          `json:"name"`
	Kind       int             `json:"kind"`
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []jsonAttribute `json:"attributes,omitempty"`
	Events     []jsonEvent     `json:"events,omitempty"`
	Dropped    int             `json:"droppedEventsCount,omitempty"`
	Links      []jsonLink      `json:"links,omitempty"`
	Status     *jsonStatus     `json:"status,omitempty"`
}

type jsonAttribute struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

type jsonEvent struct {
	At         string          `json:"timeUnixNano"`
	Name       string          `json:"name"`
	Attributes []jsonAttribute `json:"attributes,omitempty"`
}

type jsonLink struct {
	TraceID    string          `json:"traceId"`
	SpanID     string          `json:"spanId"`
	Attributes []jsonAttribute `json:"attributes,omitempty"`
}

type jsonStatus struct {
	Message string `json:"message,omitempty"`
	Code    int    `json:"code"`
}

func jsonOf(list []Attribute) (out []jsonAttribute) {
	for _, a := range list {
		v := map[string]any{}
		switch x := a.Value.(type) {
		case string:
			v["stringValue"] = x
		case bool:
			v["boolValue"] = x
		case int64:
			v["intValue"] = strconv.FormatInt(x, 10)
		case float64:
			v["doubleValue"] = x
		}
		out = append(out, jsonAttribute{a.Key, v})
	}
	return out
}
