package app

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// outputPrinter prints the output of the attempts of a run as they end, on standard error. On GitHub Actions the output of each attempt is
// a group of the log, and commands of the platform in it are not obeyed.
type outputPrinter struct {
	app   app // its standard output is the standard error
	store *store
	run   *view.Run
	token string // on GitHub Actions; "" elsewhere
}

func (a *app) newOutputPrinter(s *store, r *view.Run) *outputPrinter {
	p := &outputPrinter{app: *a, store: s, run: r}
	p.app.out = a.err
	if a.getenv("GITHUB_ACTIONS") == "true" {
		p.token = rand.Text()
	}
	return p
}

// print prints the output of the attempts that ended with some events.
func (p *outputPrinter) print(events []event.Event) error {
	for i := range events {
		if c := events[i].ChildFinished; c != nil {
			p.app.printCalled(p.store, c)
		}
		f := events[i].AttemptFinished
		if f == nil || f.Stdout+f.Stderr+f.StdoutLog+f.StderrLog == "" && f.Artifact == nil {
			continue
		}
		if p.token == "" {
			if err := p.app.printAttempt(p.store, f, p.run); err != nil {
				return err
			}
			continue
		}
		p.app.out.Printf("::group::%s: %s\n::stop-commands::%s\n", ui.Attempted(f, p.run), ui.Clean(string(f.Outcome)), p.token)
		err := p.app.printStreams(p.store, f)
		p.app.out.Printf("::%s::\n::endgroup::\n", p.token)
		if err != nil {
			return err
		}
	}
	return nil
}

// printCalled names the command that prints the output of a called run.
func (a *app) printCalled(s *store, c *event.ChildFinished) {
	a.out.Printf("== %s\n-- flowrun logs %s%s\n", ui.Called(c), ui.Clean(c.Run), a.sceneOf(s, nil).Flags)
}

// printAttempt prints one attempt. A terminal gets no control characters; a file or pipe gets the bytes as they were.
func (a *app) printAttempt(s *store, f *event.AttemptFinished, r *view.Run) error {
	how := "ok"
	if f.Error != nil {
		how = f.Error.Message
	}
	a.out.Printf("== %s: %s\n", ui.Attempted(f, r), ui.Clean(how))
	return a.printStreams(s, f)
}

// printStreams prints what an attempt wrote.
func (a *app) printStreams(s *store, f *event.AttemptFinished) error {
	f = f.Shown()
	if err := a.printStream(s, "stdout", f.Stdout, f.StdoutLog); err != nil {
		return err
	}
	return a.printStream(s, "stderr", f.Stderr, f.StderrLog)
}

// printStream prints one stream of an attempt: from the log file if the journal has only a part, and this process can read the file.
func (a *app) printStream(s *store, name, text, log string) error {
	var from io.Reader = strings.NewReader(text)
	where := ""
	if log != "" {
		file, _, err := s.OpenLog(log)
		switch {
		case !s.SeesKept():
			where = fmt.Sprintf(" (the whole text stays with the worker, in %s)", ui.Clean(log))
		case err == nil:
			defer file.Close()
			from = file
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
	}
	if text != "" || log != "" {
		a.out.Printf("-- %s%s\n", name, where)
	}
	return a.printText(from)
}

// printText prints a text unchanged, or line by line without control characters on a terminal, and
// ends it with a newline. A line may have any length; it is never held in memory as a whole.
func (a *app) printText(from io.Reader) error {
	lines, open := bufio.NewReaderSize(from, 64<<10), false
	for {
		piece, err := lines.ReadSlice('\n')
		if len(piece) > 0 {
			open = piece[len(piece)-1] != '\n'
		}
		if a.out.Live {
			piece = []byte(ui.CleanLines(string(piece)))
		}
		a.out.Raw(piece)
		switch {
		case err == io.EOF && open:
			a.out.Printf("\n")
			return nil
		case err == io.EOF:
			return nil
		case err != nil && err != bufio.ErrBufferFull:
			return err
		}
	}
}
