package fleet

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/artifact/bucket"
	"github.com/flowrun/flowrun/runner/logs"
)

// objects is a server that keeps objects. The signatures are those of package bucket, which has tests of them.
type objects struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch have, known := o.all[r.URL.Path]; {
	case r.Method == http.MethodPut:
		o.all[r.URL.Path] = body
	case !known:
		w.WriteHeader(http.StatusNotFound)
	default:
		http.ServeContent(w, r, "", time.Unix(1_000_000, 0), bytes.NewReader(have))
	}
}

// A log goes from its worker to the bucket, under a name of its own for each content, and is read from there. Nothing else of the bucket is read as a log.
func TestLogsInABucket(t *testing.T) {
	o := &objects{all: map[string][]byte{}}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	b, err := bucket.Open("s3://fleet/x", func(name string) string {
		return map[string]string{bucket.KeyEnv: "k", bucket.SecretEnv: "s", bucket.EndpointEnv: server.URL}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, f := t.TempDir(), &Fleet{bucket: b}
	local := filepath.Join(dir, "logs", "run", "1-build-1.stdout")
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(local), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(local, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := map[string]string{}
	for _, text := range []string{strings.Repeat("the first worker\n", 10_000), "the second worker\n"} {
		write(text)
		name, err := f.keepLog(t.Context(), logs.Folder(dir), "logs/run/1-build-1.stdout")
		if err != nil {
			t.Fatal(err)
		}
		names[name] = text
		if _, err := os.Stat(local); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the worker still has the log: %v", err)
		}
	}
	if len(names) != 2 {
		t.Errorf("the logs of two workers have the names %v", names)
	}
	for name, text := range names {
		log, at, err := f.logs()(name)
		if err != nil {
			t.Fatal(err)
		}
		if have, err := io.ReadAll(log); err != nil || string(have) != text || at.Unix() != 1_000_000 {
			t.Errorf("%s has %d bytes of %d, written %v: %v", name, len(have), len(text), at, err)
		}
	}
	o.all["/fleet/x/payloads/secret"] = []byte("secret")
	for _, name := range []string{"logs/run/missing.stdout", "payloads/secret", "logs/../payloads/secret", "/logs/x", ""} {
		if _, _, err := f.logs()(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q is opened: %v", name, err)
		}
	}
	write("kept here\n")
	server.Close()
	ctx := t.Context()
	if _, err := f.keepLog(ctx, logs.Folder(dir), "logs/run/1-build-1.stdout"); err == nil {
		t.Error("a bucket that cannot be reached has a log")
	}
	if have, err := os.ReadFile(local); err != nil || string(have) != "kept here\n" {
		t.Errorf("the worker has %q: %v", have, err)
	}
}
