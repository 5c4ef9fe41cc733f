package embed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestTries(t *testing.T) {
	for _, c := range []struct {
		status     int
		body       string
		retryAfter string
		sent       int
		retryable  bool
	}{
		{status: 400, sent: 1},
		{status: 404, sent: 1},
		{status: 413, sent: 1},
		{status: 408, sent: 3, retryable: true},
		{status: 429, sent: 3, retryable: true},
		{status: 429, body: `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, sent: 1},
		{status: 429, body: `{"error":{"message":"slow down","code":429}}`, sent: 3, retryable: true},
		{status: 429, retryAfter: "60", sent: 3, retryable: true},
		{status: 429, retryAfter: "61", sent: 1, retryable: true},
		{status: 500, sent: 3, retryable: true},
		{status: 503, retryAfter: "7", sent: 3, retryable: true},
		{status: 503, retryAfter: "-7", sent: 3, retryable: true},
		{status: 204, sent: 1},
	} {
		sent := 0
		e, pauses := listen(t, Config{Name: "openai", Model: "m"}, func(n int, _ asks, w http.ResponseWriter) {
			sent = n
			if c.retryAfter != "" {
				w.Header().Set("Retry-After", c.retryAfter)
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		_, err := e.Embed(t.Context(), []string{"a"})
		if err == nil || sent != c.sent || retryable(err) != c.retryable || len(*pauses) != c.sent-1 {
			t.Errorf("%+v: sent %d times, pauses %v: %v, retryable %v", c, sent, *pauses, err, retryable(err))
		}
		for i, p := range *pauses {
			least := asked(c.retryAfter, time.Now())
			if p < least || p > max(least, firstPause<<i) {
				t.Errorf("%+v: pause %d is %v", c, i, p)
			}
		}
	}
}

func TestSecondTrySucceeds(t *testing.T) {
	e, pauses := listen(t, Config{Name: "openai", Model: "m"}, func(n int, a asks, w http.ResponseWriter) {
		switch n {
		case 1:
			panic(http.ErrAbortHandler) // the connection ends without an answer
		case 2:
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"data":`)
		default:
			vectors(a, w)
		}
	})
	if v, err := e.Embed(t.Context(), []string{"a"}); err != nil || v[0] == nil || len(*pauses) != 2 {
		t.Errorf("%v, %v, pauses %v", v, err, *pauses)
	}
}

func TestSlowServerIsAskedAgain(t *testing.T) {
	release := make(chan struct{})
	var n atomic.Int64
	e, _ := listen(t, Config{Name: "openai", Model: "m"}, func(int, asks, http.ResponseWriter) {
		n.Add(1)
		<-release
	})
	e.(*server).post.timeout = 20 * time.Millisecond
	_, err := e.Embed(t.Context(), []string{"a"})
	close(release)
	if !errors.Is(err, context.DeadlineExceeded) || !retryable(err) || n.Load() > 3 {
		t.Errorf("sent %d times: %v", n.Load(), err)
	}
}

func TestRequestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	e, pauses := listen(t, Config{Name: "openai", Model: "m"}, func(int, asks, http.ResponseWriter) {
		cancel()
		<-release
	})
	_, err := e.Embed(ctx, []string{"a"})
	close(release)
	if !errors.Is(err, context.Canceled) || retryable(err) || len(*pauses) > 0 {
		t.Errorf("%v, pauses %v", err, *pauses)
	}
}

func TestPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := sleep(t.Context(), time.Minute); err != nil || time.Since(start) != time.Minute+time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// TestNobodySeesTheKey looks for the key in every error that a server can cause, even one that repeats what it was sent.
func TestNobodySeesTheKey(t *testing.T) {
	t.Setenv("EMBED_TEST_KEY", secret)
	for _, status := range []int{200, 301, 307, 400, 401, 403, 429, 500} {
		for _, body := range []string{secret, `{"error":"` + secret + `"}`, `{"error":{"message":"no ` + secret + `"}}`, strings.Repeat("x", maxSaid-5) + secret} {
			e, _ := listen(t, Config{Name: "openai", Model: "m", KeyEnv: "EMBED_TEST_KEY"}, func(_ int, a asks, w http.ResponseWriter) {
				if a.Key != "Bearer "+secret {
					t.Errorf("the key is %q", a.Key)
				}
				w.WriteHeader(status)
				fmt.Fprint(w, body)
			})
			if _, err := e.Embed(t.Context(), []string{"a"}); err == nil || strings.Contains(err.Error(), "sk-very") {
				t.Errorf("%d %s: %v", status, body, err)
			}
		}
	}
	for name, key := range map[string]string{"has no key": " ", "characters": secret + "\nX-Evil: 1"} {
		t.Setenv("EMBED_TEST_KEY", key)
		e, _ := listen(t, Config{Name: "openai", Model: "m", KeyEnv: "EMBED_TEST_KEY"}, func(int, asks, http.ResponseWriter) { t.Error("it was asked") })
		if _, err := e.Embed(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "sk-very") {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// TestRedirects follows one within a server, and none to another.
func TestRedirects(t *testing.T) {
	t.Setenv("EMBED_TEST_KEY", secret)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the other server got %v", r.Header) }))
	defer other.Close()
	for to, follows := range map[string]bool{"/v1/there": true, other.URL + "/v1/there": false} {
		for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
			e, pauses := listen(t, Config{Name: "openai", Model: "m", KeyEnv: "EMBED_TEST_KEY"}, func(n int, a asks, w http.ResponseWriter) {
				if a.Path == "/v1/there" {
					vectors(a, w)
					return
				}
				w.Header().Set("Location", to)
				w.WriteHeader(status)
			})
			_, err := e.Embed(t.Context(), []string{"a"})
			if want := follows && status == http.StatusTemporaryRedirect; (err == nil) != want || retryable(err) || len(*pauses) > 0 {
				t.Errorf("%d to %s: %v", status, to, err)
			}
			if err != nil && !errors.Is(err, errRedirect) {
				t.Errorf("%d to %s: %v", status, to, err)
			}
		}
	}
	loop, _ := listen(t, Config{Name: "openai", Model: "m"}, func(n int, _ asks, w http.ResponseWriter) {
		w.Header().Set("Location", "/v1/embeddings")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	if _, err := loop.Embed(t.Context(), []string{"a"}); !errors.Is(err, errRedirect) {
		t.Errorf("a loop: %v", err)
	}
}

// TestNoServer asks where nobody listens.
func TestNoServer(t *testing.T) {
	srv := httptest.NewServer(nil)
	address := srv.URL
	srv.Close()
	e, pauses := listen(t, Config{Name: "ollama", URL: address}, nil)
	_, err := e.Embed(t.Context(), []string{"a"})
	var as *url.Error
	if !retryable(err) || !errors.As(err, &as) || len(*pauses) != tries-1 {
		t.Errorf("%v, pauses %v", err, *pauses)
	}
}

func TestAsked(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, "-1": 0, "x": 0, "1.5": 0, "9223372036854775807": 1e6 * time.Second, "99999999999999999999": 0,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
	} {
		if got := asked(header, now); got != want {
			t.Errorf("%q asks for %v, not %v", header, got, want)
		}
	}
}

func TestSaid(t *testing.T) {
	for answer, want := range map[string]string{
		"": "", "oh\x1b[31m no\n\n": "oh [31m no", `{"error":"a"}`: "a", `{"error":{"message":"b","code":7}}`: "b", `{"error":{"code":7,"message":"b"}}`: "b",
		`{"error":null}`: "", `{"detail":"c"}`: `{"detail":"c"}`, `"text"`: `"text"`, "\xff\xfe": "", strings.Repeat("x", maxSaid): strings.Repeat("x", maxSaid),
		strings.Repeat("x", maxSaid+1): strings.Repeat("x", maxSaid) + "…", strings.Repeat("ä", maxSaid): strings.Repeat("ä", maxSaid/2) + "…",
	} {
		if got, _ := said([]byte(answer), ""); got != want {
			t.Errorf("%q says %q, not %q", answer, got, want)
		}
	}
}
