package http

import (
	"context"
	"fmt"
	"io"
	"maps"
	nethttp "net/http"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

// credentials are the headers whose values are never shown, whether or not the run knows them as secrets.
var credentials = []string{"Authorization", "Cookie", "Proxy-Authorization", "Set-Cookie", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"}

// wireRequest shows a request to whoever hears the wire.
func wireRequest(ctx context.Context, r *request) {
	if !executor.Wired(ctx) {
		return
	}
	executor.Wire(ctx, true, "request", r.what())
	wireHeaders(ctx, true, r.headers)
	executor.Wire(ctx, true, "body", r.body)
}

func wireHeaders(ctx context.Context, sent bool, h nethttp.Header) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		text := strings.Join(h[name], ", ")
		if slices.Contains(credentials, name) {
			text = mask.Mark
		}
		executor.Wire(ctx, sent, "header", name+": "+text)
	}
}

// wireStatus shows the beginning of an answer.
func wireStatus(ctx context.Context, res *nethttp.Response) {
	if !executor.Wired(ctx) {
		return
	}
	executor.Wire(ctx, false, "status", fmt.Sprintf("%d %s", res.StatusCode, nethttp.StatusText(res.StatusCode)))
	wireHeaders(ctx, false, res.Header)
}

// wiredBody shows what is read of a body whose secrets are masked.
func wiredBody(ctx context.Context, body io.Reader) io.Reader {
	tap := executor.WireTap(ctx, false, "body")
	if tap == nil {
		return body
	}
	return &tapped{body, tap}
}

type tapped struct {
	r   io.Reader
	tap *executor.Tap
}

func (t *tapped) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.tap.Write(p[:n])
	if err != nil {
		t.tap.End()
	}
	return n, err
}
