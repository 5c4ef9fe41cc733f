package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/runner/engine"
)

func (a *app) newOpenCommand() *cobra.Command {
	only := false
	c := &cobra.Command{
		Use: "open [RUN]", Short: "Open the dashboard in a browser", Args: between(0, 1, "[RUN]"),
		Long: `open asks the daemon of the store for a link that logs a browser in, prints the link, and opens it in the browser of this machine. The link works once,
for 2 minutes; the browser then stays logged in for 7 days. The daemon must run: see flowrun serve.

  flowrun open                        show the current runs
  flowrun open latest                 the newest run
  flowrun open --print                print the link, and open nothing`,
		RunE: func(_ *cobra.Command, words []string) error {
			run := ""
			if len(words) > 0 {
				run = words[0]
			}
			return a.runOpen(run, only)
		},
	}
	c.Flags().BoolVar(&only, "print", false, "print the link, and open nothing")
	return c
}

func (a *app) runOpen(run string, only bool) error {
	next := "/"
	if run != "" {
		err := a.withRun(run, nil, func(_ *store, info engine.Info) error {
			next += "runs/" + info.Run
			return nil
		})
		if err != nil {
			return err
		}
	}
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	daemon, err := serve.Served(dir)
	if err != nil {
		return err
	}
	if daemon == nil || daemon.At == "" {
		return fmt.Errorf("no daemon serves the store %s\nStart one with: flowrun serve", dir)
	}
	link, err := a.linkToOpen(dir, daemon.At, next)
	if err != nil {
		return err
	}
	a.out.Printf("%s\n", link)
	if only {
		return nil
	}
	if command := findBrowserToOpen(a.getenv); command != nil {
		if err := exec.Command(command[0], append(command[1:], link)...).Start(); err != nil {
			a.err.Printf("The browser cannot be started (%v): open the link yourself.\n", err)
		}
	}
	return nil
}

// linkToOpen asks a daemon for a link to a page that logs a browser in.
func (a *app) linkToOpen(dir, at, next string) (string, error) {
	token, has, err := serve.ReadToken(dir)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", at+"/api/v1/login", bytes.NewReader([]byte("{}")))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if has {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", fmt.Errorf("asking the daemon at %s: %w", at, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return "", err
	}
	if answer.StatusCode != http.StatusOK {
		var e serve.Error
		_ = json.Unmarshal(body, &e) // without it the status alone is told
		return "", fmt.Errorf("the daemon at %s answers %s: %s", at, answer.Status, e.Error.Message)
	}
	var l serve.Login
	if err := json.Unmarshal(body, &l); err != nil {
		return "", fmt.Errorf("reading the answer of the daemon: %w", err)
	}
	return at + l.Path + "&next=" + url.QueryEscape(next), nil
}

// findBrowserToOpen returns the command that opens a link; nil where there is none, such as on a machine without a screen.
func findBrowserToOpen(getenv func(string) string) []string {
	if b := getenv("BROWSER"); b != "" && !strings.ContainsAny(b, "%:") {
		return []string{b}
	}
	switch {
	case runtime.GOOS == "darwin":
		return []string{"open"}
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		return []string{"xdg-open"}
	}
	return nil
}
