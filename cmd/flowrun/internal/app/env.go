package app

import (
	"strings"
)

// envAllowed are the variables that a run records and gives to every attempt; a name that ends in * stands for all that
// begin so. Nothing else of the environment enters a journal.
var envAllowed = []string{"PATH", "HOME", "USER", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "XDG_*", "TERM"}

// recordedEnv picks the allow-listed variables out of an environment.
func recordedEnv(environ []string) map[string]string {
	env := map[string]string{}
	for _, pair := range environ {
		if name, text, ok := strings.Cut(pair, "="); ok && allowed(name) {
			env[name] = strings.ToValidUTF8(text, "\uFFFD")
		}
	}
	return env
}

func allowed(name string) bool {
	for _, a := range envAllowed {
		if prefix, open := strings.CutSuffix(a, "*"); a == name || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// getenv reads the environment that the app was given: the last of several values, as os.Getenv has it.
func (a *app) getenv(name string) string {
	text, _ := a.lookupEnv(name)
	return text
}

func (a *app) lookupEnv(name string) (text string, ok bool) {
	for _, pair := range a.Environ {
		if n, t, found := strings.Cut(pair, "="); found && n == name {
			text, ok = t, true
		}
	}
	return text, ok
}
