package value

import (
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "500ms": 500 * time.Millisecond, "2d": 48 * time.Hour,
		"1d12h": 36 * time.Hour, "0.5s": 500 * time.Millisecond, "3650d": MaxDuration, "0d1s": time.Second,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, word := range map[string]string{
		"": "not a duration", "5": "not a duration", "5 minutes": "not a duration", "d": "not a duration", "-1d": "not a duration",
		"0s": "more than zero", "-5s": "more than zero", "0d": "more than zero", "1d-30h": "more than zero", "1.5d": "not a duration",
		"3650d1ns": "longer than ten years", "99999999999d": "not a duration", "87601h": "longer than ten years",
		"10000000000h": "not a duration", strings.Repeat("1h", 21): "not a duration",
	} {
		if got, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v, %v; want an error with %q", text, got, err, word)
		}
	}
}
