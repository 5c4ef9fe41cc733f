package web

import (
	"compress/gzip"
	"context"
	"net/http"
	"sync"
)

// sheet is a page that was drawn.
type sheet struct {
	body  []byte
	tight func() []byte // body, compressed
}

func newSheet(body []byte) *sheet {
	return &sheet{body, sync.OnceValue(func() []byte { return compress(body, gzip.BestSpeed) })}
}

func (s *sheet) write(w http.ResponseWriter, r *http.Request, status int) {
	body := s.body
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if len(body) > minCompressed && takesGzip(w, r) {
		body = s.tight()
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// shelf keeps what was drawn and read since the last beat, so that all who have the same page open share it. A change after that brings another
// beat.
type shelf struct {
	mu    sync.Mutex
	beat  uint64
	pages map[string]*once[*sheet]
	runs  map[string]*once[progress]
}

// once is a value that one caller makes for all.
type once[T any] struct {
	made  chan struct{} // closed when value is there
	value T
	good  bool // else each caller makes a value of its own
}

// progress is how far a run has come.
type progress struct {
	events uint64
	ended  bool
}

// open gives the maps of a beat. s.mu is locked.
func (s *shelf) open(beat uint64) {
	if s.pages == nil || s.beat != beat {
		s.beat, s.pages, s.runs = beat, map[string]*once[*sheet]{}, map[string]*once[progress]{}
	}
}

// share gives a value that was made since the last beat, or makes it; of lets the maps of a shelf be chosen. Nothing is shared while nobody looks
// at the store.
func share[T any](ctx context.Context, p *Pages, of func(*shelf) map[string]*once[T], key string, do func() (value T, good bool, err error)) (T, error) {
	for {
		p.shelf.mu.Lock()
		beat := p.pulse.now()
		p.shelf.open(beat)
		o := of(&p.shelf)[key]
		if o == nil || beat == 0 {
			o = &once[T]{made: make(chan struct{})}
			if beat != 0 {
				of(&p.shelf)[key] = o
			}
			p.shelf.mu.Unlock()
			return o.make(p, of, key, do)
		}
		p.shelf.mu.Unlock()
		select {
		case <-ctx.Done():
			return o.value, ctx.Err()
		case <-o.made:
		}
		if o.good {
			return o.value, nil
		}
	}
}

// make makes the value, and takes it off the shelf if it is of no use to others.
func (o *once[T]) make(p *Pages, of func(*shelf) map[string]*once[T], key string, do func() (T, bool, error)) (value T, err error) {
	good := false
	defer func() { // also after a panic
		p.shelf.mu.Lock()
		defer p.shelf.mu.Unlock()
		if o.value, o.good = value, good; !good && of(&p.shelf)[key] == o {
			delete(of(&p.shelf), key)
		}
		close(o.made)
	}()
	value, good, err = do()
	return value, err
}

// drawOnce draws a page for all who have it open.
func (p *Pages) drawOnce(w http.ResponseWriter, r *http.Request, v *route) (*sheet, error) {
	pages := func(s *shelf) map[string]*once[*sheet] { return s.pages }
	return share(r.Context(), p, pages, r.URL.RequestURI()+"\x00"+who(r), func() (*sheet, bool, error) {
		defer p.pulse.draw()()
		s, lasts, err := p.draw(w, r, v)
		return s, lasts && err == nil, err
	})
}

// progress reads how far a run has come, for all streams that ask.
func (p *Pages) progress(ctx context.Context, run string) (events uint64, ended bool, err error) {
	runs := func(s *shelf) map[string]*once[progress] { return s.runs }
	got, err := share(ctx, p, runs, run, func() (progress, bool, error) {
		events, ended, err := p.server.Progress(ctx, run)
		return progress{events, ended}, err == nil, err
	})
	return got.events, got.ended, err
}
