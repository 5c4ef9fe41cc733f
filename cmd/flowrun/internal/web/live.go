package web

import (
	"net/http"
	"sync"
	"time"
)

const (
	// pulseEvery is how often the store is looked at while somebody has a page open.
	pulseEvery = 100 * time.Millisecond
	// restAfter is the least time between two signals to a page, and restEach what each open page adds: drawing a page costs the server some
	// milliseconds, which runs must not feel, however many pages are open.
	restAfter = 150 * time.Millisecond
	restEach  = 20 * time.Millisecond
	// quiet is how long a stream says nothing before it says that it lives.
	quiet = 15 * time.Second
)

// pulse tells streams that the store has changed. One goroutine looks for all of them, and only while there are streams.
type pulse struct {
	stamp func() string

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	streams int
	looks   bool // a goroutine looks
	over    chan struct{}
	ended   bool
}

func newPulse(stamp func() string) *pulse {
	return &pulse{stamp: stamp, changed: make(chan struct{}), over: make(chan struct{})}
}

// join begins to look, until the function that it returns is called.
func (p *pulse) join() (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streams++; !p.looks {
		p.looks = true
		go p.look()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.streams--
	}
}

func (p *pulse) look() {
	last := p.stamp()
	for {
		select {
		case <-p.over:
			return
		case <-time.After(pulseEvery):
		}
		now := p.stamp()
		p.mu.Lock()
		if p.streams == 0 {
			p.looks = false
			p.mu.Unlock()
			return
		}
		if now != last {
			close(p.changed)
			p.changed = make(chan struct{})
		}
		p.mu.Unlock()
		last = now
	}
}

// rest is how long a stream says nothing after it has told of a change.
func (p *pulse) rest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return restAfter + time.Duration(p.streams)*restEach
}

func (p *pulse) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

func (p *pulse) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended = true
		close(p.over)
	}
}

// live streams an event "change" whenever the page that is open may look otherwise: for a run when it has more events, and for other pages when
// something was written to the store. It begins with one, for what changed before the stream was there.
func (p *Pages) live(w http.ResponseWriter, r *http.Request) (any, error) {
	run := r.URL.Query().Get("run")
	ctx := r.Context()
	leave := p.pulse.join()
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	flow := http.NewResponseController(w)
	_ = flow.SetReadDeadline(time.Time{})
	say := func(text string) bool {
		_ = flow.SetWriteDeadline(time.Now().Add(10 * time.Second))
		_, err := w.Write([]byte(text))
		return err == nil && flow.Flush() == nil
	}
	var events uint64
	ended, first := false, true
	for {
		changed := p.pulse.next()
		tell := run == "" || first
		if run != "" {
			n, over, err := p.server.Progress(ctx, run)
			switch {
			case err != nil && first:
				w.Header().Del("Content-Type")
				return nil, err
			case err != nil: // it was removed meanwhile
				return nil, errAnswered
			}
			tell = tell || n != events || over != ended
			events, ended = n, over
		}
		first = false
		if tell && !say("event: change\ndata:\n\n") {
			return nil, errAnswered
		}
		select { // a page is not drawn more often than it can be looked at
		case <-ctx.Done():
			return nil, errAnswered
		case <-p.pulse.over:
			return nil, errAnswered
		case <-time.After(p.pulse.rest()):
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return nil, errAnswered
			case <-p.pulse.over:
				return nil, errAnswered
			case <-changed:
				waiting = false
			case <-time.After(quiet):
				if !say(": still there\n\n") {
					return nil, errAnswered
				}
			}
		}
	}
}
