package temporal

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// Variables of the environment that say how the server is reached. They are those that Temporal's own tools read.
const (
	TLSEnv    = "TEMPORAL_TLS"
	CAEnv     = "TEMPORAL_TLS_SERVER_CA_CERT_PATH"
	NameEnv   = "TEMPORAL_TLS_SERVER_NAME"
	CertEnv   = "TEMPORAL_TLS_CLIENT_CERT_PATH"
	KeyEnv    = "TEMPORAL_TLS_CLIENT_KEY_PATH"
	APIKeyEnv = "TEMPORAL_API_KEY"
)

// Secure reads from the environment whether the server is reached by TLS, and with which certificates and key.
func Secure(getenv func(string) string) (func(*client.Options), error) {
	ca, name, cert, key, apiKey := getenv(CAEnv), getenv(NameEnv), getenv(CertEnv), getenv(KeyEnv), getenv(APIKeyEnv)
	wanted := ca+name+cert+key+apiKey != ""
	if text := getenv(TLSEnv); text != "" {
		on, err := strconv.ParseBool(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s is true or false", TLSEnv)
		case !on && apiKey != "":
			return nil, fmt.Errorf("%s is false and %s is set: a key is not sent without encryption", TLSEnv, APIKeyEnv)
		case !on && wanted:
			return nil, fmt.Errorf("%s is false, and %s is set: unset one of them", TLSEnv, setOf(getenv, CAEnv, NameEnv, CertEnv, KeyEnv))
		}
		wanted = on
	}
	if !wanted {
		return func(*client.Options) {}, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: name}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", CAEnv, err)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: the file %s has no certificate in PEM", CAEnv, ca)
		}
	}
	if (cert == "") != (key == "") {
		return nil, fmt.Errorf("set both %s and %s, or none", CertEnv, KeyEnv)
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", CertEnv, KeyEnv, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return func(o *client.Options) {
		if o.ConnectionOptions.TLS = config; apiKey != "" {
			o.Credentials = client.NewAPIKeyStaticCredentials(apiKey)
		}
	}, nil
}

// setOf returns the first of some variables that is set.
func setOf(getenv func(string) string, names ...string) string {
	for _, name := range names {
		if getenv(name) != "" {
			return name
		}
	}
	return ""
}

// Unreached says that a server cannot be used, and what to do about it.
type Unreached struct {
	Message, Fix string
	Err          error
}

func (u *Unreached) Error() string { return u.Message + "\n" + u.Fix }

func (u *Unreached) Unwrap() error { return u.Err }

// unreached says what a person can do about a server that cannot be reached. gRPC has no types for these errors, so their words are looked at.
func unreached(o *Options, secure *tls.Config, err error) *Unreached {
	text := err.Error()
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	fix := "Start the server, or give its address: " + Scheme + "HOST:PORT/NAMESPACE."
	switch {
	case has("does not look like a TLS handshake"):
		fix = fmt.Sprintf("The server does not speak TLS at this port: unset %s, or give the port that does.", TLSEnv)
	case has("unknown authority", "certificate is not trusted"):
		fix = fmt.Sprintf("Name the file of the authority that has signed the certificate of the server: %s.", CAEnv)
	case has("certificate is valid for", "not valid for any names", "doesn't contain any IP SANs"):
		fix = fmt.Sprintf("The certificate of the server has another name: set %s to it.", NameEnv)
	case has("certificate has expired"):
		fix = "Renew the certificate of the server, or set the clock of this machine."
	case has("certificate required", "bad certificate", "unknown certificate"):
		fix = fmt.Sprintf("The server wants a certificate of the client: set %s and %s.", CertEnv, KeyEnv)
	case errors.As(err, new(*serviceerror.PermissionDenied)), has("Unauthenticated", "unauthorized"):
		fix = fmt.Sprintf("The server does not let this account in: set %s, or %s and %s.", APIKeyEnv, CertEnv, KeyEnv)
	case secure != nil && len(secure.Certificates) == 0 && has("broken pipe", "connection reset", "connection was aborted", "EOF"): // TLS 1.3 refuses a client after the handshake, and gRPC may be writing then
		fix = fmt.Sprintf("The server closed the connection. If it wants a certificate of the client, set %s and %s.", CertEnv, KeyEnv)
	case secure == nil && has("server preface", "frame too large", "connection reset", "EOF", "malformed HTTP"):
		fix = fmt.Sprintf("If the server speaks TLS, set %s=true.", TLSEnv)
	}
	return &Unreached{fmt.Sprintf("the Temporal server %s, namespace %s, cannot be reached: %v", o.HostPort, o.Namespace, err), fix, err}
}

// checkNamespace returns *Unreached if the server has no namespace of the name. An account may have no right to ask.
func checkNamespace(ctx context.Context, c client.Client, o *Options) error {
	_, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: o.Namespace})
	if errors.As(err, new(*serviceerror.NamespaceNotFound)) {
		return &Unreached{fmt.Sprintf("the Temporal server %s has no namespace %s", o.HostPort, o.Namespace),
			"Name another one in the address, or make it: temporal operator namespace create -n " + o.Namespace, err}
	}
	return nil
}
