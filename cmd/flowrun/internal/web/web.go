// Package web is the dashboard: the pages that a daemon shows to people.
//
// Each page is a template over answers of the API, which [serve.Server] gives without a way over the network, so a page shows nothing that
// programs cannot ask for. Pages work without scripts. With them, a page that is open is drawn again when the store has changed: the server says
// so over a stream (live.go), the browser asks for the page once more, and htmx puts in what differs. All who have the same page open share a
// drawing (shelf.go).
//
// All files are embedded. The policy of the pages allows no script, style or picture but those of the server, and no inline ones. Every text that
// comes from a run passes html/template.
//
// The package holds no state but the streams and what was drawn last; a page that was open while the server was started anew goes on. Enter at [New].
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/runner/view/graph"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// Pages are the pages of one server.
type Pages struct {
	server    *serve.Server
	templates map[string]*template.Template // by the name of the page
	assets    map[string]asset
	pulse     *pulse
	shelf     shelf
	mux       *http.ServeMux
	now       func() time.Time
}

// asset is a file that pages load. Its address holds its hash, so browsers never ask for it again.
type asset struct {
	body  []byte
	kind  string
	hash  string
	tight func() []byte // body, compressed
}

func newAsset(body []byte, kind string) asset {
	hash := sha256.Sum256(body)
	return asset{body, kind, hex.EncodeToString(hash[:6]), sync.OnceValue(func() []byte { return compress(body, gzip.BestCompression) })}
}

// compress is the gzip form of some bytes.
func compress(body []byte, level int) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		panic("web: " + err.Error()) // the levels are constants
	}
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

// New returns the pages of a server.
func New(s *serve.Server) serve.Pages {
	p := &Pages{server: s, templates: map[string]*template.Template{}, assets: map[string]asset{}, pulse: newPulse(s.Stamp), mux: http.NewServeMux(), now: time.Now}
	p.route()
	p.readAssets()
	functions := p.functions()
	base := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/base.html", "templates/parts.html"))
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic("web: " + err.Error()) // the pattern is constant
	}
	for _, name := range names {
		page := strings.TrimSuffix(path.Base(name), ".html")
		p.templates[page] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, name))
	}
	return p
}

// readAssets reads the embedded files that browsers load.
func (p *Pages) readAssets() {
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	err := fs.WalkDir(staticFiles, "static", func(name string, d fs.DirEntry, err error) error {
		kind := kinds[path.Ext(name)]
		if err != nil || d.IsDir() || kind == "" {
			return err
		}
		body, err := staticFiles.ReadFile(name)
		p.assets[path.Base(name)] = newAsset(body, kind)
		return err
	})
	if err != nil {
		panic("web: " + err.Error()) // the files are embedded
	}
	p.assets["graph.css"] = newAsset([]byte(graph.Style()), kinds[".css"])
}

// Close ends the streams of the pages.
func (p *Pages) Close() { p.pulse.close() }

// policy allows what the server itself gives, and nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// page is what every template is given.
type page struct {
	Title string
	Here  string // the entry of the navigation
	Self  string // the address of the page, for drawing it again
	Live  string // the address of the stream that says when; "": the page does not change
	Poll  bool   // what it shows changes besides: the output of attempts that run is not in the store
	Flash string
	Now   time.Time
	Data  any
}

// route answers one kind of page.
type route struct {
	pattern string // as of http.ServeMux
	title   string
	page    string // the template; "": data answers itself
	live    bool
	data    func(*Pages, http.ResponseWriter, *http.Request) (any, error)
}

// errAnswered is the error of a view that has answered by itself.
var errAnswered = errors.New("web: answered")

// ServeHTTP answers a request.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	if r.URL.Path == "/static" || strings.HasPrefix(r.URL.Path, "/static/") {
		p.static(w, r)
		return
	}
	if r.URL.Path == "/login" {
		p.login(w, r)
		return
	}
	if !p.server.LoggedIn(r, p.now()) {
		if r.Method == "GET" && r.Header.Get("HX-Request") == "" {
			http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
			return
		}
		p.fail(w, r, &serve.Failure{Status: http.StatusUnauthorized, Code: "login", Message: "Log in first: run  flowrun open  on the machine of the server."})
		return
	}
	if _, pattern := p.mux.Handler(r); pattern == "" {
		p.fail(w, r, &serve.Failure{Status: http.StatusNotFound, Code: "path", Message: "This page does not exist."})
		return
	}
	p.mux.ServeHTTP(w, r)
}

// route makes the table of all pages.
func (p *Pages) route() {
	for i := range views {
		v := &views[i]
		p.mux.HandleFunc(v.pattern, func(w http.ResponseWriter, r *http.Request) {
			var s *sheet
			var err error
			if v.live && r.Header.Get("HX-Request") != "" { // a page that is open
				s, err = p.drawOnce(w, r, v)
			} else {
				s, _, err = p.draw(w, r, v)
			}
			switch {
			case errors.Is(err, errAnswered):
			case err != nil:
				p.fail(w, r, err)
			default:
				s.write(w, r, http.StatusOK)
			}
		})
	}
}

// draw draws a page. lasts tells that it stays as it is until the store changes.
func (p *Pages) draw(w http.ResponseWriter, r *http.Request, v *route) (s *sheet, lasts bool, err error) {
	data, err := v.data(p, w, r)
	if err != nil {
		return nil, false, err
	}
	d := page{Title: v.title, Here: entryOf(r), Self: r.URL.RequestURI(), Now: p.now(), Data: data, Flash: flashes[r.URL.Query().Get("done")]}
	if t, is := data.(interface{ title() string }); is {
		d.Title = t.title()
	}
	if x, is := data.(interface{ polls() bool }); is {
		d.Poll = x.polls()
	}
	if v.live {
		d.Live = "/live"
		if run := r.PathValue("run"); run != "" {
			d.Live += "?run=" + url.QueryEscape(run)
		}
	}
	s, err = p.execute(v.page, d)
	return s, !d.Poll, err
}

// entryOf is the entry of the navigation that a page belongs to: the first part of its path.
func entryOf(r *http.Request) string {
	here, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return here
}

// execute executes the template of a page.
func (p *Pages) execute(name string, d page) (*sheet, error) {
	var out bytes.Buffer
	if err := p.templates[name].ExecuteTemplate(&out, "base.html", d); err != nil {
		return nil, fmt.Errorf("the page cannot be drawn: %w", err)
	}
	return newSheet(out.Bytes()), nil
}

func (p *Pages) write(w http.ResponseWriter, r *http.Request, status int, name string, d page) {
	s, err := p.execute(name, d)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.write(w, r, status)
}

// minCompressed is the size from which on a page is compressed, in bytes.
const minCompressed = 1400

// takesGzip reports whether an answer may be compressed, and says so in its header.
func takesGzip(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Vary", "Accept-Encoding")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return false
	}
	w.Header().Set("Content-Encoding", "gzip")
	return true
}

// titleOf is the title of a page that says what went wrong.
func titleOf(r *http.Request, f *serve.Failure) string {
	switch {
	case f.Status == http.StatusUnauthorized:
		return "Not logged in"
	case f.Status == http.StatusNotFound:
		return "Not found"
	case f.Status >= http.StatusInternalServerError:
		return "Something went wrong"
	case r.Method == "POST":
		return "This was not done"
	}
	return "This page cannot be shown"
}

// fail writes a page that says what went wrong.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := &serve.Failure{Status: http.StatusInternalServerError, Code: "page", Message: err.Error()}
	errors.As(err, &f)
	back := "/"
	if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host {
		back = from.RequestURI()
	}
	p.write(w, r, f.Status, "error", page{Title: titleOf(r, f), Here: entryOf(r), Self: r.URL.RequestURI(), Now: p.now(), Data: map[string]any{"Failure": f, "Back": back}})
}

func (p *Pages) static(w http.ResponseWriter, r *http.Request) {
	a, has := p.assets[strings.TrimPrefix(r.URL.Path, "/static/")]
	if !has || r.Method != "GET" {
		p.fail(w, r, &serve.Failure{Status: http.StatusNotFound, Code: "path", Message: "This file does not exist."})
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	body := a.body
	if takesGzip(w, r) {
		body = a.tight()
	}
	_, _ = w.Write(body)
}

// login logs a browser in: by a one-time code, or by the token.
func (p *Pages) login(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.FormValue("next"))
	refused := ""
	switch r.Method {
	case "GET":
		if p.server.LoggedIn(r, p.now()) && r.URL.Query().Get("code") == "" {
			http.Redirect(w, r, next, http.StatusSeeOther)
			return
		}
	case "POST":
		if p.server.MayLogIn(r.PostFormValue("code"), r.PostFormValue("token"), p.now()) {
			http.SetCookie(w, p.server.NewSession(p.now()))
			http.Redirect(w, r, next, http.StatusSeeOther)
			return
		}
		refused = "This link or token is not valid. A link works once, for 2 minutes."
	default:
		p.fail(w, r, &serve.Failure{Status: http.StatusMethodNotAllowed, Code: "method", Message: "This page takes GET and POST."})
		return
	}
	status := http.StatusOK
	if refused != "" {
		status = http.StatusForbidden
	}
	p.write(w, r, status, "login", page{Title: "Log in", Here: entryOf(r), Now: p.now(), Data: map[string]string{"Code": r.URL.Query().Get("code"), "Next": next, "Refused": refused}})
}

// localPath is a path of this server; "/" for anything else.
func localPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(text, "\\\r\n") {
		return "/"
	}
	return text
}

// get asks the API.
func get[T any](p *Pages, r *http.Request, format string, args ...any) (T, error) {
	var out T
	v, err := p.server.Get(r.Context(), apiPath(format, args...))
	if err != nil {
		return out, err
	}
	if typed, is := v.(T); is {
		return typed, nil
	}
	return out, convert(v, &out) // lists of the store are values without a type
}

// convert gives an answer the type that the API describes.
func convert(from, to any) error {
	body, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(body, to)
	}
	return err
}

// apiPath makes a path with its arguments quoted.
func apiPath(format string, args ...any) string {
	quoted := make([]any, len(args))
	for i, a := range args {
		quoted[i] = a
		if text, is := a.(string); is {
			quoted[i] = url.QueryEscape(text)
		}
	}
	return "/api/v1" + fmt.Sprintf(format, quoted...)
}

// document reads a document of the API, such as the end of a log.
func (p *Pages) document(r *http.Request, path string, header http.Header) ([]byte, error) {
	asked := r.Clone(r.Context())
	asked.Header = header
	rec := &recorder{header: http.Header{}}
	err := p.server.Stream(rec, asked, path)
	return rec.body.Bytes(), err
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(int)             {}
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
