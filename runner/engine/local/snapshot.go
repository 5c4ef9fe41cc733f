package local

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/shared"
	"github.com/flowrun/flowrun/runner/snapshot"
)

// A snapshot is the state of a run after one batch of its journal, in a file beside the database. The next driver begins from the snapshot
// and replays the batches behind it. The journal is the truth: a snapshot that is damaged, or of another release or journal, is passed
// over, and the run is rebuilt from its first event. A driver that somebody watches, and one of a run whose past is wanted, rebuilds it, too.

// KeepEvery is how many events lie between two snapshots at least. To replay so many takes 40 to 100 ms.
const KeepEvery = 10_000

// The next two are CPU time of the process: a run whose process has to wait for a processor has done no more work than one that has it alone.

// keepShare is how long lies between two snapshots at least, for each byte of the first: fifty times as long as it takes to make and write one,
// which is 36 ns a byte.
const keepShare = 50 * 36 * time.Nanosecond

// keepFirst is how long a drive lasts before its first snapshot. A run that ends before is not worth one: of 50,000 null attempts, which take
// half a second, it was a tenth of the CPU.
const keepFirst = time.Second

// maxSnapshot bounds the file of a snapshot, in bytes: its reader holds it in memory.
const maxSnapshot = 256 << 20

// worthBeside is the smallest snapshot, in bytes, that is written beside the drive. A smaller one is written in less time than a commit takes.
const worthBeside = 1 << 20

// keeping is what a drive knows of the last snapshot of its run.
type keeping struct {
	off     bool // this drive writes none
	seq     uint64
	size    int           // in bytes; more than that if one was given up
	at      time.Duration // by processTime: of the snapshot, or of the beginning of the drive
	written chan struct{} // closed when the snapshot that is written beside the drive is; nil without one
}

// wait waits until no snapshot is being written.
func (k *keeping) wait() {
	if k.written != nil {
		<-k.written
		k.written = nil
	}
}

// isEarly reports whether a snapshot would take too much of the time of a drive that has lasted from began to now.
func (k *keeping) isEarly(now, began time.Duration) bool {
	return now-began < keepFirst || now-k.at < time.Duration(k.size)*keepShare
}

// most is how many bytes a snapshot may have that is made now: a quarter more than the time since the last one is worth. One that has more is
// given up. What that took is wasted, so that the next try comes after twice the time; all tries together take a twentieth of the time at most.
func (k *keeping) most(now time.Duration) int {
	return min(max(int((now-k.at)/keepShare)*5/4, worthBeside), maxSnapshot)
}

// giveUp notes that a snapshot would have more than most bytes.
func (k *keeping) giveUp(most int) {
	k.size, k.off = most*8/5, most == maxSnapshot
}

// processTime is the CPU time of this process.
func processTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// keepState writes a snapshot if the next one is due, between two batches. One that cannot be written is missing, and that is all. The drive
// goes on while a large one is written and synced: only its bytes are made between two batches.
func (d *drive) keepState() {
	k, e, most := &d.kept, d.engine, maxSnapshot
	if k.off || d.run.seq-k.seq < e.keepEvery() || d.end() != nil || e.commits.isFull() {
		return
	}
	if e.options.KeepEvery == 0 {
		now := processTime()
		if k.isEarly(now, d.began) {
			return
		}
		most = k.most(now)
	}
	d.waitForShown(0) // it tallies
	k.wait()
	b, err := d.encodeState(most)
	if errors.Is(err, snapshot.ErrTooLong) {
		k.giveUp(most)
		return
	}
	*k = keeping{off: err != nil, seq: d.run.seq, size: len(b), at: processTime()}
	switch run := d.run.id; {
	case err != nil:
	case len(b) < worthBeside:
		_ = e.writeSnapshot(run, b)
	default:
		written := make(chan struct{})
		k.written = written
		go func() {
			defer close(written)
			_ = e.writeSnapshot(run, b)
		}()
	}
}

// keepEvery is how many events lie between two snapshots at least.
func (e *Engine) keepEvery() uint64 { return cmp.Or(e.options.KeepEvery, KeepEvery) }

// encodeState returns the file of a snapshot of at most so many bytes: a head, and the state of the fold, which has a checksum of its own. All is
// made in one buffer, as large as the last one and an eighth.
func (d *drive) encodeState(most int) ([]byte, error) {
	b, err := d.engine.appendHead(make([]byte, 0, min(d.kept.size*9/8, most)), d.run.header, &head{d.run.seq, d.run.link, d.tally, d.usage})
	if err != nil {
		return nil, err
	}
	return d.session.Fold().AppendState(b, most)
}

// appendHead appends the length of a head, the head, and a checksum of both to b, which is empty.
func (e *Engine) appendHead(b []byte, header journal.Header, h *head) ([]byte, error) {
	c := snapshot.NewWriter(e.snapshotFormat(header))
	h.code(c)
	own, err := c.Close()
	if err != nil {
		return nil, err
	}
	b = append(binary.AppendUvarint(b, uint64(len(own))), own...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// head is what a snapshot has besides the state of the fold.
type head struct {
	seq   uint64
	link  journal.Link // after that event
	tally durations.Tally
	usage shared.UsageTally
}

func (h *head) code(c *snapshot.Coder) {
	link := h.link[:]
	snapshot.Uint(c, &h.seq)
	if snapshot.Bytes(c, &link); copy(h.link[:], link) != len(h.link) {
		c.Fail(snapshot.ErrBroken)
	}
	h.tally.Code(c)
	h.usage.Code(c)
}

// snapshotFormat returns how the head of a snapshot begins. The number rises when this file codes the same fields otherwise.
func (e *Engine) snapshotFormat(h journal.Header) string {
	return fmt.Sprintf("run 1 %d %s %s", e.options.Rules, headLayout(), h.Encode())
}

var headLayout = snapshot.LazyLayout(reflect.TypeFor[head]())

// decodeState takes the file of a snapshot apart.
func (e *Engine) decodeState(header journal.Header, b []byte) (h head, state []byte, err error) {
	n, at := binary.Uvarint(b)
	if at <= 0 || n > uint64(len(b)) || len(b)-at < int(n)+sha256.Size {
		return h, nil, snapshot.ErrBroken
	}
	end := at + int(n)
	if sum := sha256.Sum256(b[:end]); !bytes.Equal(sum[:], b[end:end+sha256.Size]) {
		return h, nil, fmt.Errorf("%w: its checksum is another one", snapshot.ErrBroken)
	}
	c := snapshot.NewReader(e.snapshotFormat(header), b[at:end])
	h.code(c)
	_, err = c.Close()
	return h, b[end+sha256.Size:], err
}

func (e *Engine) snapshotPath(run string) string { return filepath.Join(e.dir, snapshotsDir, run) }

// unnamed ends the name of a snapshot that is being written.
const unnamed = ".new"

// writeSnapshot replaces the snapshot of a run, whole or not at all. It leaves the room of the reserve free. A process that lost the run
// may write at the same time: what comes of that can be damaged, and is never taken for whole.
func (e *Engine) writeSnapshot(run string, b []byte) (err error) {
	disk, path := e.options.disk, e.snapshotPath(run)
	if len(b) > maxSnapshot {
		return fmt.Errorf("a snapshot of %d bytes is too large", len(b))
	}
	if room, err := disk.room(e.dir); err != nil || room < uint64(len(b))+ReserveFrom {
		return errors.Join(err, engine.ErrFull)
	}
	if err := private.Mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	e.options.reportPoint(engine.Writing)
	if err := disk.remove(path + unnamed); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := disk.open(path+unnamed, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Sync())
	}
	err = errors.Join(err, f.Close())
	e.options.reportPoint(engine.Naming)
	if err == nil {
		err = disk.rename(path+unnamed, path)
	}
	if err != nil {
		return errors.Join(err, disk.remove(path+unnamed))
	}
	e.options.reportPoint(engine.Named)
	return nil
}

// removeSnapshot removes the snapshot of a run, if there is one.
func (e *Engine) removeSnapshot(run string) (err error) {
	for _, path := range []string{e.snapshotPath(run), e.snapshotPath(run) + unnamed} {
		if gone := os.Remove(path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// cleanSnapshots removes the snapshots that a crash has left: those of runs that have ended or are not there, and those without a name.
func (e *Engine) cleanSnapshots(ctx context.Context) error {
	files, err := os.ReadDir(filepath.Join(e.dir, snapshotsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		run := strings.TrimSuffix(f.Name(), unnamed)
		if engine.CheckID(run) != nil {
			continue // it is not ours
		}
		info, wrong := e.Get(ctx, run)
		stat, gone := f.Info()
		old := gone == nil && run != f.Name() && time.Since(stat.ModTime()) > strayAge
		if errors.Is(wrong, engine.ErrNoRun) || wrong == nil && info.Ended != 0 || old {
			err = errors.Join(err, e.removeSnapshot(run))
		}
	}
	return err
}

// recallState rebuilds the run from its snapshot and the batches behind it. It reports false, and changes nothing, if there is none of use.
func (d *drive) recallState(ctx context.Context, definition []byte) bool {
	o, header := &d.engine.options, d.run.header
	d.kept.off = o.Restore == nil || o.WantsPast != nil && o.WantsPast(header, definition)
	if d.kept.off || d.watched || !d.run.driven || d.run.pending || d.run.ended {
		return false
	}
	b, err := d.engine.readSnapshot(d.run.id)
	if err != nil || b == nil {
		return false
	}
	h, state, err := d.engine.decodeState(header, b)
	if err != nil || d.engine.checkSnapshot(ctx, d.run, &h) != nil {
		return false
	}
	first, err := d.engine.firstEvent(ctx, d.run)
	if err != nil {
		return false
	}
	s, err := engine.RestoreSession(engine.Start{Header: header, First: first}, state, func(state []byte) (engine.Machine, error) {
		return o.Restore(header, definition, state)
	})
	if err != nil {
		return false
	}
	status := d.run.status
	s.Fold().Bind(d.engine.artifacts.Run(d.run.id))
	d.setSession(ctx, s)
	d.tally, d.usage, d.kept = h.tally, h.usage, keeping{seq: h.seq, size: len(b), at: d.began}
	if o.Watch != nil {
		o.Watch(d.run.id, []event.Event{{Seq: 1, At: header.Created, RunStarted: &first}}, &event.Reaction{}, true)
	}
	if d.rebuildFrom(ctx, h.seq) == nil {
		return true
	}
	d.session, d.past, d.tally, d.usage, d.run.status, d.kept = nil, nil, durations.Tally{}, shared.UsageTally{}, status, keeping{at: d.began}
	return false
}

// readSnapshot reads the snapshot of a run; nil if there is none.
func (e *Engine) readSnapshot(run string) ([]byte, error) {
	b, err := private.ReadFile(e.snapshotPath(run), maxSnapshot+1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// checkSnapshot returns an error unless the journal of the run has the batch that a snapshot was made after.
func (e *Engine) checkSnapshot(ctx context.Context, c *claimed, h *head) error {
	if h.seq > c.seq {
		return fmt.Errorf("it is made after event %d, and the journal ends at %d", h.seq, c.seq)
	}
	var last uint64
	var link []byte
	err := e.read.QueryRowContext(ctx, "SELECT first + count - 1, link FROM batches WHERE run = ? AND first <= ? ORDER BY first DESC LIMIT 1",
		c.key, int64(h.seq)).Scan(&last, &link)
	if err == nil && (last != h.seq || !bytes.Equal(link, h.link[:])) {
		err = fmt.Errorf("it is made after event %d of another journal", h.seq)
	}
	return err
}

// examineSnapshot compares the snapshot of a run with the state that the journal gives. odd is what is wrong with it; had is false if there is none.
func (e *Engine) examineSnapshot(ctx context.Context, c *claimed, definition []byte) (had bool, odd error) {
	b, err := e.readSnapshot(c.id)
	if err == nil && b == nil || c.ended || e.options.Restore == nil {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	h, _, err := e.decodeState(c.header, b)
	if err == nil {
		err = e.checkSnapshot(ctx, c, &h)
	}
	if err != nil {
		return true, err
	}
	m, err := e.options.Factory(c.header, definition)
	if err != nil {
		return true, err
	}
	run := *c
	d := &drive{engine: e, run: &run, session: engine.NewSession(engine.Start{Header: c.header}, m)}
	err = e.eachBatch(ctx, c, 0, func(batch journal.Batch) error {
		r, err := d.session.Rebuild(batch)
		if err != nil {
			return err
		}
		d.tallyRound(r)
		if run.seq, run.link = batch.Last(), batch.Link; run.seq == h.seq {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		return true, err
	}
	want, err := d.encodeState(maxSnapshot)
	if err == nil && !bytes.Equal(want, b) {
		err = fmt.Errorf("the state after event %d is not the one that its journal gives", h.seq)
	}
	return true, err
}
