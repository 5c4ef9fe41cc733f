// Package bucket keeps files in a bucket of a server that speaks the protocol of Amazon S3, for processes of several machines: see package artifact and
// runner/engine/temporal/payload. It puts whole objects, and gets them or parts of them, no more. The names of files have hashes of their contents, so a file
// never changes.
//
// The client is small because flowrun needs two requests: the SDKs of Amazon and MinIO would make the binary larger by several MiB. [sign] follows
// Signature Version 4, and its test has the examples that Amazon has published.
//
// A request that fails by the network, or because the server is busy, is repeated within [patience]. What a person has to put right is said at once. No
// message has a key. Enter at [Open].
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Scheme begins the address of a bucket: s3://BUCKET/PREFIX.
const Scheme = "s3://"

// Variables of the environment. They are those that tools for S3 read.
const (
	KeyEnv      = "AWS_ACCESS_KEY_ID"
	SecretEnv   = "AWS_SECRET_ACCESS_KEY"
	TokenEnv    = "AWS_SESSION_TOKEN"
	RegionEnv   = "AWS_REGION"
	EndpointEnv = "AWS_ENDPOINT_URL_S3"
)

// Bounds of requests.
const (
	// patience bounds a request with its repeats. A decision of a run can wait for it, and the detector of deadlocks lets a decision take ten seconds.
	patience = 8 * time.Second
	// slowest is how many bytes a second extend the patience.
	slowest = 1 << 20
	// attempts bounds how often a request is made.
	attempts = 5
	// MostBytes bounds a file.
	MostBytes = 256 << 20
	// maxKept bounds the bytes of the files that are kept in memory, because a run reads what its worker has just written.
	maxKept = 64 << 20
)

// Bucket is a bucket, or the part of one that a prefix names. It is safe for concurrent use.
type Bucket struct {
	address  string
	endpoint string // with the bucket, and without a slash at the end
	prefix   string // "" or with a slash at the end
	key      key
	client   *http.Client
	wait     func(context.Context, time.Duration) error
	now      func() time.Time

	mu    sync.Mutex
	kept  map[string][]byte
	bytes int
}

// Open reads an address and the environment. It asks the server nothing.
func Open(address string, getenv func(string) string) (*Bucket, error) {
	if strings.Contains(address, "@") { // what stands before it can be a key
		return nil, fmt.Errorf("the address of a bucket has no user and no key: write %sBUCKET/PREFIX, and set %s and %s", Scheme, KeyEnv, SecretEnv)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://" != Scheme || u.Host == "" || u.Port() != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not the address of a bucket: write %sBUCKET or %[2]sBUCKET/PREFIX", address, Scheme)
	}
	b := &Bucket{address: strings.TrimRight(address, "/"), key: key{id: getenv(KeyEnv), secret: getenv(SecretEnv), token: getenv(TokenEnv), region: getenv(RegionEnv)},
		wait: sleep, now: time.Now}
	if b.prefix = strings.Trim(u.Path, "/"); b.prefix != "" {
		b.prefix += "/"
	}
	if b.key.id == "" || b.key.secret == "" {
		return nil, fmt.Errorf("the bucket %s needs keys: set %s and %s", b.address, KeyEnv, SecretEnv)
	}
	switch endpoint := getenv(EndpointEnv); {
	case endpoint != "":
		e, err := url.Parse(endpoint)
		if err != nil || e.Scheme != "https" && e.Scheme != "http" || e.Host == "" || e.User != nil || e.RawQuery != "" || e.Fragment != "" {
			return nil, fmt.Errorf("%s is not the address of a server: write https://HOST or https://HOST:PORT", EndpointEnv)
		}
		if b.key.region == "" {
			b.key.region = "us-east-1" // servers that have no regions go by this name
		}
		b.endpoint = strings.TrimRight(endpoint, "/") + "/" + u.Host
	case b.key.region == "":
		return nil, fmt.Errorf("the bucket %s needs a region: set %s, or %s for another server than Amazon's", b.address, RegionEnv, EndpointEnv)
	case strings.Contains(u.Host, "."): // a certificate of Amazon has no such name
		b.endpoint = fmt.Sprintf("https://s3.%s.amazonaws.com/%s", b.key.region, u.Host)
	default:
		b.endpoint = fmt.Sprintf("https://%s.s3.%s.amazonaws.com", u.Host, b.key.region)
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.ResponseHeaderTimeout, t.DisableCompression = 32, 5*time.Second, true
	t.DialContext = (&net.Dialer{Timeout: 2 * time.Second}).DialContext
	b.client = &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return b, nil
}

// String names the bucket in messages.
func (b *Bucket) String() string { return "the bucket " + b.address }

// Put keeps a file, and returns once it is durable.
func (b *Bucket) Put(name string, content []byte) error {
	if len(content) > MostBytes {
		return fmt.Errorf("a file has %d bytes; the limit is %d", len(content), MostBytes)
	}
	if have, kept := b.find(name); kept && bytes.Equal(have, content) {
		return nil
	}
	if err := b.put(context.Background(), name, content); err != nil {
		return err
	}
	b.keep(name, content)
	return nil
}

// Get returns a file that has at most so many bytes. The error wraps fs.ErrNotExist if there is none. The caller must not change what it gets.
func (b *Bucket) Get(name string, most int64) ([]byte, error) {
	if content, kept := b.find(name); kept {
		return content, nil
	}
	content, _, err := b.do(context.Background(), request{method: http.MethodGet, name: name, most: most})
	if err != nil {
		return nil, err
	}
	b.keep(name, content)
	return content, nil
}

// Check puts a small file and gets it, so that wrong keys are noticed before they are needed.
func (b *Bucket) Check() error {
	const name, content = "doctor", "flowrun can write here.\n"
	if err := b.put(context.Background(), name, []byte(content)); err != nil {
		return err
	}
	have, _, err := b.do(context.Background(), request{method: http.MethodGet, name: name, most: 1 << 10})
	if err == nil && string(have) != content {
		err = fmt.Errorf("%s gives back another file than was put there", b)
	}
	return err
}

func (b *Bucket) find(name string) (content []byte, kept bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, kept = b.kept[name]
	return content, kept
}

func (b *Bucket) keep(name string, content []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes += len(content); b.kept == nil || b.bytes > maxKept {
		b.kept, b.bytes = map[string][]byte{}, len(content)
	}
	b.kept[name] = content
}

func (b *Bucket) put(ctx context.Context, name string, content []byte) error {
	_, _, err := b.do(ctx, request{method: http.MethodPut, name: name, body: bytes.NewReader(content), most: int64(len(content)), hash: hash(content)})
	return err
}

// request is what a server is asked for.
type request struct {
	method, name string
	body         io.ReaderAt // of a put, with most bytes; nil: there is none
	hash         string      // of the body
	most         int64       // bytes that are sent, or that a get may return
	parted       bool        // a get returns what begins at from, and no more than most
	from         int64
}

// do makes a request, again where that can help. head is the header of the answer.
func (b *Bucket) do(ctx context.Context, q request) (content []byte, head http.Header, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience+time.Duration(q.most/slowest)*time.Second)
	defer cancel()
	for n := 1; ; n++ {
		var again time.Duration
		content, head, again, err = b.once(ctx, &q)
		if err == nil || again < 0 {
			return content, head, err
		}
		if n == attempts {
			return nil, nil, fmt.Errorf("%w; it was tried %d times", err, n)
		}
		if again == 0 {
			again = time.Duration(n*n) * 100 * time.Millisecond
			again += rand.N(again)
		}
		if b.wait(ctx, again) != nil {
			return nil, nil, fmt.Errorf("%w; it was tried %d times", err, n)
		}
	}
}

// once makes a request. again is when it may be made again: 0 is soon, and below 0 is never.
func (b *Bucket) once(ctx context.Context, q *request) (content []byte, head http.Header, again time.Duration, err error) {
	var body io.Reader
	if q.body != nil && q.most > 0 {
		body = io.NewSectionReader(q.body, 0, q.most)
	}
	r, err := http.NewRequestWithContext(ctx, q.method, b.endpoint+"/"+escapePath(b.prefix+q.name), body)
	if err != nil {
		return nil, nil, -1, fmt.Errorf("%s: %w", b, err)
	}
	if body != nil {
		r.ContentLength = q.most
	}
	if q.parted {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", q.from, q.from+q.most-1))
	}
	sign(r, cmp.Or(q.hash, hash(nil)), b.key, b.now())
	response, err := b.client.Do(r)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // without the address, which the name says
		}
		return nil, nil, 0, fmt.Errorf("%s cannot be reached: %w", b, err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		again, err = b.explain(response, q.name)
		return nil, nil, again, err
	}
	content, err = io.ReadAll(io.LimitReader(response.Body, q.most+1))
	switch {
	case err != nil:
		return nil, nil, 0, fmt.Errorf("%s: the file %s breaks off after %d bytes: %w", b, q.name, len(content), err)
	case int64(len(content)) > q.most && q.method == http.MethodGet:
		return nil, nil, -1, fmt.Errorf("%s: the file %s is too large; the limit is %d bytes", b, q.name, q.most)
	}
	return content, response.Header, 0, nil
}

// maxError bounds what is read of an error of the server.
const maxError = 16 << 10

// explain says what an answer means that is not a success.
func (b *Bucket) explain(r *http.Response, name string) (again time.Duration, err error) {
	var told struct {
		Code, Region string
	}
	text, _ := io.ReadAll(io.LimitReader(r.Body, maxError))
	_ = xml.Unmarshal(text, &told) // some servers send none
	status := strconv.Itoa(r.StatusCode)
	if told.Code != "" && len(told.Code) < 100 {
		status += " " + told.Code
	}
	fail := func(format string, args ...any) (time.Duration, error) {
		return -1, fmt.Errorf("%s "+format+" (%s)", append(append([]any{b}, args...), status)...)
	}
	switch told.Code {
	case "NoSuchBucket":
		return fail("does not exist")
	case "RequestTimeTooSkewed":
		return fail("refuses the request, because the clock of this machine is wrong")
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "XAdminUserNotFound": // the last one is of Versity's server, with status 404
		return fail("refuses the keys: check %s, %s and %s", KeyEnv, SecretEnv, TokenEnv)
	case "XAmzContentSHA256Mismatch": // the network has changed the body
		_, err = fail("has got another file than was sent")
		return 0, err
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect":
		if told.Region != "" && len(told.Region) < 100 {
			return fail("is in the region %q: set %s", told.Region, RegionEnv)
		}
		return fail("is in another region: set %s", RegionEnv)
	}
	switch code := r.StatusCode; {
	case code == http.StatusNotFound && r.Request.Method == http.MethodGet && (told.Code == "" || told.Code == "NoSuchKey"):
		return -1, fmt.Errorf("%s has no file %s: %w", b, name, fs.ErrNotExist)
	case code == http.StatusForbidden || code == http.StatusUnauthorized:
		return fail("does not let these keys read or write %s: they need s3:GetObject, s3:PutObject and s3:ListBucket", name)
	case code/100 == 3:
		return fail("is in another region, or on another server: set %s and %s", RegionEnv, EndpointEnv)
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500 && code != http.StatusNotImplemented:
		_, err = fail("is busy or fails")
		return retryAfter(r.Header.Get("Retry-After"), b.now()), err
	}
	return fail("refuses the request")
}

// retryAfter reads when a request may be made again; 0 is soon.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), 3600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// sleep waits, unless ctx would be done before: then it says so at once.
func sleep(ctx context.Context, d time.Duration) error {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return context.DeadlineExceeded
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
