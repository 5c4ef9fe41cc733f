package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/webhook"
)

var deliveries = flag.Int("serve.deliveries", 0, "send so many deliveries to a webhook at 1,000 a second, and print how long it took; each starts one run")

const hookProgram = `
variable "key" {
  type      = string
  sensitive = true
}

on "webhook.orders" {
  workflow = workflow.work
  secret   = var.key
  headers  = ["X-Kind"]
  data     = object({ id = string })
  with     = { id = "${event.headers["x-kind"]} ${event.body.id}" }
}

on "webhook.code" {
  workflow  = workflow.work
  secret    = var.key
  signature = "github"
  with      = { id = "${event.headers["x-github-event"]} ${event.body.ref}" }
}

on "webhook.plain" {
  workflow  = workflow.work
  secret    = var.key
  signature = "hmac"
  header    = "X-Signature"
  with      = { id = event.body }
}

workflow "work" {
  input "id" { type = string }
  step "a" { value = input.id }
  output "id" { value = step.a.output }
}
`

const hookKey = "a key of the test"

// openHooks makes a store in which the program with webhooks is registered.
func openHooks(t *testing.T, dir string, o standalone.Options) *standalone.Store {
	t.Helper()
	o.AnyRoom, o.Environ = true, []string{"FLOWRUN_VAR_key=" + hookKey}
	s, err := standalone.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	registerHooks(t, s, "/hooks.hcl", hookProgram)
	return s
}

func registerHooks(t *testing.T, s *standalone.Store, path, text string) {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(text)}}, "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	definition := p.IR.Canonical()
	start := engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition)}, Definition: definition,
		First: event.RunStarted{Dir: t.TempDir(), Secrets: map[string]event.Secret{"var.key": secret.Seal("env FLOWRUN_VAR_key", "00", hookKey)}}}
	if _, err := s.Register(context.Background(), path, &start); err != nil {
		t.Fatal(err)
	}
}

// sender sends deliveries.
type sender struct {
	t  *testing.T
	at string
}

// send sends a body with headers, and returns the status and the answer.
func (x sender) send(name, body string, headers map[string]string) (int, string) {
	x.t.Helper()
	status, text, err := post(x.at+"/webhooks/"+name, body, headers)
	if err != nil {
		x.t.Fatal(err)
	}
	return status, text
}

func post(url, body string, headers map[string]string) (int, string, error) {
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range headers { // any order: it fills a map
		r.Header.Set(name, value)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return a.StatusCode, string(text), err
}

var (
	standardHook = &ir.Hook{Signature: ir.SignatureStandard}
	githubHook   = &ir.Hook{Signature: ir.SignatureGitHub}
	plainHook    = &ir.Hook{Signature: ir.SignatureHMAC, Header: "x-signature"}
)

// signed are the headers of a delivery that is sent now.
func signed(h *ir.Hook, id, body string) map[string]string {
	return webhook.Sign(h, hookKey, id, time.Now(), []byte(body))
}

// outputs waits until so many runs have succeeded, and returns how often each output id is there.
func outputs(t *testing.T, s *standalone.Store, n int) map[string]int {
	t.Helper()
	until(t, fmt.Sprintf("%d runs have succeeded", n), func() bool {
		list, err := s.List(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		for i := range list {
			if list[i].Status == event.Succeeded {
				done++
			}
		}
		return done >= n
	})
	list, err := s.List(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]int{}
	for i := range list {
		p, err := s.Past(context.Background(), list[i].Run)
		if err == nil {
			err = p.Replay(context.Background(), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		id, _ := p.View.Outputs["id"].(string)
		ids[id]++
	}
	return ids
}

// TestWebhook takes deliveries with three signatures, each once, and refuses what is wrong, old, replayed, too large or nobody's.
func TestWebhook(t *testing.T) {
	dir := t.TempDir()
	s := openHooks(t, dir, standalone.Options{})
	_, at, stop := serving(t, s, ServerOptions{Token: secretToken})
	x := sender{t, at}
	body := `{"id":"1"}`
	good := signed(standardHook, "d-1", body)
	good["X-Kind"] = "order"
	first, answer := x.send("orders", body, good)
	if first != 200 || !strings.Contains(answer, `"id":"ev-1","duplicate":false`) {
		t.Fatalf("a delivery is answered with %d %s", first, answer)
	}
	// A repetition is answered as the first, also with another time.
	again := signed(standardHook, "d-1", body)
	if status, text := x.send("orders", body, again); status != 200 || !strings.Contains(text, `"id":"ev-1","duplicate":true`) {
		t.Errorf("a repetition is answered with %d %s", status, text)
	}
	push := `{"ref":"main"}`
	github := signed(githubHook, "g-1", push)
	github["X-GitHub-Event"] = "push"
	if status, text := x.send("code", push, github); status != 200 {
		t.Errorf("GitHub's delivery is answered with %d %s", status, text)
	}
	for range 2 {
		if status, text := x.send("plain", `"p"`, signed(plainHook, "", `"p"`)); status != 200 {
			t.Errorf("a delivery with a header is answered with %d %s", status, text)
		}
	}
	with := func(of map[string]string, header, value string) map[string]string {
		out := map[string]string{}
		for name, text := range of { // any order: it fills a map
			out[name] = text
		}
		out[strings.ToLower(header)] = value
		return out
	}
	old := webhook.Sign(standardHook, hookKey, "d-2", time.Now().Add(-301*time.Second), []byte(body))
	large := `"` + strings.Repeat("x", webhook.MaxBody) + `"`
	for i, c := range []struct {
		name, body string
		headers    map[string]string
		want       int
		code       string
	}{
		{"orders", body, webhook.Sign(standardHook, "another key", "d-2", time.Now(), []byte(body)), 401, "signature"},
		{"orders", `{"id":"2"}`, good, 401, "signature"},
		{"orders", body, with(good, "webhook-id", "d-2"), 401, "signature"},
		{"orders", body, with(good, "webhook-signature", "v1,"), 401, "signature"},
		{"orders", body, with(good, "webhook-signature", ""), 401, "unsigned"},
		{"orders", body, nil, 401, "unsigned"},
		{"orders", body, old, 401, "time"},
		{"code", push, with(github, "X-GitHub-Delivery", "g-2"), 409, "replayed"},
		{"code", push, with(github, "X-Hub-Signature-256", strings.TrimPrefix(github["x-hub-signature-256"], "sha256=")), 401, "signature"},
		{"orders", `{"id"`, signed(standardHook, "d-3", `{"id"`), 400, "shape"},
		{"orders", large, signed(standardHook, "d-4", large), 413, "size"},
		{"orders", body, with(good, "Content-Encoding", "gzip"), 415, "encoding"},
		{"orders", body, with(good, "Origin", "https://evil.example"), 403, "origin"},
		{"nobody", body, good, 404, "path"},
	} {
		status, text := x.send(c.name, c.body, c.headers)
		if status != c.want || !strings.Contains(text, `"code":"`+c.code+`"`) {
			t.Errorf("%d: %s is answered with %d %s, want %d %s", i, c.name, status, text, c.want, c.code)
		}
	}
	for _, path := range []string{"/webhooks/orders", "/webhooks/", "/webhooks/orders/x"} {
		if a, err := http.Get(at + path); err != nil || a.StatusCode != 401 {
			t.Errorf("GET %s without a token is answered with %v (%v)", path, a, err)
		}
	}
	if ids := outputs(t, s, 3); len(ids) != 3 || ids["order 1"] != 1 || ids["push main"] != 1 || ids["p"] != 1 {
		t.Errorf("the runs have the ids %v", ids)
	}
	c := client{t, at}
	_, text := c.ask("GET", "/api/v1/audit", "")
	var audits struct {
		Items []struct {
			What, Target, From string
			Data               struct{ Reason, ID string }
		}
	}
	if err := json.Unmarshal(text, &audits); err != nil {
		t.Fatal(err)
	}
	reasons, delivered := map[string]int{}, map[string]int{}
	for _, a := range audits.Items {
		if a.What == "deliver" && a.From == "127.0.0.1" && a.Data.ID != "" {
			delivered[a.Target]++
			continue
		}
		if a.What != "refuse" || a.From != "127.0.0.1" || !strings.HasPrefix(a.Target, "webhook.") {
			t.Errorf("the audit has %+v", a)
		}
		reasons[a.Data.Reason]++
	}
	if fmt.Sprint(reasons) != "map[replayed:1 shape:1 signature:5 time:1 unsigned:2]" {
		t.Errorf("refused were %v", reasons)
	}
	if fmt.Sprint(delivered) != "map[webhook.code:1 webhook.orders:1 webhook.plain:1]" {
		t.Errorf("accepted were %v", delivered)
	}
	_, text = c.ask("GET", "/api/v1/programs", "")
	if !strings.Contains(string(text), `"event":"webhook.orders","workflow":"work"`) || !strings.Contains(string(text), `"refused":8`) {
		t.Errorf("the programs are %s", text)
	}
	// A delivery is refused as replayed by the next daemon, too, and a repetition starts nothing there.
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s = openHooks(t, dir, standalone.Options{})
	_, at, _ = serving(t, s, ServerOptions{Token: secretToken})
	x.at = at
	if status, text := x.send("code", push, with(github, "X-GitHub-Delivery", "g-3")); status != 409 {
		t.Errorf("after a restart a replay is answered with %d %s", status, text)
	}
	if status, text := x.send("orders", body, good); status != 200 || !strings.Contains(text, `"duplicate":true`) {
		t.Errorf("after a restart a repetition is answered with %d %s", status, text)
	}
	// No file of the store has the key.
	for _, path := range storeFiles(t, dir) {
		if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), hookKey) {
			t.Errorf("%s has the key (%v)", path, err)
		}
	}
}

func storeFiles(t *testing.T, dir string) (paths []string) {
	t.Helper()
	for _, entry := range must(os.ReadDir(dir)) {
		if entry.Type().IsRegular() {
			paths = append(paths, dir+"/"+entry.Name())
		}
	}
	if len(paths) == 0 {
		t.Fatal("the store has no files")
	}
	return paths
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestWebhookOfAnotherProgram registers a webhook twice, and removes a program whose webhook was known.
func TestWebhookOfAnotherProgram(t *testing.T) {
	s := openHooks(t, t.TempDir(), standalone.Options{})
	_, at, _ := serving(t, s, ServerOptions{})
	x := sender{t, at}
	if status, text := x.send("orders", `{"id":"1"}`, signed(standardHook, "a", `{"id":"1"}`)); status != 200 {
		t.Fatal(status, text)
	}
	func() {
		p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(hookProgram)}}, "flow.hcl", dsl.Options{})
		if list.HasErrors() {
			t.Fatal(list)
		}
		definition := p.IR.Canonical()
		start := engine.Start{Header: journal.Header{Definition: ir.Hash(definition)}, Definition: definition}
		if _, err := s.Register(context.Background(), "/other.hcl", &start); err == nil || !strings.Contains(err.Error(), `"webhook.code" belongs to the program /hooks.hcl`) {
			t.Errorf("a second program has the webhook: %v", err)
		}
	}()
	if _, err := s.Unregister(context.Background(), "/hooks.hcl"); err != nil {
		t.Fatal(err)
	}
	until(t, "the webhook is gone", func() bool {
		status, _ := x.send("orders", `{"id":"1"}`, signed(standardHook, "b", `{"id":"1"}`))
		return status == 404
	})
	// A program that is registered while the daemon runs has its webhook at once.
	registerHooks(t, s, "/later.hcl", strings.ReplaceAll(hookProgram, "webhook.", "webhook.later-"))
	if status, text := x.send("later-orders", `{"id":"1"}`, signed(standardHook, "c", `{"id":"1"}`)); status != 200 {
		t.Error(status, text)
	}
}

// TestRefusalsAreBounded sends many deliveries with wrong signatures: some are recorded, and each is counted.
func TestRefusalsAreBounded(t *testing.T) {
	h := newHooks()
	now := time.Now()
	recorded, more := 0, 0
	for range 1000 {
		if m, records := h.record("a", now); records {
			recorded, more = recorded+1, more+m
		}
	}
	if recorded != recordedBurst || more != 0 {
		t.Errorf("%d of 1000 are recorded, and %d counted", recorded, more)
	}
	if m, records := h.record("a", now.Add(recordedEvery)); !records || m != 1000-recordedBurst {
		t.Errorf("later %d are counted, recorded %v", m, records)
	}
	if _, records := h.record("b", now); !records {
		t.Error("another webhook has no room")
	}
}

// daemonOrder is what the child process of TestDeliveriesOutliveKills does.
const daemonOrder = "FLOWRUN_TEST_DAEMON"

// TestDaemonProcess is the child process: a daemon that kills itself at a point.
func TestDaemonProcess(t *testing.T) {
	order := os.Getenv(daemonOrder)
	if order == "" {
		t.Skip("it is a part of TestDeliveriesOutliveKills")
	}
	dir, at, _ := strings.Cut(order, " ")
	n, err := strconv.Atoi(at)
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int64
	armed := atomic.Bool{}
	s := openHooks(t, dir, standalone.Options{At: func(p engine.Point) {
		if armed.Load() && (p == engine.Appending || p == engine.Committed) && seen.Add(1) == int64(n) {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	d := New(Options{Store: s})
	address, err := d.Listen("127.0.0.1:0", ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	armed.Store(n > 0)
	fmt.Println("at " + address)
	if err := d.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestDeliveriesOutliveKills kills the daemon before and after commits around deliveries. A sender repeats what was not acknowledged. Each
// delivery starts one run.
func TestDeliveriesOutliveKills(t *testing.T) {
	const each, most = 4, 8
	dir := t.TempDir()
	sent := 0
	start := func(point int) (at string, c *exec.Cmd) {
		c = exec.Command(os.Args[0], "-test.run=^TestDaemonProcess$")
		c.Env = append(os.Environ(), daemonOrder+"="+dir+" "+strconv.Itoa(point))
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if address, is := strings.CutPrefix(lines.Text(), "at "); is {
				return address, c
			}
		}
		t.Fatalf("the daemon does not begin: %v", c.Wait())
		return "", nil
	}
	left := map[int]bool{} // not acknowledged
	deliver := func(at string) {
		for i := range sent {
			if !left[i] {
				continue
			}
			body := fmt.Sprintf(`{"id":"%d"}`, i)
			if status, text, err := post(at+"/webhooks/orders", body, signed(standardHook, fmt.Sprint("d-", i), body)); err == nil && status == 200 {
				delete(left, i)
			} else if err == nil {
				t.Fatalf("delivery %d is answered with %d %s", i, status, text)
			}
		}
	}
	kills := 0
	for point := 1; point <= most; point++ {
		at, c := start(point)
		for range each {
			left[sent] = true
			sent++
		}
		deliver(at)
		deliver(at)
		over := make(chan error, 1)
		go func() { over <- c.Wait() }()
		select {
		case <-over:
		case <-time.After(time.Minute):
			t.Fatalf("the daemon lives behind point %d", point)
		}
		kills++
	}
	at, c := start(0)
	deliver(at)
	if len(left) > 0 {
		t.Errorf("%v are not acknowledged", left)
	}
	deliver(at)
	syscall.Kill(c.Process.Pid, syscall.SIGKILL)
	_ = c.Wait()
	s := openHooks(t, dir, standalone.Options{})
	d := New(Options{Store: s})
	d.young = 0
	if err := d.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	ids := outputs(t, s, sent)
	for i := range sent {
		if n := ids[fmt.Sprintf(" %d", i)]; n != 1 {
			t.Errorf("delivery %d has started %d runs", i, n)
		}
	}
	if len(ids) != sent {
		t.Errorf("there are %d runs for %d deliveries", len(ids), sent)
	}
	t.Logf("%d deliveries, %d kills", sent, kills)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDeliveryRate sends deliveries at 1,000 a second, each tenth of them twice. Each starts one run.
func TestDeliveryRate(t *testing.T) {
	n, rate := *deliveries, 1000
	if n == 0 {
		n = 300
	}
	s := openHooks(t, t.TempDir(), standalone.Options{})
	_, at, _ := serving(t, s, ServerOptions{})
	transport := &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var all sync.WaitGroup
	var late atomic.Int64
	began := time.Now()
	work := make(chan int, n)
	for range 64 {
		all.Go(func() {
			for i := range work {
				body := fmt.Sprintf(`{"id":"%d"}`, i)
				for try := range 1000 {
					sent := time.Now()
					r, err := http.NewRequest("POST", at+"/webhooks/orders", strings.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					for name, value := range signed(standardHook, fmt.Sprint("d-", i), body) { // any order: it fills a map
						r.Header.Set(name, value)
					}
					a, err := client.Do(r)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, a.Body)
					a.Body.Close()
					if took := int64(time.Since(sent)); took > late.Load() {
						late.Store(took)
					}
					if a.StatusCode == 200 && (try > 0 || i%10 > 0) {
						break
					} else if a.StatusCode != 200 && a.StatusCode != 503 {
						t.Errorf("delivery %d is answered with %d", i, a.StatusCode)
						break
					}
				}
			}
		})
	}
	for i := range n {
		if *deliveries > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		}
		work <- i
	}
	close(work)
	all.Wait()
	took := time.Since(began)
	for done := 0; done < n; time.Sleep(20 * time.Millisecond) {
		list, err := s.List(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if done = 0; len(list) > n {
			t.Fatalf("%d runs for %d deliveries", len(list), n)
		}
		for i := range list {
			if list[i].Status == event.Succeeded {
				done++
			}
		}
	}
	t.Logf("%d deliveries in %v (%.0f a second, the slowest answer took %v); their runs had ended after %v", n, took, float64(n)/took.Seconds(), time.Duration(late.Load()), time.Since(began))
	if *deliveries > 0 {
		return
	}
	ids := outputs(t, s, n)
	for i := range n {
		if ids[fmt.Sprintf(" %d", i)] != 1 {
			t.Errorf("delivery %d has started %d runs", i, ids[fmt.Sprintf(" %d", i)])
		}
	}
}
