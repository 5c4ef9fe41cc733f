package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// ask writes a line and reads one.
func ask(program io.ReadWriteCloser, line string) (string, *event.Error) {
	if _, err := io.WriteString(program, line+"\n"); err != nil {
		return "", broken(err)
	}
	text, err := bufio.NewReader(program).ReadString('\n')
	if err != nil {
		return text, broken(err)
	}
	return strings.TrimSuffix(text, "\n"), nil
}

func broken(err error) *event.Error {
	return &event.Error{Kind: event.Transient, Reason: event.ReasonAgent, Message: err.Error()}
}

func TestConversations(t *testing.T) {
	x := newTest(t, Options{Grace: time.Second})
	once := func(_ context.Context, p io.ReadWriteCloser, ans *event.AttemptFinished) (failure *event.Error) {
		ans.Output, failure = ask(p, "hello")
		return failure
	}
	until := func(_ context.Context, p io.ReadWriteCloser, _ *event.AttemptFinished) *event.Error {
		for {
			if _, err := p.Write(make([]byte, 1<<20)); err != nil {
				return broken(err)
			}
		}
	}
	for _, tc := range []struct {
		name, script string
		timeout      time.Duration
		speak        executor.Speak
		want         string
	}{
		{"an answer", `read x; echo "you said $x"; cat`, 0, once, `ok exit=0 you said hello`},
		{"two questions", `while read x; do echo "$x!"; done`, 0, func(_ context.Context, p io.ReadWriteCloser, ans *event.AttemptFinished) *event.Error {
			a, _ := ask(p, "one")
			b, failure := ask(p, "two")
			ans.Output = a + b
			return failure
		}, `ok exit=0 one!two!`},
		{"a program that does not end by itself", `read x; echo "$x"; sleep 60`, 0, once, `ok hello`},
		{"a program that ignores TERM", `trap '' TERM; read x; echo "$x"; while :; do sleep 1; done`, 0, once, `ok hello`},
		{"an exit code after the answer", `read x; echo "$x"; exit 3`, 0, once, `ok exit=3 hello`},
		{"a program that ends before it answers", `read x; exit 3`, 0, once, `error exit=3 recoverable/exit: exit code 3; EOF`},
		{"a program that ends well before it answers", `read x`, 0, once, `error exit=0 transient/agent: EOF`},
		{"a program that is killed", `read x; kill -9 $$`, 0, once, `error transient/signal/SIGKILL: ended by SIGKILL; EOF`},
		{"a program that reads nothing", `exec <&-; sleep 60`, 0, until, `error transient/agent: io: read/write on closed pipe`},
		{"a program that reads nothing and ends", `exec <&-; sleep 0.1; exit 3`, 0, until, `error exit=3 recoverable/exit: exit code 3; io: read/write on closed pipe`},
		{"a program that says too much", `head -c 20000000 /dev/zero; sleep 60`, 0, func(ctx context.Context, p io.ReadWriteCloser, _ *event.AttemptFinished) *event.Error {
			for over := false; !over && ctx.Err() == nil; time.Sleep(time.Millisecond) { // it reads when it is too late
				said := p.(*talk)
				said.mu.Lock()
				over = said.unread
				said.mu.Unlock()
			}
			n, err := io.Copy(io.Discard, p)
			if n > maxUnread {
				err = fmt.Errorf("%d bytes were kept", n)
			}
			return broken(err)
		}, `error transient/agent: the program printed more than could be read`},
		{"a time that is over, and a goodbye", `read x; read x; echo bye; read x || :`, 300 * time.Millisecond, func(ctx context.Context, p io.ReadWriteCloser, ans *event.AttemptFinished) *event.Error {
			_, _ = io.WriteString(p, "hello\n")
			<-ctx.Done()
			bye, failure := ask(p, "stop")
			ans.Partial = bye + " " + context.Cause(ctx).Error()
			return failure
		}, `error exit=0 transient/timeout: timed out after TIMEOUT partial=bye context deadline exceeded`},
		{"a time that is over, and no goodbye", `trap '' TERM; read x; while :; do sleep 1; done`, 300 * time.Millisecond, func(_ context.Context, p io.ReadWriteCloser, _ *event.AttemptFinished) *event.Error {
			_, failure := ask(p, "hello")
			return failure
		}, `error transient/timeout/SIGKILL: timed out after TIMEOUT`},
		{"a large question", `head -c 3000001 | wc -c`, 0, func(_ context.Context, p io.ReadWriteCloser, ans *event.AttemptFinished) (failure *event.Error) {
			ans.Output, failure = ask(p, strings.Repeat("x", 3000000))
			return failure
		}, `ok exit=0 3000001`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			// A program whose time is over must have come as far as its script says; on a busy machine that takes longer.
			for timeout, try := tc.timeout, 1; ; timeout, try = 10*timeout, try+1 {
				a := agent(tc.script)
				a.Timeout = timeout
				begun := time.Now()
				f := x.Converse(context.Background(), a, tc.speak)
				got := strings.TrimSpace(brief(f))
				if f.Outcome == event.OK {
					got += " " + strings.TrimSpace(fmt.Sprint(f.Output))
				}
				if f.Partial != nil {
					got += fmt.Sprintf(" partial=%v", f.Partial)
				}
				if took := time.Since(begun); took > timeout+30*time.Second { // those that sleep would do so for a minute
					t.Errorf("it took %v", took)
				}
				want := strings.Replace(tc.want, "TIMEOUT", timeout.String(), 1)
				if got == want {
					break
				} else if timeout == 0 || try == 3 {
					t.Errorf("\n got %s\nwant %s", got, want)
					break
				}
			}
		})
	}
}

// TestConversationIsCancelled cancels an attempt in the middle: speak hears of it, and nothing is left of the program.
func TestConversationIsCancelled(t *testing.T) {
	x := newTest(t, Options{Grace: time.Second})
	for try := 1; ; try++ { // the program gets half a second for the last word, which is little on a busy machine
		ctx, cancel := context.WithCancelCause(context.Background())
		heard := ""
		f := x.Converse(ctx, agent(`read x; echo ready; sleep 60 & read x; echo "$x" >&2; wait`), func(ctx context.Context, p io.ReadWriteCloser, _ *event.AttemptFinished) *event.Error {
			_, _ = ask(p, "go")
			cancel(executor.Cancelled)
			<-ctx.Done()
			heard = context.Cause(ctx).Error()
			_, _ = io.WriteString(p, "the last word\n")
			return nil
		})
		if f.Outcome != event.Failed || f.Error.Reason != event.ReasonCancelled || heard != "cancelled" {
			t.Errorf("%+v, heard %q", f, heard)
		}
		if len(f.Stdout) > limits.MaxStream {
			t.Error("too much is kept")
		}
		if strings.Contains(f.Stderr, "the last word") {
			break
		} else if try == 5 {
			t.Fatalf("the program did not read the last word: %q", f.Stderr)
		}
	}
}
