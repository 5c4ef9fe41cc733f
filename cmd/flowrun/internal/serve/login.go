package serve

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// codeFor is how long a one-time code can be used.
	codeFor = 2 * time.Minute
	// maxCodes bounds the codes that were given out and not used.
	maxCodes = 64
	// sessionFor is how long a browser stays logged in.
	sessionFor = 7 * 24 * time.Hour
)

// Login is a one-time code for a browser. Path is where the browser takes it; the code can be used until Expires.
type Login struct {
	Path    string `json:"path"`
	Expires string `json:"expires"`
}

// codes are the one-time codes that were given out and not used: by the hash of the code, until when.
type codes struct {
	mu    sync.Mutex
	until map[[sha256.Size]byte]time.Time
}

func (c *codes) give(now time.Time) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for code, until := range c.until { // any order: each is looked at
		if now.After(until) {
			delete(c.until, code)
		}
	}
	if len(c.until) >= maxCodes {
		return "", &refusal{http.StatusTooManyRequests, "codes", fmt.Sprintf("%d one-time links are open; each is open for %s", len(c.until), codeFor)}
	}
	var b [24]byte
	rand.Read(b[:])
	code := hex.EncodeToString(b[:])
	if c.until == nil {
		c.until = map[[sha256.Size]byte]time.Time{}
	}
	c.until[sha256.Sum256([]byte(code))] = now.Add(codeFor)
	return code, nil
}

// take uses a code up, and reports whether it was good.
func (c *codes) take(code string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	hash := sha256.Sum256([]byte(code))
	until, has := c.until[hash]
	delete(c.until, hash)
	return has && !now.After(until)
}

// login gives a one-time code to a client that has the token.
func (s *Server) login(r *http.Request) (any, error) {
	if err := readBody(r, &Nothing{}); err != nil {
		return nil, err
	}
	if err := s.audit(r, "login", "", Nothing{}); err != nil {
		return nil, err
	}
	now := time.Now()
	code, err := s.codes.give(now)
	return Login{Path: "/login?code=" + code, Expires: now.Add(codeFor).UTC().Format(time.RFC3339)}, err
}

// A session of a browser is a cookie that only somebody with the token can have been given: until when it is good, and a code over that by
// the token. The server keeps nothing, so sessions outlive it; a new token ends all of them.

// CookieName is the name of the cookie of a session. It depends on the token, as all ports of a machine share their cookies.
func (s *Server) CookieName() string {
	h := sha256.Sum256([]byte("flowrun cookie name " + s.guard.token))
	return "flowrun_" + hex.EncodeToString(h[:4])
}

func (s *Server) sign(until string) string {
	m := hmac.New(sha256.New, []byte(s.guard.token))
	m.Write([]byte("flowrun session until " + until))
	return hex.EncodeToString(m.Sum(nil))
}

// NewSession returns the cookie of a session that begins now.
func (s *Server) NewSession(now time.Time) *http.Cookie {
	until := strconv.FormatInt(now.Add(sessionFor).Unix(), 10)
	return &http.Cookie{Name: s.CookieName(), Value: until + "." + s.sign(until), Path: "/", MaxAge: int(sessionFor / time.Second), HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// LoggedIn reports whether a request comes from a browser that is logged in. Without a token everybody is.
func (s *Server) LoggedIn(r *http.Request, now time.Time) bool {
	if s.guard.token == "" {
		return true
	}
	c, err := r.Cookie(s.CookieName())
	if err != nil {
		return false
	}
	until, signature, _ := strings.Cut(c.Value, ".")
	at, err := strconv.ParseInt(until, 10, 64)
	return err == nil && now.Before(time.Unix(at, 0)) && subtle.ConstantTimeCompare([]byte(signature), []byte(s.sign(until))) == 1
}

// MayLogIn reports whether a one-time code or a token is good. It uses the code up.
func (s *Server) MayLogIn(code, token string, now time.Time) bool {
	if token = strings.TrimSpace(token); token != "" && s.guard.token != "" {
		have, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.guard.token))
		return subtle.ConstantTimeCompare(have[:], want[:]) == 1
	}
	return code != "" && s.codes.take(code, now)
}
