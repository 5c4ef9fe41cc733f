// Package webhook recognises the deliveries of webhooks by their signatures, and makes the data of their events.
//
// It is pure: the caller has read the body, has the key and knows the time. Enter at [Verify]; [Sign] makes the headers that Verify accepts.
// What always holds: a signature is compared in constant time, and before anything else of a delivery is looked at.
//
// The signatures are those of the Standard Webhooks specification 1.0.0 (github.com/standard-webhooks/standard-webhooks), and of GitHub
// ("Validating webhook deliveries" in its documentation).
package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Bounds of deliveries.
const (
	// MaxBody is the size of the body of a delivery, in bytes.
	MaxBody = 256 << 10
	// MaxID is the size of the id of a delivery, in bytes.
	MaxID = 256
)

// Delivery is one request to a webhook. Header returns the value of a header field by its name in small letters; "" if there is none.
type Delivery struct {
	Header func(name string) string
	Body   []byte
}

// Known is what the signature of a delivery proves.
type Known struct {
	// ID names the delivery: a second one with the same ID is a repetition.
	ID string
	// Signed is a digest of what was signed, where the id is not part of that; else "". A delivery with the same Signed and another ID was
	// made by somebody who has recorded a delivery.
	Signed string
}

// Reason is why a delivery is refused.
type Reason string

// The reasons.
const (
	Unsigned Reason = "unsigned"  // it lacks its signature, its time or its id
	Forged   Reason = "signature" // the signature is not that of the key
	Old      Reason = "time"      // the time is too far away
	Misshape Reason = "shape"     // the signature is right, and the rest is not
	Replayed Reason = "replayed"  // a delivery with another id has had the signature
)

// Refusal is the error of a delivery that is refused.
type Refusal struct {
	Reason  Reason
	Message string
}

func (r *Refusal) Error() string { return r.Message }

func refuse(why Reason, format string, args ...any) error {
	return &Refusal{why, fmt.Sprintf(format, args...)}
}

// The headers of the Standard Webhooks, and of GitHub.
const (
	standardID, standardTime, standardSignature = "webhook-id", "webhook-timestamp", "webhook-signature"
	githubID, githubSignature                   = "x-github-delivery", "x-hub-signature-256"
)

// layout says where a delivery has its parts. A name that is "" stands for a part that there is not.
type layout struct{ id, time, signature string }

func layoutOf(h *ir.Hook) layout {
	switch h.Signature {
	case ir.SignatureStandard:
		return layout{standardID, standardTime, standardSignature}
	case ir.SignatureGitHub:
		return layout{githubID, "", githubSignature}
	case ir.SignatureHMAC:
	}
	return layout{h.ID, h.Timestamp, h.Header}
}

// key is the key of a webhook's signatures. A key of the Standard Webhooks that begins with whsec_ is in base64.
func key(h *ir.Hook, secret string) []byte {
	if text, is := strings.CutPrefix(secret, "whsec_"); is && h.Signature == ir.SignatureStandard {
		if k, err := base64.StdEncoding.DecodeString(text); err == nil {
			return k
		}
	}
	return []byte(secret)
}

// sum is the HMAC of a delivery.
func sum(h *ir.Hook, secret, id, at string, body []byte) []byte {
	m := hmac.New(sha256.New, key(h, secret))
	if h.Signature == ir.SignatureStandard {
		m.Write([]byte(id + "."))
	}
	if at != "" {
		m.Write([]byte(at + "."))
	}
	m.Write(body)
	return m.Sum(nil)
}

// Verify says what a delivery is that comes at a time. The error is a *Refusal. An empty secret refuses each delivery.
func Verify(h *ir.Hook, secret string, d Delivery, now time.Time) (k Known, err error) {
	at := layoutOf(h)
	id, sent, given := d.Header(at.id), d.Header(at.time), d.Header(at.signature)
	for _, part := range []struct{ header, value string }{{at.signature, given}, {at.time, sent}, {at.id, id}} {
		if part.header != "" && part.value == "" {
			return k, refuse(Unsigned, "the delivery has no header %s", part.header)
		}
	}
	want := sum(h, secret, id, sent, d.Body)
	if secret == "" || !fits(h, given, want) {
		return k, refuse(Forged, "the signature is not that of the key")
	}
	if at.time != "" {
		seconds, err := strconv.ParseInt(sent, 10, 64)
		if err != nil {
			return k, refuse(Misshape, "the header %s is not a time in Unix seconds", at.time)
		}
		if away := now.Sub(time.Unix(seconds, 0)); away > ir.SignatureAge || away < -ir.SignatureAge {
			return k, refuse(Old, "the delivery was sent more than %d minutes away from now", int(ir.SignatureAge.Minutes()))
		}
	}
	if len(id) > MaxID || !utf8.ValidString(id) {
		return k, refuse(Misshape, "the id of the delivery is not text of at most %d bytes", MaxID)
	}
	if h.Signature != ir.SignatureStandard {
		k.Signed = hex.EncodeToString(want)
	}
	if k.ID = id; id == "" {
		k.ID, k.Signed = k.Signed, ""
	}
	return k, nil
}

// fits reports whether a header has a signature. The Standard Webhooks have several with their versions, of which one is enough.
func fits(h *ir.Hook, given string, want []byte) bool {
	if h.Signature == ir.SignatureStandard {
		ok := false
		for _, one := range strings.Fields(given) {
			if text, is := strings.CutPrefix(one, "v1,"); is {
				ok = same(text, want) || ok
			}
		}
		return ok
	}
	text, prefixed := strings.CutPrefix(given, "sha256=")
	return (prefixed || h.Signature == ir.SignatureHMAC) && same(text, want)
}

// same reports whether a text is a digest in hex or in base64.
func same(text string, want []byte) bool {
	if b, err := hex.DecodeString(text); err == nil {
		return hmac.Equal(b, want)
	}
	b, err := base64.StdEncoding.DecodeString(text)
	return err == nil && hmac.Equal(b, want)
}

// Data is the data of the event of a delivery. The body is its JSON value, or its text. The error is a *Refusal.
func Data(h *ir.Hook, d Delivery, k Known) (value.Value, error) {
	headers := map[string]value.Value{}
	for _, name := range h.Headers {
		text := d.Header(name)
		if !utf8.ValidString(text) {
			return nil, refuse(Misshape, "the header %s is not text in UTF-8", name)
		}
		headers[name] = text
	}
	o := map[string]value.Value{"headers": headers, "delivery": k.ID}
	kind := strings.ToLower(d.Header("content-type"))
	kind, _, _ = strings.Cut(kind, ";")
	kind = strings.TrimSpace(kind)
	isJSON := kind == "application/json" || strings.HasSuffix(kind, "+json")
	body, err := value.Decode(d.Body)
	switch {
	case err == nil && (isJSON || kind == ""):
		o["body"] = body
	case isJSON && len(bytes.TrimSpace(d.Body)) > 0:
		return nil, refuse(Misshape, "the body is not JSON: %v", err)
	case !utf8.Valid(d.Body):
		return nil, refuse(Misshape, "the body is not text in UTF-8")
	default:
		o["body"] = string(d.Body)
	}
	return o, nil
}

// Sign returns the headers of a delivery of an id that is sent at a time, by their names in small letters.
func Sign(h *ir.Hook, secret, id string, sent time.Time, body []byte) map[string]string {
	at, headers, seconds := layoutOf(h), map[string]string{}, ""
	if at.id != "" {
		headers[at.id] = id
	}
	if at.time != "" {
		seconds = strconv.FormatInt(sent.Unix(), 10)
		headers[at.time] = seconds
	}
	digest := sum(h, secret, id, seconds, body)
	if h.Signature == ir.SignatureStandard {
		headers[at.signature] = "v1," + base64.StdEncoding.EncodeToString(digest)
	} else {
		headers[at.signature] = "sha256=" + hex.EncodeToString(digest)
	}
	return headers
}
