package trace_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/trace"
)

// spansOf folds a stored journal; see the corpus of runner/engine for its form.
func spansOf(t *testing.T, file, root string) (run string, spans []*trace.Span) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	h, err := journal.DecodeHeader(bytes.TrimSpace(lines[1]))
	if err != nil {
		t.Fatal(err)
	}
	m, err := new(runner.Programs).Machine(h, bytes.TrimSpace(lines[2]))
	if err != nil {
		t.Fatal(err)
	}
	fold := engine.NewFold(h, m)
	spansOf := trace.NewRun(trace.Origin{Trace: trace.OfTree(cmp.Or(root, h.Run))}, func(s *trace.Span) { spans = append(spans, s) })
	for lines = lines[3:]; len(lines) > 0 && len(lines[0]) > 0; {
		var b journal.Batch
		var link string
		if _, err := fmt.Sscanf(string(lines[0]), "batch %d %d %x %s", &b.First, &b.Count, &b.Digest, &link); err != nil {
			t.Fatal(file, err)
		}
		raw, _ := hex.DecodeString(link)
		copy(b.Link[:], raw)
		b.Body = bytes.Join(lines[1:1+b.Count], nil)
		lines = lines[1+b.Count:]
		err := fold.Trace(b, func(ev event.Event, out *event.Reaction) bool {
			spansOf.Apply(&ev, out)
			return true
		})
		if err != nil {
			t.Fatal(file, err)
		}
	}
	return h.Run, spans
}

// TestSpansOfJournals folds each stored journal: the spans of a tree of runs have one root, every other one has a parent that is there
// and was there at that time, no id comes twice, and folding again gives the same.
func TestSpansOfJournals(t *testing.T) {
	files, err := filepath.Glob("../../testdata/journals/*/*.journal")
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	agents, gates, failed := 0, 0, 0
	for _, file := range files {
		name := filepath.Base(file)
		if strings.Contains(name, ".call") || name == "real_child.host1.journal" {
			continue // with its caller, or without one
		}
		run, spans := spansOf(t, file, "")
		if _, again := spansOf(t, file, ""); !bytes.Equal(trace.AppendProto(nil, &trace.Resource{}, spans), trace.AppendProto(nil, &trace.Resource{}, again)) {
			t.Errorf("%s: the second fold gives other spans", name)
		}
		called, _ := filepath.Glob(strings.TrimSuffix(file, ".journal") + ".call*")
		for _, c := range called {
			if !strings.Contains(filepath.Base(c), ".cancelled") || strings.Contains(name, ".cancelled") {
				_, more := spansOf(t, c, run)
				spans = append(spans, more...)
			}
		}
		there, roots := map[trace.SpanID]*trace.Span{}, 0
		for _, s := range spans {
			if there[s.ID] != nil || s.ID == (trace.SpanID{}) {
				t.Errorf("%s: the id of %q is that of another span", name, s.Name)
			}
			there[s.ID] = s
		}
		for _, s := range spans {
			if s.Trace != trace.OfTree(run) || s.Start == 0 || s.End < s.Start || s.Name == "" {
				t.Errorf("%s: %+v", name, s)
			}
			if s.Failed {
				failed++
			}
			agents += strings.Count(s.Name, "invoke_agent")
			gates += strings.Count(s.Name, "gate ")
			p := there[s.Parent]
			switch {
			case s.Parent == trace.SpanID{}:
				roots++
			case p == nil:
				t.Errorf("%s: %q has a parent that is not there", name, s.Name)
			case s.Start < p.Start || s.End > p.End && s.Name != "step pulse": // which is detached
				t.Errorf("%s: %q %d-%d lies outside of %q %d-%d", name, s.Name, s.Start, s.End, p.Name, p.Start, p.End)
			}
		}
		if roots != 1 {
			t.Errorf("%s: %d roots", name, roots)
		}
	}
	if agents < 20 || gates < 5 || failed < 20 {
		t.Errorf("%d attempts of agents, %d gates, %d failures: too few to mean anything", agents, gates, failed)
	}
}

// TestEncodings compares what is encoded with what the official types read.
func TestEncodings(t *testing.T) {
	long := strings.Repeat("long ", 100)
	s := &trace.Span{Trace: trace.OfTree("r"), ID: trace.OfRun("r"), Parent: trace.OfNode("up", "a/b"), Name: long, Client: true, Start: 1, End: math.MaxInt64,
		Attributes: []trace.Attribute{{Key: "s", Value: "text"}, {Key: "empty", Value: ""}, {Key: "yes", Value: true}, {Key: "no", Value: false}, {Key: "n", Value: int64(-3)}, {Key: "zero", Value: int64(0)},
			{Key: "f", Value: 1.5}, {Key: "broken", Value: "a\xffb"}},
		Events: []trace.Event{{At: 7, Name: "e", Attributes: []trace.Attribute{{Key: "k", Value: "v"}}}}, Dropped: 300,
		Links: []trace.Link{{Trace: trace.OfTree("x"), Span: trace.OfRun("x"), Why: "retry_of"}}, Failed: true, Message: "why"}
	r := &trace.Resource{Release: "v1", Attributes: []trace.Attribute{{Key: "service.name", Value: "flowrun"}}}
	var fromWire, fromJSON tracepb.TracesData
	if err := proto.Unmarshal(trace.AppendProto(nil, r, []*trace.Span{s, s}), &fromWire); err != nil {
		t.Fatal(err)
	}
	text, err := trace.JSON(r, []*trace.Span{s, s})
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(idsAsBase64(t, text), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&fromWire, &fromJSON) {
		t.Errorf("the two forms differ:\n%v\n%v", &fromWire, &fromJSON)
	}
	if len(fromWire.ProtoReflect().GetUnknown()) > 0 {
		t.Error("fields that nobody knows")
	}
	scope := fromWire.ResourceSpans[0].ScopeSpans[0]
	if scope.Scope.Version != "v1" || len(scope.Spans) != 2 || fromWire.ResourceSpans[0].Resource.Attributes[0].Value.GetStringValue() != "flowrun" {
		t.Errorf("%v", &fromWire)
	}
	got := scope.Spans[1]
	if !bytes.Equal(got.TraceId, s.Trace[:]) || !bytes.Equal(got.SpanId, s.ID[:]) || !bytes.Equal(got.ParentSpanId, s.Parent[:]) || got.Name != long || got.Kind != tracepb.Span_SPAN_KIND_CLIENT ||
		got.StartTimeUnixNano != 1 || got.EndTimeUnixNano != math.MaxInt64 || got.Status.Code != tracepb.Status_STATUS_CODE_ERROR || got.Status.Message != "why" ||
		got.DroppedEventsCount != 300 || got.Events[0].TimeUnixNano != 7 || got.Events[0].Attributes[0].Value.GetStringValue() != "v" ||
		got.Links[0].Attributes[0].Value.GetStringValue() != "retry_of" || len(got.Links[0].TraceId) != 16 {
		t.Errorf("%v", got)
	}
	var values []string
	for _, a := range got.Attributes {
		values = append(values, a.Key+"="+strings.Join(strings.Fields(a.Value.String()), " "))
	}
	want := []string{`s=string_value:"text"`, `empty=string_value:""`, `yes=bool_value:true`, `no=bool_value:false`, `n=int_value:-3`, `zero=int_value:0`, `f=double_value:1.5`, `broken=string_value:"a�b"`}
	if !slices.Equal(values, want) {
		t.Errorf("%q", values)
	}
}

// idsAsBase64 writes ids as protojson wants them: in that, the JSON of OTLP differs from the JSON of protobuf.
func idsAsBase64(t *testing.T, text []byte) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch x := v.(type) {
		case []any:
			for _, v := range x {
				walk(v)
			}
		case map[string]any:
			for k, v := range x {
				if strings.HasSuffix(strings.ToLower(k), "traceid") || strings.HasSuffix(strings.ToLower(k), "spanid") {
					raw, err := hex.DecodeString(v.(string))
					if err != nil {
						t.Error(err)
					}
					x[k] = raw // written as base64
				}
				walk(v)
			}
		}
	}
	walk(v)
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestParent is the example of "Trace Context": version, trace, span, flags.
func TestParent(t *testing.T) {
	if got := trace.Parent(trace.TraceID{0: 0x4b, 15: 0x36}, trace.SpanID{7: 0xb7}); got != "00-4b000000000000000000000000000036-00000000000000b7-01" {
		t.Error(got)
	}
}

// TestReadParent: what Parent writes is read, and nothing that is not valid.
func TestReadParent(t *testing.T) {
	id, span := trace.OfTree("r"), trace.OfRun("r")
	text := trace.Parent(id, span)
	for _, valid := range []string{text, "01" + text[2:] + "-more", text[:53] + "00"} {
		if i, s, ok := trace.ReadParent(valid); !ok || i != id || s != span {
			t.Errorf("%q is read as %x, %x, %v", valid, i, s, ok)
		}
	}
	for _, not := range []string{"", "00-other", text[:54], text + "-more", "ff" + text[2:], strings.ToUpper(text), "00-" + strings.Repeat("0", 32) + text[35:],
		text[:36] + strings.Repeat("0", 16) + "-01", strings.Replace(text, "-01", "-0g", 1), text[:3] + "g" + text[4:], text + "0"} {
		if _, _, ok := trace.ReadParent(not); ok {
			t.Errorf("%q is valid", not)
		}
	}
	if got := trace.Caller([]string{"X=1", "TRACEPARENT=nonsense"}) + trace.Caller([]string{"X=1", "TRACEPARENT=" + text}); got != text {
		t.Errorf("the caller is %q", got)
	}
}
