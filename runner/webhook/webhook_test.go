package webhook

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

func reading(headers map[string]string) func(string) string {
	return func(name string) string { return headers[name] }
}

// TestStandardWebhooksVector has the example of the specification of the Standard Webhooks.
func TestStandardWebhooksVector(t *testing.T) {
	h := &ir.Hook{Signature: ir.SignatureStandard}
	d := Delivery{Body: []byte(`{"test": 2432232314}`), Header: reading(map[string]string{
		"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330", "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="})}
	k, err := Verify(h, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", d, time.Unix(1614265330, 0))
	if err != nil || k.ID != "msg_p5jXN8AQM9LWM0D4loKWxJek" || k.Signed != "" {
		t.Errorf("%+v, %v", k, err)
	}
}

// TestGitHubVector has the example of GitHub's documentation, "Validating webhook deliveries".
func TestGitHubVector(t *testing.T) {
	h := &ir.Hook{Signature: ir.SignatureGitHub}
	d := Delivery{Body: []byte("Hello, World!"), Header: reading(map[string]string{"x-github-delivery": "72d3162e",
		"x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"})}
	k, err := Verify(h, "It's a Secret to Everybody", d, time.Now())
	if err != nil || k.ID != "72d3162e" || k.Signed == "" {
		t.Errorf("%+v, %v", k, err)
	}
}

// TestMutations changes each part of a delivery: none is accepted but the one that was signed.
func TestMutations(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	body := []byte(`{"a":1}`)
	for name, h := range map[string]*ir.Hook{
		"standard": {Signature: ir.SignatureStandard}, "github": {Signature: ir.SignatureGitHub},
		"hmac":  {Signature: ir.SignatureHMAC, Header: "x-signature"},
		"timed": {Signature: ir.SignatureHMAC, Header: "x-signature", Timestamp: "x-time", ID: "x-id"}} {
		at := layoutOf(h)
		signed := Sign(h, "key", "id-1", now, body)
		verify := func(secret string, body []byte, headers map[string]string, now time.Time) Reason {
			_, err := Verify(h, secret, Delivery{reading(headers), body}, now)
			var no *Refusal
			if errors.As(err, &no) {
				return no.Reason
			}
			return ""
		}
		with := func(header, value string) map[string]string {
			out := map[string]string{header: value}
			for k, v := range signed { // any order: it fills a map
				if k != header {
					out[k] = v
				}
			}
			return out
		}
		check := func(what string, got, want Reason) {
			t.Helper()
			if got != want {
				t.Errorf("%s, %s: %q, want %q", name, what, got, want)
			}
		}
		check("as it was signed", verify("key", body, signed, now), "")
		check("another key", verify("kez", body, signed, now), Forged)
		check("no key", verify("", body, Sign(h, "", "id-1", now, body), now), Forged)
		check("another body", verify("key", []byte(`{"a":2}`), signed, now), Forged)
		check("an empty body", verify("key", nil, signed, now), Forged)
		check("no signature", verify("key", body, with(at.signature, ""), now), Unsigned)
		check("half a signature", verify("key", body, with(at.signature, signed[at.signature][:20]), now), Forged)
		check("the digest alone", verify("key", body, with(at.signature, "sha256="), now), Forged)
		check("another digest", verify("key", body, with(at.signature, strings.Replace(signed[at.signature], signed[at.signature][7:9], "zz", 1)), now), Forged)
		if at.time != "" {
			check("4 minutes 59 later", verify("key", body, signed, now.Add(299*time.Second)), "")
			check("5 minutes 1 later", verify("key", body, signed, now.Add(301*time.Second)), Old)
			check("5 minutes 1 earlier", verify("key", body, signed, now.Add(-301*time.Second)), Old)
			check("another time", verify("key", body, with(at.time, "1700000001"), now), Forged)
			check("no time", verify("key", body, with(at.time, ""), now), Unsigned)
		}
		if at.id != "" {
			check("no id", verify("key", body, with(at.id, ""), now), Unsigned)
		}
		if h.Signature == ir.SignatureStandard {
			check("another id", verify("key", body, with(at.id, "id-2"), now), Forged)
			check("one of two signatures", verify("key", body, with(at.signature, "v1,AAAA v1a,AAAA "+signed[at.signature]), now), "")
		}
	}
}

// TestIDOfADelivery says what names a delivery, and what else must be new.
func TestIDOfADelivery(t *testing.T) {
	now, body := time.Unix(1_700_000_000, 0), []byte("x")
	known := func(h *ir.Hook, id string) Known {
		k, err := Verify(h, "key", Delivery{reading(Sign(h, "key", id, now, body)), body}, now)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	github, plain := &ir.Hook{Signature: ir.SignatureGitHub}, &ir.Hook{Signature: ir.SignatureHMAC, Header: "x-signature"}
	if a, b := known(github, "a"), known(github, "b"); a.ID == b.ID || a.Signed != b.Signed || a.Signed == "" {
		t.Errorf("GitHub: %+v, %+v", a, b)
	}
	if a, b := known(plain, "a"), known(plain, "b"); a != b || a.Signed != "" || a.ID == "" {
		t.Errorf("a header alone: %+v, %+v", a, b)
	}
	long := &ir.Hook{Signature: ir.SignatureStandard}
	for _, id := range []string{strings.Repeat("x", MaxID+1), "\xff"} {
		if _, err := Verify(long, "key", Delivery{reading(Sign(long, "key", id, now, body)), body}, now); err == nil {
			t.Errorf("the id %.20q is accepted", id)
		}
	}
}

func TestKeys(t *testing.T) {
	standard := &ir.Hook{Signature: ir.SignatureStandard}
	if got := key(standard, "whsec_"+base64.StdEncoding.EncodeToString([]byte("abc"))); string(got) != "abc" {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"abc", "whsec_not base64"} {
		if got := key(standard, text); string(got) != text {
			t.Errorf("%q of %q", got, text)
		}
	}
}

func TestData(t *testing.T) {
	h := &ir.Hook{Headers: []string{"x-event", "x-other"}}
	for _, c := range []struct{ kind, body, want string }{
		{"application/json", `{"b":[1,null]}`, `{"b":[1,null]}`}, {"application/json; charset=utf-8", `"text"`, `"text"`}, {"application/cloudevents+json", `1`, `1`},
		{"", `{"a":1}`, `{"a":1}`}, {"", `plain`, `"plain"`}, {"text/plain", `{"a":1}`, `"{\"a\":1}"`}, {"application/x-www-form-urlencoded", "a=1", `"a=1"`},
		{"application/json", "", `""`}, {"application/json", `{"a"`, ""}, {"application/json", `{} {}`, ""}, {"text/plain", "\xff", ""},
		{"application/json", strings.Repeat("[", 100_000), ""}} {
		v, err := Data(h, Delivery{reading(map[string]string{"content-type": c.kind, "x-event": "push", "x-third": "no"}), []byte(c.body)}, Known{ID: "1"})
		if (err == nil) != (c.want != "") {
			t.Errorf("%q as %q: %v", c.body, c.kind, err)
			continue
		}
		if want := `{"body":` + c.want + `,"delivery":"1","headers":{"x-event":"push","x-other":""}}`; err == nil && string(value.Append(nil, v)) != want {
			t.Errorf("%q as %q: %s, want %s", c.body, c.kind, value.Append(nil, v), want)
		}
	}
}

// FuzzVerify accepts nothing that was not signed, and does not panic.
func FuzzVerify(f *testing.F) {
	f.Add("id", "1700000000", "v1,AAAA", []byte("x"), byte(0))
	f.Add("id", "1700000000", "sha256=00", []byte("{}"), byte(1))
	f.Fuzz(func(t *testing.T, id, at, signature string, body []byte, kind byte) {
		h := &ir.Hook{Signature: ir.Signatures[int(kind)%len(ir.Signatures)], Header: "s", Timestamp: "t", ID: "i"}
		l := layoutOf(h)
		d := Delivery{reading(map[string]string{l.id: id, l.time: at, l.signature: signature}), bytes.Clone(body)}
		if _, err := Verify(h, "a key that nobody guesses", d, time.Unix(1_700_000_000, 0)); err == nil {
			t.Fatal("accepted")
		}
		_, _ = Data(h, d, Known{ID: id})
	})
}
