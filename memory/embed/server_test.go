package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const secret = "sk-very-secret-key"

// asks is what a server was sent.
type asks struct {
	Path, Key, Model, Encoding string
	Input                      []string
}

// listen starts a server and gives an embedder that asks it, and does not wait between tries; pauses are those it was told to make.
func listen(t *testing.T, c Config, answer func(n int, a asks, w http.ResponseWriter)) (e Embedder, pauses *[]time.Duration) {
	t.Helper()
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var a struct {
			Model    string   `json:"model"`
			Input    []string `json:"input"`
			Encoding string   `json:"encoding_format"`
		}
		if err := json.Unmarshal(body, &a); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s, %s: %v", r.Method, r.Header.Get("Content-Type"), body, err)
		}
		answer(int(n.Add(1)), asks{r.URL.Path, r.Header.Get("Authorization"), a.Model, a.Encoding, a.Input}, w)
	}))
	t.Cleanup(srv.Close)
	if c.URL == "" {
		c.URL = srv.URL + "/v1/"
	}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	pauses = new([]time.Duration)
	e.(*server).post.sleep = func(ctx context.Context, d time.Duration) error {
		*pauses = append(*pauses, d)
		return ctx.Err()
	}
	return e, pauses
}

// vectors answers as OpenAI does, backwards: the vector of a text is its length and 1.
func vectors(a asks, w io.Writer) {
	type datum struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var data []datum
	for i := len(a.Input) - 1; i >= 0; i-- {
		data = append(data, datum{i, []float64{float64(len(a.Input[i])), 1}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

// want is the unit vector of what vectors answers for a text of n bytes.
func want(n int) []float32 {
	l := math.Hypot(float64(n), 1)
	return []float32{float32(float64(n) / l), float32(1 / l)}
}

func TestOpenAI(t *testing.T) {
	t.Setenv("EMBED_TEST_KEY", " "+secret+"\n")
	var got []asks
	e, _ := listen(t, Config{Name: "openai", KeyEnv: "EMBED_TEST_KEY", Model: "m"}, func(_ int, a asks, w http.ResponseWriter) {
		got = append(got, a)
		vectors(a, w)
	})
	e.(*server).batch = 2
	if e.Dim() != 0 || e.Model() != "openai:m" {
		t.Errorf("%d numbers, %s", e.Dim(), e.Model())
	}
	v, err := e.Embed(t.Context(), []string{"a", "", "bcd", " \n", "ef"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{want(1), nil, want(3), nil, want(2)}, v); diff != "" {
		t.Errorf("vectors (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]asks{
		{"/v1/embeddings", "Bearer " + secret, "m", "float", []string{"a", "bcd"}},
		{"/v1/embeddings", "Bearer " + secret, "m", "float", []string{"ef"}},
	}, got); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
	if e.Dim() != 2 || e.Model() != "openai:m" {
		t.Errorf("afterwards %d numbers, %s", e.Dim(), e.Model())
	}
}

func TestOllama(t *testing.T) {
	e, _ := listen(t, Config{Name: "ollama"}, func(_ int, a asks, w http.ResponseWriter) {
		if diff := cmp.Diff(asks{"/v1/api/embed", "", "nomic-embed-text", "", []string{"a", "b"}}, a); diff != "" {
			t.Errorf("request (-want +got)\n%s", diff)
		}
		fmt.Fprint(w, `{"model":"nomic-embed-text","embeddings":[[3,4],[0,-2]],"total_duration":1}`)
	})
	v, err := e.Embed(t.Context(), []string{"a", "b"})
	if diff := cmp.Diff([][]float32{{0.6, 0.8}, {0, -1}}, v); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if e.Model() != "ollama:nomic-embed-text" || e.Dim() != 2 {
		t.Errorf("%s, %d", e.Model(), e.Dim())
	}
}

func TestNew(t *testing.T) {
	for _, c := range []Config{
		{Name: "gemini"}, {Name: "openai", URL: "ftp://x"}, {Name: "openai", URL: "localhost:80"}, {Name: "openai", URL: "http://u:" + secret + "@x"},
		{Name: "openai", URL: "http://x?key=" + secret}, {Name: "ollama", URL: "http://x#" + secret}, {Name: "ollama", URL: "http://%zz" + secret},
	} {
		if e, err := New(c); err == nil || e != nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%+v: %v, %v", c, e, err)
		}
	}
	for _, name := range append(Names, "") {
		e, err := New(Config{Name: name})
		if err != nil || (e == nil) != (name == "none") {
			t.Errorf("%q: %v, %v", name, e, err)
		}
	}
	for model, c := range map[string]Config{
		"use-lite-en-1":                      {},
		"openai:text-embedding-3-small:1536": {Name: "openai"},
		"openai:text-embedding-3-large:3072": {Name: "openai", Model: "text-embedding-3-large"},
		"ollama:nomic-embed-text":            {Name: "ollama"},
	} {
		if e, _ := New(c); e.Model() != model {
			t.Errorf("%+v is %s, not %s", c, e.Model(), model)
		}
	}
}

// TestKeyOfOpenAIGoesToOpenAIAlone names another server, and no variable for its key.
func TestKeyOfOpenAIGoesToOpenAIAlone(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", secret)
	e, _ := listen(t, Config{Name: "openai"}, func(_ int, a asks, w http.ResponseWriter) {
		if a.Key != "" {
			t.Errorf("another server got %q", a.Key)
		}
		fmt.Fprint(w, `{"data":[{"embedding":[`+strings.Repeat("1,", 1535)+`1]}]}`)
	})
	if _, err := e.Embed(t.Context(), []string{"a"}); err != nil {
		t.Error(err)
	}
}

func TestBatchesAreCutAtTheirBounds(t *testing.T) {
	var sizes []string
	e, _ := listen(t, Config{Name: "openai", Model: "m"}, func(_ int, a asks, w http.ResponseWriter) {
		size := 0
		for _, text := range a.Input {
			size += len(text)
		}
		sizes = append(sizes, fmt.Sprint(len(a.Input), "/", size))
		vectors(a, w)
	})
	embed := func(texts ...string) {
		t.Helper()
		v, err := e.Embed(t.Context(), texts)
		if err != nil || len(v) != len(texts) {
			t.Fatalf("%d vectors, %v", len(v), err)
		}
		for i := range v {
			if diff := cmp.Diff(want(min(len(texts[i]), maxText)), v[i]); diff != "" {
				t.Fatalf("text %d (-want +got)\n%s", i, diff)
			}
		}
	}
	embed(strings.Split(strings.Repeat("x", maxBatch), "")...)
	embed(strings.Split(strings.Repeat("x", 2*maxBatch+1), "")...)
	long := strings.Repeat("y", maxText)
	embed(long, long+"y", long, long, long, long, long, long, long, long, strings.Repeat("z", maxRequest-10*maxText), "and one")
	if diff := cmp.Diff([]string{"64/64", "64/64", "64/64", "1/1", fmt.Sprint("11/", maxRequest), "1/7"}, sizes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := cut(strings.Repeat("ä", maxText)); got != strings.Repeat("ä", maxText/2) {
		t.Errorf("%d bytes are left of two-byte letters", len(got))
	}
	if got := cut("x" + strings.Repeat("ä", maxText)); len(got) != maxText-1 {
		t.Errorf("%d bytes are left where a letter is cut", len(got))
	}
}

// TestVectorsBeforeAnErrorAreGiven lets the second of three batches fail.
func TestVectorsBeforeAnErrorAreGiven(t *testing.T) {
	e, _ := listen(t, Config{Name: "openai", Model: "m"}, func(n int, a asks, w http.ResponseWriter) {
		if n == 2 {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		vectors(a, w)
	})
	e.(*server).batch = 1
	v, err := e.Embed(t.Context(), []string{"a", "b", "c"})
	if err == nil || len(v) != 3 || v[0] == nil || v[1] != nil || v[2] != nil {
		t.Errorf("%v, %v", v, err)
	}
}

func TestUnusableAnswers(t *testing.T) {
	for answer, problem := range map[string]string{
		``:              "unexpected end",
		`<html>`:        "invalid character",
		`{}`:            "0 vectors for 2 texts",
		`{"data":[{}]}`: "1 vectors for 2 texts",
		`{"data":[{"embedding":[1]},{"embedding":[1]},{"embedding":[1]}]}`:                     "3 vectors for 2 texts",
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`:                   "two vectors for one text",
		`{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`:                   "text 2 of 2",
		`{"data":[{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}]}`:                  "text -1 of 2",
		`{"data":[{"embedding":[1]},{}]}`:                                                      "without a vector",
		`{"data":[{"embedding":[1]},{"embedding":[]}]}`:                                        "a vector of 0 numbers",
		`{"data":[{"embedding":[1]},{"embedding":[1,2]}]}`:                                     "2 numbers where others have 1",
		`{"data":[{"embedding":[0,0]},{"embedding":[1,2]}]}`:                                   "length is 0",
		`{"data":[{"embedding":[null,null]},{"embedding":[1,2]}]}`:                             "length is 0",
		`{"data":[{"embedding":[1e300,1]},{"embedding":[1,2]}]}`:                               "length is +Inf",
		`{"data":[{"embedding":["NaN"]},{"embedding":[1]}]}`:                                   "cannot unmarshal",
		`{"data":[{"embedding":[` + strings.Repeat("1,", maxDim) + `1]},{"embedding":[1]}]}`:   fmt.Sprint("a vector of ", maxDim+1),
		`{"data":[{"embedding":[1]},{"embedding":[1]}]}` + strings.Repeat(" ", maxAnswer-46+1): "more than 32 MB",
	} {
		e, pauses := listen(t, Config{Name: "openai", Model: "m"}, func(_ int, _ asks, w http.ResponseWriter) { fmt.Fprint(w, answer) })
		_, err := e.Embed(t.Context(), []string{"a", "b"})
		if err == nil || !strings.Contains(err.Error(), problem) || retryable(err) || len(*pauses) > 0 {
			t.Errorf("%.80s: %v; retryable %v", answer, err, retryable(err))
		}
	}
	e, _ := listen(t, Config{Name: "openai", Model: "m"}, func(_ int, _ asks, w http.ResponseWriter) {
		fmt.Fprint(w, `{"data":[{"embedding":[1]},{"embedding":[1]}]}`+strings.Repeat(" ", maxAnswer-46))
	})
	if _, err := e.Embed(t.Context(), []string{"a", "b"}); err != nil {
		t.Errorf("an answer at the bound: %v", err)
	}
}

// TestLengthStaysTheSame lets a server change its mind between two requests.
func TestLengthStaysTheSame(t *testing.T) {
	e, _ := listen(t, Config{Name: "ollama"}, func(n int, _ asks, w http.ResponseWriter) {
		fmt.Fprintf(w, `{"embeddings":[[1%s]]}`, strings.Repeat(",1", n))
	})
	if _, err := e.Embed(t.Context(), []string{"a"}); err != nil || e.Dim() != 2 {
		t.Fatalf("%v, %d numbers", err, e.Dim())
	}
	if _, err := e.Embed(t.Context(), []string{"a"}); err == nil || e.Dim() != 2 {
		t.Errorf("%v, %d numbers", err, e.Dim())
	}
}

func TestErrorsAreOfTheirServer(t *testing.T) {
	e, _ := listen(t, Config{Name: "ollama"}, func(_ int, _ asks, w http.ResponseWriter) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":"model \"nomic-embed-text\" not found, try pulling it first"}`)
	})
	_, err := e.Embed(t.Context(), []string{"a"})
	var as *Error
	if !errors.As(err, &as) || as.Status != 404 || as.Server != "ollama" || as.Retryable {
		t.Fatalf("%#v", err)
	}
	const message = `embed: ollama: the server answered 404 Not Found: model "nomic-embed-text" not found, try pulling it first`
	if err.Error() != message {
		t.Error(err)
	}
}

// FuzzAnswer reads what no server should send: no panic, and as many unit vectors as texts, or an error.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[3,4]}]}`, `{"embeddings":[[1],[2]]}`, `{"data":null}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, p := range []protocol{openai, ollama} {
			vectors, err := p.answer(body, 2)
			if err != nil {
				continue
			}
			if len(vectors) != 2 {
				t.Fatalf("%d vectors", len(vectors))
			}
			s := &server{protocol: p}
			for _, v := range vectors {
				unit, err := s.unit(v)
				if err != nil {
					break
				}
				var sum float64
				for _, x := range unit {
					sum += float64(x) * float64(x)
				}
				if !(math.Abs(sum-1) < 1e-5) {
					t.Fatalf("%v has the length %v", v, math.Sqrt(sum))
				}
			}
		}
	})
}
