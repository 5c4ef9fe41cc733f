package http

import (
	"context"
	"io"
	nethttp "net/http"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

// A secret is masked before a message cuts it in two.
func TestMaskedExcerpt(t *testing.T) {
	const canary = "canary-0123456789"
	url := serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.WriteHeader(500)
		io.WriteString(w, strings.Repeat("x", excerptMax-20)+canary)
	})
	x := New(Options{})
	defer x.Close()
	ctx := executor.WithMask(context.Background(), mask.New([]string{canary}))
	ans := x.Execute(ctx, event.Attempt{HTTP: &event.HTTPRequest{URL: url, Method: "GET"}})
	if ans.Error == nil || strings.Contains(ans.Error.Message, "cana") || !strings.Contains(ans.Error.Message, "xxx(sensitive)") {
		t.Errorf("%+v", ans.Error)
	}
}
