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

// The URL in a message holds nothing of a secret that stands in its path, whatever a URL makes of its characters.
func TestMaskedPath(t *testing.T) {
	for _, secret := range []string{`v1,t=16;sig "x" 9f8e7d6c`, `pass%77ord "12345`, `abc,d"e;f g-hij`, `p@ss:w ord/12<3>`, `a/b?c d#e "f`} {
		x := New(Options{})
		m := mask.New([]string{secret})
		ctx := executor.WithMask(context.Background(), m)
		for _, a := range []event.Attempt{{}, {Agent: &event.AgentRequest{Name: "g"}}} {
			a.HTTP = &event.HTTPRequest{URL: "http://127.0.0.1:1/" + secret + "/y"}
			ans := x.Execute(ctx, a)
			if ans.Error == nil {
				t.Fatalf("%s: no error", secret)
			}
			if got := m.Message(ans.Error.Message); !strings.Contains(got, " http://127.0.0.1:1/(sensitive)/y: ") {
				t.Errorf("%s: %s", secret, got)
			}
		}
		x.Close()
	}
}
