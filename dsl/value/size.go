package value

import (
	"fmt"
	"strconv"
	"strings"
)

// MinMemory and MaxMemory bound a size of memory in a file, in bytes.
const (
	MinMemory = 1 << 20
	MaxMemory = 1 << 46
)

// SizeForms says in a message which texts are sizes.
const SizeForms = `such as "512MiB", "2GiB" or "1.5GB"; units are KiB, MiB, GiB, TiB (1024) and kB, MB, GB, TB (1000)`

var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
}

// ParseMemory reads a size of memory as workflow files write it, and returns it in bytes. It lies between [MinMemory] and [MaxMemory].
func ParseMemory(s string) (int64, error) {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok || len(s) > 40 {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || strings.ContainsAny(digits, "eExXpP_+-nN") {
			break
		}
		if b := float64(n * u.bytes); b >= MinMemory && b <= MaxMemory {
			return int64(b), nil
		}
		return 0, fmt.Errorf("%.40q is not between 1MiB and 64TiB", s)
	}
	return 0, fmt.Errorf("%.40q is not a size: write one %s", s, SizeForms)
}
