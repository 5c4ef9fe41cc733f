package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/private"
)

// Bounds of requests.
const (
	// MaxBody is the size of the body of a request, in bytes.
	MaxBody = 256 << 10
	// MaxPath is the length of the path of a request with its query, in bytes.
	MaxPath = 4 << 10
)

// Files in the store with tokens: of its API, and of clients of flowrun mcp that only read.
const (
	tokenName  = "serve.token"
	readerName = "mcp-read.token"
)

// Token returns the token of the API of the store in dir, and makes one where there is none.
func Token(dir string) (token, path string, err error) { return tokenIn(dir, tokenName) }

// ReaderToken returns the token of clients of flowrun mcp that only read, and makes one where there is none.
func ReaderToken(dir string) (token, path string, err error) { return tokenIn(dir, readerName) }

func tokenIn(dir, name string) (token, path string, err error) {
	path = filepath.Join(dir, name)
	token, _, err = readToken(path)
	if err != nil || len(token) >= 32 {
		return token, path, err
	}
	var b [32]byte
	rand.Read(b[:])
	token = hex.EncodeToString(b[:])
	f, err := private.Open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err == nil {
		_, err = f.WriteString(token + "\n")
		err = errors.Join(err, f.Close())
	}
	return token, path, err
}

// ReadToken reads the token of the API of the store in dir, and reports whether there is one.
func ReadToken(dir string) (token string, has bool, err error) {
	return readToken(filepath.Join(dir, tokenName))
}

func readToken(path string) (token string, has bool, err error) {
	body, err := private.ReadFile(path, 1<<10)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	return strings.TrimSpace(string(body)), err == nil, err
}

// guard refuses requests that do not come from where they may.
type guard struct {
	token string   // "": no request needs one
	hosts []string // the values of the header Host that are known
}

// hostsOf are the names under which a listener on an address is known. More are those that somebody has allowed besides.
func hostsOf(address net.Addr, more []string) []string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return more
	}
	names := []string{net.JoinHostPort(host, port)}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		names = append(names, net.JoinHostPort("localhost", port))
	}
	return append(names, more...)
}

// IsLoopback reports whether an address to listen on reaches this machine alone.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// refusal is a request that is answered with a status and an error.
type refusal struct {
	status int
	code   string
	text   string
}

// check refuses a request before it is looked at. open are requests that need no token.
func (g *guard) check(r *http.Request, open bool) *refusal {
	if !slices.Contains(g.hosts, strings.ToLower(r.Host)) {
		return &refusal{http.StatusMisdirectedRequest, "host", fmt.Sprintf("this server is not known as %.100q", r.Host)}
	}
	if len(r.URL.RequestURI()) > MaxPath {
		return &refusal{http.StatusRequestURITooLong, "path", fmt.Sprintf("the path has more than %d bytes", MaxPath)}
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !slices.Contains(g.hosts, strings.ToLower(u.Host)) {
			return &refusal{http.StatusForbidden, "origin", fmt.Sprintf("a page of %.100q may not ask this server", origin)}
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return &refusal{http.StatusForbidden, "origin", "a page of another site may not ask this server"}
	}
	if open || g.token == "" {
		return nil
	}
	given, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	have, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(g.token))
	if !is || subtle.ConstantTimeCompare(have[:], want[:]) != 1 {
		return &refusal{http.StatusUnauthorized, "token", "the request needs the header  Authorization: Bearer TOKEN"}
	}
	return nil
}
