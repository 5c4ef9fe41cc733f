package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// tries is how often a request is sent before it has failed.
	tries = 3
	// firstPause is the longest pause after the first try; it doubles with each.
	firstPause = time.Second
	// longestPause is the longest pause that a server may ask for. Who asks for more gets no other try.
	longestPause = time.Minute
	// maxAnswer is how many bytes of an answer are read: 64 vectors of 3,072 numbers take 5 MB.
	maxAnswer = 32 << 20
	// maxSaid is how much of what a server says of its failure is told.
	maxSaid = 300
)

// Error is why a server gave no vectors.
type Error struct {
	Server string // "openai"
	Status int    // of HTTP; 0 where there was no answer, or an unusable one
	// Retryable says that the same request may succeed later.
	Retryable bool
	Err       error
}

func (e *Error) Error() string { return fmt.Sprintf("embed: %s: %v", e.Server, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// retryable says whether the texts may have vectors later, without a change by anybody: the network or the server was at fault.
func retryable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Retryable
}

// poster sends requests to one address.
type poster struct {
	name, url, keyEnv string
	timeout           time.Duration
	client            *http.Client
	sleep             func(context.Context, time.Duration) error
}

func (p *poster) fail(status int, retryable bool, err error) error {
	return &Error{p.name, status, retryable, err}
}

// do sends a request, again where that may help, and gives the answer.
func (p *poster) do(ctx context.Context, body []byte) ([]byte, error) {
	key, err := p.key()
	if err != nil {
		return nil, p.fail(0, false, err)
	}
	for try := 1; ; try++ {
		answer, pause, err := p.once(ctx, body, key)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil || !retryable(err) || try == tries || pause > longestPause {
			return answer, err
		}
		// full jitter, so that many processes do not come back at once
		if own := rand.N(firstPause << (try - 1)); own > pause {
			pause = own
		}
		if err := p.sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// key reads the key. What it is appears in no error.
func (p *poster) key() (string, error) {
	if p.keyEnv == "" {
		return "", nil
	}
	key := strings.TrimSpace(os.Getenv(p.keyEnv))
	if key == "" {
		return "", fmt.Errorf("the environment variable %s has no key", p.keyEnv)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("the key in %s has characters that no key has", p.keyEnv)
	}
	return key, nil
}

// once sends a request once. The pause is what the server asks for before the next.
func (p *poster) once(ctx context.Context, body []byte, key string) (answer []byte, pause time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return nil, 0, p.fail(0, false, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, 0, p.fail(0, !errors.Is(err, errRedirect), err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return nil, asked(resp.Header.Get("Retry-After"), time.Now()), p.refused(resp.StatusCode, answer, key)
	case err != nil:
		return nil, 0, p.fail(0, true, fmt.Errorf("while reading the answer: %w", err))
	case len(answer) > maxAnswer:
		return nil, 0, p.fail(0, false, fmt.Errorf("the answer has more than %d MB", maxAnswer>>20))
	}
	return answer, 0, nil
}

// refused makes an error of an answer that is not 200 OK.
func (p *poster) refused(status int, answer []byte, key string) error {
	what := fmt.Sprintf("the server answered %d %s", status, http.StatusText(status))
	if status == http.StatusUnauthorized || status == http.StatusForbidden { // some servers repeat a part of the key
		if p.keyEnv == "" {
			return p.fail(status, false, fmt.Errorf("%s, and no environment variable was named for a key", what))
		}
		return p.fail(status, false, fmt.Errorf("%s to the key in %s", what, p.keyEnv))
	}
	words, code := said(answer, key)
	if words != "" {
		what += ": " + words
	}
	later := status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests || status >= 500
	return p.fail(status, later && code != "insufficient_quota", errors.New(what))
}

// said finds what a server says of its failure: {"error": "…"}, {"error": {"message": "…", "code": "…"}}, or anything else as it is.
func said(answer []byte, key string) (words, code string) {
	var outer struct{ Error json.RawMessage }
	var inner struct{ Message, Code string }
	if json.Unmarshal(answer, &outer) != nil || len(outer.Error) == 0 {
		words = string(answer[:min(len(answer), 4*maxSaid)])
	} else if json.Unmarshal(outer.Error, &words) != nil {
		_ = json.Unmarshal(outer.Error, &inner) // a field of another type leaves the others
		words, code = inner.Message, inner.Code
	}
	if key != "" {
		words = strings.ReplaceAll(words, key, "***")
	}
	words = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(words, ""), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(words) > maxSaid {
		words = strings.ToValidUTF8(words[:maxSaid], "") + "…"
	}
	return words, code
}

// asked reads a Retry-After: seconds, or a date.
func asked(header string, now time.Time) time.Duration {
	if s, err := strconv.Atoi(header); err == nil && s >= 0 {
		return time.Duration(min(s, 1e6)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

var errRedirect = errors.New("the server sends the request on to another address, which is not followed")

// sameHost follows a redirect only within a server, with the same method: the key and the texts go nowhere else.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host || req.Method != first.Method {
		return errRedirect
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
