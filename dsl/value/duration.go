package value

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxDuration is the longest duration that a file may name: ten years of 365 days. It fits an int64 of nanoseconds with
// room for sums, and is far beyond what a run outlives.
const MaxDuration = 10 * 365 * 24 * time.Hour

// DurationForms says in a message which texts are durations.
const DurationForms = `such as "90s", "1h30m", "500ms" or "2d"; units are ns, us, ms, s, m, h and d`

// ParseDuration reads a duration as workflow files write it: the forms of Go's time.ParseDuration, and days of 24 hours
// ("2d", "1d12h"; days come first). It must be more than zero and at most [MaxDuration].
func ParseDuration(s string) (time.Duration, error) {
	if len(s) > 40 {
		return 0, fmt.Errorf("%.40q… is not a duration: write one %s", s, DurationForms)
	}
	days, rest := time.Duration(0), s
	if head, tail, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.ParseUint(head, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration: write one %s", s, DurationForms)
		}
		if n > uint64(MaxDuration/(24*time.Hour)) {
			return 0, tooLong(s)
		}
		days, rest = time.Duration(n)*24*time.Hour, tail
	}
	var d time.Duration
	if rest != "" || s == "" {
		var err error
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, fmt.Errorf("%q is not a duration: write one %s", s, DurationForms)
		}
	}
	switch {
	case d < 0 || days+d <= 0:
		return 0, errors.New("a duration must be more than zero")
	case d > MaxDuration || days+d > MaxDuration:
		return 0, tooLong(s)
	}
	return days + d, nil
}

func tooLong(s string) error { return fmt.Errorf("%q is longer than ten years", s) }

// NoDuration reports whether a text is a duration of zero, such as "0s", which [ParseDuration] refuses.
func NoDuration(s string) bool {
	d, err := time.ParseDuration(s)
	return err == nil && d == 0 && len(s) <= 40
}
