package app

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector is a loopback collector of traces.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []byte
	data   tracepb.TracesData
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies = append(c.bodies, text...)
		if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(text, &c.data); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// spans are all spans that the collector got.
func (c *collector) spans() (list []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.data.ResourceSpans {
		list = append(list, r.ScopeSpans[0].Spans...)
	}
	return list
}

func attributeOf(s *tracepb.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return strings.TrimSpace(strings.TrimLeft(strings.SplitN(a.Value.String(), ":", 2)[1], " "))
		}
	}
	return ""
}

// TestTraces drives a run with all that has a span, against a collector. Programs and servers of attempts know the span that is theirs.
func TestTraces(t *testing.T) {
	c := newCollector(t)
	t.Chdir(t.TempDir())
	asked := ""
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked = r.Header.Get("traceparent") }))
	defer site.Close()
	const text = `
agent "writer" {
  type    = "exec"
  command = ["sh", "-c", "echo $TRACEPARENT > agent; echo '{\"type\":\"result\",\"output\":{},\"usage\":{\"input_tokens\":7,\"output_tokens\":5}}'"]
}
variable "site" { type = string }
gate "good" { run = "true" }
workflow "main" {
  default = true
  parallel "both" {
    step "build" {
      run   = "echo $TRACEPARENT > run"
      gates = [gate.good]
    }
    step "write" {
      agent = agent.writer
      task  = "Write."
    }
  }
  step "fetch" {
    http { url = var.site }
  }
  step "child" { call = workflow.child }
}
workflow "child" {
  step "each" {
    for_each = ["a"]
    run      = "echo $TRACEPARENT > child; exit 3"
    retry {
      max_attempts = 2
      base_delay   = "1ms"
      when         = "true"
    }
  }
}
`
	if err := os.WriteFile("flow.hcl", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_SERVICE_NAME=tests", "FLOWRUN_VAR_site="+site.URL, "TRACEPARENT=00-other")
	var out bytes.Buffer
	if code := Main([]string{"apply", "flow.hcl"}, Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: environ}); code != exitNo {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	spans := c.spans()
	byID, lines := map[string]*tracepb.Span{}, []string{}
	for _, s := range spans {
		byID[string(s.SpanId)] = s
	}
	for _, s := range spans {
		path := s.Name
		for up := byID[string(s.ParentSpanId)]; up != nil; up = byID[string(up.ParentSpanId)] {
			path = up.Name + " > " + path
		}
		if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			path += " FAILED"
		}
		lines = append(lines, path)
	}
	slices.Sort(lines)
	want := `invoke_workflow main > parallel both > step build > gate good
invoke_workflow main > parallel both > step build > run build
invoke_workflow main > parallel both > step build
invoke_workflow main > parallel both > step write > invoke_agent writer
invoke_workflow main > parallel both > step write
invoke_workflow main > parallel both
invoke_workflow main > step child > invoke_workflow child > step each > step each > run each FAILED
invoke_workflow main > step child > invoke_workflow child > step each > step each > run each FAILED
invoke_workflow main > step child > invoke_workflow child > step each > step each FAILED
invoke_workflow main > step child > invoke_workflow child > step each FAILED
invoke_workflow main > step child > invoke_workflow child FAILED
invoke_workflow main > step child FAILED
invoke_workflow main > step fetch > http fetch
invoke_workflow main > step fetch
invoke_workflow main FAILED`
	wanted := strings.Split(want, "\n")
	slices.Sort(wanted)
	if !slices.Equal(lines, wanted) {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	parentOf := func(s *tracepb.Span) string {
		return fmt.Sprintf("00-%s-%s-01", hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId))
	}
	told := map[string]string{"http fetch": asked}
	for file, name := range map[string]string{"agent": "invoke_agent writer", "run": "run build", "child": "run each"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		told[name] = strings.TrimSpace(string(text))
	}
	for _, s := range spans {
		if string(s.TraceId) != string(spans[0].TraceId) {
			t.Errorf("%q is in another trace", s.Name)
		}
		if said, is := told[s.Name]; is && said == parentOf(s) {
			delete(told, s.Name)
		}
		if s.Name == "invoke_agent writer" && (attributeOf(s, "gen_ai.operation.name") != `"invoke_agent"` || attributeOf(s, "gen_ai.agent.name") != `"writer"` ||
			attributeOf(s, "gen_ai.usage.input_tokens") != "7" || attributeOf(s, "gen_ai.usage.output_tokens") != "5") {
			t.Errorf("%v", s.Attributes)
		}
		if s.Name == "run each" && (attributeOf(s, "process.exit.code") != "3" || attributeOf(s, "error.type") != `"exit"`) {
			t.Errorf("%v", s.Attributes)
		}
		if s.Name == "http fetch" && (s.Kind != tracepb.Span_SPAN_KIND_CLIENT || attributeOf(s, "http.response.status_code") != "200" || attributeOf(s, "server.address") != `"127.0.0.1"`) {
			t.Errorf("%v", s)
		}
	}
	out.Reset()
	if code := Main([]string{"export", "main", "--otlp"}, Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: os.Environ()}); code != exitDone {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	if n := strings.Count(out.String(), `"spanId"`); n != len(spans) {
		t.Errorf("the file has %d spans, and %d were sent", n, len(spans))
	}
	for _, s := range spans {
		if !strings.Contains(out.String(), `"spanId":"`+hex.EncodeToString(s.SpanId)+`"`) {
			t.Errorf("the span %q is not in the file", s.Name)
		}
	}
	if len(told) > 0 {
		t.Errorf("attempts were told of other spans: %v", told)
	}
}

// TestTraceOfACaller: a run that is started in a trace is a part of it, with the runs that it calls and what its attempts know. A run that repeats
// it elsewhere is not, and neither are runs that the program starts by itself.
func TestTraceOfACaller(t *testing.T) {
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	c := newCollector(t)
	t.Chdir(t.TempDir())
	const text = `
workflow "main" {
  default = true
  step "child" { call = workflow.child }
}
workflow "child" {
  step "a" { run = "echo $TRACEPARENT >> told" }
}
routine "often" {
  workflow = workflow.child
  every    = "1h"
}
`
	if err := os.WriteFile("flow.hcl", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
	inside := append(slices.Clone(environ), "TRACEPARENT=00-"+id+"-"+span+"-01")
	say := func(environ []string, words ...string) string {
		t.Helper()
		var out, said bytes.Buffer
		if code := Main(words, Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Environ: environ}); code != exitDone {
			t.Fatalf("%q: exit code %d\n%s%s", words, code, out.String(), said.String())
		}
		return out.String()
	}
	traces := func() (in, other int) {
		for _, s := range c.spans() {
			if hex.EncodeToString(s.TraceId) == id {
				in++
			} else {
				other++
			}
		}
		return in, other
	}
	say(inside, "apply", "flow.hcl")
	if in, other := traces(); in != 5 || other != 0 { // two runs, two nodes, an attempt
		t.Errorf("%d spans in the trace of the caller, %d in others", in, other)
	}
	for _, s := range c.spans() {
		up := hex.EncodeToString(s.ParentSpanId)
		if first := s.Name == "invoke_workflow main"; first != (up == span) {
			t.Errorf("the parent of %s is %s", s.Name, up)
		}
	}
	if told, err := os.ReadFile("told"); err != nil || !strings.HasPrefix(string(told), "00-"+id+"-") {
		t.Errorf("the attempt knows %q (%v)", told, err)
	}
	if out := say(os.Environ(), "export", "main", "--otlp"); strings.Count(out, `"traceId":"`+id) != 5 || !strings.Contains(out, `"parentSpanId":"`+span) {
		t.Errorf("the exported trace is %s", out)
	}
	say(environ, "retry", "main", "--from", "child")
	if in, other := traces(); in != 5 || other != 5 {
		t.Errorf("after a retry elsewhere: %d spans in the trace of the caller, %d in others", in, other)
	}
	say(inside, "retry", "main", "--from", "child")
	if in, other := traces(); in != 10 || other != 5 {
		t.Errorf("after a retry in the trace: %d spans in the trace of the caller, %d in others", in, other)
	}
	say(environ, "routines", "run", "often")
	if in, other := traces(); in != 10 || other != 8 {
		t.Errorf("after a routine: %d spans in the trace of the caller, %d in others", in, other)
	}
}

// TestTraceIsSentLater: a collector that is away when a run ends gets the trace from the next command that drives a run. One that took a trace
// is not sent it again.
func TestTraceIsSentLater(t *testing.T) {
	c := newCollector(t)
	t.Chdir(t.TempDir())
	const text = `
workflow "lost" {
  step "a" { run = ["true"] }
}
workflow "next" {
  default = true
  step "b" { run = ["true"] }
}
`
	if err := os.WriteFile("flow.hcl", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	apply := func(to, workflow string) {
		t.Helper()
		var said bytes.Buffer
		environ := append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+to, "OTEL_EXPORTER_OTLP_TIMEOUT=100")
		if code := Main([]string{"apply", "flow.hcl", workflow}, Streams{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said, Environ: environ}); code != exitDone {
			t.Fatalf("exit code %d\n%s", code, &said)
		}
	}
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer refuses.Close()
	apply(refuses.URL, "lost")
	if marks, err := os.ReadDir(".flowrun/traces"); err != nil || len(marks) != 1 {
		t.Fatalf("marks %v, %v", marks, err)
	}
	apply(c.URL, "next")
	apply(c.URL, "next")
	var names []string
	for _, s := range c.spans() {
		if s.ParentSpanId == nil {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	if have := strings.Join(names, ", "); have != "invoke_workflow lost, invoke_workflow next, invoke_workflow next" {
		t.Errorf("the collector has %s", have)
	}
	if marks, err := os.ReadDir(".flowrun/traces"); err != nil || len(marks) != 0 {
		t.Errorf("marks %v, %v are left", marks, err)
	}
}
