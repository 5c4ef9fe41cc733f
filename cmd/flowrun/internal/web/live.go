package web

import (
	"net/http"
	"sync"
	"time"
)

const (
	// pulseEvery is how often the store is looked at while somebody has a page open.
	pulseEvery = 100 * time.Millisecond
	// restAfter is the least time between two beats, and maxRest the most. Between them, pages are drawn for a twentieth of the time: runs must
	// not feel how many pages are open, nor how large they are.
	restAfter = 150 * time.Millisecond
	maxRest   = 5 * time.Second
	restShare = 20
	// restEach is what each open page takes for its signal and for a page that was drawn already.
	restEach = 200 * time.Microsecond
	// quiet is how long a stream says nothing before it says that it lives.
	quiet = 15 * time.Second
)

// pulse tells streams that the store has changed: a beat. One goroutine looks for all of them, and only while there are streams. All pages hear
// of a beat at the same time, so that those that show the same can share a drawing.
type pulse struct {
	stamp func() string

	mu      sync.Mutex
	changed chan struct{} // closed at the next beat
	beat    uint64
	began   time.Time     // the beat
	drawing int           // pages that are drawn now
	spent   time.Duration // on drawing since the beat
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
	p.beat++ // what was drawn before may be older than the page that was just opened
	if p.streams++; !p.looks {
		p.looks = true
		go p.look(p.stamp())
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.streams--
	}
}

// look looks at the store, which had this stamp at the last beat.
func (p *pulse) look(last string) {
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
		if now != last && p.rested() {
			last = now
			close(p.changed)
			p.changed = make(chan struct{})
			p.beat++
			p.began, p.spent = time.Now(), 0
		}
		p.mu.Unlock()
	}
}

// rested reports whether pages may be drawn again. p.mu is locked.
func (p *pulse) rested() bool {
	since := time.Since(p.began)
	if p.drawing > 0 {
		return since >= maxRest
	}
	return since >= min(max(restShare*(p.spent+time.Duration(p.streams)*restEach), restAfter), maxRest)
}

// draw begins the drawing of a page, until the function that it returns is called.
func (p *pulse) draw() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drawing++
	began := time.Now()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.drawing--
		p.spent += time.Since(began)
	}
}

// now is the number of the last beat, or of the last page that was opened after it; 0 while nobody looks at the store.
func (p *pulse) now() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.looks {
		return 0
	}
	return p.beat
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
			n, over, err := p.progress(ctx, run)
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
