package notify

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// accepted is what the mail server of testdata/smtpd.py says.
type accepted struct {
	Port                     int
	Sender                   string
	Receivers                []string
	Text                     string
	Encrypted, Authenticated bool
}

// python finds a Python that has aiosmtpd. Debian's package python3-aiosmtpd is for the Python of the system, which need not be the first one.
func python(t *testing.T) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "-c", "import aiosmtpd.controller").Run() == nil {
			return path
		}
	}
	t.Skip("no Python here has aiosmtpd (Debian: python3-aiosmtpd; pip install aiosmtpd)")
	return ""
}

// TestMailToARealServer sends mails to a server of aiosmtpd, which demands STARTTLS and a password.
func TestMailToARealServer(t *testing.T) {
	program, server := python(t), ""
	config, client := certificate(t)
	dir := t.TempDir()
	private, err := x509.MarshalPKCS8PrivateKey(config.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"certificate": {Type: "CERTIFICATE", Bytes: config.Certificates[0].Certificate[0]}, "key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0") // the server looks whether it can be reached, so it cannot choose a port itself
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	c := exec.Command(program, filepath.Join("testdata", "smtpd.py"), filepath.Join(dir, "certificate"), filepath.Join(dir, "key"), "flow@example.com", "password-of-flow", strconv.Itoa(port))
	c.Stderr = t.Output()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer in.Close()
	lines := bufio.NewScanner(out)
	next := func() (a accepted) {
		if !lines.Scan() {
			t.Fatal("the server says no more")
		}
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	if server = net.JoinHostPort("127.0.0.1", strconv.Itoa(next().Port)); server == "127.0.0.1:0" {
		t.Fatal("the server has no port")
	}
	x := New(executor.Registry{}, (&store{}).ask, Options{TLS: client})
	channel := func(secret string, to ...string) event.Channel {
		return event.Channel{Name: "mail", Type: ir.ChannelSMTP, Host: server, From: "Flow Run <flow@example.com>", To: to, Secret: secret}
	}
	a := message("k1", channel("password-of-flow", "a@example.com", "The team <b@example.com>"))
	a.Notify.Message.Title, a.Notify.Message.Text = "Plattenfüllung", ".first\n.\n"+strings.Repeat("ü long ", 50)+"\nlast"
	if f := x.Execute(context.Background(), a); fates(f) != "[mail] [] []" {
		t.Fatalf("%+v", f)
	}
	got := next()
	if !got.Encrypted || !got.Authenticated || got.Sender != "flow@example.com" || strings.Join(got.Receivers, " ") != "a@example.com b@example.com" {
		t.Errorf("the server has %+v", got)
	}
	m, err := mail.ReadMessage(strings.NewReader(got.Text))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if text := strings.ReplaceAll(string(body), "\r\n", "\n"); err != nil || !strings.HasPrefix(text, a.Notify.Message.Text+"\n") {
		t.Errorf("the text of the mail is %q, %v", text, err)
	}
	for want, c := range map[string]event.Channel{"535": channel("another-password", "a@example.com"), "530": channel("", "a@example.com"), "no such mailbox": channel("password-of-flow", "nobody@example.com")} {
		ctx, done := context.WithTimeout(context.Background(), 30*time.Second)
		if err := x.send(ctx, &a, &Send{Channel: &c, Message: a.Notify.Message}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a mail that the server refuses gives %v, want %s", err, want)
		}
		done()
	}
}
