package bucket

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is the address of a real server, with the keys in the environment; bucketName is a bucket of it.
var (
	server     = flag.String("bucket.server", "", "http://HOST:PORT of an S3 server for TestServer, whose keys are in the environment")
	bucketName = flag.String("bucket.name", "flowrun", "a bucket of the server of TestServer")
)

const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

func environment(endpoint string) func(string) string {
	return func(name string) string {
		return map[string]string{KeyEnv: "AKIAIOSFODNN7EXAMPLE", SecretEnv: secret, TokenEnv: "a-token-of-a-session", EndpointEnv: endpoint}[name]
	}
}

// fake is a server that keeps objects, and whose answers a test changes.
type fake struct {
	mu       sync.Mutex
	objects  map[string][]byte
	requests int
	answer   func(n int, w http.ResponseWriter, r *http.Request) (done bool)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	body, _ := io.ReadAll(r.Body)
	given := r.Header.Get("Authorization")
	at, _ := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	again, _ := http.NewRequest(r.Method, "http://"+r.Host+r.RequestURI, nil)
	if part := r.Header.Get("Range"); part != "" {
		again.Header.Set("Range", part)
	}
	sign(again, hash(body), key{id: "AKIAIOSFODNN7EXAMPLE", secret: secret, token: "a-token-of-a-session", region: "us-east-1"}, at)
	switch {
	case given != again.Header.Get("Authorization"):
		refuse(w, 403, "SignatureDoesNotMatch")
	case f.answer != nil && f.answer(f.requests, w, r):
	case r.Method == http.MethodPut:
		f.objects[r.URL.Path] = body
	case f.objects[r.URL.Path] == nil:
		refuse(w, 404, "NoSuchKey")
	default:
		http.ServeContent(w, r, "", written, bytes.NewReader(f.objects[r.URL.Path]))
	}
}

// written is when the fake has got each of its objects.
var written = time.Date(2026, 11, 29, 7, 0, 0, 0, time.UTC)

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>told by the server</Message><Region>eu-west-1</Region></Error>", code)
}

func open(t *testing.T, f *fake) *Bucket {
	t.Helper()
	f.objects = map[string][]byte{}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	b, err := Open("s3://fleet/a b/c", environment(s.URL))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPutAndGet(t *testing.T) {
	f := &fake{}
	b := open(t, f)
	content := bytes.Repeat([]byte("text "), 1000)
	if err := b.Put("payloads/ab/x+y", content); err != nil {
		t.Fatal(err)
	}
	if err := b.Put("payloads/ab/x+y", content); err != nil || f.requests != 1 {
		t.Errorf("%d requests put the same file twice: %v", f.requests, err)
	}
	if !bytes.Equal(f.objects["/fleet/a b/c/payloads/ab/x+y"], content) {
		t.Errorf("the server has %d objects", len(f.objects))
	}
	other, _ := Open("s3://fleet/a b/c", environment(strings.TrimSuffix(b.endpoint, "/fleet")))
	if have, err := other.Get("payloads/ab/x+y", 1<<20); err != nil || !bytes.Equal(have, content) {
		t.Errorf("another process gets %d bytes: %v", len(have), err)
	}
	if _, err := other.Get("payloads/missing", 1<<20); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is %v", err)
	}
	third, _ := Open("s3://fleet/a b/c", environment(strings.TrimSuffix(b.endpoint, "/fleet")))
	if _, err := third.Get("payloads/ab/x+y", 100); err == nil || !strings.Contains(err.Error(), "the limit is 100") {
		t.Errorf("a file that is too large is %v", err)
	}
	if err := b.Check(); err != nil {
		t.Error(err)
	}
}

// TestLongFiles puts files that are read in pieces, in any order.
func TestLongFiles(t *testing.T) {
	f := &fake{}
	b := open(t, f)
	for _, size := range []int{1, firstBytes, firstBytes + 2*pieceBytes + 3} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(i * 7 / 5)
		}
		sum, n, err := Hash(bytes.NewReader(content))
		if err != nil || n != int64(size) {
			t.Fatal(n, err)
		}
		if err := b.PutFile(t.Context(), "logs/run/long", bytes.NewReader(content), sum, n); err != nil {
			t.Fatal(err)
		}
		before := f.requests
		file, err := b.OpenFile("logs/run/long")
		if err != nil {
			t.Fatal(err)
		}
		if have, err := io.ReadAll(file); err != nil || !bytes.Equal(have, content) || file.Size() != n || !file.Written.Equal(written) {
			t.Errorf("of %d bytes %d come back: %v", size, len(have), err)
		}
		if requests, want := f.requests-before, 1+max(0, size-firstBytes+pieceBytes-1)/pieceBytes; requests != want {
			t.Errorf("%d requests read %d bytes, want %d", requests, size, want)
		}
		for _, at := range []int64{n - 1, 0, n / 2} {
			have := make([]byte, min(n-at, 100))
			if _, err := file.ReadAt(have, at); err != nil || !bytes.Equal(have, content[at:at+int64(len(have))]) {
				t.Errorf("%d bytes at %d of %d: %v", len(have), at, n, err)
			}
		}
	}
	if _, err := b.OpenFile("logs/run/missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.PutFile(ctx, "logs/run/late", strings.NewReader("late"), hash([]byte("late")), 4); err == nil || f.objects["/fleet/a b/c/logs/run/late"] != nil {
		t.Errorf("a file that nobody waits for is put: %v", err)
	}
	if err := b.PutFile(t.Context(), "logs/run/changed", strings.NewReader("after"), hash([]byte("before")), 5); err == nil {
		t.Error("a file that has changed since is put")
	}
}

// TestFailures: each failure is told in words without a key, and repeated only where that can help.
func TestFailures(t *testing.T) {
	always := func(status int, code string) func(int, http.ResponseWriter, *http.Request) bool {
		return func(_ int, w http.ResponseWriter, _ *http.Request) bool { refuse(w, status, code); return true }
	}
	for name, x := range map[string]struct {
		answer   func(int, http.ResponseWriter, *http.Request) bool
		says     string // "": it succeeds
		requests int
		waits    time.Duration // in all, at least
	}{
		"denied":          {always(403, "AccessDenied"), "does not let these keys read or write a: they need s3:GetObject", 1, 0},
		"denied, no text": {func(_ int, w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(403); return true }, "does not let these keys", 1, 0},
		"wrong keys":      {always(403, "InvalidAccessKeyId"), "refuses the keys: check AWS_ACCESS_KEY_ID", 1, 0},
		"old token":       {always(400, "ExpiredToken"), "refuses the keys", 1, 0},
		"wrong clock":     {always(403, "RequestTimeTooSkewed"), "the clock of this machine is wrong", 1, 0},
		"no bucket":       {always(404, "NoSuchBucket"), "the bucket s3://fleet/a b/c does not exist (404 NoSuchBucket)", 1, 0},
		"no file":         {always(404, "NoSuchKey"), "has no file a", 1, 0},
		"no user":         {always(404, "XAdminUserNotFound"), "refuses the keys", 1, 0},
		"another 404":     {always(404, "NoSuchUpload"), "refuses the request (404 NoSuchUpload)", 1, 0},
		"changed":         {always(400, "XAmzContentSHA256Mismatch"), "has got another file than was sent (400 XAmzContentSHA256Mismatch); it was tried 5 times", 5, 0},
		"another region":  {always(400, "AuthorizationHeaderMalformed"), "is in the region \"eu-west-1\": set AWS_REGION", 1, 0},
		"moved":           {always(301, ""), "is in another region, or on another server", 1, 0},
		"refused":         {always(405, "MethodNotAllowed"), "refuses the request (405 MethodNotAllowed)", 1, 0},
		"always busy":     {always(503, "SlowDown"), "is busy or fails (503 SlowDown); it was tried 5 times", 5, 0},
		"busy once": {func(n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 1 {
				w.Header().Set("Retry-After", "2")
				refuse(w, 503, "SlowDown")
			}
			return n == 1
		}, "", 2, 2 * time.Second},
		"busy for an hour": {func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "3600")
			refuse(w, 503, "SlowDown")
			return true
		}, "is busy or fails (503 SlowDown); it was tried 1 times", 1, 0},
		"always cut": {func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
			return true
		}, "the file a breaks off after 4 bytes", 5, 0},
		"cut once": {func(n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 1 {
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte("half"))
			}
			return n == 1
		}, "", 2, 0},
		"hung up": {func(_ int, w http.ResponseWriter, _ *http.Request) bool { panic(http.ErrAbortHandler) }, "cannot be reached", 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			b := open(t, f)
			f.objects["/fleet/a b/c/a"] = []byte("content")
			f.answer = x.answer
			var waited time.Duration
			b.wait = func(ctx context.Context, d time.Duration) error {
				if waited += d; waited > time.Minute {
					return context.DeadlineExceeded
				}
				return nil
			}
			have, err := b.Get("a", 1000)
			if x.says == "" && (err != nil || string(have) != "content") || x.says != "" && (err == nil || !strings.Contains(err.Error(), x.says)) {
				t.Errorf("it says %v", err)
			}
			if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "AKIA") || strings.Contains(err.Error(), "a-token") || strings.Contains(err.Error(), "Signature=")) {
				t.Errorf("a key is in %v", err)
			}
			f.mu.Lock() // a request whose connection was closed may still be under way
			defer f.mu.Unlock()
			if f.requests < x.requests || f.requests > 2*x.requests || waited < x.waits { // the client of net/http repeats a request whose connection was closed
				t.Errorf("%d requests in %s, not %d in %s", f.requests, waited, x.requests, x.waits)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	full := map[string]string{KeyEnv: "k", SecretEnv: secret, RegionEnv: "eu-west-1"}
	for _, x := range []struct {
		address  string
		without  string
		endpoint string // of the environment
		want     string // the endpoint of the bucket, or what the error says
	}{
		{"s3://fleet", "", "", "https://fleet.s3.eu-west-1.amazonaws.com"},
		{"s3://fleet.example/runs/", "", "", "https://s3.eu-west-1.amazonaws.com/fleet.example"},
		{"s3://fleet", RegionEnv, "http://127.0.0.1:9000/", "http://127.0.0.1:9000/fleet"},
		{"s3://fleet", RegionEnv, "", "set AWS_REGION, or AWS_ENDPOINT_URL_S3"},
		{"s3://fleet", KeyEnv, "", "set AWS_ACCESS_KEY_ID"},
		{"s3://fleet", SecretEnv, "", "and AWS_SECRET_ACCESS_KEY"},
		{"s3://", "", "", "write s3://BUCKET"},
		{"s3://user:pass@fleet", "", "", "has no user and no key"},
		{"s3://fleet?x=1", "", "", "write s3://BUCKET"},
		{"s3://fleet", "", "ftp://host", "write https://HOST"},
		{"s3://fleet", "", "https://user:pass@host", "write https://HOST"},
	} {
		b, err := Open(x.address, func(name string) string {
			switch name {
			case x.without:
				return ""
			case EndpointEnv:
				return x.endpoint
			}
			return full[name]
		})
		if err == nil && b.endpoint != x.want || err != nil && (!strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "user:pass")) {
			t.Errorf("%s with %q: %v", x.address, x.endpoint, err)
		}
	}
}

// TestServer puts and gets files on a real server, and has it refuse wrong keys, a wrong region and a wrong clock. The server looks at signatures, as that
// of Versity does (github.com/versity/versitygw, a Go module). A folder is a bucket of it:
//
//	go install github.com/versity/versitygw/cmd/versitygw@v1.8.0   # outside of this module
//	mkdir -p /tmp/s3/flowrun && versitygw --access ID --secret SECRET --port 127.0.0.1:7312 posix /tmp/s3
//	AWS_ACCESS_KEY_ID=ID AWS_SECRET_ACCESS_KEY=SECRET go test ./runner/artifact/bucket -run TestServer -v -bucket.server http://127.0.0.1:7312
func TestServer(t *testing.T) {
	if *server == "" {
		t.Skip("no server: -bucket.server http://HOST:PORT")
	}
	address := fmt.Sprintf("s3://%s/test %d/it's (ü) 100%%25+~", *bucketName, time.Now().UnixNano())
	// with opens the bucket with another value of a variable; "" changes none.
	with := func(variable, value string) *Bucket {
		b, err := Open(address, func(name string) string {
			switch name {
			case variable:
				return value
			case EndpointEnv:
				return *server
			}
			return os.Getenv(name)
		})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	writer, reader := with("", ""), with("", "")
	if err := writer.Check(); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, 16 << 10, 5 << 20, 80 << 20} {
		name, content := fmt.Sprintf("payloads/ab/%d", size), bytes.Repeat([]byte("0123456"), size/7+1)[:size]
		began := time.Now()
		if err := writer.Put(name, content); err != nil {
			t.Fatal(err)
		}
		put := time.Since(began)
		if have, err := reader.Get(name, 100<<20); err != nil || !bytes.Equal(have, content) {
			t.Errorf("of %d bytes, %d come back: %v", size, len(have), err)
		}
		t.Logf("%d bytes: put in %s, got in %s", size, put.Round(time.Millisecond), (time.Since(began) - put).Round(time.Millisecond))
	}
	for _, name := range []string{"a b", "a+b", "a%b", "a%2Fb", "a%20b", "ü/é", "日本", "🙂", "a&b=c", "a?b", "a#b", "a;b:c,d", "$@!*'()", `"<>|`, "-._~", "a//b", strings.Repeat("n", 200)} {
		if err := writer.Put(name, []byte(name)); err != nil {
			t.Errorf("%q is put: %v", name, err)
		} else if have, err := reader.Get(name, 1000); err != nil || string(have) != name {
			t.Errorf("%q has %q: %v", name, have, err)
		}
	}
	long := bytes.Repeat([]byte("a line of a log\n"), 70<<16)
	sum, size, _ := Hash(bytes.NewReader(long))
	if err := writer.PutFile(t.Context(), "logs/run/long", bytes.NewReader(long), sum, size); err != nil {
		t.Error(err)
	} else if file, err := reader.OpenFile("logs/run/long"); err != nil {
		t.Error(err)
	} else if have, err := io.ReadAll(file); err != nil || !bytes.Equal(have, long) || file.Written.IsZero() {
		t.Errorf("of a file of %d bytes, written %v, %d come back: %v", size, file.Written, len(have), err)
	}
	if _, err := reader.OpenFile("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing long file is %v", err)
	}
	if err := writer.Put("payloads/ab/1", []byte("another")); err != nil {
		t.Fatal(err)
	}
	if have, err := with("", "").Get("payloads/ab/1", 100); err != nil || string(have) != "another" {
		t.Errorf("a file that was put again has %q: %v", have, err)
	}
	if _, err := reader.Get("missing", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is %v", err)
	}
	if _, err := with("", "").Get("payloads/ab/16384", 100); err == nil || !strings.Contains(err.Error(), "too large; the limit is 100 bytes") {
		t.Errorf("a file that is too large is %v", err)
	}
	skewed := func(by time.Duration) *Bucket {
		b := with("", "")
		b.now = func() time.Time { return time.Now().Add(by) }
		return b
	}
	none := with("", "")
	none.endpoint = *server + "/no-such-bucket-of-flowrun"
	for _, x := range []struct {
		name string
		*Bucket
		says string
	}{
		{"a missing bucket", none, "does not exist"},
		{"another user", with(KeyEnv, "AKIANOBODYOFTHATNAME"), "refuses the keys: check AWS_ACCESS_KEY_ID"},
		{"a wrong key", with(SecretEnv, "wrong"), "refuses the keys: check AWS_ACCESS_KEY_ID"},
		{"another region", with(RegionEnv, "eu-west-9"), "region"},
		{"a clock that is slow", skewed(-time.Hour), "the clock of this machine is wrong"},
		{"a clock that is fast", skewed(time.Hour), "the clock of this machine is wrong"},
	} {
		if err := x.Check(); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s is %v", x.name, err)
		} else if t.Logf("%s: %v", x.name, err); strings.Contains(err.Error(), "Signature=") {
			t.Errorf("%s: the message has a signature", x.name)
		}
	}
	tampered := with("", "")
	tampered.wait = func(context.Context, time.Duration) error { return nil }
	tampered.client.Transport = changes{tampered.client.Transport}
	if err := tampered.Put("payloads/changed", []byte("what was signed")); err == nil {
		t.Error("a body that was changed on its way is kept")
	} else if t.Log("a body that was changed on its way:", err); !strings.Contains(err.Error(), "has got another file than was sent") {
		t.Errorf("a body that was changed on its way is %v", err)
	}
}

// changes is a way to a server that changes bodies.
type changes struct{ http.RoundTripper }

func (c changes) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	body, _ := io.ReadAll(r.Body)
	if len(body) > 0 {
		body[0] ^= 1
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return c.RoundTripper.RoundTrip(r)
}
