package temporal_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/runner/engine/temporal"
)

// certificate makes a certificate for a name, signs it with itself, and writes both files.
func certificate(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalECPrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: b}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// front speaks TLS in front of the server of the tests; without one, it ends each connection once the handshake is done. With clients, it wants a
// certificate.
func front(t *testing.T, cert, key, clients string) (address string) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	if clients != "" {
		text, err := os.ReadFile(clients)
		if err != nil {
			t.Fatal(err)
		}
		c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		c.ClientCAs.AppendCertsFromPEM(text)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				if err := in.(*tls.Conn).Handshake(); err != nil || *server == "" {
					return
				}
				out, err := net.Dial("tcp", *server)
				if err != nil {
					return
				}
				defer out.Close()
				go func() { _, _ = io.Copy(out, in); out.Close() }()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	return l.Addr().String()
}

// plain is a server that hears something else than TLS.
func plain(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			c.Close()
		}
	}()
	return l.Addr().String()
}

// reach connects with an environment.
func reach(t *testing.T, address, namespace string, env map[string]string) error {
	t.Helper()
	tune, err := temporal.Secure(func(name string) string { return env[name] })
	if err != nil {
		return err
	}
	h, err := temporal.Dial(t.Context(), temporal.Options{HostPort: address, Namespace: namespace, Tune: tune})
	if err == nil {
		h.Close()
	}
	return err
}

// TestUnreached: what keeps a client from a server is said with what to do.
func TestUnreached(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t, dir, "temporal.example")
	other, otherKey := certificate(t, dir, "other.example")
	open, closed, none := front(t, cert, key, ""), front(t, cert, key, other), "127.0.0.1:1"
	for name, x := range map[string]struct {
		address string
		env     map[string]string
		says    string // "": it connects, if there is a server
	}{
		"no server":          {none, nil, "give its address: temporal://HOST:PORT/NAMESPACE"},
		"plain to TLS":       {open, nil, "set TEMPORAL_TLS=true"},
		"TLS to plain":       {plain(t), map[string]string{temporal.TLSEnv: "true"}, "unset TEMPORAL_TLS"},
		"unknown authority":  {open, map[string]string{temporal.TLSEnv: "true", temporal.NameEnv: "temporal.example"}, "TEMPORAL_TLS_SERVER_CA_CERT_PATH"},
		"another name":       {open, map[string]string{temporal.CAEnv: cert}, "set TEMPORAL_TLS_SERVER_NAME"},
		"no client":          {closed, map[string]string{temporal.CAEnv: cert, temporal.NameEnv: "temporal.example"}, "set TEMPORAL_TLS_CLIENT_CERT_PATH"},
		"client":             {closed, map[string]string{temporal.CAEnv: cert, temporal.NameEnv: "temporal.example", temporal.CertEnv: other, temporal.KeyEnv: otherKey}, ""},
		"server":             {open, map[string]string{temporal.CAEnv: cert, temporal.NameEnv: "temporal.example"}, ""},
		"key":                {open, map[string]string{temporal.CAEnv: cert, temporal.NameEnv: "temporal.example", temporal.APIKeyEnv: "k"}, ""},
		"key in plain":       {none, map[string]string{temporal.TLSEnv: "false", temporal.APIKeyEnv: "k3y"}, "a key is not sent without encryption"},
		"contradiction":      {none, map[string]string{temporal.TLSEnv: "false", temporal.CAEnv: cert}, "unset one of them"},
		"no file":            {none, map[string]string{temporal.CAEnv: filepath.Join(dir, "none")}, "TEMPORAL_TLS_SERVER_CA_CERT_PATH: open"},
		"no certificate":     {none, map[string]string{temporal.CAEnv: key}, "has no certificate in PEM"},
		"half of a pair":     {none, map[string]string{temporal.CertEnv: cert}, "set both TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"},
		"another key":        {none, map[string]string{temporal.CertEnv: cert, temporal.KeyEnv: otherKey}, "private key does not match"},
		"neither yes nor no": {none, map[string]string{temporal.TLSEnv: "maybe"}, "TEMPORAL_TLS is true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if x.says == "" {
				needServer(t)
			}
			err := reach(t, x.address, "", x.env)
			if x.says == "" && err != nil || x.says != "" && (err == nil || !strings.Contains(err.Error(), x.says)) {
				t.Errorf("it says %v", err)
			}
			if u := new(temporal.Unreached); errors.As(err, &u) && u.Fix == "" {
				t.Errorf("%v says nothing to do", err)
			}
		})
	}
}

// TestNoNamespace: a namespace that is not there is said at once.
func TestNoNamespace(t *testing.T) {
	needServer(t)
	err := reach(t, *server, "nowhere", nil)
	if err == nil || !strings.Contains(err.Error(), "has no namespace nowhere\nName another one in the address, or make it: temporal operator namespace create -n nowhere") {
		t.Errorf("it says %v", err)
	}
}

// TestSecure: an environment without any of the variables changes nothing.
func TestSecure(t *testing.T) {
	var o client.Options
	tune, err := temporal.Secure(func(string) string { return "" })
	if tune(&o); err != nil || o.ConnectionOptions.TLS != nil || o.Credentials != nil {
		t.Errorf("an empty environment gives %+v, %v", o, err)
	}
	tune, err = temporal.Secure(func(name string) string { return map[string]string{temporal.APIKeyEnv: "k"}[name] })
	if tune(&o); err != nil || o.ConnectionOptions.TLS == nil || o.Credentials == nil {
		t.Errorf("a key gives %+v, %v", o, err)
	}
}
