package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/protocol"
)

// outputPrefix begins the names of the files $FLOWRUN_OUTPUT.
const outputPrefix = "output-"

// makeOutput makes the empty file $FLOWRUN_OUTPUT, readable by the owner alone, beside the run's logs. Its name is the
// attempt's: the one that a crash left behind, with what the program wrote to it, goes when the attempt runs again.
func (x *Executor) makeOutput(a *event.Attempt) (name string, err error) {
	if x.opt.LogDir == "" {
		f, err := os.CreateTemp("", outputPrefix+"*")
		if err != nil {
			return "", err
		}
		return f.Name(), f.Close()
	}
	dir := filepath.Join(x.opt.LogDir, safe(a.Run))
	if err := makeLogDir(x.opt.LogDir, dir); err != nil {
		return "", err
	}
	name = filepath.Join(dir, fmt.Sprintf("%s%s-%d", outputPrefix, safe(a.Key), a.Attempt))
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	return name, f.Close()
}

// takeOutput makes the answer's output of what the file holds; one that holds nothing leaves it to the standard output.
func (x *Executor) takeOutput(ctx context.Context, ans *event.AttemptFinished, name string) {
	var text []byte
	var size int64
	err := executor.UntilPlenty(ctx, x.opt.Wait, func() (err error) {
		text, size, err = readOutput(name)
		return err
	})
	switch {
	case errors.Is(err, os.ErrNotExist):
		executor.Fail(ans, badOutput(errors.New("$FLOWRUN_OUTPUT cannot be read: it is not there any more")))
		return
	case err != nil:
		executor.Fail(ans, badOutput(fmt.Errorf("$FLOWRUN_OUTPUT cannot be read: %w", err)))
		return
	case size > limits.MaxOutput:
		executor.Fail(ans, executor.TooLarge("the file $FLOWRUN_OUTPUT", size))
		return
	}
	out, err := protocol.OutputFile(executor.Valid(text))
	switch {
	case err != nil:
		executor.Fail(ans, badOutput(err))
	case out != nil:
		ans.Output = out
	}
}

// readOutput reads at most MaxOutput bytes of a file. Whatever a program has put in its place, this does not wait.
func readOutput(name string) (text []byte, size int64, err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !st.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("it is not a file any more")
	}
	text, err = io.ReadAll(io.LimitReader(f, limits.MaxOutput+1))
	return text, max(st.Size(), int64(len(text))), err
}

func badOutput(err error) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonBadOutput, ExitCode: -1, Message: err.Error()}
}
