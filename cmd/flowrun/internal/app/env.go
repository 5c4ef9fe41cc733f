package app

import (
	"strings"
)

// getenv reads the environment of the app: the last of several values, like os.Getenv.
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
