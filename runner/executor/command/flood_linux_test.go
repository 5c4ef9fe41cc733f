package command

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
)

var floodFor = flag.Duration("flood.for", time.Second, "how long yes is listened to")

// A program that floods costs bounded memory and disk: the log ends at its bound with a line that says so, and what is kept
// has a mark where it was cut.
func TestFlood(t *testing.T) {
	for timeout, try := *floodFor, 1; ; timeout, try = 8*timeout, try+1 { // on a busy machine yes may need longer to fill the log
		dir := t.TempDir()
		x := newTest(t, Options{LogDir: dir, LogRel: "logs"})
		x.logMax = 8 << 20
		a := script(`yes; true`)
		a.Timeout, a.Parse = timeout, "none"
		resetPeak(t)
		calm := memory(t, "VmRSS")
		f := do(x, a)
		grown := max(0, memory(t, "VmHWM")-calm)
		if f.Error == nil || f.Error.Reason != "timeout" || grown > 64<<20 {
			t.Errorf("%s; resident memory grew by %d KiB", brief(f), grown>>10)
		}
		if len(f.Stdout) > limits.MaxStream {
			t.Errorf("%d bytes are kept", len(f.Stdout))
		}
		log, err := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(f.StdoutLog, "logs/")))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("yes for %s: %d KiB more memory, a log of %d KiB", timeout, grown>>10, len(log)>>10)
		over := int64(len(log)) - x.logMax
		if over < 0 && try < 3 {
			continue
		}
		const last = "it has reached its limit]\n"
		if over <= 0 || over > 200 || !strings.HasSuffix(string(log), last) {
			t.Errorf("the log has %d bytes beyond its bound, and ends with %q", over, log[max(0, len(log)-60):])
		}
		if !strings.Contains(f.Stdout, "bytes left out") {
			t.Errorf("%d bytes are kept, without a mark", len(f.Stdout))
		}
		return
	}
}
