// Package otlp sends the spans of runs to a collector of OpenTelemetry, over OTLP/HTTP with protobuf.
//
// Runs are handed over when they have ended ([Exporter.Add]), which never waits: a run is read, folded and sent by one goroutine of
// the exporter. A collector that is slow or cannot be reached costs spans and never a run; [Exporter.Figures] counts what is lost.
//
// The settings are the environment variables of OpenTelemetry's "Protocol Exporter" and "Environment Variable Specification". The
// package knows no journal and no store. Enter at [Configure] and [New].
package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/trace"
)

// Config says where spans go.
type Config struct {
	URL      string
	Headers  http.Header
	Timeout  time.Duration // of a request
	Gzip     bool
	Resource trace.Resource
	TLS      *tls.Config // nil: the usual certificates
}

// DefaultTimeout is that of OpenTelemetry.
const DefaultTimeout = 10 * time.Second

// Configure reads the settings from an environment. It returns nil if traces are off: no endpoint is named, or they are turned off.
func Configure(getenv func(string) string, release string) (*Config, error) {
	own := func(name string) string { // the setting of traces comes before that of all signals
		return cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	endpoint := own("ENDPOINT")
	exporter := getenv("OTEL_TRACES_EXPORTER")
	if endpoint == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || exporter != "" && exporter != "otlp" {
		return nil, nil
	}
	if p := own("PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %s, and flowrun sends traces with http/protobuf only", p)
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL")
	}
	if getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		u = u.JoinPath("v1", "traces")
	}
	c := &Config{URL: u.String(), Headers: http.Header{}, Timeout: DefaultTimeout}
	if c.Headers, err = readHeaders(own("HEADERS")); err != nil {
		return nil, err
	}
	if text := own("TIMEOUT"); text != "" {
		ms, err := strconv.Atoi(text)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q, not a number of milliseconds", text)
		}
		c.Timeout = time.Duration(ms) * time.Millisecond
	}
	switch text := own("COMPRESSION"); text {
	case "gzip":
		c.Gzip = true
	case "", "none":
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_COMPRESSION is %q, neither gzip nor none", text)
	}
	if file := own("CERTIFICATE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificate", file)
		}
		c.TLS = &tls.Config{RootCAs: pool}
	}
	c.Resource, err = ReadResource(getenv, release)
	return c, err
}

// ReadResource reads what spans come from out of an environment.
func ReadResource(getenv func(string) string, release string) (trace.Resource, error) {
	r := trace.Resource{Release: release}
	pairs, err := readPairs("OTEL_RESOURCE_ATTRIBUTES", getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		return r, err
	}
	service := getenv("OTEL_SERVICE_NAME")
	for _, p := range pairs {
		switch p[0] {
		case "service.name":
			service = cmp.Or(service, p[1])
		default:
			r.Attributes = append(r.Attributes, trace.Attribute{Key: p[0], Value: p[1]})
		}
	}
	r.Attributes = append(r.Attributes, trace.Attribute{Key: "service.name", Value: cmp.Or(service, "flowrun")},
		trace.Attribute{Key: "telemetry.sdk.name", Value: "flowrun"}, trace.Attribute{Key: "telemetry.sdk.language", Value: "go"})
	return r, nil
}

func readHeaders(text string) (http.Header, error) {
	pairs, err := readPairs("OTEL_EXPORTER_OTLP_HEADERS", text)
	h := http.Header{}
	for _, p := range pairs {
		h.Add(p[0], p[1])
	}
	return h, err
}

// readPairs reads key=value,key=value, where values are percent-encoded. The error does not show the text, which may be secret.
func readPairs(name, text string) (pairs [][2]string, err error) {
	for _, item := range strings.Split(text, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		key, v, ok := strings.Cut(item, "=")
		key = strings.TrimSpace(key)
		v, err := url.PathUnescape(strings.TrimSpace(v))
		if !ok || key == "" || err != nil {
			return nil, fmt.Errorf("%s is not a list of the form key=value,key=value", name)
		}
		pairs = append(pairs, [2]string{key, v})
	}
	return pairs, nil
}
