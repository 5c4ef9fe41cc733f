package serve

import (
	"fmt"
	"net/http"
	"time"
)

// resumeWithin is how long an answer waits to hear whether the daemon could take a run.
const resumeWithin = 5 * time.Second

// resume lets the daemon drive a run that no process drives. The answer comes when the daemon has the run, or could not take it.
func (s *Server) resume(r *http.Request) (any, error) {
	var none Nothing
	info, err := s.info(r)
	if err == nil {
		err = readBody(r, &none)
	}
	switch {
	case err != nil:
		return nil, err
	case info.Status.Terminal():
		return nil, &refusal{http.StatusConflict, "ended", fmt.Sprintf("run %s has ended: %s", info.Run, info.Status)}
	case info.Parent != "":
		return nil, &refusal{http.StatusConflict, "called", fmt.Sprintf("run %s was called by run %s, which continues it", info.Run, info.Parent)}
	}
	if err := s.audit(r, "resume", info.Run, none); err != nil || !info.Interrupted() {
		return Done{err == nil}, err
	}
	d := s.daemon
	before := d.whyRefused(info.Run)
	d.runs.Add(info.Run)
	for end := time.Now().Add(resumeWithin); time.Now().Before(end) && r.Context().Err() == nil; time.Sleep(dueEvery) {
		if info, err = d.store.Get(r.Context(), info.Run); err != nil || !info.Interrupted() {
			return Done{err == nil}, err
		}
		if now := d.whyRefused(info.Run); now != before {
			if no := asRefusal(now.why); no.status != http.StatusInternalServerError {
				return nil, no
			}
			return nil, &refusal{http.StatusConflict, "drive", fmt.Sprintf("run %s cannot be driven: %v", info.Run, now.why)}
		}
	}
	return nil, &refusal{http.StatusServiceUnavailable, "busy", fmt.Sprintf("run %s waits until the daemon has a place for it", info.Run)}
}

// whyRefused is the last drive of a run that was refused; its zero value if the daemon drives the run, or has not tried.
func (d *Daemon) whyRefused(run string) refusedDrive {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused[run]
}
