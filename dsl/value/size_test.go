package value

import "testing"

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]int64{"64MiB": 64 << 20, "1.5GiB": 3 << 29, "2 GB": 2e9, "1024KiB": 1 << 20, "64TiB": 1 << 46, "5MB": 5e6} {
		if have, err := ParseMemory(text); err != nil || have != want {
			t.Errorf("%q is %d bytes (%v), want %d", text, have, err, want)
		}
	}
	for _, text := range []string{"", "64", "64M", "MiB", "-1GiB", "1e3GiB", "1KiB", "65TiB", "InfGiB", "NaNMiB", "0x10MiB", "64mib", "1 000MiB"} {
		if have, err := ParseMemory(text); err == nil {
			t.Errorf("%q is %d bytes, and no size", text, have)
		}
	}
}
