package trace

import (
	"encoding/binary"
	"math"
	"strings"
)

// Resource is what spans come from, and the release of flowrun that made them.
type Resource struct {
	Attributes []Attribute
	Release    string
}

// scope is the name of the instrumentation.
const scope = "github.com/flowrun/flowrun"

// AppendProto appends a request of OTLP with spans, as protobuf: a TracesData, which is an ExportTraceServiceRequest too. The numbers
// are those of opentelemetry/proto/trace/v1/trace.proto, version 1.
func AppendProto(dst []byte, r *Resource, spans []*Span) []byte {
	w := wire(dst)
	w.message(1, func(w *wire) { // resource_spans
		w.message(1, func(w *wire) { w.attributes(1, r.Attributes) })
		w.message(2, func(w *wire) { // scope_spans
			w.message(1, func(w *wire) { w.text(1, scope); w.text(2, r.Release) })
			for _, s := range spans {
				w.message(2, func(w *wire) { w.span(s) })
			}
		})
	})
	return w
}

// wire is a message of protobuf as it grows. A field with its zero value is left out.
type wire []byte

func (w *wire) span(s *Span) {
	w.bytes(1, s.Trace[:])
	w.bytes(2, s.ID[:])
	if s.Parent != (SpanID{}) {
		w.bytes(4, s.Parent[:])
	}
	w.text(5, s.Name)
	w.number(6, uint64(s.kind()))
	w.fixed(7, uint64(s.Start))
	w.fixed(8, uint64(s.End))
	w.attributes(9, s.Attributes)
	for i := range s.Events {
		e := &s.Events[i]
		w.message(11, func(w *wire) {
			w.fixed(1, uint64(e.At))
			w.text(2, e.Name)
			w.attributes(3, e.Attributes)
		})
	}
	w.number(12, uint64(s.Dropped))
	for i := range s.Links {
		l := &s.Links[i]
		w.message(13, func(w *wire) {
			w.bytes(1, l.Trace[:])
			w.bytes(2, l.Span[:])
			w.attributes(4, l.attributes())
		})
	}
	if s.Failed {
		w.message(15, func(w *wire) {
			w.text(2, s.Message)
			w.number(3, statusError)
		})
	}
}

// The numbers of OTLP: SPAN_KIND_INTERNAL, SPAN_KIND_CLIENT and STATUS_CODE_ERROR.
const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
)

func (s *Span) kind() int {
	if s.Client {
		return kindClient
	}
	return kindInternal
}

func (l *Link) attributes() []Attribute { return []Attribute{{"flowrun.link", l.Why}} }

func (w *wire) attributes(field int, list []Attribute) {
	for _, a := range list {
		w.message(field, func(w *wire) {
			w.text(1, a.Key)
			w.message(2, func(w *wire) {
				switch v := a.Value.(type) {
				case string: // also "": an AnyValue without a field is no value
					w.tag(1, 2)
					w.size(strings.ToValidUTF8(v, "\ufffd"))
				case bool:
					w.tag(2, 0)
					*w = append(*w, 0)
					if v {
						(*w)[len(*w)-1] = 1
					}
				case int64:
					w.tag(3, 0)
					*w = binary.AppendUvarint(*w, uint64(v))
				case float64:
					w.tag(4, 1)
					*w = binary.LittleEndian.AppendUint64(*w, math.Float64bits(v))
				}
			})
		})
	}
}

func (w *wire) tag(field, kind int) { *w = binary.AppendUvarint(*w, uint64(field<<3|kind)) }

func (w *wire) size(text string) {
	*w = append(binary.AppendUvarint(*w, uint64(len(text))), text...)
}

func (w *wire) text(field int, text string) {
	if text != "" {
		w.tag(field, 2)
		w.size(strings.ToValidUTF8(text, "\ufffd"))
	}
}

func (w *wire) bytes(field int, b []byte) {
	w.tag(field, 2)
	w.size(string(b))
}

func (w *wire) number(field int, n uint64) {
	if n != 0 {
		w.tag(field, 0)
		*w = binary.AppendUvarint(*w, n)
	}
}

func (w *wire) fixed(field int, n uint64) {
	w.tag(field, 1)
	*w = binary.LittleEndian.AppendUint64(*w, n)
}

// message writes a message within the message. Its size stands before it, so it moves when that needs more than one byte.
func (w *wire) message(field int, write func(*wire)) {
	w.tag(field, 2)
	at := len(*w)
	write(w)
	n := len(*w) - at
	head := binary.AppendUvarint(nil, uint64(n))
	*w = append(*w, head...)
	copy((*w)[at+len(head):], (*w)[at:at+n])
	copy((*w)[at:], head)
}
