package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/watch"
)

// maxChanges is how many changes of files one transaction publishes.
const maxChanges = 500

// Files looks at the files that registered programs watch. It is not safe for concurrent use. It is made by [Service.WatchFiles].
type Files struct {
	service  *Service
	programs []event.DueStarts
	all      []*watched
}

// watched are the files of one event.
type watched struct {
	event, program string
	dir            string
	files          *ir.Files
	spec           string
	loaded         bool
	known          map[string]string // states by path, as the store has them
	open           map[string]unsettled
}

// unsettled is a state of a file that is not published yet.
type unsettled struct {
	state string // "": there is no file
	since time.Time
}

// WatchFiles returns what looks at watched files.
func (s *Service) WatchFiles() *Files { return &Files{service: s} }

// Look looks at the files of all programs, or of one by its path, and publishes the changes of those that have stayed as they are since an
// earlier look, for as long as their program says. A change is published once, also if the process is killed. The first look at the files of
// a name publishes nothing. settles is after how long the next look can publish something; 0 if nothing has changed. An error is about the
// files of one name; those of other names were looked at.
func (f *Files) Look(ctx context.Context, program string) (settles time.Duration, err error) {
	if err := f.load(ctx, program); err != nil {
		return 0, err
	}
	for _, w := range f.all {
		left, no := w.look(ctx, f.service)
		if no != nil && err == nil {
			err = fmt.Errorf("%s of %s: %w", w.event, w.program, no)
		}
		if left > 0 && (settles == 0 || left < settles) {
			settles = left
		}
	}
	return settles, err
}

// load reads which files are watched, where that has changed.
func (f *Files) load(ctx context.Context, program string) error {
	var all, programs []event.DueStarts
	if err := f.service.ask(ctx, event.StoreRequest{Outside: true}, &all); err != nil {
		return err
	}
	for _, p := range all {
		if program == "" || p.Path == program {
			programs = append(programs, p)
		}
	}
	if slices.Equal(programs, f.programs) {
		return nil
	}
	of, err := f.service.startables(ctx, programs)
	if err != nil {
		return err
	}
	f.programs, f.all = programs, nil
	for _, p := range programs {
		x := of[p.Path]
		if x.why != "" {
			continue
		}
		seen := map[string]bool{}
		for i := range x.program.Ons {
			on := &x.program.Ons[i]
			if on.Files == nil || seen[on.Event] {
				continue
			}
			seen[on.Event] = true
			spec, err := json.Marshal([]any{p.Path, x.first.Dir, on.Files.Paths})
			if err != nil {
				return err
			}
			f.all = append(f.all, &watched{event: on.Event, program: p.Path, dir: x.first.Dir, files: on.Files, spec: string(spec), open: map[string]unsettled{}})
		}
	}
	return nil
}

// look looks at the files of one event.
func (w *watched) look(ctx context.Context, s *Service) (settles time.Duration, err error) {
	begins := false
	if !w.loaded {
		var a event.FilesAnswer
		if err := s.ask(ctx, event.StoreRequest{Files: &event.FilesRequest{Name: w.event}}, &a); err != nil {
			return 0, err
		}
		begins = a.Spec != w.spec
		w.known = a.Files
	}
	now := time.Now()
	found, err := watch.Look(w.dir, w.files.Paths)
	if err != nil {
		return 0, err
	}
	if begins {
		w.known = map[string]string{}
	}
	var changes []event.FileChange
	differs := map[string]bool{}
	note := func(path, state string, c event.FileChange) {
		differs[path] = true
		o, has := w.open[path]
		if !has || o.state != state {
			o = unsettled{state, now}
			w.open[path] = o
		}
		if left := w.files.Debounce - now.Sub(o.since); left > 0 && !begins {
			if settles == 0 || left < settles {
				settles = left
			}
			return
		}
		c.Path, c.Before, c.Now = path, w.known[path], state
		changes = append(changes, c)
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		st := found[path]
		state := fmt.Sprintf("%d %d", st.Size, st.Modified)
		if w.known[path] != state {
			note(path, state, event.FileChange{Size: st.Size, Modified: event.Time(st.Modified)})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(w.known)) {
		if _, there := found[path]; !there {
			note(path, "", event.FileChange{})
		}
	}
	for path := range w.open { // any order: each for itself
		if !differs[path] {
			delete(w.open, path)
		}
	}
	if begins { // one transaction: who is killed before it begins again
		err = w.publish(ctx, s, changes)
		w.loaded = err == nil
		return 0, err
	}
	w.loaded = true
	for len(changes) > 0 && err == nil {
		n := min(len(changes), maxChanges)
		err = w.publish(ctx, s, changes[:n])
		changes = changes[n:]
	}
	return settles, err
}

// publish publishes changes, and knows them from then on.
func (w *watched) publish(ctx context.Context, s *Service, changes []event.FileChange) error {
	if _, err := s.host.Ask(ctx, event.StoreRequest{Files: &event.FilesRequest{Name: w.event, Spec: w.spec, Changes: changes}}); err != nil {
		w.loaded = false
		return err
	}
	for i := range changes {
		c := &changes[i]
		delete(w.open, c.Path)
		if w.known[c.Path] = c.Now; c.Now == "" {
			delete(w.known, c.Path)
		}
	}
	return nil
}
