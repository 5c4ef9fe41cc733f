package app

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/standalone"
)

// flagError turns an error of the flag library into an error of usage.
func (a *app) flagError(c *cobra.Command, err error) error {
	var missing missingFlag
	if errors.As(err, &missing) {
		return a.unknownFlag(c, missing)
	}
	e := &args.Error{Message: err.Error(), Hint: "See " + c.CommandPath() + " --help."}
	if before, cause, ok := strings.Cut(e.Message, ": strconv."); ok {
		need := "a whole number is needed"
		if strings.HasPrefix(cause, "ParseBool") {
			need = "true or false is needed"
		}
		e.Message = before + ": " + need
	}
	if before, _, ok := strings.Cut(e.Message, ": time: "); ok {
		e.Message = before + ": a duration such as 90s or 2h is needed"
	}
	return e
}

// flagsOf lists the names of the flags that a command takes.
func flagsOf(c *cobra.Command) (names []string) {
	flagName := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([\w-]+)`) // here, not above: most calls need none
	for _, m := range flagName.FindAllStringSubmatch(c.Flags().FlagUsages(), -1) {
		names = append(names, m[1])
	}
	return names
}

// setLimits takes the limits of files from the environment and the flags; a flag wins.
func (a *app) setLimits() error {
	given := a.getenv("FLOWRUN_LIMITS")
	for _, words := range append(strings.FieldsFunc(given, func(r rune) bool { return r == ',' }), a.global.Limits...) {
		if err := a.limits.Set(words); err != nil {
			return args.Errorf("%v", err)
		}
	}
	return nil
}

// leastGrace is the shortest grace: a process needs time to hear TERM.
const leastGrace = 100 * time.Millisecond

// setGrace takes the time between TERM and KILL from the environment.
func (a *app) setGrace() error {
	given := a.getenv("FLOWRUN_GRACE")
	if given == "" {
		return nil
	}
	d, err := time.ParseDuration(given)
	if err != nil || d < leastGrace || d > standalone.MostGrace {
		return args.Errorf("FLOWRUN_GRACE is %q: write how long a process has after TERM, from 100ms to 5s", given)
	}
	a.grace = d
	return nil
}

// checkURL refuses an address of the dashboard to which no message can link.
func (a *app) checkURL() error {
	given := a.getenv(runner.DashboardURL)
	if u, err := url.Parse(given); given != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		return args.Errorf("%s is %q: write the address under which people reach the dashboard, such as https://flowrun.example.com", runner.DashboardURL, given)
	}
	return nil
}
