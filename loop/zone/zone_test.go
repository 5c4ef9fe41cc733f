package zone

import (
	"testing"
	"time"
)

// TestEachZoneIsThere loads all zones and compares a moment of one with what is known.
func TestEachZoneIsThere(t *testing.T) {
	names := Names()
	if len(names) < 590 {
		t.Errorf("%d zones, want about 600", len(names))
	}
	for _, name := range names {
		if _, ok := Load(name); !ok {
			t.Errorf("%s is in the list and can't be loaded", name)
		}
	}
	berlin, ok := Load("Europe/Berlin")
	if !ok {
		t.Fatal("no Europe/Berlin")
	}
	if got := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).In(berlin).Format(time.RFC3339); got != "2026-07-01T14:00:00+02:00" {
		t.Errorf("noon UTC in Berlin: %s", got)
	}
	if got := time.Date(2099, 7, 1, 12, 0, 0, 0, time.UTC).In(berlin).Format(time.RFC3339); got != "2099-07-01T14:00:00+02:00" {
		t.Errorf("the rule for later years: %s", got)
	}
}

func TestWhatIsNoZone(t *testing.T) {
	for _, name := range []string{"Local", "local", "Europe", "Europe/", "europe/berlin", "../etc/passwd", "Mars/Olympus", "+01:00"} {
		if _, ok := Load(name); ok {
			t.Errorf("%q is a zone", name)
		}
	}
	for name, want := range map[string]string{"europe/berlin": "Europe/Berlin", "Berlin": "Europe/Berlin", "new york": "America/New_York", "Europe/Berln": "Europe/Berlin", "utc": "UTC", "xyzzy": ""} {
		if got := Nearest(name); got != want {
			t.Errorf("nearest to %q: %q, want %q", name, got, want)
		}
	}
}
