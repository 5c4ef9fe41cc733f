package otlp

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/flowrun/flowrun/runner/trace"
)

// collector answers requests in the way of a test, and keeps the spans that it took.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	asked  int
	header http.Header
	spans  []*tracepb.Span
}

func newCollector(t *testing.T, answer func(asked int, w http.ResponseWriter) (took bool)) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked++
		c.header = r.Header
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		text, _ := io.ReadAll(body)
		var data tracepb.TracesData
		if err := proto.Unmarshal(text, &data); err != nil || r.Method != "POST" || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s %v: %v", r.Method, r.URL, r.Header, err)
		}
		if answer(c.asked, w) {
			for _, s := range data.ResourceSpans {
				c.spans = append(c.spans, s.ScopeSpans[0].Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func takes(int, http.ResponseWriter) bool { return true }

// readSpans gives n spans.
func readSpans(n int) Reader {
	return func(_ context.Context, run string, each func(*trace.Span) error) error {
		for i := range n {
			if err := each(&trace.Span{Trace: trace.OfTree(run), ID: trace.Attempt(run, uint64(i)), Name: run, Start: 1, End: 2}); err != nil {
				return err
			}
		}
		return nil
	}
}

// exporter makes one whose pauses take no time, and are listed.
func exporter(t *testing.T, environ map[string]string, read Reader) (x *Exporter, pauses func() []time.Duration, said func() []string) {
	t.Helper()
	c, err := Configure(func(name string) string { return environ[name] }, "v1")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var list []time.Duration
	var words []string
	x = New(c, read, func(text string) { mu.Lock(); defer mu.Unlock(); words = append(words, text) })
	x.pause = func(ctx context.Context, d time.Duration) bool {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, d)
		return ctx.Err() == nil && len(list) < 20
	}
	return x, func() []time.Duration { mu.Lock(); defer mu.Unlock(); return slices.Clone(list) },
		func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(words) }
}

func TestExporterSendsAll(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, zip := range []string{"none", "gzip"} {
		c := newCollector(t, takes)
		x, pauses, said := exporter(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_EXPORTER_OTLP_HEADERS": "X-Key=a%20b", "OTEL_EXPORTER_OTLP_COMPRESSION": zip}, readSpans(2*MaxSpans+3))
		x.Add("a")
		x.Add("b")
		x.Close()
		x.Close()
		c.Close()
		if f := x.Figures(); len(c.spans) != 2*(2*MaxSpans+3) || c.asked != 6 || f != (Figures{Sent: uint64(len(c.spans))}) || len(said()) > 0 || len(pauses()) > 0 {
			t.Errorf("%d spans in %d requests, %+v, %q", len(c.spans), c.asked, f, said())
		}
		if c.header.Get("X-Key") != "a b" || c.header.Get("User-Agent") != "flowrun/v1" {
			t.Errorf("%v", c.header)
		}
	}
}

// A collector that has too much to do, or is started again, gets the spans later, and not before it says.
func TestExporterTriesAgain(t *testing.T) {
	c := newCollector(t, func(asked int, w http.ResponseWriter) bool {
		switch asked {
		case 1:
			w.Header().Set("Retry-After", "17")
			w.WriteHeader(429)
		case 2:
			w.Header().Set("Retry-After", time.Now().Add(20*time.Second).UTC().Format(http.TimeFormat))
			w.WriteHeader(503)
		case 3:
			w.WriteHeader(502)
		default:
			return true
		}
		return false
	})
	x, pauses, said := exporter(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.URL + "/v1/traces"}, readSpans(3))
	x.Add("a")
	x.Close()
	p := pauses()
	if x.Figures() != (Figures{Sent: 3}) || len(c.spans) != 3 || len(said()) > 0 || len(p) != 3 || p[0] != 17*time.Second || p[1] < 10*time.Second || p[1] > 20*time.Second || p[2] > 4*time.Second {
		t.Errorf("%+v, %v, %q", x.Figures(), p, said())
	}
}

func TestExporterGivesUp(t *testing.T) {
	for name, answer := range map[string]func(int, http.ResponseWriter) bool{
		"refused": func(_ int, w http.ResponseWriter) bool { w.WriteHeader(400); return false },
		"always":  func(_ int, w http.ResponseWriter) bool { w.WriteHeader(503); return false },
		"too late": func(_ int, w http.ResponseWriter) bool {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
			return false
		},
		"elsewhere": func(_ int, w http.ResponseWriter) bool {
			w.Header().Set("Location", "/v1/traces")
			w.WriteHeader(307)
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollector(t, answer)
			x, pauses, said := exporter(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/"}, readSpans(3))
			x.Add("a")
			x.Add("b")
			x.Close()
			if f := x.Figures(); f != (Figures{LostSpans: 6, LostRuns: 2}) || len(said()) != 2 { // the first one, and the sum
				t.Errorf("%+v, %q", f, said())
			}
			if tries := len(pauses()); (name == "always") != (tries > 0) {
				t.Errorf("%d pauses", tries)
			}
		})
	}
}

// What the collector refuses of a request is not tried again, and counted.
func TestExporterCountsRejectedSpans(t *testing.T) {
	c := newCollector(t, func(_ int, w http.ResponseWriter) bool {
		_, _ = w.Write([]byte{0x0a, 5, 0x08, 2, 0x12, 1, 'x'}) // partial_success { rejected_spans: 2 error_message: "x" }
		return true
	})
	x, _, _ := exporter(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL}, readSpans(5))
	x.Add("a")
	x.Close()
	if f := x.Figures(); f != (Figures{Sent: 3, LostSpans: 2}) {
		t.Errorf("%+v", f)
	}
	for _, broken := range []string{"", "\x0a", "\x0a\xff", "\x0a\x02\x08", "\x0d1234", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if rejected([]byte(broken)) != 0 {
			t.Errorf("%q", broken)
		}
	}
}

// A collector that never answers holds nobody up: Add returns at once, what does not fit is counted, and Close has a bound.
func TestExporterOfADeadCollector(t *testing.T) {
	hangs := make(chan struct{})
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-hangs }))
	defer c.Close()
	defer close(hangs)
	x, _, said := exporter(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL}, readSpans(1))
	for i := range MaxWaiting + 100 {
		x.Add(fmt.Sprint(i))
	}
	if f := x.Figures(); f.LostRuns < 99 || f.LostRuns > 100 || f.Waiting < MaxWaiting { // one may be on its way
		t.Errorf("%+v", f)
	}
	x.cancel() // as Close does after its time
	x.Close()
	if f := x.Figures(); f.LostRuns != MaxWaiting+100 || f.Waiting != 0 {
		t.Errorf("%+v", f)
	}
	if len(said()) != 2 || !strings.Contains(said()[1], "1100 runs") {
		t.Errorf("%q", said())
	}
}

func TestExporterOfABrokenJournal(t *testing.T) {
	c := newCollector(t, takes)
	broken := errors.New("the journal is broken")
	x, _, said := exporter(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL}, func(ctx context.Context, run string, each func(*trace.Span) error) error {
		if run == "a" {
			return broken
		}
		return readSpans(1)(ctx, run, each)
	})
	x.Add("a")
	x.Add("b")
	x.Close()
	if f := x.Figures(); f != (Figures{Sent: 1, LostRuns: 1}) || len(said()) != 3 || !strings.Contains(said()[0], broken.Error()) {
		t.Errorf("%+v, %q", f, said())
	}
}

func TestConfigure(t *testing.T) {
	const at = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, c := range []struct {
		environ []string
		want    string // the URL and the resource; "off"; or a part of the error
	}{
		{nil, "off"},
		{[]string{at + "=http://c:4318"}, "http://c:4318/v1/traces service.name=flowrun"},
		{[]string{at + "=https://c/otlp/"}, "https://c/otlp/v1/traces service.name=flowrun"},
		{[]string{at + "=http://c:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://d/x"}, "http://d/x service.name=flowrun"},
		{[]string{at + "=http://c:4318", "OTEL_SDK_DISABLED=true"}, "off"},
		{[]string{at + "=http://c:4318", "OTEL_TRACES_EXPORTER=none"}, "off"},
		{[]string{at + "=http://c:4318", "OTEL_TRACES_EXPORTER=otlp", "OTEL_SERVICE_NAME=s"}, "http://c:4318/v1/traces service.name=s"},
		{[]string{at + "=http://c:4318", "OTEL_RESOURCE_ATTRIBUTES=a=b%2Cc, service.name=x"}, "http://c:4318/v1/traces a=b,c service.name=x"},
		{[]string{at + "=http://c:4318", "OTEL_RESOURCE_ATTRIBUTES=service.name=x", "OTEL_SERVICE_NAME=s"}, "http://c:4318/v1/traces service.name=s"},
		{[]string{at + "=http://c:4318", "OTEL_RESOURCE_ATTRIBUTES=a"}, "OTEL_RESOURCE_ATTRIBUTES is not a list"},
		{[]string{at + "=c:4318"}, "not an http or https URL"},
		{[]string{at + "=http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "http/protobuf only"},
		{[]string{at + "=http://c", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=secret"}, "OTEL_EXPORTER_OTLP_HEADERS is not a list"},
		{[]string{at + "=http://c", "OTEL_EXPORTER_OTLP_TIMEOUT=soon"}, "not a number of milliseconds"},
		{[]string{at + "=http://c", "OTEL_EXPORTER_OTLP_COMPRESSION=zip"}, "neither gzip nor none"},
		{[]string{at + "=http://c", "OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere"}, "OTEL_EXPORTER_OTLP_CERTIFICATE"},
	} {
		environ := map[string]string{}
		for _, pair := range c.environ {
			name, v, _ := strings.Cut(pair, "=")
			environ[name] = v
		}
		got, err := Configure(func(name string) string { return environ[name] }, "v1")
		text := "off"
		if got != nil {
			text = got.URL
			for _, a := range got.Resource.Attributes {
				if !strings.HasPrefix(a.Key, "telemetry.") {
					text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
				}
			}
		}
		if err != nil {
			text = err.Error()
		}
		if text != c.want && (err == nil || !strings.Contains(text, c.want)) || strings.Contains(text, "secret") {
			t.Errorf("%q: %s, want %s", c.environ, text, c.want)
		}
	}
}
