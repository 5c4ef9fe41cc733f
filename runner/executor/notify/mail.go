package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// mailPort is the port for the submission of mails (RFC 6409).
const mailPort = "587"

// sendMail hands a mail to a server. The connection is encrypted if the server offers STARTTLS. If it does not, nothing is sent to
// another machine, and no password to any.
func (x *Executor) sendMail(ctx context.Context, _ *event.Attempt, s *Send) error {
	c := s.Channel
	host, port, err := net.SplitHostPort(c.Host)
	if err != nil {
		host, port = strings.Trim(c.Host, "[]"), mailPort
	}
	from, err := mail.ParseAddress(c.From)
	if err != nil {
		return fmt.Errorf("the sender %q is not a mail address", c.From)
	}
	var to []*mail.Address
	for _, text := range c.To {
		address, err := mail.ParseAddress(text)
		if err != nil {
			return fmt.Errorf("the receiver %q is not a mail address", text)
		}
		to = append(to, address)
	}
	ctx, done := context.WithTimeout(ctx, MaxTry)
	defer done()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	client, err := smtp.NewClient(conn, host)
	if err == nil {
		err = x.encrypt(client, conn, host, c.Secret != "")
	}
	if err == nil && c.Secret != "" {
		err = client.Auth(smtp.PlainAuth("", from.Address, c.Secret, host))
	}
	if err == nil {
		err = deliverMail(client, from, to, composeMail(&s.Message, from, to, time.Now()))
	}
	if err != nil && ctx.Err() != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	return err
}

// encrypt encrypts a connection if the server can, and refuses one that must be encrypted and cannot be.
func (x *Executor) encrypt(client *smtp.Client, conn net.Conn, host string, password bool) error {
	if can, _ := client.Extension("STARTTLS"); can {
		config := x.options.TLS.Clone()
		if config == nil {
			config = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		config.ServerName = host
		return client.StartTLS(config)
	}
	at, _ := conn.RemoteAddr().(*net.TCPAddr)
	switch {
	case at == nil || !at.IP.IsLoopback():
		return errors.New("the mail server does not offer STARTTLS, and is not this machine")
	case password:
		return errors.New("the mail server does not offer STARTTLS, so it is not given the password")
	}
	return nil
}

func deliverMail(client *smtp.Client, from *mail.Address, to []*mail.Address, text []byte) error {
	if err := client.Mail(from.Address); err != nil {
		return err
	}
	for _, address := range to {
		if err := client.Rcpt(address.Address); err != nil {
			return fmt.Errorf("%s: %w", address.Address, err)
		}
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	if err == nil {
		_ = client.Quit() // the server has the mail
	}
	return err
}

// composeMail makes the text of a mail (RFC 5322).
func composeMail(m *event.Message, from *mail.Address, to []*mail.Address, now time.Time) []byte {
	var b bytes.Buffer
	receivers := make([]string, len(to))
	for i, address := range to {
		receivers[i] = address.String()
	}
	subject := m.Title
	if m.Suppressed > 0 {
		subject += fmt.Sprintf(" (and %d more before)", m.Suppressed)
	}
	for _, header := range [][2]string{{"From", from.String()}, {"To", strings.Join(receivers, ", ")},
		{"Subject", mime.QEncoding.Encode("utf-8", subject)}, {"Date", now.Format(time.RFC1123Z)},
		{"Message-ID", fmt.Sprintf("<%s@flowrun>", m.Key)}, {"Auto-Submitted", "auto-generated"}, {"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"}, {"Content-Transfer-Encoding", "quoted-printable"}} {
		fmt.Fprintf(&b, "%s: %s\r\n", header[0], header[1])
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(strings.ReplaceAll(Text(m), "\n", "\r\n"))) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
