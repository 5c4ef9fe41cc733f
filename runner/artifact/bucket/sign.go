package bucket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// key signs requests.
type key struct{ id, secret, token, region string }

// sign signs a request by Signature Version 4 of Amazon, with the hash of its body, content, and the headers that it has.
func sign(r *http.Request, content string, k key, now time.Time) {
	at := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", at)
	r.Header.Set("X-Amz-Content-Sha256", content)
	if k.token != "" {
		r.Header.Set("X-Amz-Security-Token", k.token)
	}
	headers := map[string]string{"host": r.URL.Host}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	var names []string
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	canonical := []string{r.Method, r.URL.EscapedPath(), r.URL.Query().Encode()}
	for _, name := range names {
		canonical = append(canonical, name+":"+strings.TrimSpace(headers[name]))
	}
	canonical = append(canonical, "", strings.Join(names, ";"), content)
	scope := strings.Join([]string{at[:8], k.region, "s3", "aws4_request"}, "/")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", at, scope, hash([]byte(strings.Join(canonical, "\n")))}, "\n")
	secret := []byte("AWS4" + k.secret)
	for part := range strings.SplitSeq(scope, "/") {
		secret = mac(secret, part)
	}
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%x", k.id, scope, strings.Join(names, ";"), mac(secret, text)))
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text))
	return h.Sum(nil)
}

// escapePath escapes all of a path but letters, digits, -._~ and slashes, as signatures want it.
func escapePath(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
