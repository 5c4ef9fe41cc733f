package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// website starts a server on loopback until the session is over, and sets URL.
//
//	/items          JSON
//	/status/CODE    that status
//	/busy/N         429 with Retry-After: 0 until it was asked N times, then what the others are sent to
//	/moved          a redirect to /items
//	/agent          an agent: says what it was told, in the protocol
//	/elsewhere      307 to /items of another origin: the same server by another name
//	/switch         101, and then nothing on a connection that stays open
//	/log            the requests so far, a line each
func website(ts *testscript.TestScript, neg bool, words []string) {
	if neg || len(words) != 0 {
		ts.Fatalf("usage: website")
	}
	s := httptest.NewServer(&site{})
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL)
}

type site struct {
	mu    sync.Mutex
	lines []string
	asked map[string]int
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[r.URL.Path]++
	number, _ := strconv.Atoi(rest)
	if first == "log" {
		io.WriteString(w, strings.Join(s.lines, "\n"))
		return
	}
	s.lines = append(s.lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL, body)))
	switch first {
	case "items":
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"items":["bolt","nut"]}`)
	case "status":
		w.WriteHeader(number)
		io.WriteString(w, "as you wish\n")
	case "busy":
		if s.asked[r.URL.Path] < number {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(429)
			return
		}
		fmt.Fprintf(w, "at last, with key %t", r.Header.Get("Idempotency-Key") != "")
	case "moved":
		http.Redirect(w, r, "/items", http.StatusFound)
	case "elsewhere":
		http.Redirect(w, r, "http://"+strings.Replace(r.Host, "127.0.0.1", "localhost", 1)+"/items", http.StatusTemporaryRedirect)
	case "switch":
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			go func() {
				io.Copy(io.Discard, c)
				c.Close()
			}()
		}
	case "agent":
		var told map[string]any
		json.Unmarshal(body, &told)
		answer, _ := json.Marshal(map[string]any{"type": "result", "output": map[string]any{"summary": fmt.Sprint("did: ", told["task"])}})
		fmt.Fprintf(w, "{\"type\":\"progress\",\"percent\":50}\n%s\n", answer)
	case "v1": // a model behind the API of chat completions
		chatModel(w, r, body)
	default:
		http.NotFound(w, r)
	}
}

// chatModel answers as a model that says what it was told, or gives {"words": N} where a schema is asked for.
func chatModel(w http.ResponseWriter, r *http.Request, body []byte) {
	var told struct {
		Messages []struct{ Role, Content string }
		Format   any `json:"response_format"`
	}
	json.Unmarshal(body, &told)
	text, user := "", ""
	for _, m := range told.Messages {
		text += m.Role + ": " + m.Content + "\n"
		user = m.Content
	}
	if told.Format != nil {
		text = fmt.Sprintf(`{"words": %d}`, len(strings.Fields(user)))
	}
	switch {
	case strings.Contains(user, "too fast"):
		w.Header().Set("Retry-After-Ms", "1500")
		w.WriteHeader(429)
		io.WriteString(w, `{"error":{"type":"rate_limit_error","message":"Slow down."}}`)
		return
	case strings.Contains(user, "the key"):
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"error":{"code":"invalid_api_key","message":"Incorrect API key: %s"}}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for len(text) > 0 {
		n := min(len(text), 7)
		piece, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": text[:n]}}}})
		fmt.Fprintf(w, "data: %s\n\n", piece)
		text = text[n:]
	}
	io.WriteString(w, `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":100}}`+"\n\ndata: [DONE]\n\n")
}
