package notify

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// mailServer is a small server of SMTP (RFC 5321) with STARTTLS and AUTH PLAIN.
type mailServer struct {
	net.Listener
	tls      *tls.Config // nil: it cannot encrypt
	mu       sync.Mutex
	mails    []string
	logins   []string // what AUTH PLAIN gave
	receives []string
	open     int // mails that came over a connection that was not encrypted
}

func newMailServer(t *testing.T, config *tls.Config) *mailServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{Listener: l, tls: config}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { s.serve(c) })
		}
	})
	return s
}

func (s *mailServer) serve(c net.Conn) {
	defer func() { c.Close() }()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	r := bufio.NewReader(c)
	secure := false
	say := func(text string) { fmt.Fprintf(c, "%s\r\n", text) }
	say("220 mail")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.mu.Lock()
		switch strings.ToUpper(word) {
		case "EHLO", "HELO":
			if s.tls != nil && !secure {
				say("250-mail\r\n250 STARTTLS")
			} else {
				say("250-mail\r\n250 AUTH PLAIN")
			}
		case "STARTTLS":
			say("220 go on")
			secure = true
			t := tls.Server(c, s.tls)
			c, r = t, bufio.NewReader(t)
		case "AUTH":
			_, code, _ := strings.Cut(rest, " ")
			text, _ := base64.StdEncoding.DecodeString(code)
			s.logins = append(s.logins, string(text))
			say("235 welcome")
		case "RCPT":
			s.receives = append(s.receives, rest)
			say("250 ok")
		case "DATA":
			say("354 go on")
			var text strings.Builder
			for {
				line, err := r.ReadString('\n')
				if err != nil || line == ".\r\n" {
					break
				}
				text.WriteString(strings.TrimPrefix(line, "."))
			}
			if s.mails = append(s.mails, text.String()); !secure {
				s.open++
			}
			say("250 ok")
		case "QUIT":
			say("221 bye")
			s.mu.Unlock()
			return
		default:
			say("250 ok")
		}
		s.mu.Unlock()
	}
}

// certificate makes a certificate for 127.0.0.1, and the roots that trust it.
func certificate(t *testing.T) (server, client *tls.Config) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	spec := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, spec, spec, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func TestMailIsEncryptedAndWhole(t *testing.T) {
	server, client := certificate(t)
	s := newMailServer(t, server)
	x := New(executor.Registry{}, (&store{}).ask, Options{TLS: client})
	a := message("k1", event.Channel{Name: "mail", Type: ir.ChannelSMTP, Host: s.Addr().String(), From: "Flow Run <flow@example.com>", To: []string{"a@example.com", "The team <b@example.com>"}, Secret: "password-of-flow"})
	a.Notify.Message.Title, a.Notify.Message.Text = "Plattenfüllung\r\nBcc: everybody@example.com", ".first\n.\n"+strings.Repeat("ü long ", 50)+"\nlast"
	if f := x.Execute(context.Background(), a); fates(f) != "[mail] [] []" {
		t.Fatalf("%+v", f)
	}
	if s.open != 0 || len(s.mails) != 1 || len(s.logins) != 1 || s.logins[0] != "\x00flow@example.com\x00password-of-flow" || len(s.receives) != 2 {
		t.Fatalf("%d open mails of %d, logins %q, receivers %q", s.open, len(s.mails), s.logins, s.receives)
	}
	m, err := mail.ReadMessage(bytes.NewReader([]byte(s.mails[0])))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	body, wrong := io.ReadAll(quotedprintable.NewReader(m.Body))
	text := strings.ReplaceAll(string(body), "\r\n", "\n")
	if err != nil || wrong != nil || m.Header.Get("Bcc") != "" || !strings.HasPrefix(subject, "Plattenfüllung") || !strings.HasPrefix(text, a.Notify.Message.Text+"\n") {
		t.Errorf("the mail is %q with %v; subject %q, %v, text %q, %v", s.mails[0], m.Header, subject, err, text, wrong)
	}
	if !strings.Contains(text, "run r, node tell") || m.Header.Get("Message-Id") != "<k1@flowrun>" {
		t.Errorf("%v %q", m.Header, text)
	}
}

// A server that cannot encrypt gets no password. One that this machine does not trust gets nothing.
func TestMailIsRefused(t *testing.T) {
	plain := newMailServer(t, nil)
	x := New(executor.Registry{}, (&store{}).ask, Options{})
	c := event.Channel{Name: "mail", Type: ir.ChannelSMTP, Host: plain.Addr().String(), From: "flow@example.com", To: []string{"a@example.com"}}
	a := message("k1", c)
	if err := x.send(context.Background(), &a, &Send{Channel: &c, Message: a.Notify.Message}); err != nil || len(plain.mails) != 1 {
		t.Errorf("without a password: %v, %d mails", err, len(plain.mails))
	}
	c.Secret = "password-of-flow"
	err := x.send(context.Background(), &a, &Send{Channel: &c, Message: a.Notify.Message})
	if err == nil || !strings.Contains(err.Error(), "it is not given the password") || len(plain.logins)+len(plain.mails) != 1 {
		t.Errorf("with a password: %v, logins %q", err, plain.logins)
	}
	server, _ := certificate(t)
	strange := newMailServer(t, server)
	c.Host = strange.Addr().String()
	if err := x.send(context.Background(), &a, &Send{Channel: &c, Message: a.Notify.Message}); err == nil || !strings.Contains(err.Error(), "certificate") || len(strange.mails)+len(strange.logins) != 0 {
		t.Errorf("a certificate that nobody trusts: %v, %d mails", err, len(strange.mails))
	}
}
