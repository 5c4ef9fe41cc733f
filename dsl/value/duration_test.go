package value

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	good := map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, "500ms": 500 * time.Millisecond,
		"2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "0.5d": 12 * time.Hour, "3650d": MaxDuration, "1ns": 1,
	}
	for s, want := range good {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "5", "5 minutes", "-5m", "+5m", "5x", "0s", "0d", "d", "-1d", "3650d1ns", "9999999999h", "99999999999999d", "NaNs", "true", "1h-5m", "1d-1h"} {
		if got, err := ParseDuration(s); err == nil {
			t.Errorf("%q gives %v, want an error", s, got)
		}
	}
}
