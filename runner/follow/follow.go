// Package follow lets who drives runs know of which somebody in another process reads along.
//
// A follower leaves a mark: a file RUN.RANDOM in a folder of the store, locked for as long as the follower lives. Who drives looks at
// the folder, and tells its executors. Where nobody follows anything, that costs one call of the system.
//
// What always holds: a mark counts exactly as long as its lock is held, so one of a follower that was killed counts no more; those
// are removed by whoever looks. Looking changes nothing for a follower, nor for others who look. The package knows files and
// locks, and nothing of runs but their ids. Enter at [Mark] and [Watch].
package follow

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/memory/private"
)

const (
	// Dir is the folder of the marks, below the store.
	Dir = "follow"
	// LookEvery is how soon a mark is seen.
	LookEvery = 500 * time.Millisecond
	// beingMade ends the name of a mark that is not locked yet, which is made within makingTime or not at all.
	beingMade  = ".new"
	makingTime = time.Minute
)

// Watch tells of the runs that somebody follows, now and every [LookEvery], until the function that it returns is called. tell is
// called by one goroutine, and not any more once that function has returned.
func Watch(store string, tell func(runs map[string]bool)) (stop func()) {
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticks := time.NewTicker(LookEvery)
		defer ticks.Stop()
		for {
			tell(followed(filepath.Join(store, Dir)))
			select {
			case <-over:
				return
			case <-ticks.C:
			}
		}
	}()
	return func() {
		close(over)
		<-gone
	}
}

// followed lists the runs that somebody follows, and removes the marks of dead followers.
func followed(dir string) map[string]bool {
	marks, err := os.ReadDir(dir)
	if err != nil || len(marks) == 0 {
		return nil
	}
	runs := map[string]bool{}
	for _, m := range marks {
		path := filepath.Join(dir, m.Name())
		run, _, ok := strings.Cut(m.Name(), ".")
		switch {
		case !ok:
		case strings.HasSuffix(m.Name(), beingMade):
			if info, err := m.Info(); err == nil && time.Since(info.ModTime()) > makingTime {
				os.Remove(path)
			}
		case held(path):
			runs[run] = true
		default:
			os.Remove(path)
		}
	}
	return runs
}

// held tells whether a file's lock is taken. It asks for a shared one, so that two who look at the same moment do not take each
// other for the follower.
func held(path string) bool {
	f, err := private.Open(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// Mark asks whoever drives a run to write what its attempts say to their log files at once, until the function that it
// returns is called, or this process ends.
func Mark(store, run string) (unmark func(), err error) {
	dir := filepath.Join(store, Dir)
	if err := private.Mkdir(dir); err != nil {
		return nil, err
	}
	var random [8]byte
	rand.Read(random[:]) // never fails
	path := filepath.Join(dir, run+"."+hex.EncodeToString(random[:]))
	f, err := private.Open(path+beingMade, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err == nil {
		err = os.Rename(path+beingMade, path)
	}
	if err != nil {
		f.Close()
		os.Remove(path + beingMade)
		return nil, fmt.Errorf("marking that run %s is followed: %w", run, err)
	}
	return func() {
		os.Remove(path)
		f.Close()
	}, nil
}
