package http

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// errTimeout is the cause of a context whose attempt took too long, errSilent that of one whose agent was silent for too long.
var (
	errTimeout = errors.New("timed out")
	errSilent  = errors.New("silent")
)

// refused is the error of a request that could not even be made.
func refused(format string, args ...any) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonStart, ExitCode: -1, Message: fmt.Sprintf(format, args...)}
}

// broken says what it means that no whole answer came. What a network does passes; a certificate stays as it is.
func (e *exchange) broken(r *request, err error) *event.Error {
	if e.ctx.Err() != nil {
		switch context.Cause(e.ctx) {
		case errTimeout:
		case errSilent:
			return executor.FellSilent(e.attempt.Agent.Heartbeat)
		default:
			return executor.WasCancelled()
		}
		return &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, ExitCode: -1,
			Message: fmt.Sprintf("%s: timed out after %s", r.what(), e.attempt.Timeout)}
	}
	failure := &event.Error{Kind: event.Transient, Reason: event.ReasonHTTP, ExitCode: -1}
	text := plain(err)
	switch {
	case untrusted(err):
		failure.Kind = event.Blocking
	case strings.Contains(text, "server response headers exceeded"): // net/http has no type for it
		failure.Kind, failure.Reason = event.Fatal, event.ReasonOutputTooLarge
		text = fmt.Sprintf("the headers of the answer have more than %d bytes", limits.MaxHeader)
	case strings.HasPrefix(text, "net/http: invalid"): // a method or a header that is none
		failure.Kind, failure.Reason = event.Blocking, event.ReasonStart
	}
	failure.Message = r.what() + ": " + text
	return failure
}

// untrusted tells whether a certificate was refused.
func untrusted(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		host         x509.HostnameError
		invalid      x509.CertificateInvalidError
	)
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

// plain is an error's text without the URL, whose query may hold a secret.
func plain(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return err.Error()
}
