package app

import (
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/command"
	"github.com/flowrun/flowrun/runner/live"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/view"
)

// maxEnd bounds the last part of an attempt's output that is read, in bytes.
const maxEnd = 16 << 10

// maxEnds bounds the number of running attempts with output that is read.
const maxEnds = 256

// stand tells the view whether a process drives the run. If none does, the clock of the run stops
// at its last event, or at the last sign of life of its driver or of an attempt.
func (p *past) stand(info engine.Info, begun []*view.Begun) {
	p.View.Driven, p.View.Stands = info.Driver != 0, 0
	if info.Turn != nil && p.View.Driven {
		p.View.Reason = info.Turn.String()
	}
	if !info.Interrupted() {
		return
	}
	_, sign := live.Read(p.store.Dir(), p.Run)
	p.View.Stands = max(info.Last, p.View.Last, sign)
	for _, b := range begun {
		if b.Interrupted != "" && b.NextDriver == 0 {
			p.View.Stands = max(p.View.Stands, b.Heard)
		}
	}
}

// unanswered returns the running attempts of a run and the attempts that lost their driver, with
// their visible state.
func (p *past) unanswered(info engine.Info) []*view.Begun {
	list := p.Attempts.Lost()
	for _, b := range list {
		p.store.readEnds(b)
	}
	return append(list[:len(list):len(list)], p.underWay(info)...)
}

// underWay returns the attempts that no later driver took over: either they are running, or no
// process drives the run.
func (p *past) underWay(info engine.Info) []*view.Begun {
	list := p.Attempts.Live()
	if info.Interrupted() {
		list = p.Attempts.Interrupted(info.Crashed)
	}
	rows, sign := live.Read(p.store.Dir(), p.Run)
	for i, b := range list {
		if row, known := rows[b.Ticket]; known {
			b.Says, b.Heard = row.Says, max(b.Heard, row.Heard)
			if b.Interrupted == "" {
				b.Process = row.Process
			}
		}
		if b.Interrupted != "" {
			b.Heard = max(b.Heard, sign)
		}
		if i < maxEnds {
			p.store.readEnds(b)
		}
	}
	return list
}

// readEnds reads the last part of an attempt's output from the log files that exist.
func (s *store) readEnds(b *view.Begun) {
	a := event.Attempt{Run: b.Run, Ticket: b.Ticket, Name: b.Name, Attempt: b.Attempt}
	for _, stream := range []struct {
		name      string
		text, log *string
	}{{"stdout", &b.Stdout, &b.StdoutLog}, {"stderr", &b.Stderr, &b.StderrLog}} {
		log := s.logOf(&a, stream.name, b.StartedAt, b.Over)
		if log == "" {
			continue
		}
		if text, at, err := lastOf(s.Dir(), log); err == nil && text != "" {
			*stream.text, *stream.log, b.Heard = text, log, max(b.Heard, at)
		}
	}
}

// slack bounds how much older than an event a file may seem although it was written after the
// event.
const slack = 20 * time.Millisecond

// logOf returns the log file of a stream of an attempt, or "". An attempt that lost its driver
// begins again with the same ticket, and has a new file each time. The result is the file with the
// latest write after the attempt began, and not after the attempt was over, if it is over.
func (s *store) logOf(a *event.Attempt, stream string, began, over event.Time) string {
	name := path.Join(standalone.LogsDir, command.LogName(a, stream))
	for n := 0; n <= command.MaxEarlier; n++ {
		log := name
		if n > 0 {
			log = command.Earlier(name, n)
		}
		info, err := os.Lstat(filepath.Join(s.Dir(), log))
		if err != nil && n > 0 {
			break
		}
		if err != nil {
			continue
		}
		if at := event.At(info.ModTime()); at.Add(slack) >= began && (over == 0 || at <= over.Add(slack)) {
			return log
		}
	}
	return ""
}

// lastOf reads the last whole lines of a file of the store, and the time of its last write.
func lastOf(dir, name string) (string, event.Time, error) {
	f, err := private.OpenBelow(dir, name, os.O_RDONLY)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	from := max(0, info.Size()-maxEnd)
	text, err := io.ReadAll(io.NewSectionReader(f, from, maxEnd))
	if cut := bytes.IndexByte(text, '\n'); from > 0 && cut >= 0 {
		text = text[cut+1:]
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), min(event.At(info.ModTime()), event.At(time.Now())), err
}
