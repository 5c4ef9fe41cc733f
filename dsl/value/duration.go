package value

import (
	"fmt"
	"strings"
	"time"
)

// MaxDuration is the longest time that a file may ask for.
const MaxDuration = 10 * 365 * 24 * time.Hour

// ParseDuration reads a duration as workflow files write it: whole or decimal numbers with units, largest first by
// custom but in any order, such as "90s", "1h30m", "1.5h", "500ms" or "2d" (a day is 24 hours). It must be longer than
// nothing and at most MaxDuration.
func ParseDuration(s string) (time.Duration, error) {
	const forms = `a duration is written like "500ms", "90s", "1h30m" or "2d"`
	text := s
	var days time.Duration
	if i := strings.IndexByte(s, 'd'); i > 0 {
		n, err := time.ParseDuration(s[:i] + "h")
		if err != nil || n > MaxDuration/24 || n < 0 {
			return 0, fmt.Errorf("%.40q is no duration; %s", text, forms)
		}
		days, s = 24*n, s[i+1:]
	}
	d := days
	if s != "" || days == 0 {
		rest, err := time.ParseDuration(s)
		if err != nil || strings.HasPrefix(s, "+") {
			return 0, fmt.Errorf("%.40q is no duration; %s", text, forms)
		}
		if rest < 0 || (rest > 0 && days > MaxDuration-rest) {
			return 0, fmt.Errorf("%.40q is out of range: a duration is longer than nothing and at most ten years", text)
		}
		d += rest
	}
	if d <= 0 || d > MaxDuration {
		return 0, fmt.Errorf("%.40q is out of range: a duration is longer than nothing and at most ten years", text)
	}
	return d, nil
}
