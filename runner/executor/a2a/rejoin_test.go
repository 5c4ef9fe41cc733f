package a2a

import (
	"context"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/http"
)

// keeper is a service whose one task goes on while nobody listens. Streams break off, and it can be out of reach for a while.
type keeper struct {
	*httptest.Server
	old, streams, refuses bool // refuses: to tell of a task that is under way

	mu      sync.Mutex
	state   string // of the task; "": there is none, or it is forgotten
	down    int    // so many requests get no answer
	given   int
	methods []string
	asked   func(k *keeper, method string) // called before each answer
}

func newKeeper(t *testing.T, old, streams bool) *keeper {
	k := &keeper{old: old, streams: streams}
	k.Server = httptest.NewServer(k)
	t.Cleanup(k.Close)
	return k
}

func (k *keeper) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.Method == "GET" {
		card := map[string]any{"name": "k", "capabilities": map[string]any{"streaming": k.streams}, "supportedInterfaces": []any{map[string]any{"url": k.URL + "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}}}
		if k.old {
			card = map[string]any{"name": "k", "capabilities": map[string]any{"streaming": k.streams}, "url": k.URL + "/rpc", "protocolVersion": "0.3.0"}
		}
		_ = json.NewEncoder(w).Encode(card)
		return
	}
	var q struct {
		ID     any
		Method string
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	k.methods = append(k.methods, q.Method)
	if k.asked != nil {
		k.asked(k, q.Method)
	}
	if k.down > 0 {
		k.down--
		panic(nethttp.ErrAbortHandler)
	}
	stream := false
	answer := map[string]any{"jsonrpc": "2.0", "id": q.ID}
	switch q.Method {
	case "SendMessage", "message/send", "SendStreamingMessage", "message/stream":
		k.given++
		k.state = "working"
		stream = strings.Contains(strings.ToLower(q.Method), "stream")
	case "CancelTask", "tasks/cancel":
		k.state = "canceled"
	case "SubscribeToTask", "tasks/resubscribe":
		if k.refuses {
			answer["error"] = map[string]any{"code": -32004, "message": "no"}
		}
		stream = !k.refuses
	}
	if k.state == "" {
		answer["error"], stream = map[string]any{"code": -32001, "message": "Task not found"}, false
	}
	if answer["error"] == nil {
		task := map[string]any{"id": "t1", "status": map[string]any{"state": k.state}}
		if k.state == "completed" {
			task["artifacts"] = []any{map[string]any{"artifactId": "a", "parts": []any{map[string]any{"kind": "text", "text": "all of it"}}}}
		}
		answer["result"] = map[string]any{"task": task}
		if k.old || strings.HasPrefix(q.Method, "Get") {
			task["kind"] = "task"
			answer["result"] = task
		}
	}
	text, _ := json.Marshal(answer)
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\n", text)
	_ = nethttp.NewResponseController(w).Flush()
	panic(nethttp.ErrAbortHandler) // the connection is cut in the middle of the stream
}

// rejoin carries out an attempt, which may go on with a task, and gives what was kept of it.
func rejoin(ctx context.Context, t *testing.T, k *keeper, session string) (f event.AttemptFinished, kept []string) {
	t.Helper()
	x := http.New(http.Options{Release: "test"})
	t.Cleanup(x.Close)
	e := New(Options{Web: x, Around: executor.Around{Session: func(_ context.Context, _ event.Attempt, session string) error {
		kept = append(kept, session)
		return nil
	}}})
	a := (&stub{Server: k.Server}).attempt()
	a.Agent.Session = session
	return e.Execute(ctx, a), kept
}

// A task is given once, whatever becomes of the connection.
func TestTasksAreTakenUp(t *testing.T) {
	for _, old := range []bool{false, true} {
		for _, streams := range []bool{false, true} {
			t.Run(fmt.Sprintf("old %v, streams %v", old, streams), func(t *testing.T) {
				t.Parallel()
				words := newest
				if old {
					words = older
				}
				completeAt := func(n int) func(*keeper, string) { // the n-th request after the message finds the task completed
					return func(k *keeper, method string) {
						if method != words.send && method != words.stream {
							if n--; n < 0 && k.down == 0 {
								k.state = "completed"
							}
						}
					}
				}
				k := newKeeper(t, old, streams)
				k.asked = completeAt(3)
				f, kept := rejoin(t.Context(), t, k, "")
				if f.Output != "all of it" || k.given != 1 || !slices.Equal(kept, []string{"t1"}) || streams != slices.Contains(k.methods, words.listen) {
					t.Errorf("given %d times, kept %q, %q: %+v", k.given, kept, k.methods, f)
				}

				// The service is out of reach for a while.
				k = newKeeper(t, old, streams)
				gone := false
				k.asked = func(k *keeper, method string) {
					if method == words.send || method == words.stream {
						return
					}
					if !gone {
						k.down, gone = 6, true
					}
					if k.down == 0 {
						k.state = "completed"
					}
				}
				if f, _ = rejoin(t.Context(), t, k, ""); f.Output != "all of it" || k.given != 1 {
					t.Errorf("out of reach: given %d times, %q: %+v", k.given, k.methods, f)
				}

				// Another process goes on with the task.
				k = newKeeper(t, old, streams)
				k.state, k.asked, k.refuses = "working", completeAt(4), true
				f, kept = rejoin(t.Context(), t, k, "t1")
				if f.Output != "all of it" || f.Warning != "" || k.given != 0 || kept != nil {
					t.Errorf("taken up: given %d times, kept %q, %q: %+v", k.given, kept, k.methods, f)
				}
				if n := strings.Count(strings.Join(k.methods, " "), words.listen); streams && n != 1 || !streams && n != 0 {
					t.Errorf("asked %d times for a stream that is refused", n)
				}

				// The service does not know it any more: it is given again, and that is said.
				k = newKeeper(t, old, streams)
				k.asked = completeAt(2)
				f, kept = rejoin(t.Context(), t, k, "t0")
				if f.Output != "all of it" || !strings.Contains(f.Warning, "the task t0 cannot be continued: the agent does not know it any more") || k.given != 1 || !slices.Equal(kept, []string{"t1"}) {
					t.Errorf("unknown: given %d times, kept %q: %+v", k.given, kept, f)
				}
				k = newKeeper(t, old, streams)
				k.state, k.asked = "canceled", completeAt(2)
				if f, _ = rejoin(t.Context(), t, k, "t1"); f.Output != "all of it" || !strings.Contains(f.Warning, "it was cancelled") || k.given != 1 {
					t.Errorf("cancelled: given %d times: %+v", k.given, f)
				}
			})
		}
	}
}

// An attempt that gives a task up leaves it to the next one only while the task can go on.
func TestTasksAreLeft(t *testing.T) {
	defer func(d time.Duration) { lostMost = d }(lostMost)
	lostMost = 200 * time.Millisecond
	k := newKeeper(t, false, false)
	k.asked = func(k *keeper, method string) {
		if method == "GetTask" {
			k.down = 1
		}
	}
	f, _ := rejoin(t.Context(), t, k, "")
	if f.Error == nil || f.Error.Kind != event.Transient || f.Session != "t1" {
		t.Errorf("a service that cannot be reached: session %q, %+v", f.Session, f.Error)
	}
	k = newKeeper(t, false, false)
	k.asked = func(k *keeper, method string) {
		if method == "GetTask" {
			k.state = ""
		}
	}
	if f, _ = rejoin(t.Context(), t, k, ""); f.Error == nil || f.Error.Kind != event.Transient || f.Session != "" {
		t.Errorf("forgotten: session %q, %+v", f.Session, f.Error)
	}
	k = newKeeper(t, false, false)
	k.asked = func(k *keeper, method string) {
		if method == "GetTask" {
			k.state = "failed"
		}
	}
	if f, _ = rejoin(t.Context(), t, k, ""); f.Error == nil || f.Session != "" {
		t.Errorf("failed: session %q, %+v", f.Session, f.Error)
	}
}

// A driver that stops leaves the task to the next one, and a cancel ends it.
func TestStoppingLeavesTheTask(t *testing.T) {
	for cause, state := range map[error]string{executor.Stopping: "working", executor.Cancelled: "canceled"} {
		for _, streams := range []bool{false, true} {
			k := newKeeper(t, false, streams)
			ctx, cancel := context.WithCancelCause(t.Context())
			k.asked = func(_ *keeper, method string) {
				if !strings.Contains(strings.ToLower(method), "message") { // the task is given, and its executor has asked for it
					time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
				}
			}
			f, _ := rejoin(ctx, t, k, "")
			k.mu.Lock()
			if f.Outcome != event.Failed || f.Session != "" || k.state != state {
				t.Errorf("%v, streams %v: the task is %s, want %s: %+v", cause, streams, k.state, state, f)
			}
			k.mu.Unlock()
		}
	}
}
