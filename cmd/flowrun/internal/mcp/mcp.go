// Package mcp serves the commands of flowrun as tools to agents, by the Model Context Protocol.
//
// A tool is a line of a table: a command, and how its arguments become words. Each call is a process of flowrun's own, so a tool does exactly
// what the command does: what it may read, what it masks, how it is cancelled. The words of a client are never options: values go as
// --NAME=VALUE, and words behind --.
//
// The package speaks the protocol and starts nothing itself: see [Options].Command. It must not import the commands. Enter at [New].
package mcp

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// MaxResult is how many bytes of what a command prints a client gets; of more it gets the beginning.
const MaxResult = 256 << 10

// Result is what a command printed, and its exit code.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Options say what a server offers.
type Options struct {
	Release string
	Rights  []Right // none: those of a reader
	// Command runs a command of flowrun, and hands each line that it writes on the way to hear. A context that ends interrupts the
	// command.
	Command func(ctx context.Context, words []string, hear Hear) (Result, error)
}

// Hear are the lines of a command as they come, of standard output and of standard error. Either can be nil.
type Hear struct{ Out, Err func(line string) }

const instructions = `flowrun runs checked-in workflow files (*.flow.hcl) durably. Before you write one, read: explain "step", explain "conditions". Check it
with validate, look at it with plan, and prove it with test; apply runs it. A run that waits for a person is in the inbox: never decide yourself.`

// Server answers clients.
type Server = mcp.Server

// New makes a server. A server may have many sessions.
func New(o Options) *Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "flowrun", Title: "flowrun", Version: o.Release}, &mcp.ServerOptions{Instructions: instructions})
	for i := range tools {
		if t := &tools[i]; slices.Contains(o.Rights, t.right) {
			s.AddTool(t.definition(), t.handler(&o))
		}
	}
	if slices.Contains(o.Rights, Run) {
		s.AddTool(askTool, ask(&o))
	}
	for _, r := range resources {
		s.AddResourceTemplate(r.template, r.handler(&o))
	}
	return s
}

// Speak serves one client on standard input and output, until it leaves or the context ends.
func Speak(ctx context.Context, s *mcp.Server) error {
	err := s.Run(ctx, &stdio{})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading from the client: the input is not a message of the protocol: %w", err)
	}
	return nil
}

// maxRequest is the largest request over HTTP, in bytes.
const maxRequest = 4 << 20

// Handler serves clients over HTTP, each with the server of its token. Pages of other sites are refused.
func Handler(servers map[string]*mcp.Server) http.Handler {
	of := func(r *http.Request) (found *mcp.Server) {
		given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		for token, s := range servers { // all are compared, so that the time says nothing
			if subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 {
				found = s
			}
		}
		return found
	}
	sessions := mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{SessionTimeout: time.Hour})
	return http.NewCrossOriginProtection().Handler(http.MaxBytesHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if of(r) == nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
			return
		}
		sessions.ServeHTTP(w, r)
	}), maxRequest))
}

// definition is a tool as clients see it.
func (t *tool) definition() *mcp.Tool {
	properties, required := map[string]any{}, []string{}
	for _, a := range t.arguments {
		properties[a.name] = a.schema()
		if a.required {
			required = append(required, a.name)
		}
	}
	no := false
	return &mcp.Tool{Name: t.name, Title: t.title, Description: t.about,
		InputSchema: map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.right == Read, DestructiveHint: &t.destroys, OpenWorldHint: &no, Title: t.title}}
}

func (a *argument) schema() map[string]any {
	m := map[string]any{"description": a.about}
	switch a.kind {
	case word, text:
		m["type"] = "string"
	case count:
		m["type"] = "integer"
	case yes:
		m["type"] = "boolean"
	case many:
		m["type"], m["items"] = "array", map[string]any{"type": "string"}
	case pairs:
		m["type"], m["additionalProperties"] = "object", true
	}
	if a.words != nil {
		m["enum"] = a.words
	}
	return m
}

// line is the command of a call.
func (t *tool) line(given map[string]json.RawMessage) ([]string, error) {
	words := slices.Clone(t.command)
	var behind []string
	missing := "" // a word that was left out, behind which no other can stand
	for _, a := range t.arguments {
		raw, has := given[a.name]
		delete(given, a.name)
		if has = has && string(raw) != "null"; !has {
			if a.required {
				return nil, fmt.Errorf("%s is missing", a.name)
			}
			if a.kind == word {
				missing = a.name
			}
			continue
		}
		more, err := a.asWords(raw)
		if err != nil {
			return nil, err
		}
		if a.kind != word {
			words = append(words, more...)
			continue
		}
		if missing != "" {
			return nil, fmt.Errorf("%s needs %s", a.name, missing)
		}
		behind = append(behind, more...)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		return nil, fmt.Errorf("%s takes no %q", t.name, name)
	}
	if !t.plain && !t.run {
		words = append(words, "--json")
	}
	return append(append(words, "--"), behind...), nil
}

// asWords are the words of an argument.
func (a *argument) asWords(raw json.RawMessage) ([]string, error) {
	flag := a.flag
	if flag == "" {
		flag = strings.ReplaceAll(a.name, "_", "-")
	}
	wrong := func(want string) error { return fmt.Errorf("%s must be %s", a.name, want) }
	switch a.kind {
	case word, text:
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return nil, wrong("a text")
		}
		if a.words != nil && !slices.Contains(a.words, s) {
			return nil, wrong("one of " + strings.Join(a.words, ", "))
		}
		if a.kind == text {
			s = "--" + flag + "=" + s
		}
		return []string{s}, nil
	case count:
		var n int64
		if json.Unmarshal(raw, &n) != nil {
			return nil, wrong("a whole number")
		}
		return []string{"--" + flag + "=" + strconv.FormatInt(n, 10)}, nil
	case yes:
		var b bool
		if json.Unmarshal(raw, &b) != nil {
			return nil, wrong("true or false")
		}
		return []string{"--" + flag + "=" + strconv.FormatBool(b)}, nil
	case many:
		var list, words []string
		if json.Unmarshal(raw, &list) != nil {
			return nil, wrong("a list of texts")
		}
		for _, s := range list {
			words = append(words, "--"+flag+"="+s)
		}
		return words, nil
	case pairs:
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) != nil {
			return nil, wrong("an object")
		}
		var words []string
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if strings.Contains(name, "=") {
				return nil, fmt.Errorf("%s: the name %q has a =", a.name, name)
			}
			var s string
			if json.Unmarshal(m[name], &s) == nil {
				words = append(words, "--"+flag+"-raw="+name+"="+s)
			} else {
				words = append(words, "--"+flag+"="+name+"="+compact(m[name]))
			}
		}
		return words, nil
	}
	return []string{"--" + flag + "=" + compact(raw)}, nil
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// runLine is the line in which a command names the run that it drives.
var runLine = lazyregexp.New(`^run ([a-z0-9]+)\b`)

// handler calls the command of a tool.
func (t *tool) handler(o *Options) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		given := map[string]json.RawMessage{}
		if len(r.Params.Arguments) > 0 {
			if err := json.Unmarshal(r.Params.Arguments, &given); err != nil {
				return failed("the arguments must be an object"), nil
			}
		}
		p := &progress{now: time.Now, send: func(n float64, line string) {
			if token := r.Params.GetProgressToken(); token != nil {
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: line})
			}
		}}
		follows := t.follow != nil && string(given[follow.name]) == "true"
		alone := follows && !slices.Equal(t.follow, t.command) // the command that waits is another one
		var watched string
		if alone {
			delete(given, follow.name)
			_ = json.Unmarshal(given[theRun.name], &watched) // line says what is wrong with it
		}
		words, err := t.line(given)
		if err != nil {
			return failed(err.Error()), nil
		}
		if alone {
			if _, err := o.Command(ctx, append(slices.Clone(t.follow), "--", watched), Hear{p.tell, p.tell}); err != nil {
				return failed(err.Error()), nil
			}
		}
		var run string
		var once sync.Once
		var hear Hear
		switch {
		case t.run:
			hear.Err = func(line string) {
				if m := runLine().FindStringSubmatch(line); m != nil {
					once.Do(func() { run = m[1] })
				}
				p.tell(line)
			}
		case follows && !alone:
			hear.Out = p.tell
		}
		got, err := o.Command(ctx, words, hear)
		if err != nil {
			return failed(err.Error()), nil
		}
		if t.run && run != "" {
			shown, err := o.Command(ctx, []string{"runs", "show", "--json", "--", run}, Hear{})
			if err == nil && shown.Code == 0 {
				return answer(Result{Stdout: shown.Stdout, Stderr: lastLines(got.Stderr), Code: got.Code}), nil
			}
		}
		return answer(got), nil
	}
}

// progressRate is how many lines a second are progress. A client that wants all of them has them in the result.
const progressRate = 50

// progress sends lines to a client. It is safe for concurrent use.
type progress struct {
	now  func() time.Time
	send func(n float64, line string)

	mu     sync.Mutex
	sent   float64
	second int64
	lines  int // in this second
	left   int // left out since the last line
}

func (p *progress) tell(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.now().Unix(); s != p.second {
		p.second, p.lines = s, 0
	}
	if p.lines++; p.lines > progressRate {
		p.left++
		return
	}
	if p.left > 0 {
		line = fmt.Sprintf("(%d lines left out) %s", p.left, line)
		p.left = 0
	}
	p.sent++
	p.send(p.sent, line)
}

// lastLines is the end of what a command said.
func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// waits is the exit code of a run that waits for a person.
const waits = 4

// answer is what a command printed as a result. What it wrote to standard error is there if it failed.
func answer(got Result) *mcp.CallToolResult {
	r := &mcp.CallToolResult{IsError: got.Code != 0 && got.Code != waits, Content: []mcp.Content{}}
	out := cut(got.Stdout)
	var value map[string]any
	if json.Unmarshal([]byte(got.Stdout), &value) == nil && out == got.Stdout {
		r.StructuredContent = value
	}
	if out != "" {
		r.Content = append(r.Content, &mcp.TextContent{Text: out})
	}
	if said := strings.TrimSpace(got.Stderr); said != "" && (got.Code != 0 || out == "") {
		r.Content = append(r.Content, &mcp.TextContent{Text: cut(said)})
	}
	if len(r.Content) == 0 {
		r.Content = append(r.Content, &mcp.TextContent{Text: "done"})
	}
	return r
}

func cut(s string) string {
	if len(s) <= MaxResult {
		return s
	}
	return strings.ToValidUTF8(s[:MaxResult], "") + fmt.Sprintf("\n… %d bytes more; ask for less", len(s)-MaxResult)
}

func failed(why string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: why}}}
}

// resource is what a client can read by an address.
type resource struct {
	template *mcp.ResourceTemplate
	at       *regexp.Regexp
	words    []string
}

var resources = []resource{
	{&mcp.ResourceTemplate{URITemplate: "flowrun://runs/{run}", Name: "run", Title: "A run", MIMEType: "application/json", Description: "A run as runs show prints it."},
		regexp.MustCompile(`^flowrun://runs/([^/]+)$`), []string{"runs", "show", "--json", "--"}},
	{&mcp.ResourceTemplate{URITemplate: "flowrun://runs/{run}/events", Name: "events", Title: "The journal of a run", MIMEType: "application/x-ndjson", Description: "The events of a run, a line each."},
		regexp.MustCompile(`^flowrun://runs/([^/]+)/events$`), []string{"events", "--json", "--"}},
	{&mcp.ResourceTemplate{URITemplate: "flowrun://runs/{run}/graph", Name: "graph", Title: "The picture of a run", MIMEType: "image/svg+xml", Description: "The graph of a run with its states."},
		regexp.MustCompile(`^flowrun://runs/([^/]+)/graph$`), []string{"graph", "--"}},
}

func (x *resource) handler(o *Options) mcp.ResourceHandler {
	return func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		m := x.at.FindStringSubmatch(r.Params.URI)
		if m == nil {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		run, err := url.PathUnescape(m[1])
		if err != nil {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		got, err := o.Command(ctx, append(slices.Clone(x.words), run), Hear{})
		if err != nil {
			return nil, err
		}
		if got.Code != 0 {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: x.template.MIMEType, Text: got.Stdout}}}, nil
	}
}
