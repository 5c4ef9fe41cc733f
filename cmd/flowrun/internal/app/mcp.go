package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/mcp"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
)

func (a *app) newMcpCommand() *cobra.Command {
	var o args.MCP
	var rights []string
	for _, r := range mcp.Rights {
		rights = append(rights, string(r))
	}
	c := &cobra.Command{
		Use: "mcp", Short: "Offer flowrun to agents as tools, by the Model Context Protocol", Args: between(0, 0, ""),
		Long: `mcp is a server of the Model Context Protocol. Agents check, plan, test and run workflows with it, read runs and logs, hand in work, and
search the memory. Each tool is a command of flowrun, and works in the folder in which the server was started.

  flowrun mcp                          speak on standard input and output, as agents start a server
  flowrun mcp --allow read             offer only tools that change nothing
  flowrun mcp --listen 127.0.0.1:8421  speak over HTTP, at /mcp

When standard input ends, the requests that came before are still answered, as in  flowrun mcp < requests. If no process reads the answers any
more, the commands in flight are interrupted.

--allow gives rights: read looks at files, runs, the inbox, work and the memory; run starts and cancels runs, hands in work, publishes events
and adds to the memory; decide answers in the place of a person, and is not given by default. An agent with the right run can put a question of
the inbox to the person at its client, if the client shows forms.

With --engine the runs are those of a Temporal server: what waits for a worker there says so. A tool that is interrupted leaves its run to the
workers.

Over HTTP requests need the header  Authorization: Bearer TOKEN. The token in the file serve.token of the store has the rights of --allow, and
the one in mcp-read.token has only the right read. For Claude Code:  claude mcp add flowrun -- flowrun mcp`,
		RunE: func(*cobra.Command, []string) error {
			if err := o.Check(rights); err != nil {
				return err
			}
			return a.runMcp(&o)
		},
	}
	c.Flags().StringVar(&o.Listen, "listen", "", "the `address` to answer on over HTTP; port 0 picks a free one (default: standard input and output)")
	c.Flags().StringSliceVar(&o.Allow, "allow", []string{"read", "run"}, "what clients may do, of "+strings.Join(rights, ", "))
	return c
}

func (a *app) runMcp(o *args.MCP) error {
	ctx, release := process.UntilSignal(func(string) {})
	defer release()
	server := func(rights []mcp.Right) *mcp.Server {
		return mcp.New(mcp.Options{Release: Release, Rights: rights, Command: a.commandOfMcp})
	}
	var rights []mcp.Right
	for _, r := range o.Allow {
		rights = append(rights, mcp.Right(r))
	}
	if o.Listen == "" {
		return mcp.Speak(ctx, server(rights))
	}
	return a.listenMcp(ctx, o, server(rights), server([]mcp.Right{mcp.Read}))
}

// listenMcp answers over HTTP until the context ends. all answers to the token of the store, and read to the token of readers.
func (a *app) listenMcp(ctx context.Context, o *args.MCP, all, read *mcp.Server) error {
	if !serve.IsLoopback(o.Listen) {
		return &args.Error{Message: "--listen " + o.Listen + ", which other machines reach", Hint: "Listen on 127.0.0.1, behind a proxy that speaks TLS."}
	}
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	s, err := a.openStore(dir, args.Drive{}) // it makes the folder, and refuses what is no store
	if err != nil {
		return err
	}
	s.Close()
	if a.engine() != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	token, file, err := serve.Token(dir)
	if err != nil {
		return err
	}
	reader, _, err := serve.ReaderToken(dir)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.Handler(map[string]*mcp.Server{token: all, reader: read}))
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	a.saySo(fmt.Sprintf("process %d answers at http://%s/mcp, token: %s", os.Getpid(), l.Addr(), file))
	go func() {
		<-ctx.Done()
		_ = h.Close()
	}()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// commandOfMcp runs a command of flowrun in a process of its own, with the store and the environment of this one. A context that ends
// interrupts the command, which then ends its children and leaves its run to be resumed.
func (a *app) commandOfMcp(ctx context.Context, words []string, hear mcp.Hear) (mcp.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return mcp.Result{}, err
	}
	own := []string{"--color=never"}
	if a.global.Store != "" {
		own = append(own, "--store="+a.global.Store)
	}
	if a.global.Env != "" {
		own = append(own, "--env="+a.global.Env)
	}
	for _, l := range a.global.Limits {
		own = append(own, "--limit="+l)
	}
	c := exec.CommandContext(ctx, self, slices.Concat(words[:1], own, words[1:])...)
	if address := a.engine(); address != "" { // in the environment: commands that need no engine refuse the flag
		c.Env = append(slices.Clone(a.Environ), engineEnv+"="+address)
		if a.global.Artifacts != "" {
			c.Env = append(c.Env, artifactsEnv+"="+a.global.Artifacts)
		}
	} else if a.global.Engine == localEngine {
		c.Env = append(slices.Clone(a.Environ), engineEnv+"="+localEngine)
	}
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) }
	c.WaitDelay = 15 * time.Second
	var out, said mcpBuffer
	fromOut, err := c.StdoutPipe()
	if err != nil {
		return mcp.Result{}, err
	}
	fromErr, err := c.StderrPipe()
	if err != nil {
		return mcp.Result{}, err
	}
	if err := c.Start(); err != nil {
		return mcp.Result{}, err
	}
	var read sync.WaitGroup
	read.Go(func() { out.read(fromOut, hear.Out) })
	read.Go(func() { said.read(fromErr, hear.Err) })
	read.Wait()
	err = c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return mcp.Result{}, err
	}
	return mcp.Result{Stdout: out.String(), Stderr: said.String(), Code: c.ProcessState.ExitCode()}, nil
}

// mcpBuffer keeps the beginning of what a command prints, a little more than a client gets.
type mcpBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// read keeps what comes, and hands each line on.
func (b *mcpBuffer) read(from io.Reader, say func(line string)) {
	if say == nil {
		_, _ = io.Copy(b, from) // what there is will do
		return
	}
	lines := bufio.NewReaderSize(from, 64<<10)
	for {
		line, long, err := lines.ReadLine()
		if err != nil {
			return
		}
		_, _ = b.Write(line)
		if !long {
			_, _ = b.Write([]byte("\n"))
			say(string(line))
		}
	}
}

// Write implements io.Writer.
func (b *mcpBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if room := 4*mcp.MaxResult - b.b.Len(); room > 0 {
		b.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// String is what was kept.
func (b *mcpBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
