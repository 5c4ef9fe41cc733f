package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"
)

// stdio is standard input and output. Where the input ends, the client asks nothing more: what it has asked is still answered, unless it reads no
// answers. The transport of the library would interrupt all commands in flight.
type stdio struct{ mcp.StdioTransport }

func (t *stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.StdioTransport.Connect(ctx)
	return &stdioConnection{Connection: c, over: make(chan struct{})}, err
}

type stdioConnection struct {
	mcp.Connection
	mu       sync.Mutex
	open     int           // requests of the client without an answer
	ended    bool          // the input has ended
	over     chan struct{} // closed when the input has ended, and no answer can follow
	overOnce sync.Once
}

// lookEvery is how often a server that only answers looks whether the client still reads.
const lookEvery = 100 * time.Millisecond

func (c *stdioConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	c.mu.Lock()
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.open++
	}
	c.ended = errors.Is(err, io.EOF)
	wait := c.ended && c.open > 0
	c.mu.Unlock()
	for tick := time.Tick(lookEvery); wait; {
		select {
		case <-c.over:
			wait = false
		case <-ctx.Done():
			wait = false
		case <-tick:
			wait = isRead()
		}
	}
	return m, err
}

func (c *stdioConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	c.mu.Lock()
	defer c.mu.Unlock()
	asks := false // of the client, whose answer cannot come any more
	switch m := m.(type) {
	case *jsonrpc.Response:
		c.open--
	case *jsonrpc.Request:
		asks = m.IsCall()
	}
	if c.ended && (c.open == 0 || asks) || err != nil {
		c.overOnce.Do(func() { close(c.over) })
	}
	return err
}

func (c *stdioConnection) Close() error {
	c.overOnce.Do(func() { close(c.over) })
	return c.Connection.Close()
}

// isRead reports whether somebody can read what is written to standard output.
func isRead() bool {
	fds := []unix.PollFd{{Fd: 1}}
	n, err := unix.Poll(fds, 0)
	return err != nil || n == 0 || fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) == 0
}
