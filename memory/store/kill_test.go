package store

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

var kills = flag.Int("kills", 8, "how often processes that write are killed")

// writerOf is the environment variable that makes the test binary a process that appends to a store until it is killed.
const writerOf = "FLOWRUN_TEST_MEMORY_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerOf); dir != "" {
		if err := write(dir, os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// write appends batches of one to five entries, and says each id once it is acknowledged.
func write(dir, name string) error {
	s, err := Open(dir, Options{Warn: func(text string) { fmt.Fprintln(os.Stderr, text) }})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		var batch []entry.Record
		for n := range 1 + i%5 {
			r := put(fmt.Sprintf("%s-%d-%d", name, i, n))
			r.Entry.Text = strings.Repeat("text ", 10+i%400)
			batch = append(batch, r)
		}
		if _, err := s.Append(ctx, batch...); err != nil {
			return err
		}
		for _, r := range batch {
			fmt.Println(r.Entry.ID)
		}
		if i%50 == 49 { // it checkpoints, too
			if err := s.Close(); err != nil {
				return err
			}
			if s, err = Open(dir, Options{}); err != nil {
				return err
			}
		}
	}
}

// writer is such a process.
type writer struct {
	*exec.Cmd
	mu           sync.Mutex
	acknowledged []string
	errors       strings.Builder
	read         chan struct{}
}

func startWriter(t testing.TB, dir, name string) *writer {
	t.Helper()
	w := &writer{Cmd: exec.Command(os.Args[0], name), read: make(chan struct{})}
	w.Env = append(os.Environ(), writerOf+"="+dir)
	w.Stderr = &w.errors
	out, err := w.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.read)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err == io.EOF || err != nil {
				return // half a line is not an acknowledgement
			}
			w.mu.Lock()
			w.acknowledged = append(w.acknowledged, strings.TrimSpace(line))
			w.mu.Unlock()
		}
	}()
	return w
}

func (w *writer) kill(t testing.TB) []string {
	t.Helper()
	if err := w.Process.Kill(); err != nil {
		t.Error("it died before:", err, w.errors.String())
	}
	<-w.read
	w.Wait()
	if text := w.errors.String(); text != "" {
		t.Error("a writer says:", text)
	}
	return w.acknowledged
}

// await waits until n entries are acknowledged.
func (w *writer) await(t testing.TB, n int) {
	t.Helper()
	for {
		w.mu.Lock()
		have := len(w.acknowledged)
		w.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-w.read:
			w.Wait()
			t.Fatal("a writer died:", w.errors.String())
		case <-time.After(time.Millisecond):
		}
	}
}

// TestKilledWhileWriting kills one or two processes that write to one store, at a random time, again and again; each store is
// killed five times.
func TestKilledWhileWriting(t *testing.T) {
	random := rand.New(rand.NewSource(4))
	var dir string
	var all []string
	acknowledged, killed := 0, 0
	for i := 0; i < *kills; i++ {
		if i%5 == 0 {
			dir, all = filepath.Join(t.TempDir(), ".flowrun"), nil
		}
		writers := []*writer{startWriter(t, dir, fmt.Sprintf("a%d", i))}
		if i%2 == 1 {
			writers = append(writers, startWriter(t, dir, fmt.Sprintf("b%d", i)))
		}
		if i%3 != 0 { // else it may die while it opens the store
			writers[0].await(t, 1)
		}
		time.Sleep(time.Duration(random.Intn(80)) * time.Millisecond)
		for _, w := range writers {
			ids := w.kill(t)
			all = append(all, ids...)
			acknowledged += len(ids)
			killed++
		}
		s, err := Open(dir, Options{Warn: func(text string) { t.Error("after a kill:", text) }})
		if err != nil {
			t.Fatalf("kill %d: it does not open: %v", i, err)
		}
		for _, id := range all {
			if _, found := s.State().Get(id); !found {
				t.Fatalf("kill %d: %s was acknowledged and is lost", i, id)
			}
		}
		if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
			t.Fatalf("kill %d: %+v %v", i, r, err)
		}
		if i%4 != 0 { // else the next ones find what this one leaves
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		} else {
			t.Cleanup(func() { s.Close() })
		}
	}
	if acknowledged == 0 {
		t.Error("nothing was acknowledged before a kill")
	}
	t.Logf("%d processes killed in %d rounds, %d entries acknowledged, 0 lost, 0 stores that do not open", killed, *kills, acknowledged)
}

// TestTwoProcessesWriteAtOnce lets them, and looks at what both see.
func TestTwoProcessesWriteAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".flowrun")
	a, b := startWriter(t, dir, "a"), startWriter(t, dir, "b")
	a.await(t, 30)
	b.await(t, 30)
	s := open(t, dir, Options{})
	appendAll(t, s, put("between"))
	ids := append(a.kill(t), b.kill(t)...)
	if _, err := s.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	for _, id := range append(ids, "between") {
		if _, found := s.State().Get(id); !found {
			t.Errorf("%s was acknowledged and is not there", id)
		}
	}
}
