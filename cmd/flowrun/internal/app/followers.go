package app

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/runner/executor/command"
)

const (
	// followDir is where those who follow what a run's attempts write leave their marks, below the store: files RUN.RANDOM,
	// locked for as long as the follower lives.
	followDir = "follow"
	// askEvery is how soon a driver sees a new mark. Where nobody follows anything it costs one call of the system.
	askEvery = 500 * time.Millisecond
)

// attend tells an executor of those who follow, until the function that it returns is called.
func attend(store string, x *command.Executor) func() {
	stop, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticks := time.NewTicker(askEvery)
		defer ticks.Stop()
		for {
			x.Follow(followed(filepath.Join(store, followDir)))
			select {
			case <-stop:
				return
			case <-ticks.C:
			}
		}
	}()
	return func() {
		close(stop)
		<-gone
	}
}

// followed lists the runs that somebody follows. Marks of dead followers are removed.
func followed(dir string) map[string]bool {
	marks, err := os.ReadDir(dir)
	if err != nil || len(marks) == 0 {
		return nil
	}
	runs := map[string]bool{}
	for _, m := range marks {
		run, _, ok := strings.Cut(m.Name(), ".")
		switch {
		case !ok || strings.HasSuffix(m.Name(), beingMade):
		case held(filepath.Join(dir, m.Name())):
			runs[run] = true
		default:
			os.Remove(filepath.Join(dir, m.Name()))
		}
	}
	return runs
}

// held tells whether a file's lock is taken.
func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	// A shared lock, so that two drivers who look at the same moment do not take each other for the follower.
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// beingMade ends the name of a mark that is not locked yet.
const beingMade = ".new"

// markFollower asks whoever drives a run to write what its attempts say to their log files at once, until the function that
// it returns is called, or this process ends.
func markFollower(store, run string) (func(), error) {
	dir := filepath.Join(store, followDir)
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return nil, err
	}
	var random [8]byte
	rand.Read(random[:])
	path := filepath.Join(dir, run+"."+hex.EncodeToString(random[:]))
	f, err := os.OpenFile(path+beingMade, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
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
