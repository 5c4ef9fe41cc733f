package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// Headers of a signed message.
const (
	SignatureHeader = "X-Flowrun-Signature"
	TimestampHeader = "X-Flowrun-Timestamp"
)

// Sign returns the signature of a body that is sent at a time, in Unix seconds: sha256= and the HMAC of TIME.BODY in hex.
func Sign(secret string, at int64, body string) string {
	h := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(h, "%d.%s", at, body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

// senders send a message over a channel of each type, once.
var senders map[ir.ChannelType]func(*Executor, context.Context, *event.Attempt, *Send) error

func init() {
	senders = map[ir.ChannelType]func(*Executor, context.Context, *event.Attempt, *Send) error{
		ir.ChannelWebhook: (*Executor).sendWebhook,
		ir.ChannelSlack:   (*Executor).sendSlack,
		ir.ChannelNtfy:    (*Executor).sendNtfy,
		ir.ChannelSMTP:    (*Executor).sendMail,
		ir.ChannelExec:    (*Executor).sendToProgram,
		ir.ChannelFile:    (*Executor).sendToFile,
		ir.ChannelBell:    (*Executor).ring,
	}
}

// send tries once.
func (x *Executor) send(ctx context.Context, a *event.Attempt, s *Send) error {
	send := senders[s.Channel.Type]
	if send == nil {
		return fmt.Errorf("this release cannot send to a channel of type %q", s.Channel.Type)
	}
	return send(x, ctx, a, s)
}

// Body is the message as receivers read it.
func Body(m *event.Message) string {
	body, err := json.Marshal(m)
	if err != nil {
		panic("notify: " + err.Error()) // values are JSON by construction
	}
	return string(body)
}

func (x *Executor) sendWebhook(ctx context.Context, a *event.Attempt, s *Send) error {
	body := Body(&s.Message)
	headers := map[string]string{"Content-Type": "application/json"}
	if secret := s.Channel.Secret; secret != "" {
		now := time.Now().Unix()
		headers[TimestampHeader], headers[SignatureHeader] = strconv.FormatInt(now, 10), Sign(secret, now, body)
	}
	return x.post(ctx, a, s.Channel, headers, body)
}

// slackText escapes what Slack would read as markup.
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (x *Executor) sendSlack(ctx context.Context, a *event.Attempt, s *Send) error {
	text := fmt.Sprintf("*%s*\n%s", slackText.Replace(s.Message.Title), slackText.Replace(Text(&s.Message)))
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return err
	}
	return x.post(ctx, a, s.Channel, map[string]string{"Content-Type": "application/json"}, string(body))
}

func (x *Executor) sendNtfy(ctx context.Context, a *event.Attempt, s *Send) error {
	headers := map[string]string{"Content-Type": "text/plain; charset=utf-8", "Title": mime.QEncoding.Encode("utf-8", s.Message.Title),
		"Tags": mime.QEncoding.Encode("utf-8", s.Message.Level)}
	if s.Channel.Secret != "" {
		headers["Authorization"] = "Bearer " + s.Channel.Secret
	}
	if s.Message.URL != "" {
		headers["Click"] = s.Message.URL
	}
	return x.post(ctx, a, s.Channel, headers, Text(&s.Message))
}

// post sends a body. Headers of the channel take the place of those given.
func (x *Executor) post(ctx context.Context, a *event.Attempt, c *event.Channel, headers map[string]string, body string) error {
	for name, text := range c.Headers { // any order: each for itself
		for own := range headers { // any order: it looks for one
			if strings.EqualFold(own, name) {
				delete(headers, own)
			}
		}
		headers[name] = text
	}
	b := part(a, event.HTTPAttempt)
	b.HTTP = &event.HTTPRequest{URL: c.URL, Method: "POST", Headers: headers, Body: body}
	return x.carryOut(ctx, b)
}

func (x *Executor) sendToProgram(ctx context.Context, a *event.Attempt, s *Send) error {
	b, body := part(a, event.RunAttempt), Body(&s.Message)
	b.Argv, b.Stdin, b.Parse, b.PassEnv = s.Channel.Argv, &body, string(ir.ParseNone), a.PassEnv
	return x.carryOut(ctx, b)
}

// part is an attempt that sends a part of a message.
func part(a *event.Attempt, kind event.AttemptKind) event.Attempt {
	return event.Attempt{Ticket: a.Ticket, Node: a.Node, Name: a.Name, Attempt: a.Attempt, Kind: kind, Key: a.Key, Run: a.Run, Workflow: a.Workflow,
		Timeout: MaxTry, Dir: a.Dir, Env: a.Env, Base: a.Base}
}

func (x *Executor) carryOut(ctx context.Context, a event.Attempt) error {
	switch ans := x.next.Execute(ctx, a); {
	case ans.Outcome == event.OK:
		return nil
	case ans.Error != nil && strings.TrimSpace(ans.Stderr) != "":
		return fmt.Errorf("%s: %s", ans.Error.Message, strings.TrimSpace(ans.Stderr))
	case ans.Error != nil:
		return errors.New(ans.Error.Message)
	}
	return errors.New("its outcome is unknown")
}

func (x *Executor) sendToFile(_ context.Context, a *event.Attempt, s *Send) error {
	path := s.Channel.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Dir, path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(Body(&s.Message) + "\n") // one write, so that lines of several processes do not mix
	return errors.Join(err, f.Sync(), f.Close())
}

func (x *Executor) ring(context.Context, *event.Attempt, *Send) error {
	if x.options.Bell != nil {
		return x.options.Bell()
	}
	f, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return errors.New("this process has no terminal that could ring")
	}
	_, err = f.WriteString("\a")
	return errors.Join(err, f.Close())
}

// more is the page about what a message is about, or the command that shows it.
func more(m *event.Message) string {
	if m.URL != "" {
		return m.URL
	}
	return strings.TrimSpace("flowrun runs show " + m.Run + " " + m.Node)
}

// Text is the message as people read it, without its title.
func Text(m *event.Message) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(m.Text, "\n"))
	b.WriteString("\n\n")
	if m.Error != nil {
		fmt.Fprintf(&b, "Error (%s, %s): %s\n", m.Error.Kind, m.Error.Reason, m.Error.Message)
	}
	switch {
	case m.Suppressed == 1:
		b.WriteString("One equal message before this one was not sent.\n")
	case m.Suppressed > 1:
		fmt.Fprintf(&b, "%d equal messages before this one were not sent.\n", m.Suppressed)
	}
	fmt.Fprintf(&b, "Workflow %s, run %s", m.Workflow, m.Run)
	if m.Node != "" {
		fmt.Fprintf(&b, ", node %s", m.Node)
	}
	fmt.Fprintf(&b, ", at %s, level %s\n", m.At, m.Level)
	for _, line := range []struct{ what, text string }{{"Answer with: ", m.Decide}, {"More: ", more(m)}} {
		if line.text != "" {
			b.WriteString(line.what + line.text + "\n")
		}
	}
	return b.String()
}
