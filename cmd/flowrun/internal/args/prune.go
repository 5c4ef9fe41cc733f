package args

import (
	"strconv"
	"strings"
	"time"
)

// Prune is what runs prune takes.
type Prune struct {
	Keep      int    // this many of the newest stay; -1: not given
	OlderThan string // an age
	Age       time.Duration
	All       bool
	DryRun    bool
	Vacuum    bool
	JSON      bool
}

// Check reads the age, and refuses to remove everything without having been told to.
func (p *Prune) Check() error {
	if p.OlderThan != "" {
		age, ok := readAge(p.OlderThan)
		if !ok {
			return Errorf("--older-than %q is not an age such as 30d or 12h", p.OlderThan)
		}
		p.Age = age
	}
	if p.Keep < -1 {
		return Errorf("--keep %d is below 0", p.Keep)
	}
	if p.Keep == -1 && p.OlderThan == "" {
		return &Error{"prune needs --keep or --older-than", "Say --keep N, --older-than AGE, or both. For all that have ended: --keep 0."}
	}
	return nil
}

// maxDays is 100 years.
const maxDays = 36_500

// readAge reads a number of days (30d), or a duration as a file has it (12h). An age is above 0.
func readAge(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= maxDays {
			return time.Duration(n) * 24 * time.Hour, true
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, true
	}
	return 0, false
}
