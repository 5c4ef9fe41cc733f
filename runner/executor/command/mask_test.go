package command

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

const canary = "canary-0123456789"

func masked(x *Executor, a event.Attempt) event.AttemptFinished {
	return x.Execute(executor.WithMask(context.Background(), mask.New([]string{canary})), a)
}

// A secret that comes in two writes, far apart, is one secret; and where the text is cut, no half of one is left.
func TestMaskedStreams(t *testing.T) {
	dir := t.TempDir()
	x := newTest(t, Options{LogDir: dir, LogRel: "logs"})
	f := masked(x, script(`printf 'a canary-01'; sleep 0.05; printf '23456789 b'; printf '%s\n' canary-0123456789 >&2`))
	if f.Stdout != "a (sensitive) b" || f.Stderr != "(sensitive)\n" {
		t.Errorf("%q, %q", f.Stdout, f.Stderr)
	}
	a := script(`i=0; while [ $i -lt 6000 ]; do echo "$i canary-0123456789"; i=$((i+1)); done; echo canary-0123456789 >&2`)
	f = masked(x, a)
	if strings.Contains(f.Stdout+f.Stderr, "canary") || !strings.Contains(f.Stdout, "5999 (sensitive)") || f.StdoutLog == "" {
		t.Errorf("%d bytes, log %q", len(f.Stdout), f.StdoutLog)
	}
	log, err := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(f.StdoutLog, "logs/")))
	if err != nil || !bytes.Contains(log, []byte("\n5999 (sensitive)\n")) {
		t.Errorf("%s: %d bytes, %v", f.StdoutLog, len(log), err)
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error { // drafts, too, where the attempts took long
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if bytes.Contains(text, []byte("canary")) {
			t.Errorf("%s holds the secret", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What an agent says is masked before it is understood, and what it says on the way.
func TestMaskedAgent(t *testing.T) {
	var heard []string
	x := newTest(t, Options{Live: func(_ event.Attempt, kind, text string) { heard = append(heard, kind+" "+text) }})
	f := masked(x, agent(`
		echo '{"type":"progress","percent":40,"message":"with canary-0123456789"}'
		echo '{"type":"log","message":"with can\u0061ry-0123456789"}'
		echo '{"type":"result","output":{"echo":"canary-0123456789"}}'`))
	if got := strings.Join(heard, ", "); got != "progress 40% with (sensitive), log with (sensitive)" {
		t.Error(got)
	}
	if got := f.Output.(map[string]any)["echo"]; got != mask.Mark || strings.Contains(f.Stdout, canary) {
		t.Errorf("%v, %s", got, f.Stdout)
	}
}

// BenchmarkCapture compares what comes of a stream with and without secrets: 64 KiB pieces of which the log gets all.
//
//	go test -run '^$' -bench Capture ./runner/executor/command
func BenchmarkCapture(b *testing.B) {
	piece := bytes.Repeat([]byte("2026-11-21T07:55:04Z INFO  compiling github.com/example/project (cached) 0.012s\n"), 800)
	for name, m := range map[string]*mask.Masker{"plain": nil, "masked": mask.New([]string{"ghp_16C7e42F292c6912E7710c838347Ae178B4a", canary})} {
		b.Run(name, func(b *testing.B) {
			x := newTest(b, Options{LogDir: b.TempDir()})
			a := run("x")
			c := x.newCapture(&a, "stdout")
			c.log.left = 1 << 60
			c.without(m)
			b.SetBytes(int64(len(piece)))
			for i := 0; b.Loop(); i++ {
				if i%1000 == 0 && c.log.f != nil {
					c.log.f.Truncate(0)
				}
				c.hear(piece)
			}
			c.end()
			c.close()
		})
	}
}
