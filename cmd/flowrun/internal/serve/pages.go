package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Pages are what a server shows to people besides its API. They ask the server as its clients do ([Server.Get], [Server.Post]), so a page shows
// nothing that the API does not have.
type Pages interface {
	// ServeHTTP answers a request for a path outside of /api and /webhooks. The guard has checked its host and origin, and not who asks.
	http.Handler
	// Close ends what the pages watch.
	Close()
}

// Failure is the error of a request, as a client of the API sees it.
type Failure struct {
	Status  int
	Code    string
	Message string
}

func (f *Failure) Error() string { return f.Message }

// failureOf is an error as a client sees it.
func failureOf(err error) error {
	if err == nil {
		return nil
	}
	no := asRefusal(err)
	return &Failure{no.status, no.code, no.text}
}

// byPage is the context key of the address of a browser.
type byPage struct{}

// Get answers a GET request for a path of the API, such as /api/v1/runs?limit=5, with a value of the type that its route declares. The error
// is a *Failure.
func (s *Server) Get(ctx context.Context, path string) (any, error) {
	return s.do(ctx, "GET", path, nil)
}

// Post carries out a request that changes something, in the name of a browser at an address. The error is a *Failure.
func (s *Server) Post(ctx context.Context, path, from string, body any) (any, error) {
	return s.do(context.WithValue(ctx, byPage{}, from), "POST", path, body)
}

func (s *Server) do(ctx context.Context, method, path string, body any) (any, error) {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, failureOf(err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, path, bytes.NewReader(data))
	if err != nil {
		return nil, failureOf(&refusal{http.StatusBadRequest, "path", fmt.Sprintf("the path %.200q cannot be read", path)})
	}
	if from, is := ctx.Value(byPage{}).(string); is {
		r.RemoteAddr = from
	}
	to, _ := find(r)
	if to == nil || to.do == nil {
		return nil, &Failure{http.StatusNotFound, "path", fmt.Sprintf("there is nothing at %.200q", path)}
	}
	if no := s.onlyOnDisk(to); no != nil {
		return nil, failureOf(no)
	}
	v, err := to.do(s, r)
	return v, failureOf(err)
}

// Stream answers a request for a document of the API, such as a log, in the place of that path.
func (s *Server) Stream(w http.ResponseWriter, r *http.Request, path string) error {
	asked, err := http.NewRequestWithContext(r.Context(), "GET", path, nil)
	if err != nil {
		return failureOf(&refusal{http.StatusBadRequest, "path", "the path cannot be read"})
	}
	asked.Header = r.Header
	to, _ := find(asked)
	if to == nil || to.stream == nil {
		return &Failure{http.StatusNotFound, "path", "there is nothing at this path"}
	}
	if err := to.stream(s, w, asked); err != nil {
		return failureOf(err)
	}
	return nil
}

// Progress is how far a run has come: the number of its events, and whether it has ended.
func (s *Server) Progress(ctx context.Context, run string) (events uint64, ended bool, err error) {
	info, err := s.daemon.store.Get(ctx, run)
	return info.Events, info.Status.Terminal(), failureOf(err)
}

// Stamp changes when something is written to the store, by whatever process. A server that keeps runs does not say when something
// changes there: the stamp changes every two seconds.
func (s *Server) Stamp() string {
	if s.daemon.store.Address() != "" {
		return strconv.FormatInt(time.Now().Unix()/2, 10)
	}
	return s.daemon.store.Stamp()
}

// Where says what keeps the runs: the folder of the store, or the address of the server.
func (s *Server) Where() string { return cmp.Or(s.daemon.store.Address(), s.StoreDir()) }

// Remote reports whether a server keeps the runs.
func (s *Server) Remote() bool { return s.daemon.store.Address() != "" }

// StoreDir is the folder of the store.
func (s *Server) StoreDir() string { return s.daemon.options.Dir }

// checkPage refuses a request for a page before it is looked at. A page may be opened by a link from anywhere; only a page of this server may
// ask for a change.
func (g *guard) checkPage(r *http.Request) *refusal {
	opens := r.Method == "GET" && r.Header.Get("Sec-Fetch-Mode") == "navigate" && slices.Contains([]string{"", "document"}, r.Header.Get("Sec-Fetch-Dest"))
	if opens && r.Header.Get("Origin") == "" {
		copied := *r
		copied.Header = r.Header.Clone()
		copied.Header.Del("Sec-Fetch-Site")
		r = &copied
	}
	if no := g.check(r, true); no != nil {
		return no
	}
	if r.Method == "POST" && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return &refusal{http.StatusForbidden, "origin", "only a page of this server may ask for a change; programs use /api/v1"}
	}
	return nil
}

// servePage answers a request with a page.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if no := s.guard.checkPage(r); no != nil {
		answerError(w, no)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	s.pages.ServeHTTP(w, r)
}

// isPage reports whether a path is one of the pages.
func isPage(path string) bool {
	return !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/webhooks/")
}
